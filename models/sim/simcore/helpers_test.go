package simcore

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
)

type handlerFunc func(sim.Event) error

func (f handlerFunc) Handle(e sim.Event) error { return f(e) }

func bothEngines() map[string]sim.Engine {
	return map[string]sim.Engine{"own": NewEngine(), "akita": sim.NewSerialEngine()}
}

// shuffler is an engine that breaks ties at random. A result that is the same for every seed does
// not depend on the order of ties.
type shuffler struct {
	sim.HookableBase
	now    Ps
	rnd    *rand.Rand
	events []sim.Event
}

func (s *shuffler) CurrentTime() sim.VTimeInSec { return s.now.Sec() }

func (s *shuffler) Schedule(e sim.Event) {
	if FromSec(e.Time()) < s.now {
		panic(fmt.Sprintf("event in the past: %v", e))
	}
	s.events = append(s.events, e)
}

func (s *shuffler) Run() error {
	for len(s.events) > 0 {
		s.rnd.Shuffle(len(s.events), func(i, j int) {
			s.events[i], s.events[j] = s.events[j], s.events[i]
		})
		first := 0
		for i, e := range s.events {
			f := s.events[first]
			if e.Time() < f.Time() || e.Time() == f.Time() && !e.IsSecondary() && f.IsSecondary() {
				first = i
			}
		}
		e := s.events[first]
		s.events = append(s.events[:first], s.events[first+1:]...)
		s.now = FromSec(e.Time())
		for _, h := range s.Hooks() {
			h.Func(sim.HookCtx{Domain: s, Pos: sim.HookPosBeforeEvent, Item: e})
		}
		if err := e.Handler().Handle(e); err != nil {
			return err
		}
	}
	return nil
}

// testMsg is a message that embeds Msg, as all messages of the models do.
type testMsg struct {
	Msg
	n int
}

func newMsg(n, bytes int, depart Ps) *testMsg {
	m := &testMsg{n: n}
	m.TrafficBytes, m.Depart = bytes, depart
	return m
}

// stubComp is a component whose notifications call functions set by a test.
type stubComp struct {
	*sim.ComponentBase
	recv, free func(now sim.VTimeInSec, p sim.Port)
	early      bool
}

func newStub(name string) *stubComp {
	return &stubComp{ComponentBase: sim.NewComponentBase(name)}
}

func (c *stubComp) Handle(sim.Event) error { return nil }

func (c *stubComp) LookAhead() bool { return c.early }

func (c *stubComp) NotifyRecv(now sim.VTimeInSec, p sim.Port) {
	if c.recv != nil {
		c.recv(now, p)
	}
}

func (c *stubComp) NotifyPortFree(now sim.VTimeInSec, p sim.Port) {
	if c.free != nil {
		c.free(now, p)
	}
}

// pair is two components joined by a link.
type pair struct {
	s        Scheduler
	l        *Link
	ca, cb   *stubComp
	a, b     *Port
	arrivals []arrival // messages received at b, once drain was called
}

type arrival struct {
	n              int
	at             Ps // time of delivery
	depart, arrive Ps
}

func newPair(t require.TestingT, s Scheduler, spec LinkSpec, capacity int) *pair {
	p := &pair{s: s, ca: newStub("A"), cb: newStub("B")}
	p.a, p.b = NewPort(p.ca, capacity, "A.Port"), NewPort(p.cb, capacity, "B.Port")
	var err error
	p.l, err = Connect("Link", s, spec, p.a, p.b)
	require.NoError(t, err)
	return p
}

// drain lets B retrieve every message when it is notified.
func (p *pair) drain() {
	p.cb.recv = func(now sim.VTimeInSec, port sim.Port) {
		m := port.Retrieve(now).(*testMsg)
		p.arrivals = append(p.arrivals, arrival{m.n, Now(p.s), m.Depart, m.Arrive})
	}
}

// at runs f at a time, as a primary event.
func at(s Scheduler, when Ps, f func()) {
	s.Schedule(&Event{At: when, H: handlerFunc(func(sim.Event) error {
		f()
		return nil
	})})
}

func runWithin(t *testing.T, e sim.Engine) {
	t.Helper()
	require.NoError(t, e.Run())
}
