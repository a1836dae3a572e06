package ref

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Reference is the user's function: it sets up the reference of one run.
type Reference func(p *Player)

// Offer is a transaction that the reference offers to an input.
type Offer struct {
	Stream     *Stream
	Delay      uint64 // cycles from now in which the transaction is not offered yet
	Side, Data []byte
	Answer     bool // offered before the transactions that were drawn for the stream
}

// Host drives the device, in the player's process or at the other end of a channel.
type Host interface {
	Offer(o Offer)
	Job() bool
	Now() uint64 // number of cycles that the device has run
	Observed(name string) (uint64, bool)
	Parameter(name string) (string, bool)
}

// Failure is a fault of the device. The first one ends a run.
type Failure struct {
	Stream   string // "": no particular stream
	N        uint64 // ordinal of the transaction on its stream
	Cycle    uint64
	Field    string
	Expected string
	Got      string
	Cause    uint64 // last cycle of the transaction that made this one expected; 0: not known
	Detail   string // further lines for the report; may be empty
}

func (f *Failure) Error() string {
	at := f.Field
	if f.Stream != "" {
		at = fmt.Sprintf("%s[%d] %s", f.Stream, f.N, f.Field)
	}
	s := fmt.Sprintf("cycle %d: %s: expected %s, got %s", f.Cycle, at, cmp.Or(f.Expected, `""`), cmp.Or(f.Got, `""`))
	if f.Detail != "" {
		s += "\n  " + f.Detail
	}
	return s
}

var _ error = (*Failure)(nil)

// Player is the interface of a run to its reference.
type Player struct {
	host    Host
	rand    *rand.Rand
	streams []*Stream
	by      map[string]*streamUse
	done    []func() bool
	resets  []func()
	end     []func()
	failed  *Failure
	plain   bool   // the run has no stalls, so latencies are checked
	cycle   uint64 // cycle of the last beat of the transaction that the reference got last
	first   uint64 // cycle of the first beat of the transaction that the reference got last
	longest int    // largest number of beats of a drawn burst
	made    int    // number of transactions and jobs counted against the limit that Bound sets
	most    int    // limit on transactions and jobs, set by Bound; 0: no limit
	same    int    // number of comparisons of memories
	watch   func(c Call)
}

// streamUse holds everything that the reference has registered for one stream.
type streamUse struct {
	of   *Stream
	on   []func(*Msg)
	draw func() (Fields, []byte)
	due  *due // expectations of an output; nil: the output is not compared
	axi  bool // channel of a port that Bursts, Registers or ServeAXI plays
	// carried says that captures provide the data of an input; Draw only draws its fields.
	carried bool
	tally
}

// Plays reports whether a stream is a channel of an AXI port that the reference plays. Its transactions come from the
// reference alone: none are drawn from the manifest's ranges.
func (p *Player) Plays(stream string) bool { return p.use(stream).axi }

// New returns the player of a run. The caller applies a manifest's declarations (Declare) before it calls the
// reference.
func New(h Host, r *rand.Rand, streams []*Stream, plain bool) *Player {
	p := &Player{host: h, rand: r, streams: streams, by: map[string]*streamUse{}, plain: plain}
	for _, s := range streams {
		p.by[s.Name] = &streamUse{of: s}
	}
	return p
}

func (p *Player) use(stream string) *streamUse {
	s, ok := p.by[stream]
	if !ok {
		var names []string
		for _, x := range p.streams {
			names = append(names, x.Name)
		}
		mistake("the device has no stream %q: it has %v", stream, names)
	}
	return s
}

func (p *Player) in(stream string) *streamUse {
	s := p.use(stream)
	if !s.of.In {
		mistake("stream %s is an output", stream)
	}
	return s
}

// Stream returns a stream by its name.
func (p *Player) Stream(name string) *Stream { return p.use(name).of }

// Streams returns all streams, in the order of the manifest.
func (p *Player) Streams() []*Stream { return p.streams }

// Rand returns the run's source of random numbers, the only one that a reference may use.
func (p *Player) Rand() *rand.Rand { return p.rand }

// Cycle returns the last cycle of the transaction that the reference got last. What the reference gives now is
// offered later.
func (p *Player) Cycle() uint64 { return p.cycle }

// Observed returns the value that an observed output had at the end of the latest exchange with the device.
func (p *Player) Observed(name string) uint64 {
	v, ok := p.host.Observed(name)
	if !ok {
		mistake("%q is not among the manifest's observe", name)
	}
	return v
}

// Parameter returns the value of a parameter that the device was built with; "" if the manifest
// does not set it.
func (p *Player) Parameter(name string) string {
	v, _ := p.host.Parameter(name)
	return v
}

// On registers f for the transactions of a stream: f is called when the device has taken the last beat of an input,
// or has given the last beat of an output.
func (p *Player) On(stream string, f func(m *Msg)) {
	s := p.use(stream)
	checkFunc(f != nil, "On", stream)
	s.looked = true
	p.subscribe(stream, f)
}

// subscribe does the same as On, for functions that serve the device: they do not count as checking the stream.
func (p *Player) subscribe(stream string, f func(m *Msg)) {
	s := p.use(stream)
	s.on = append(s.on, f)
}

// Draw registers f, which draws the transactions of an input in place of the manifest's ranges. All are drawn
// before the run begins.
func (p *Player) Draw(stream string, f func() (Fields, []byte)) {
	s := p.in(stream)
	checkFunc(f != nil, "Draw", stream)
	s.draw = f
}

// Drawn returns the next transaction that the reference draws for an input; ok is false if it draws none, so that
// the manifest's ranges apply.
func (p *Player) Drawn(stream string) (side, data []byte, ok bool) {
	s := p.in(stream)
	if s.draw == nil {
		return nil, nil, false
	}
	p.enter("Draw", stream, s.draw)
	p.count()
	f, data := s.draw()
	defer at(s.draw) // a mistake in the results names the source line of s.draw, which has returned
	if !s.carried {
		s.of.fit(data)
	}
	return s.of.Pack(f), data, true
}

// Job reports whether the reference should give the transactions of its next piece of work. Each call begins a
// piece, which the search for a shorter failing run may leave out. Random numbers for it must be drawn before the
// call.
func (p *Player) Job() bool {
	p.count()
	return p.host.Job()
}

// Give queues a transaction for an input, behind those that already wait there. It starts when
// the given number of cycles has passed, or later.
func (p *Player) Give(stream string, delay uint64, f Fields, data []byte) {
	p.offer(stream, delay, f, data, false)
}

// Answer queues a transaction as Give does, but ahead of those that were drawn for the stream.
func (p *Player) Answer(stream string, delay uint64, f Fields, data []byte) {
	p.offer(stream, delay, f, data, true)
}

func (p *Player) offer(stream string, delay uint64, f Fields, data []byte, answer bool) {
	s := p.in(stream).of
	if delay > MaxDelay {
		mistake("stream %s: a delay of %d cycles: want at most %d", stream, delay, uint64(MaxDelay))
	}
	s.fit(data)
	p.count()
	p.host.Offer(Offer{Stream: s, Delay: delay, Side: s.Pack(f), Data: slices.Clone(data), Answer: answer})
}

// Done makes the run continue until f returns true. If f is still false and nothing has happened for long, that is a
// fault of the device.
func (p *Player) Done(f func() bool) {
	checkFunc(f != nil, "Done", "")
	p.done = append(p.done, f)
}

// OnReset registers f for resets in the middle of a run: the device then holds nothing, and nothing is expected of
// it.
func (p *Player) OnReset(f func()) {
	checkFunc(f != nil, "OnReset", "")
	p.resets = append(p.resets, f)
}

// End registers f for the end of the run, for final checks.
func (p *Player) End(f func()) {
	checkFunc(f != nil, "End", "")
	p.end = append(p.end, f)
}

// Fail reports a fault of the device. Only the first one is kept.
func (p *Player) Fail(f Failure) {
	if f.Field == "" {
		mistake("a fault without a name: want a Field that says what is wrong")
	}
	if p.failed == nil {
		if f.Cycle == 0 {
			f.Cycle = p.cycle
		}
		p.failed = &f
	}
}

// Wrong reports a wrong field of a transaction as a fault of the device.
func (p *Player) Wrong(m *Msg, what, expected, got string) {
	p.Fail(Failure{Stream: m.Of.Name, N: m.N, Cycle: m.Last, Field: what, Expected: expected, Got: got,
		Detail: m.String()})
}

// Want checks that a transaction has the given values of fields.
func (p *Player) Want(m *Msg, f Fields) {
	p.compares(m)
	if name, want, got, ok := m.Of.differ(f, m.Side); !ok {
		p.Wrong(m, name, want, got)
	}
}

// WantData checks that a transaction has the given data.
func (p *Player) WantData(m *Msg, data []byte) {
	p.compares(m)
	if !slices.Equal(data, m.Data) {
		what, expected, got := Differ(data, m.Data)
		p.Wrong(m, what, expected, got)
	}
}

// differ returns the first field, in the stream's order, whose value is not the expected one.
func (s *Stream) differ(f Fields, side []byte) (name, want, got string, same bool) {
	for n := range f {
		s.find(n)
	}
	at := 0
	for i := range s.Fields {
		x := &s.Fields[i]
		have := side[at : at+x.bytes()]
		at += x.bytes()
		v, ok := f[x.Name]
		if !ok {
			continue
		}
		exp := make([]byte, x.bytes())
		if s.put(x, exp, v); !slices.Equal(exp, have) {
			return x.Name, x.text(exp), x.text(have), false
		}
	}
	return "", "", "", true
}
