package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
)

// watcher is a connection that records the messages taken out of its ports.
type watcher struct {
	sim.HookableBase
	taken []sim.Msg
}

func (w *watcher) CanSend(sim.Port) bool                    { return true }
func (w *watcher) Send(sim.Msg) *sim.SendError              { return nil }
func (w *watcher) PlugIn(p sim.Port, _ int)                 { p.SetConnection(w) }
func (w *watcher) Unplug(p sim.Port)                        { p.SetConnection(nil) }
func (w *watcher) NotifyAvailable(sim.VTimeInSec, sim.Port) {}
func (w *watcher) Retrieved(_ *Port, m sim.Msg)             { w.taken = append(w.taken, m) }

// TestRetrievalWatcher: a RetrievalWatcher is notified of every message that leaves a port while it
// is plugged in.
func TestRetrievalWatcher(t *testing.T) {
	w, p := new(watcher), NewPort(nil, 4, "Port")
	msgs := []*Msg{{}, {}, {}}
	for _, m := range msgs {
		require.Nil(t, p.Recv(m))
	}
	require.Nil(t, p.Connection())
	p.Retrieve(0)
	require.Empty(t, w.taken)
	w.PlugIn(p, 0)
	require.Same(t, w, p.Connection())
	require.Same(t, msgs[1], p.At(0))
	require.Same(t, msgs[2], p.At(1))
	p.Retrieve(0)
	require.Equal(t, []sim.Msg{msgs[1]}, w.taken)
	w.Unplug(p)
	p.Retrieve(0)
	require.Len(t, w.taken, 1)
}

// TestClock: a Clock gives the same times on our engine and on Akita's.
func TestClock(t *testing.T) {
	for _, e := range []sim.Engine{NewEngine(), sim.NewSerialEngine()} {
		c := NewClock(e)
		ev := &Event{At: 12_345, H: handlerFunc(func(sim.Event) error {
			require.Equal(t, Ps(12_345), c.Now())
			require.Equal(t, Ps(12_345).Sec(), c.Sec())
			return nil
		})}
		c.Schedule(ev)
		require.NoError(t, e.Run())
		require.Equal(t, Ps(12_345), c.Now())
	}
}
