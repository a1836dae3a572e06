package simcore

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// node is a ticking component that sends requests, answers those it receives, and waits at random,
// by a seed of its own. It uses Akita's interfaces only.
type node struct {
	*TickingComponent
	port    sim.Port
	rnd     *rand.Rand
	toSend  int
	answers []*testMsg // requests not answered yet
	log     []string
}

const answerBit = 1 << 20

func newNode(name string, s Scheduler, period Ps, seed int64, toSend, capacity int) *node {
	n := &node{rnd: rand.New(rand.NewSource(seed)), toSend: toSend}
	n.TickingComponent = NewTickingComponent(name, s, Freq{period}, n.tick)
	n.port = NewPort(n, capacity, name+".Port")
	return n
}

func (n *node) tick(now Ps) (bool, error) {
	dice := n.rnd.Intn(8)
	progress := false
	if n.port.Peek() != nil {
		progress = true // the node must not sleep while its port has a message, even if it leaves it there now
		if dice > 2 {
			m := n.port.Retrieve(now.Sec()).(*testMsg)
			n.log = append(n.log, fmt.Sprintf("%d got %d arrived %d", now, m.n, m.Arrive))
			if m.n&answerBit == 0 {
				n.answers = append(n.answers, m)
			}
		}
	}
	return n.trySend(now, dice) || progress, nil
}

func (n *node) trySend(now Ps, dice int) bool {
	if len(n.answers) == 0 && n.toSend == 0 {
		return false
	}
	if dice < 2 {
		return true
	}
	if !n.port.CanSend() {
		return false // NotifyPortFree must wake the node
	}
	var m *testMsg
	if len(n.answers) > 0 {
		m = n.answers[0]
		n.answers = n.answers[1:]
		m.n |= answerBit
	} else {
		n.toSend--
		m = newMsg(n.toSend, 20+37*dice, 0)
	}
	m.Depart = now
	if n.port.Send(m) != nil {
		panic("refused after CanSend")
	}
	n.log = append(n.log, fmt.Sprintf("%d sent %d", now, m.n))
	return true
}

type traced struct {
	at        Ps
	secondary bool
	name      string
	kind      int
}

type tracer struct{ events []traced }

func (r *tracer) Func(ctx sim.HookCtx) {
	if ctx.Pos == sim.HookPosBeforeEvent {
		ev := ctx.Item.(*Event)
		r.events = append(r.events, traced{ev.At, ev.Secondary, handlerName(ev.H), ev.Kind})
	}
}

// canonical sorts the events of each phase of each instant: in Akita's engine their order is
// arbitrary.
func (r *tracer) canonical() []traced {
	phase := func(a, b traced) bool { return a.at == b.at && a.secondary == b.secondary }
	for i := 0; i < len(r.events); {
		j := i + 1
		for j < len(r.events) && phase(r.events[i], r.events[j]) {
			j++
		}
		slices.SortFunc(r.events[i:j], func(a, b traced) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
		})
		i = j
	}
	return r.events
}

type boardSpec struct {
	link             LinkSpec
	periods          [2]Ps
	msgs, capacities [2]int
	seed             int64
}

type boardRun struct {
	logs   [2][]string
	events []traced
}

func runBoard(t require.TestingT, e sim.Engine, spec boardSpec) boardRun {
	r := &tracer{}
	e.AcceptHook(r)
	a := newNode("A", e, spec.periods[0], spec.seed, spec.msgs[0], spec.capacities[0])
	b := newNode("B", e, spec.periods[1], spec.seed+1, spec.msgs[1], spec.capacities[1])
	l, err := Connect("Link", e, spec.link, a.port, b.port)
	require.NoError(t, err)
	a.TickLater()
	b.TickLater()
	require.NoError(t, e.Run())
	require.Zero(t, l.InFlight())
	for i, n := range []*node{a, b} {
		require.Zero(t, n.toSend, "%s still has to send", n.Name())
		require.Empty(t, n.answers, "%s still has to answer", n.Name())
		require.Nil(t, n.port.Peek(), "%s has unread messages", n.Name())
		got := 2 * (spec.msgs[i] + spec.msgs[1-i]) // each message is a request and an answer
		require.Len(t, n.log, got, n.Name())
	}
	return boardRun{[2][]string{a.log, b.log}, r.canonical()}
}

func (s *shuffler) Pause()                                                  {}
func (s *shuffler) Continue()                                               {}
func (s *shuffler) RegisterSimulationEndHandler(h sim.SimulationEndHandler) {}
func (s *shuffler) Finished()                                               {}

// TestBoardIsTheSameOnEveryEngine: a board has the same events and component logs on our engine, on
// Akita's, and on one that breaks every tie at random.
func TestBoardIsTheSameOnEveryEngine(t *testing.T) {
	spec := boardSpec{
		link:    LinkSpec{Latency: 20_000, Rate: Gbps(50), Credits: 3, OverheadBytes: 24},
		periods: [2]Ps{2500, 2500}, msgs: [2]int{300, 200}, capacities: [2]int{3, 3}, seed: 7,
	}
	want := runBoard(t, NewEngine(), spec)
	require.NotEmpty(t, want.events)
	require.Equal(t, want, runBoard(t, sim.NewSerialEngine(), spec))
	for seed := range int64(5) {
		e := &shuffler{rnd: rand.New(rand.NewSource(seed))}
		require.Equal(t, want, runBoard(t, e, spec), "ties by seed %d", seed)
	}
}

// TestBoardProperty: boards with random links also have the same events and component logs on every
// engine, and lose no wake-up. The periods and latencies divide each other, so that many events have
// equal times.
func TestBoardProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		oneOf := func(label string, values ...Ps) Ps { return rapid.SampledFrom(values).Draw(t, label) }
		msgs, room := rapid.IntRange(0, 40), rapid.IntRange(1, 4)
		spec := boardSpec{
			link: LinkSpec{
				Latency:       oneOf("latency", 1, 100, 2500, 5000, 12_345),
				Rate:          rapid.SampledFrom([]Rate{{}, Gbps(400), {2, 25}, {3, 1000}}).Draw(t, "rate"),
				Credits:       rapid.IntRange(0, 6).Draw(t, "credits"),
				CreditLatency: oneOf("credit latency", 0, 100, 2500),
			},
			periods:    [2]Ps{oneOf("period A", 100, 2500), oneOf("period B", 100, 2500, 3333)},
			msgs:       [2]int{msgs.Draw(t, "msgs A"), msgs.Draw(t, "msgs B")},
			capacities: [2]int{room.Draw(t, "capacity A"), room.Draw(t, "capacity B")},
			seed:       rapid.Int64().Draw(t, "seed"),
		}
		want := runBoard(t, NewEngine(), spec)
		require.Equal(t, want, runBoard(t, sim.NewSerialEngine(), spec))
		e := &shuffler{rnd: rand.New(rand.NewSource(rapid.Int64().Draw(t, "ties")))}
		require.Equal(t, want, runBoard(t, e, spec))
	})
}

// TestStockBoardOnOurEngine: Akita's own components behave on our engine as on Akita's.
func TestStockBoardOnOurEngine(t *testing.T) {
	run := func(e sim.Engine) (got []string) {
		a, b := &stockEnd{left: 20}, &stockEnd{}
		a.TickingComponent = sim.NewTickingComponent("A", e, sim.GHz, a)
		b.TickingComponent = sim.NewTickingComponent("B", e, sim.GHz, b)
		a.port, b.port = sim.NewLimitNumMsgPort(a, 2, "A.Port"), sim.NewLimitNumMsgPort(b, 2, "B.Port")
		a.peer, b.peer = b.port, a.port
		c := sim.NewDirectConnection("Connection", e, sim.GHz)
		c.PlugIn(a.port, 2)
		c.PlugIn(b.port, 2)
		a.TickLater(0)
		require.NoError(t, e.Run())
		return append(a.log, b.log...)
	}
	want := run(sim.NewSerialEngine())
	require.Len(t, want, 20)
	require.Equal(t, want, run(NewEngine()))
}

type stockEnd struct {
	*sim.TickingComponent
	port, peer sim.Port
	left       int
	log        []string
}

func (s *stockEnd) Tick(now sim.VTimeInSec) bool {
	progress := false
	if m := s.port.Retrieve(now); m != nil {
		s.log = append(s.log, fmt.Sprintf("%s got %d at %d", s.Name(), m.(*testMsg).n, FromSec(now)))
		progress = true
	}
	if s.left > 0 && s.port.CanSend() {
		m := newMsg(s.left, 1, 0)
		m.Src, m.Dst, m.SendTime = s.port, s.peer, now
		s.port.Send(m)
		s.left--
		progress = true
	}
	return progress
}
