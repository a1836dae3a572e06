package board

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// On every preset, the derived timeouts must stay short: Turn below 1 ms, fewer than 10,000 polls,
// and CPL_TIMEOUT no less than its reset value.
func TestWaitsOfPresets(t *testing.T) {
	for _, name := range CardPresetNames {
		c, err := CardPreset(name)
		require.NoError(t, err)
		w, err := c.Waits()
		require.NoError(t, err)
		require.Less(t, w.Turn, simcore.Millisecond, name)
		require.Less(t, w.Polls, 10_000, name)
		require.GreaterOrEqual(t, w.CplTimeout, uint32(nicspec.ResetCplTimeout), name)
	}
}

// Slowing down any part must lengthen the timeouts; where the NIC could not wait that long, the
// error must name the part's field.
func TestWaitsFollowTheCard(t *testing.T) {
	for part, slow := range map[string]func(c *CardSpec){
		"pcie.credits": func(c *CardSpec) {
			c.PCIe.Credits, c.PCIe.CreditLatency = 1,
				10*simcore.Millisecond
		},
		"pcie.rate": func(c *CardSpec) {
			c.PCIe.Rate = simcore.Rate{Bytes: 1, Ps: simcore.Millisecond}
		},
		"switch.nic_rate": func(c *CardSpec) {
			c.Switch.NICRate = simcore.Rate{Bytes: 1, Ps: simcore.Millisecond}
		},
		"switch.host.read_latency_ps": func(c *CardSpec) { c.Switch.Host.ReadLatency, c.Period = simcore.Second, 100 },
		"switch.host.dram": func(c *CardSpec) {
			c.Switch.Host.DRAM.Peak, c.Switch.Host.DRAM.Mixed, c.Switch.Host.DRAM.Write, c.Period = 1, 0, 0, 100
		},
		"endpoint.delay": func(c *CardSpec) { c.Endpoint.Delay.Latency = simcore.Second },
	} {
		c, err := CardPreset("bf3")
		require.NoError(t, err)
		before, err := c.Waits()
		require.NoError(t, err)
		slow(&c)
		w, err := c.Waits()
		require.ErrorContains(t, err, part+": a read of the NIC may take ", part)
		require.ErrorContains(t, err, "CPL_TIMEOUT, 2^32 - 1 cycles of period_ps", part)
		require.Greater(t, w.Read, before.Read, part)
		require.ErrorContains(t, c.Validate(), part+": ", part)
		c.Device = DeviceSpec{Kind: DeviceRNIC, Model: "connectx6"}
		require.NoError(t, c.Validate(), "%s: an rnic has no such register", part)
	}
}

// A card whose reads take longer than the reset value of CPL_TIMEOUT must get a longer one, in
// cycles of its clock.
func TestCplTimeoutFollowsTheCard(t *testing.T) {
	c, err := CardPreset("bf3")
	require.NoError(t, err)
	c.Switch.NICRate = simcore.Rate{Bytes: 1, Ps: simcore.Microsecond}
	w, err := c.Waits()
	require.NoError(t, err)
	require.Greater(t, simcore.Ps(w.CplTimeout)*c.Period, simcore.Ps(512+20)*simcore.Microsecond,
		"a read alone takes as long")
	c.Period *= 2
	slower, err := c.Waits()
	require.NoError(t, err)
	require.InDelta(t, float64(w.CplTimeout)/2, float64(slower.CplTimeout), float64(w.CplTimeout)/100)
	require.Equal(t, never, times(1<<40, simcore.Second, 1), "what no time is long enough for")
	require.Equal(t, simcore.Ps(4), times(10, 1, 3), "rounded up")
}

// A background load of a memory must lengthen the read time, by its accesses in flight.
func TestWaitsFollowLoads(t *testing.T) {
	for _, name := range []string{"bf3", "bf3-cores"} {
		last := simcore.Ps(0)
		for _, n := range []int{0, 1, 64, 256} {
			c, err := CardPreset(name)
			require.NoError(t, err)
			if n > 0 {
				var l LoadSpec
				l.SetDefaults()
				l.InFlight = n
				c.Switch.Arm.Loads = []LoadSpec{l}
			}
			require.NoError(t, c.Validate())
			w, err := c.Waits()
			require.NoError(t, err)
			require.Greater(t, w.Read, last)
			last = w.Read
		}
	}
}

// A second device must lengthen the read time of the NIC, whose reads wait behind that device's traffic.
func TestWaitsFollowTheSecondDevice(t *testing.T) {
	c, err := CardPreset("bf3")
	require.NoError(t, err)
	alone, err := c.Waits()
	require.NoError(t, err)
	c.Second = &SecondSpec{Device: DeviceSpec{Kind: DeviceRNIC, Model: "connectx7"}}
	require.NoError(t, c.Validate())
	both, err := c.Waits()
	require.NoError(t, err)
	require.Greater(t, both.Read, alone.Read)
}
