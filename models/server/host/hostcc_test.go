package host_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/simcore"
)

// occupancy returns the mean number of bytes in the IIO buffer while a device writes 256 B every 32
// ns to a ring that the host's cache cannot hold, and some cores read memory. The cache's index is
// hashed, so that lines are evicted in random order.
func occupancy(t *testing.T, cores int, throttle simcore.Rate) float64 {
	e := simcore.NewEngine()
	spec, err := host.Preset("host-ce", mem.Bus(1, 0), tlb.Page1G)
	require.NoError(t, err)
	spec.SocketBytes, spec.TLB.Covers, spec.TLB.Tables = half, 2*half, spec.Base+half-4096
	spec.LLC.SizeBytes, spec.LLC.Ways, spec.LLC.DeviceWays = 96<<10, 12, core.FirstWays(2)
	// a quarter of the preset
	spec.DRAM.Channels, spec.DRAM.Peak, spec.DRAM.Mixed, spec.DRAM.Write = 2, 409_600, 274_285, 137_142
	space, err := mem.NewSpace(1, 2*half)
	require.NoError(t, err)
	s, err := host.Builder{Scheduler: e, Spec: spec, Memory: space}.Build("Host")
	require.NoError(t, err)
	dev, err := s.Device(0, "IIO")
	require.NoError(t, err)
	const span = 20 * simcore.Microsecond
	for i := range cores {
		c, err := s.Core(0, i)
		require.NoError(t, err)
		at := uint64(0)
		var next func()
		next = func() {
			if e.Now() < span {
				require.NoError(t, c.Load(mem.Bus(1, 1<<22+(uint64(i)*(1<<19+5<<14)+at)%(1<<23)), make([]byte, 4096)))
				at += 4096
				c.Call(next)
			}
		}
		next()
	}
	require.NoError(t, s.Throttle(throttle))
	at := uint64(0)
	for when := simcore.Ps(0); when < span; when += 32 * ns {
		a := &mem.Access{Op: mem.Write, Addr: mem.Bus(1, at%(1<<21)), Data: make([]byte, 256),
			Done: func(*mem.Access) {}}
		at += 256
		e.Schedule(&simcore.Event{At: when, H: handler(func() { dev.Access(a) })})
	}
	var before, after iio.Stats
	e.Schedule(&simcore.Event{At: span / 2, H: handler(func() { before = dev.Stats() })})
	e.Schedule(&simcore.Event{At: span - ns, H: handler(func() { after = dev.Stats() })})
	require.NoError(t, e.Run())
	require.True(t, s.Idle())
	return float64(after.OccupiedPs-before.OccupiedPs) / float64(span/2-ns)
}

// HostCC needs a signal and a control: cores that load memory must fill the IIO buffer, and fill it
// less when they are throttled.
func TestHostCongestion(t *testing.T) {
	alone := occupancy(t, 0, simcore.Rate{})
	loaded := occupancy(t, 16, simcore.Rate{})
	eased := occupancy(t, 16, simcore.Rate{Bytes: 1, Ps: 8 * ns})
	t.Logf("%.0f B alone, %.0f B beside 16 cores, %.0f B when they are held back", alone, loaded, eased)
	require.Less(t, alone, 0.1*float64(iio.DefaultSpec().Bytes), "memory keeps up with half of what it can take")
	require.Greater(t, loaded, 3*alone)
	require.Less(t, eased, loaded)
}

// handler is a function that handles events.
type handler func()

// Handle implements sim.Handler.
func (h handler) Handle(sim.Event) error { h(); return nil }

// A spec must survive a round trip through YAML.
func TestYAML(t *testing.T) {
	for _, name := range []string{"bf3", "bf2", "host-fn", "host-ce"} {
		want, err := host.Preset(name, mem.Bus(1, 0), tlb.Page2M)
		require.NoError(t, err)
		text, err := yaml.Marshal(want)
		require.NoError(t, err)
		var got host.Spec
		require.NoError(t, yaml.Unmarshal(text, &got))
		require.Equal(t, want, got)
	}
}
