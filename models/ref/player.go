package ref

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Reference sets up the reference of one run.
type Reference func(p *Player)

// Offer is a transaction for an input.
type Offer struct {
	Stream     *Stream
	Delay      uint64 // earliest offer, in cycles from now
	Side, Data []byte
	Answer     bool // offer it before what was drawn for the stream
}

// Host is the player that drives the device.
type Host interface {
	Offer(o Offer)
	Job() bool
	Now() uint64 // cycles that the device has run
	Observed(name string) (uint64, bool)
	Parameter(name string) (string, bool)
}

// Failure is the first fault of a device.
type Failure struct {
	Stream   string // "": no particular stream
	N        uint64 // ordinal of the transaction on the stream
	Cycle    uint64
	Field    string
	Expected string
	Got      string
	Cause    uint64 // cycle since which it was due; 0: unknown
	Detail   string // further lines that help; may be empty
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

// Player is one run as seen by its reference.
type Player struct {
	host    Host
	rand    *rand.Rand
	streams []*Stream
	by      map[string]*seat
	done    []func() bool
	resets  []func()
	end     []func()
	failed  *Failure
	plain   bool   // nothing stalls: latencies are checked
	cycle   uint64 // last beat of the transaction passed to the reference last
	first   uint64 // its first beat
	longest int    // beats of the longest burst drawn
	made    int    // transactions drawn, given and expected by the reference, and jobs
	most    int    // limit of made; 0: none
	same    int    // comparisons of memories
	watch   func(c Call)
}

// seat is a reference's use of a stream.
type seat struct {
	of   *Stream
	on   []func(*Msg)
	draw func() (Fields, []byte)
	due  *due // of an output; nil: not compared
	axi  bool // channel of a port played by Bursts, Registers or ServeAXI
	// carried: the data of an input come from captures, whatever Draw returns.
	carried bool
	tally
}

// Plays reports whether a stream is a channel of an AXI port that the reference plays, for which
// nothing else is drawn.
func (p *Player) Plays(stream string) bool { return p.seat(stream).axi }

// New returns a run. Order, Drops and Latency apply a manifest's declarations before the reference
// is called.
func New(h Host, r *rand.Rand, streams []*Stream, plain bool) *Player {
	p := &Player{host: h, rand: r, streams: streams, by: map[string]*seat{}, plain: plain}
	for _, s := range streams {
		p.by[s.Name] = &seat{of: s}
	}
	return p
}

func (p *Player) seat(stream string) *seat {
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

func (p *Player) in(stream string) *seat {
	s := p.seat(stream)
	if !s.of.In {
		mistake("stream %s is an output", stream)
	}
	return s
}

// Stream returns a stream by its name.
func (p *Player) Stream(name string) *Stream { return p.seat(name).of }

// Streams returns all streams, in the order of the manifest.
func (p *Player) Streams() []*Stream { return p.streams }

// Rand returns the random numbers of the run.
func (p *Player) Rand() *rand.Rand { return p.rand }

// Cycle returns the last cycle of the transaction passed to the reference last; what the reference
// gives now comes later.
func (p *Player) Cycle() uint64 { return p.cycle }

// Observed returns the value of an observed output at the end of the last exchange with the device.
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

// On calls f for each transaction of a stream: of an input when the device has taken its last beat,
// of an output when the device has given it.
func (p *Player) On(stream string, f func(m *Msg)) {
	s := p.seat(stream)
	given(f != nil, "On", stream)
	s.looked = true
	p.subscribe(stream, f)
}

// subscribe is On for functions that serve the device, which do not count as checking the stream.
func (p *Player) subscribe(stream string, f func(m *Msg)) {
	s := p.seat(stream)
	s.on = append(s.on, f)
}

// Draw makes f draw the transactions of an input, in place of the manifest's ranges. They are drawn
// before the run begins.
func (p *Player) Draw(stream string, f func() (Fields, []byte)) {
	s := p.in(stream)
	given(f != nil, "Draw", stream)
	s.draw = f
}

// Drawn returns the next transaction that the reference draws for an input; ok is false if the
// manifest draws them.
func (p *Player) Drawn(stream string) (side, data []byte, ok bool) {
	s := p.in(stream)
	if s.draw == nil {
		return nil, nil, false
	}
	p.enter("Draw", stream, s.draw)
	p.count()
	f, data := s.draw()
	defer at(s.draw) // f has returned
	if !s.carried {
		s.of.fit(data)
	}
	return s.of.Pack(f), data, true
}

// Job reports whether a reference that gives transactions during setup should give the next ones.
// Each call stands for one piece of work, which shortening a run leaves out as a whole. Draw random
// numbers before the call.
func (p *Player) Job() bool {
	p.count()
	return p.host.Job()
}

// Give offers one more transaction to an input, delay cycles from now or later, behind those that
// wait there.
func (p *Player) Give(stream string, delay uint64, f Fields, data []byte) {
	p.offer(stream, delay, f, data, false)
}

// Answer is Give ahead of the transactions drawn for the stream.
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

// Done makes the run continue until f returns true. If nothing happens for long before that, it is
// a fault.
func (p *Player) Done(f func() bool) {
	given(f != nil, "Done", "")
	p.done = append(p.done, f)
}

// OnReset calls f when the device was reset in the middle of a run: the device then holds nothing,
// and nothing is expected of it.
func (p *Player) OnReset(f func()) {
	given(f != nil, "OnReset", "")
	p.resets = append(p.resets, f)
}

// End calls f when the run is over, for final checks.
func (p *Player) End(f func()) {
	given(f != nil, "End", "")
	p.end = append(p.end, f)
}

// Fail reports a fault of the device. The first one counts.
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

// Wrong is Fail for a field of a transaction.
func (p *Player) Wrong(m *Msg, what, expected, got string) {
	p.Fail(Failure{Stream: m.Of.Name, N: m.N, Cycle: m.Last, Field: what, Expected: expected, Got: got,
		Detail: m.String()})
}

// Want checks fields of a transaction.
func (p *Player) Want(m *Msg, f Fields) {
	p.compares(m)
	if name, want, got, ok := m.Of.differ(f, m.Side); !ok {
		p.Wrong(m, name, want, got)
	}
}

// WantData checks the data of a transaction.
func (p *Player) WantData(m *Msg, data []byte) {
	p.compares(m)
	if !slices.Equal(data, m.Data) {
		what, expected, got := Differ(data, m.Data)
		p.Wrong(m, what, expected, got)
	}
}

// differ returns the first field that is not as expected, in the stream's order.
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
