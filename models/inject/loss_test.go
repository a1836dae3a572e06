package inject_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

// end is one end of a cable: it sends numbered frames and records those that it receives.
type end struct {
	*sim.ComponentBase
	port   *simcore.Port
	frames *msg.Frames
	got    []uint32
	bytes  uint64
	shut   bool // the end receives nothing, so that its port fills up
}

func newEnd(name string, p *msg.Frames) *end {
	d := &end{ComponentBase: sim.NewComponentBase(name), frames: p}
	d.port = simcore.NewPort(d, 16, name+".Eth")
	return d
}

func (d *end) Handle(sim.Event) error                       { return nil }
func (d *end) NotifyPortFree(sim.VTimeInSec, sim.Port)      {}
func (d *end) NotifyRecv(now sim.VTimeInSec, port sim.Port) { d.drain(now) }

func (d *end) drain(now sim.VTimeInSec) {
	for !d.shut && d.port.Len() > 0 {
		f := d.port.Retrieve(now).(*msg.Frame)
		d.got, d.bytes = append(d.got, binary.BigEndian.Uint32(f.Data)), d.bytes+uint64(f.Bytes())
		d.frames.Put(f)
	}
}

// lossy is a cable with a Loss in the middle.
type lossy struct {
	loss     *inject.Loss
	from, to *end
	cables   [2]*simcore.Link
	sent     uint64 // bytes sent by the end `from`
}

func newLossy(t *testing.T, e sim.Engine, s inject.LossSpec) *lossy {
	pool := new(msg.Frames)
	l := &lossy{from: newEnd("A", pool), to: newEnd("B", pool)}
	var err error
	l.loss, err = inject.NewLoss("Loss", e, s, pool)
	require.NoError(t, err)
	cable := simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Rate: simcore.Gbps(100), Credits: 16}
	l.cables[0], err = simcore.Connect("Near", e, cable, l.from.port, l.loss.Device())
	require.NoError(t, err)
	l.cables[1], err = simcore.Connect("Far", e, simcore.LinkSpec{Latency: 10 * simcore.Nanosecond, Credits: 16},
		l.loss.Peer(), l.to.port)
	require.NoError(t, err)
	return l
}

// send sends a frame of n bytes that begins with its number, if the cable has room.
func (l *lossy) send(e sim.Engine, number uint32, n int) {
	if l.from.send(e, number, n) {
		l.sent += uint64(n)
	}
}

func (d *end) send(e sim.Engine, number uint32, n int) bool {
	if !d.port.CanSend() {
		return false
	}
	f := d.frames.Copy(binary.BigEndian.AppendUint32(make([]byte, 0, n), number)[:n])
	if d.port.SendAt(f, simcore.Now(e)) != nil {
		panic("refused")
	}
	return true
}

// Each direction loses frames independently of the other, with the same probability.
func TestLossOfEitherDirection(t *testing.T) {
	e := simcore.NewEngine()
	l := newLossy(t, e, inject.LossSpec{Share: 0.2, Seed: 5})
	for i := range uint32(300) {
		require.True(t, l.from.send(e, i, 64) && l.to.send(e, i, 64))
		require.NoError(t, e.Run())
	}
	require.NotEqual(t, l.from.got, l.to.got)
	for _, d := range []inject.Direction{inject.FromDevice, inject.ToDevice} {
		require.InDelta(t, 60, float64(l.loss.Count(d).Lost), 30, "%v", d)
	}
}

// No frame appears or vanishes: bytes sent are bytes received, lost or held, also while the far end receives
// nothing. Frames keep their order, and Akita's engine loses the same ones.
func TestLossConserves(t *testing.T) {
	spec := inject.LossSpec{Share: 0.2, Seed: 5}
	own := simcore.NewEngine()
	l := newLossy(t, own, spec)
	for i := range uint32(2000) {
		l.to.shut = i%100 > 50
		l.to.drain(own.CurrentTime())
		l.send(own, i, 64+int(i%700))
		require.NoError(t, own.RunUntil(own.Now()+simcore.Ps(20+i%60)*simcore.Nanosecond))
		c := l.loss.Count(inject.FromDevice)
		held := l.loss.Held(inject.FromDevice) + l.cables[1].InFlight() + l.to.port.Len()
		require.EqualValues(t, c.In, c.Lost+uint64(len(l.to.got)+held)-uint64(l.loss.Device().Len()))
	}
	l.to.shut = false
	l.to.drain(own.CurrentTime())
	require.NoError(t, own.Run())
	c := l.loss.Count(inject.FromDevice)
	require.Equal(t, l.sent, c.InBytes)
	require.Equal(t, c.InBytes, c.LostBytes+l.to.bytes)
	require.EqualValues(t, c.In, c.Lost+uint64(len(l.to.got)))
	require.IsIncreasing(t, l.to.got)
	require.InDelta(t, 0.2, float64(c.Lost)/float64(c.In), 0.03)
	require.Equal(t, inject.LossCount{}, l.loss.Count(inject.ToDevice))
	require.True(t, l.loss.Idle())
	require.NoError(t, l.loss.Err())

	play := func(e sim.Engine, s inject.LossSpec) []uint32 {
		l := newLossy(t, e, s)
		for i := range uint32(300) {
			l.send(e, i, 64)
			require.NoError(t, e.(interface{ Run() error }).Run())
		}
		return l.to.got
	}
	want := play(simcore.NewEngine(), spec)
	require.Equal(t, want, play(sim.NewSerialEngine(), spec))
	require.NotEqual(t, want, play(simcore.NewEngine(), inject.LossSpec{Share: 0.2, Seed: 6}))
	require.Len(t, play(simcore.NewEngine(), inject.LossSpec{}), 300)
}

func TestLossSpec(t *testing.T) {
	for _, share := range []float64{-0.1, 1, math.NaN(), math.Inf(1)} {
		_, err := inject.NewLoss("Loss", simcore.NewEngine(), inject.LossSpec{Share: share}, new(msg.Frames))
		require.ErrorContains(t, err, "Loss: share ")
	}
	_, err := inject.NewLoss("Loss", nil, inject.LossSpec{}, nil)
	require.ErrorContains(t, err, "want a scheduler and a pool of frames")
}

// A message that is not a frame is an error, not a lost frame.
func TestLossTakesFramesOnly(t *testing.T) {
	e := simcore.NewEngine()
	l := newLossy(t, e, inject.LossSpec{})
	require.Nil(t, l.from.port.Send(new(msg.TLP)))
	require.NoError(t, e.Run())
	require.ErrorContains(t, l.loss.Err(), "a *msg.TLP from the device: want frames")
	require.Zero(t, l.loss.Count(inject.FromDevice).In)
}

func TestLossAllocatesNothing(t *testing.T) {
	e := simcore.NewEngine()
	l := newLossy(t, e, inject.LossSpec{Share: 0.2, Seed: 5})
	l.to.got = make([]uint32, 0, 1<<16)
	body := make([]byte, 200)
	step := func() {
		for range 8 {
			f := l.from.frames.Copy(body)
			if l.from.port.SendAt(f, e.Now()) != nil {
				panic("refused")
			}
		}
		if err := e.Run(); err != nil {
			panic(err)
		}
	}
	step()
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
