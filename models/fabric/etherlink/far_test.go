package etherlink

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// burst is a device that sends frames as fast as its link allows, and takes received frames after a
// delay.
type burst struct {
	*sim.ComponentBase
	e      *simcore.Engine
	pool   *msg.Frames
	port   *simcore.Port
	left   int
	seen   []simcore.Ps // time of each frame sent; time, arrival, number and length of each frame received
	taking simcore.Event
}

func newBurst(name string, e *simcore.Engine, pool *msg.Frames, frames int) *burst {
	b := &burst{ComponentBase: sim.NewComponentBase(name), e: e, pool: pool, left: frames}
	b.port = simcore.NewPort(b, 2, name+".Eth")
	b.taking.H = b
	return b
}

func (b *burst) send() {
	for b.left > 0 && b.port.CanSend() {
		f := b.pool.Get(60 + 13*b.left)
		f.Seq, f.Depart = uint64(b.left), b.e.Now()
		b.seen = append(b.seen, b.e.Now())
		b.left--
		b.port.Send(f)
	}
}

func (b *burst) NotifyRecv(sim.VTimeInSec, sim.Port) {
	if !b.taking.Pending() {
		b.taking.At = b.e.Now() + 41*simcore.Nanosecond
		b.e.Schedule(&b.taking)
	}
}
func (b *burst) NotifyPortFree(sim.VTimeInSec, sim.Port) { b.send() }

// Handle takes a frame.
func (b *burst) Handle(sim.Event) error {
	f := b.port.Retrieve(b.e.CurrentTime()).(*msg.Frame)
	b.seen = append(b.seen, b.e.Now(), f.Arrive, simcore.Ps(f.Seq), simcore.Ps(len(f.Data)))
	b.pool.Put(f)
	if b.port.Len() > 0 {
		b.NotifyRecv(0, nil)
	}
	return nil
}

// box is an Outbox that collects a half's frames and credits until the quantum ends.
type box struct{ list []func(*Far) error }

func (x *box) Frame(_ int, f *msg.Frame, depart simcore.Ps) error {
	e, seq := ether.Frame{Data: append([]byte(nil), f.Data...)}, f.Seq
	x.list = append(x.list, func(to *Far) error { return to.Deliver(&e, seq, depart) })
	return nil
}

func (x *box) Credit(_ int, usable simcore.Ps) error {
	x.list = append(x.list, func(to *Far) error { return to.Credit(usable) })
	return nil
}

// Two halves of a cable must give the same times as the whole cable, also while credits are
// exhausted, for any quantum that the latency allows.
func TestHalvesOfACable(t *testing.T) {
	link := simcore.LinkSpec{Latency: 300 * simcore.Nanosecond, CreditLatency: 300 * simcore.Nanosecond,
		Rate: simcore.Gbps(100), OverheadBytes: ether.WireOverhead, Credits: 5, ReverseCredits: 3}
	const frames, end = 60, 60 * simcore.Microsecond
	e, pool := simcore.NewEngine(), new(msg.Frames)
	whole := [2]*burst{newBurst("A", e, pool, frames), newBurst("B", e, pool, frames)}
	_, err := simcore.Connect("Cable", e, link, whole[0].port, whole[1].port)
	require.NoError(t, err)
	whole[0].send()
	whole[1].send()
	require.NoError(t, e.RunUntil(end))
	for _, quantum := range []simcore.Ps{300 * simcore.Nanosecond, 100 * simcore.Nanosecond, 77_777} {
		var half [2]*burst
		var fars [2]*Far
		var boxes [2]box
		for i, name := range []string{"A", "B"} {
			e, pool := simcore.NewEngine(), new(msg.Frames)
			half[i] = newBurst(name, e, pool, frames)
			fars[i], err = ConnectFar("Far", e, pool, FarSpec{Link: link, Second: i == 1}, half[i].port, &boxes[i])
			require.NoError(t, err)
			half[i].send()
		}
		for at := quantum; at < end+quantum; at += quantum {
			for i := range half {
				require.NoError(t, half[i].e.RunUntil(min(at, end)))
			}
			for i := range boxes {
				for _, deliver := range boxes[i].list {
					require.NoError(t, deliver(fars[1-i]))
				}
				boxes[i].list = nil
			}
		}
		for i := range half {
			require.NoError(t, fars[i].Err())
			require.Zero(t, half[i].left)
			require.Equal(t, whole[i].seen, half[i].seen, "%v of %v", half[i].Name(), quantum)
		}
	}
}

func TestFarRefuses(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	b := newBurst("A", e, pool, 1)
	link := simcore.LinkSpec{Latency: 10, Credits: 1}
	_, err := ConnectFar("Far", e, pool, FarSpec{}, b.port, &box{})
	require.ErrorContains(t, err, "credits 0: want a number")
	f, err := ConnectFar("Far", e, pool, FarSpec{Link: link}, b.port, &box{})
	require.NoError(t, err)
	_, err = ConnectFar("Other", e, pool, FarSpec{Link: link}, b.port, &box{})
	require.ErrorContains(t, err, "plugged in already")
	require.NoError(t, e.RunUntil(100))
	x := ether.Frame{Data: make([]byte, 60)}
	require.ErrorContains(t, f.Deliver(&x, 0, 89), "departed at 89 ps is reported at 100 ps: want it within the "+
		"latency of 10 ps")
	require.NoError(t, f.Deliver(&x, 0, 90))
	require.ErrorContains(t, f.Deliver(&x, 0, 91), "has no credit: the other half sends more than 1")
	require.ErrorContains(t, f.Credit(100), "a credit for 100 ps is reported at 100 ps")
	require.ErrorContains(t, f.Credit(200), "more credits return than frames were sent")
}
