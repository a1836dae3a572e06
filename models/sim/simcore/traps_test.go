package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In each of these cases, Akita's own ports and connection once lost a message, hung, or went wrong
// silently.

// TestSendAfterTheLinkWorkedAtThisTime: a message may be sent at a time at which the link has
// already delivered others.
func TestSendAfterTheLinkWorkedAtThisTime(t *testing.T) {
	for name, e := range bothEngines() {
		p := newPair(t, e, LinkSpec{}, 8)
		p.drain()
		again := 0
		drain := p.cb.recv
		p.cb.recv = func(now sim.VTimeInSec, port sim.Port) {
			drain(now, port)
			if again++; again <= 3 { // sent from within the delivery
				require.Nil(t, p.a.Send(newMsg(again, 1, Now(e))))
			}
		}
		late := &Event{At: 100, Secondary: true, H: handlerFunc(func(sim.Event) error {
			require.Nil(t, p.a.Send(newMsg(9, 1, 100)))
			return nil
		})}
		at(e, 100, func() {
			require.Nil(t, p.a.Send(newMsg(0, 1, 100)))
			e.Schedule(late) // after the delivery, still at 100
		})
		runWithin(t, e)
		var got []int
		for _, a := range p.arrivals {
			assert.Equal(t, Ps(100), a.at, name)
			got = append(got, a.n)
		}
		assert.ElementsMatch(t, []int{0, 1, 2, 3, 9}, got, name)
	}
}

// TestRetrieveAtTheTimeOfARefusal: the buffer gets room at the very time at which it refused a
// delivery.
func TestRetrieveAtTheTimeOfARefusal(t *testing.T) {
	for name, e := range bothEngines() {
		p := newPair(t, e, LinkSpec{Latency: 10, Credits: 2}, 1)
		require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
		require.Nil(t, p.a.Send(newMsg(1, 1, 0)))
		var got []int
		take := func(sim.Event) error {
			if m := p.b.Retrieve(Now(e).Sec()); m != nil {
				got = append(got, m.(*testMsg).n)
			}
			return nil
		}
		at(e, 1, func() {
			e.Schedule(&Event{At: 10, Secondary: true, H: handlerFunc(take)})
		})
		at(e, 11, func() { _ = take(nil) })
		at(e, 12, func() { _ = take(nil) })
		runWithin(t, e)
		assert.Equal(t, []int{0, 1}, got, name)
	}
}

// TestSendInsideNotifyPortFree: a sender sends inside NotifyPortFree, and is refused again.
func TestSendInsideNotifyPortFree(t *testing.T) {
	for name, e := range bothEngines() {
		p := newPair(t, e, LinkSpec{Latency: 10, Credits: 2}, 2)
		next := 0
		push := func(sim.VTimeInSec, sim.Port) {
			for next < 50 && p.a.SendAt(newMsg(next, 1, 0), Now(e)) == nil {
				next++
			}
		}
		p.ca.free = push
		p.drain()
		push(0, nil)
		runWithin(t, e)
		assert.Len(t, p.arrivals, 50, name)
	}
}

// TestRefusedAtTheTimeOfTheRetrieval: a sender is refused at the time of the retrieval that frees a
// credit, just before it or just after.
func TestRefusedAtTheTimeOfTheRetrieval(t *testing.T) {
	for _, senderFirst := range []bool{true, false} {
		e := NewEngine()
		p := newPair(t, e, LinkSpec{Credits: 1}, 1)
		require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
		freed := []Ps(nil)
		p.ca.free = func(sim.VTimeInSec, sim.Port) { freed = append(freed, e.Now()) }
		try := func() { assert.False(t, p.a.CanSend()) }
		take := func() { assert.NotNil(t, p.b.Retrieve(0)) }
		if senderFirst {
			at(e, 100, try)
			at(e, 100, take)
		} else {
			at(e, 100, take)
			at(e, 100, try)
		}
		runWithin(t, e)
		assert.Equal(t, []Ps{101}, freed, "sender first: %v", senderFirst)
	}
}

// TestReplyFromNotifyRecv: two components reply to each other from within NotifyRecv.
func TestReplyFromNotifyRecv(t *testing.T) {
	for name, e := range bothEngines() {
		p := newPair(t, e, LinkSpec{Latency: 10, Credits: 1}, 1)
		count := 0
		reply := func(now sim.VTimeInSec, port sim.Port) {
			m := port.Retrieve(now).(*testMsg)
			if count++; count < 100 {
				require.Nil(t, port.(*Port).SendAt(m, Now(e)))
			}
		}
		p.ca.recv, p.cb.recv = reply, reply
		require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
		runWithin(t, e)
		assert.Equal(t, 100, count, name)
		assert.Equal(t, Ps(1000), Now(e), name)
	}
}

type hookFunc func(sim.HookCtx)

func (f hookFunc) Func(ctx sim.HookCtx) { f(ctx) }

// TestPortHookMayUseThePort: a hook on a port may call the port's methods.
func TestPortHookMayUseThePort(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{}, 2)
	seen := map[*sim.HookPos]int{}
	hook := hookFunc(func(ctx sim.HookCtx) {
		port := ctx.Domain.(*Port)
		port.Peek()
		port.CanSend()
		seen[ctx.Pos]++
	})
	p.a.AcceptHook(hook)
	p.b.AcceptHook(hook)
	require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
	runWithin(t, e)
	require.NotNil(t, p.b.Retrieve(0))
	assert.Len(t, seen, 3)
}

// countingConn counts the notifications of a port.
type countingConn struct {
	sim.Connection
	notified int
}

func (c *countingConn) NotifyAvailable(sim.VTimeInSec, sim.Port) { c.notified++ }

// TestPortNotifiesOncePerRefusal: after a refusal the port notifies its connection once when it has
// room.
func TestPortNotifiesOncePerRefusal(t *testing.T) {
	c := &countingConn{}
	p := NewPort(newStub("A"), 2, "A.Port")
	p.SetConnection(c)
	for i, want := range []bool{true, true, false, false} {
		assert.Equal(t, want, p.Recv(newMsg(i, 1, 0)) == nil)
	}
	p.Retrieve(0)
	p.Retrieve(0)
	assert.Nil(t, p.Retrieve(0))
	assert.Equal(t, 1, c.notified)
}

func TestPluggingMistakesPanic(t *testing.T) {
	e := NewEngine()
	spec := LinkSpec{}
	link := func() *Link {
		l, err := NewLink("Link", e, spec)
		require.NoError(t, err)
		return l
	}
	port := func(name string) *Port { return NewPort(newStub(name), 1, name+".Port") }
	a, b, c := port("A"), port("B"), port("C")
	l := link()
	assert.Panics(t, func() { l.PlugIn(nil, 0) }, "no port")
	l.PlugIn(a, 0)
	assert.PanicsWithValue(t, "simcore: link Link: port A.Port is plugged in already",
		func() { l.PlugIn(a, 0) })
	assert.Panics(t, func() { a.CanSend() }, "the far end is missing")
	l.PlugIn(b, 0)
	assert.PanicsWithValue(t, "simcore: link Link joins A.Port and B.Port already: no room for C.Port",
		func() { l.PlugIn(c, 0) })
	assert.Panics(t, func() { link().PlugIn(a, 0) }, "on another link")
	assert.Panics(t, func() { a.SetConnection(link()) })
	assert.Panics(t, func() { l.Unplug(c) })

	stock := sim.NewLimitNumMsgPort(newStub("D"), 1, "D.Port")
	l2 := link()
	l2.PlugIn(stock, 0)
	assert.PanicsWithValue(t, "simcore: link Link: port D.Port is a *sim.LimitNumMsgPort, "+
		"whose capacity is unknown: set credits", func() { l2.PlugIn(c, 0) })

	require.Nil(t, a.Send(newMsg(0, 1, 0)))
	assert.Panics(t, func() { l.Unplug(a) }, "in use")
	runWithin(t, e)
	b.Retrieve(0)
	l.Unplug(a)
	l3 := link()
	l3.PlugIn(b, 0)
	l3.PlugIn(a, 0)
	require.Nil(t, b.Send(newMsg(0, 1, 0)))
	runWithin(t, e)
	assert.Equal(t, 1, a.Len())

	assert.Panics(t, func() { NewPort(nil, 0, "A") }, "capacity")
	assert.Panics(t, func() { NewPort(nil, 1, "no capital") }, "name")
}
