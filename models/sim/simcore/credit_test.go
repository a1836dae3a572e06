package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
)

// aheadComp is a component that runs ahead of the engine's time and tracks its credits itself.
type aheadComp struct {
	stubComp
	usable []Ps
}

func (c *aheadComp) LookAhead() bool { return true }
func (c *aheadComp) CreditReturned(_ *Port, usable Ps) {
	c.usable = append(c.usable, usable)
}

// TestEarlySender: the link notifies a component that runs ahead of each credit when it is
// returned, with the time from which it may be used. The component may at once send a message with
// that time, or a later one, as its departure.
func TestEarlySender(t *testing.T) {
	e := NewEngine()
	src := &aheadComp{stubComp: stubComp{ComponentBase: sim.NewComponentBase("Ahead")}}
	dst := newStub("Far")
	a, b := NewPort(src, 4, "Ahead.Port"), NewPort(dst, 8, "Far.Port")
	_, err := Connect("Link", e, LinkSpec{Latency: 100, Credits: 7, ReverseCredits: 2, CreditLatency: 150}, b, a)
	require.NoError(t, err)
	credits, latency, ok := a.Window()
	require.True(t, ok)
	require.Equal(t, 2, credits)
	require.Equal(t, Ps(150), latency)
	credits, _, _ = b.Window()
	require.Equal(t, 4, credits, "what runs ahead has room for so many")
	_, _, ok = NewPort(src, 1, "Ahead.Other").Window()
	require.False(t, ok)

	send := func(n int, depart Ps) bool { return a.Send(newMsg(n, 8, depart)) == nil }
	at(e, 50, func() {
		require.True(t, send(0, 0))
		require.True(t, send(1, 20))
		require.False(t, send(2, 20), "no credit is back")
	})
	at(e, 200, func() {
		b.Retrieve(e.CurrentTime())
		require.Equal(t, []Ps{350}, src.usable)
		require.False(t, send(2, 349))
		require.True(t, send(2, 350), "the credit counts by then")
		require.False(t, send(3, 351))
		b.Retrieve(e.CurrentTime())
		require.Equal(t, []Ps{350, 350}, src.usable)
		require.True(t, send(3, 351))
	})
	runWithin(t, e)
	require.Equal(t, 2, b.Len())
}

// TestEarlySenderToEarlyReceiver: between two components that run ahead, credits delay nothing.
func TestEarlySenderToEarlyReceiver(t *testing.T) {
	e := NewEngine()
	src, dst := &aheadComp{stubComp: stubComp{ComponentBase: sim.NewComponentBase("Ahead")}},
		&aheadComp{stubComp: stubComp{ComponentBase: sim.NewComponentBase("Far")}}
	a, b := NewPort(src, 2, "Ahead.Port"), NewPort(dst, 2, "Far.Port")
	_, err := Connect("Link", e, LinkSpec{Latency: 100, Credits: 2, CreditLatency: 100}, a, b)
	require.NoError(t, err)
	credits, _, ok := a.Window()
	require.True(t, ok)
	require.Zero(t, credits)
	at(e, 50, func() {
		for i := range 5 {
			require.Nil(t, a.Send(newMsg(i, 8, Ps(i))))
			require.NotNil(t, b.Retrieve(e.CurrentTime()))
		}
	})
	runWithin(t, e)
	require.Empty(t, src.usable)
}
