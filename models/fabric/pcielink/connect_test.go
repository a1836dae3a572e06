package pcielink

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// A port with less room than there are credits fills up; TLPs that wait in front of it must arrive
// once it has room.
func TestSmallPort(t *testing.T) {
	e := simcore.NewEngine()
	r := &rig{t: t, e: e, a: newEnd(e, "A", 4, false), b: newEnd(e, "B", 4, false)}
	var err error
	r.l, err = Builder{Scheduler: e, Spec: quiet(4)}.Build("Link")
	require.NoError(t, err)
	require.NoError(t, r.l.Connect(r.a.port, r.b.port))
	r.b.hold = true
	for range 10 {
		r.send(r.a, r.tlp(tlp.MWr, 64, 0))
		require.NoError(t, e.RunUntil(e.Now()+10_000))
	}
	r.run()
	require.Equal(t, 4, r.b.port.Len())
	require.EqualValues(t, 10, r.l.Held(0).TLPs)
	r.b.hold = false
	r.b.drain(e.CurrentTime())
	r.run()
	require.Len(t, r.b.got, 10)
	require.IsIncreasing(t, r.b.order())
}

// A sender that was refused because too much waited for the wire must be notified at exactly the
// picosecond when there is room.
func TestRefusedSenderIsNotified(t *testing.T) {
	r := newRig(t, quiet(4), false)
	n := 0
	for r.a.port.CanSend() {
		r.send(r.a, r.tlp(tlp.MWr, 256, 0))
		n++
	}
	require.Equal(t, 8, n, "2,048 B before the wire, and one that may exceed it")
	require.False(t, r.l.Room(r.a.port, tlp.Completion, 0))
	lead := simcore.Ps(n*8750 - 64_000)
	require.True(t, r.l.Room(r.a.port, tlp.Completion, lead), "to depart later")
	require.NoError(t, r.e.RunUntil(lead-1))
	require.Zero(t, r.a.freed)
	require.False(t, r.a.port.CanSend())
	require.NoError(t, r.e.RunUntil(lead))
	require.Equal(t, 1, r.a.freed)
	require.True(t, r.a.port.CanSend())
	r.run()
}

// A refused sender whose TLP departs later than now must be notified once, not repeatedly until
// then.
func TestLateDepartureIsNotifiedOnce(t *testing.T) {
	r := newRig(t, quiet(4), false)
	const n = 8
	for range n {
		r.send(r.a, r.tlp(tlp.MWr, 256, 0))
	}
	lead := simcore.Ps(n*8750 - 64_000)
	require.False(t, r.l.Room(r.a.port, tlp.Completion, lead-1))
	require.NoError(t, r.e.RunUntil(lead-1))
	require.Zero(t, r.a.freed)
	r.run()
	require.Equal(t, 1, r.a.freed)
}

// ahead is a component that runs ahead of the engine.
type ahead struct{ *end }

func (ahead) LookAhead() bool { return true }

func TestConnectRefuses(t *testing.T) {
	e := simcore.NewEngine()
	r := newRig(t, Default(4), false)
	l, err := Builder{Scheduler: e, Spec: Default(4)}.Build("Other")
	require.NoError(t, err)
	free := newEnd(e, "C", 4, false)
	early := simcore.NewPort(ahead{free}, 4, "C.Early")
	foreign := sim.NewLimitNumMsgPort(free, 4, "C.Foreign")
	require.ErrorContains(t, l.Connect(r.a.port, free.port), "end 0: port A.Port is plugged in already")
	require.ErrorContains(t, l.Connect(free.port, early), "end 1: port C.Early belongs to C, which runs ahead of the "+
		"engine: it needs a simcore.Link")
	require.ErrorContains(t, l.Connect(free.port, foreign), "want a *simcore.Port")
	require.ErrorContains(t, l.Connect(free.port, free.port), "both ends are port C.Port")
	require.Panics(t, func() { r.l.PlugIn(free.port, 0) })
	require.Panics(t, func() { l.PlugIn(early, 0) })
	r.send(r.a, r.tlp(tlp.MRd, 64, 0))
	require.Panics(t, func() { r.l.Unplug(r.a.port) })
	r.run()
	r.l.Unplug(r.a.port)
	require.NoError(t, l.Connect(r.a.port, free.port))
}
