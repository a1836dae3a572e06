package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/baseline/shring"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// share makes all flows of the server share a ring.
func (d *duo) share(descriptors int) *shring.Server {
	spec := shring.DefaultSpec()
	spec.Descriptors = descriptors
	return d.shareWith(spec)
}

func (d *duo) shareWith(spec shring.Spec) *shring.Server {
	s, err := shring.New(spec)
	require.NoError(d, err)
	for i := range d.server.Flows {
		f := &d.server.Flows[i]
		f.Path, f.Buffers = s.Open, hostnet.Buffers{Log: spec.Log()}
	}
	return s
}

// shared plays flows of each kind on four cores over one ring, and returns its counters and the NIC's drops.
func shared(t *testing.T, descriptors, repost int, kinds ...board.DeviceKind) (shring.Stats, uint64) {
	h, err := hometest.Find()
	require.NoError(t, err)
	d := newDuo(t)
	if len(kinds) > 0 {
		d.factory = device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil)
		for i, c := range []*board.CardSpec{&d.rack.Servers[0].Cards[0], &d.rack.Fleet.Card} {
			c.Device.Kind, c.Ports = kinds[i], 2
		}
	}
	requests := uint32(1000)
	if len(kinds) > 0 {
		requests = 100
	}
	d.kv(0, apps.DefaultKV(), apps.Load{Requests: requests})
	d.kv(1, apps.DefaultKV(), apps.Load{Requests: requests})
	d.echo(1, 1000, apps.Load{Requests: requests})
	d.echo(2, 64, apps.Load{Requests: requests})
	s := chunkSpec()
	s.ChunkBytes, s.Outstanding = 20_000, 2
	d.chunks(3, s, false, true, apps.Load{Requests: requests / 50})
	ring := d.share(descriptors)
	d.server.Spec.Repost = repost
	d.open()
	dropped := d.finish()
	require.Zero(t, ring.Held())
	return ring.Stats(), dropped
}

// TestSharedRing checks that each packet reaches its flow once, in order, whatever core it is for, and that every core
// pays for every packet.
func TestSharedRing(t *testing.T) {
	const cores = 4
	got, dropped := shared(t, 4096, 32)
	require.Zero(t, dropped)
	require.Equal(t, cores*got.Packets, got.Looked)
	require.Equal(t, (cores-1)*got.Packets, got.Others)
	require.NotZero(t, got.Refills)
}

// TestShortSharedRing checks that packets which a short ring has no descriptor for are dropped, counted and repaired.
func TestShortSharedRing(t *testing.T) {
	got, dropped := shared(t, 64, 1)
	require.NotZero(t, dropped)
	require.NotZero(t, got.Contended, "cores post at the same time")
	again, droppedAgain := shared(t, 64, 1)
	require.Equal(t, got, again)
	require.Equal(t, dropped, droppedAgain)
}

// TestSlowCoreMakesRoom checks that a short ring goes on when its room comes from a core without packets of its own,
// which passes the entries long after the other core has freed the buffers.
func TestSlowCoreMakesRoom(t *testing.T) {
	for _, descriptors := range []int{4, 16} {
		d := newDuo(t)
		d.echo(0, 64, apps.Load{Requests: 200})
		d.echo(1, 64, apps.Load{Requests: 1})
		d.opens = append(d.opens, func(c *board.Card) {
			slow, err := c.Memory.Host(nicspec.EndpointHost).Core(0, 1)
			require.NoError(t, err)
			_, err = slow.Add(cpu.LoopSpec{Name: "neighbour", Poll: 1}, func(k *cpu.Core) bool {
				k.Spend(20 * simcore.Microsecond)
				return k.Now() < 2*simcore.Millisecond
			})
			require.NoError(t, err)
		})
		ring := d.share(descriptors)
		d.server.Spec.Repost = 1
		d.open()
		d.finish()
		require.Zero(t, ring.Held())
		got := ring.Stats()
		require.Equal(t, 2*got.Packets, got.Looked)
	}
}

// TestSharedRingOnRTL plays the same flows on the RTL.
func TestSharedRingOnRTL(t *testing.T) {
	got, _ := shared(t, 4096, 32, board.DeviceRTL, board.DeviceModel)
	want, _ := shared(t, 4096, 32, board.DeviceModel, board.DeviceModel)
	require.Equal(t, want.Packets, got.Packets)
}

// TestScanIsCharged checks that the cores of a shared ring take longer than those of rings of their own, because each
// looks at the entries of all.
func TestScanIsCharged(t *testing.T) {
	took := func(share bool) (busy int64) {
		d := newDuo(t)
		for core := range 4 {
			d.kv(core, apps.DefaultKV(), apps.Load{Requests: 2000})
		}
		if share {
			d.share(4096)
		}
		d.open()
		require.Zero(t, d.finish())
		for _, c := range d.Rack.Servers[0].Cards[0].Memory.Host(1).Used()[:4] {
			busy += int64(c.Stats().Busy)
		}
		return busy
	}
	own, all := took(false), took(true)
	t.Logf("busy for %d us with rings of their own, %d us with one", own/1e6, all/1e6)
	require.Greater(t, all, own*23/20, "1.14 without ScanCycles, 1.07 without loads of entries")
}

// TestScanOfOthersIsBusy checks that a core is busy while it looks at entries of other cores' packets.
func TestScanOfOthersIsBusy(t *testing.T) {
	const requests = 300
	spec := shring.DefaultSpec()
	spec.ScanCycles = 1000
	d := newDuo(t)
	d.echo(0, 64, apps.Load{Requests: requests})
	d.echo(1, 64, apps.Load{Requests: 1})
	d.shareWith(spec)
	d.open()
	require.Zero(t, d.finish())
	core, err := d.Rack.Servers[0].Cards[0].Memory.Host(nicspec.EndpointHost).Core(0, 1)
	require.NoError(t, err)
	scans := requests * spec.ScanCycles * int64(core.Spec().Period)
	require.Greater(t, int64(core.Stats().Busy), scans)
}
