package iio_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host/iio"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func build(t testing.TB, e sim.Engine, bytes int, d inject.DelaySpec) (*iio.Buffer, *mem.Space) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, space)
	require.NoError(t, err)
	x, err := iio.Builder{Scheduler: e, Spec: iio.Spec{Bytes: bytes}, Memory: slow}.Build("IIO")
	require.NoError(t, err)
	return x, space
}

// rig returns a builder of a buffer over a memory that answers with a delay.
func rig(bytes int) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		x, space := build(t, e, bytes, inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5})
		return &memrig.Rig{
			Bench: memtest.Bench{Target: x, Peek: space.Read, Size: 1 << 20, Ends: true,
				Nowhere: []uint64{mem.Bus(3, 0)}}, Idle: x.Idle,
			Flow: func() memrig.Flow {
				s := x.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
			},
		}
	}
}

func TestKeepsTheProtocol(t *testing.T) {
	memrig.Contract(t, "small", rig(64))
	memrig.Contract(t, "large", rig(1<<20))
}

func TestConservation(t *testing.T) { memrig.Conserve(t, rig(256)) }

func TestNoAllocation(t *testing.T) { memrig.NoAllocation(t, 196, 0, rig(256)) }

// TestOnWrite checks that the next write calls the function once, before it counts, and that reads do not.
func TestOnWrite(t *testing.T) {
	e := simcore.NewEngine()
	x, _ := build(t, e, 128, inject.DelaySpec{Latency: 100 * ns})
	calls := 0
	x.OnWrite(func() {
		calls++
		require.Zero(t, x.Stats().WrittenBytes)
	})
	access := func(op mem.Op) {
		x.Access(&mem.Access{Op: op, Data: make([]byte, 64), Done: func(*mem.Access) {}})
	}
	access(mem.Read)
	require.Zero(t, calls)
	access(mem.Write)
	access(mem.Write)
	require.Equal(t, 1, calls)
	x.OnWrite(func() { calls++ })
	access(mem.Write)
	require.Equal(t, 2, calls)
	require.NoError(t, e.Run())
}

// TestOccupancy checks the integral of the occupancy, and the calls by which the buffer reports that it has room again.
func TestOccupancy(t *testing.T) {
	e := simcore.NewEngine()
	x, _ := build(t, e, 128, inject.DelaySpec{Latency: 100 * ns})
	var room, ends []simcore.Ps
	x.OnRoom(func() { room = append(room, e.Now()) })
	write := func(n int) {
		x.Access(&mem.Access{Op: mem.Write, Data: make([]byte, n), Done: func(*mem.Access) {
			ends = append(ends,
				e.Now())
		}})
	}
	write(64)
	require.False(t, x.Full())
	require.NoError(t, e.RunUntil(10*ns))
	write(64)
	require.True(t, x.Full())
	write(200) // longer than the buffer: must wait until the buffer is empty
	require.NoError(t, e.RunUntil(50*ns))
	require.Equal(t, iio.Stats{Inserts: 2, AcceptedBytes: 328, WrittenBytes: 328, Held: 328, Occupied: 128, Peak: 128,
		OccupiedPs: (64*10 + 128*40) * 1000, FullPs: 40 * ns}, x.Stats())
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{100 * ns, 110 * ns, 210 * ns}, ends)
	require.Equal(t, []simcore.Ps{210 * ns}, room)
	require.Equal(t, iio.Stats{Inserts: 3, AcceptedBytes: 328, FinishedBytes: 328, WrittenBytes: 328, Peak: 200,
		OccupiedPs: (64*10 + 128*90 + 64*10 + 200*100) * 1000, FullPs: 200 * ns}, x.Stats())
	require.True(t, x.Idle())
}

// A slow memory must fill the buffer, then the root's port, and then hold back the device. Nothing
// may be lost, and the device must get the rate that a buffer of that size allows.
func TestBackPressureReachesTheDevice(t *testing.T) {
	const tlps, bytes = 400, 256
	e := simcore.NewEngine()
	x, space := build(t, e, 4*bytes, inject.DelaySpec{Latency: simcore.Microsecond})
	pool := new(msg.TLPs)
	rc, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: x, TLPs: pool}.Build("Root")
	require.NoError(t, err)
	d := &device{ComponentBase: sim.NewComponentBase("Device"), t: t, e: e, pool: pool, left: tlps}
	d.port = simcore.NewPort(d, 8, "Device.PCIe")
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 10 * ns, Credits: 8}, d.port, rc.PCIe())
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	d.data = make([]byte, bytes*tlps)
	for i := range d.data {
		d.data[i] = byte(rng.Uint32())
	}
	d.send()
	require.NoError(t, e.RunUntil(500*ns))
	require.Equal(t, tlps-4-8, d.left, "four in the buffer, eight in the port")
	require.False(t, rc.Idle())
	require.NoError(t, e.Run())
	require.NoError(t, rc.Err())
	require.True(t, rc.Idle())
	require.Zero(t, d.left)
	got := make([]byte, len(d.data))
	require.NoError(t, space.Read(0x1000, got))
	require.Equal(t, d.data, got)
	require.InDelta(t, float64(tlps/4*simcore.Microsecond), float64(e.Now()), float64(2*simcore.Microsecond))
	require.Greater(t, x.Stats().FullPs, 90*simcore.Microsecond)
}

// device writes as fast as its link allows.
type device struct {
	*sim.ComponentBase
	t    *testing.T
	e    *simcore.Engine
	port *simcore.Port
	pool *msg.TLPs
	data []byte
	left int
}

func (d *device) Handle(sim.Event) error                  { return nil }
func (d *device) NotifyRecv(sim.VTimeInSec, sim.Port)     {}
func (d *device) NotifyPortFree(sim.VTimeInSec, sim.Port) { d.send() }

func (d *device) send() {
	const bytes = 256
	for d.left > 0 && d.port.CanSend() {
		at := len(d.data) - d.left*bytes
		p := d.pool.Get()
		own := p.Own(bytes)
		copy(own, d.data[at:])
		require.NoError(d.t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, 0x1000+uint64(at), own))
		p.Depart = d.e.Now()
		require.Nil(d.t, d.port.Send(p))
		d.left--
	}
}

func TestSpec(t *testing.T) {
	require.NoError(t, iio.DefaultSpec().Validate())
	_, err := iio.Builder{}.Build("IIO")
	for _, wantErr := range []string{"no scheduler", "no memory", "bytes 0: want 64 to 2^30"} {
		require.ErrorContains(t, err, wantErr)
	}
}
