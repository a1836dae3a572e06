package ref

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Reference prepares the reference of one run.
type Reference func(p *Player)

// Offer is a transaction for an input.
type Offer struct {
	Stream     *Stream
	Delay      uint64 // cycles from now on in which it is not offered
	Side, Data []byte
	Answer     bool // goes ahead of what was drawn for the stream
}

// Host is who plays.
type Host interface {
	Offer(o Offer)
	Job() bool
	Now() uint64 // cycles that the device has run
	Observed(name string) (uint64, bool)
	Parameter(name string) (string, bool)
}

// Failure is the first thing that a device did wrong.
type Failure struct {
	Stream   string // "": of none
	N        uint64 // transaction of the stream
	Cycle    uint64
	Field    string
	Expected string
	Got      string
	Cause    uint64 // cycle since which it was due; 0: not known
	Detail   string // what else helps, in lines; may be empty
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

// Player is one run, as its reference sees it.
type Player struct {
	host    Host
	rand    *rand.Rand
	streams []*Stream
	by      map[string]*seat
	done    []func() bool
	resets  []func()
	end     []func()
	failed  *Failure
	plain   bool   // nothing stalls: latencies are looked at
	cycle   uint64 // of the transaction that the reference was told of last
	first   uint64 // that of its first beat
	longest int    // beats of a burst that was drawn
	made    int    // transactions that the reference drew, gave and expected, and jobs
	most    int    // bound of made; 0: none
	same    int    // comparisons of memories
	watch   func(c Call)
}

// seat is what a reference has to do with a stream.
type seat struct {
	of   *Stream
	on   []func(*Msg)
	draw func() (Fields, []byte)
	due  *due // of an output; nil: whatever comes is right
	axi  bool // a channel of a port that Bursts, Registers or ServeAXI plays
	// carried: the data of an input come from captures, whatever Draw returns.
	carried bool
	tally
}

// Plays reports whether a stream is a channel of an AXI port that the reference plays: nothing else is drawn for it.
func (p *Player) Plays(stream string) bool { return p.seat(stream).axi }

// New is a run. What a manifest declares of outputs is set with Order, Drops and Latency before the reference is
// called.
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

// Stream is a stream by its name.
func (p *Player) Stream(name string) *Stream { return p.seat(name).of }

// Streams are all, in the order of the manifest.
func (p *Player) Streams() []*Stream { return p.streams }

// Rand are the random numbers of the run.
func (p *Player) Rand() *rand.Rand { return p.rand }

// Cycle is that of the transaction that the reference was told of last; what is given now comes later.
func (p *Player) Cycle() uint64 { return p.cycle }

// Observed is an observed output, as it was at the end of the last exchange with the device.
func (p *Player) Observed(name string) uint64 {
	v, ok := p.host.Observed(name)
	if !ok {
		mistake("%q is not among the manifest's observe", name)
	}
	return v
}

// Parameter is the value of a parameter that the device was built with; "" if the manifest does not set it.
func (p *Player) Parameter(name string) string {
	v, _ := p.host.Parameter(name)
	return v
}

// On has f called for each transaction of a stream: of an input when the device has taken its last beat, of an output
// when it has given it.
func (p *Player) On(stream string, f func(m *Msg)) {
	s := p.seat(stream)
	given(f != nil, "On", stream)
	s.looked = true
	p.hear(stream, f)
}

// hear is On for what serves the device, which is no look at what comes.
func (p *Player) hear(stream string, f func(m *Msg)) {
	s := p.seat(stream)
	s.on = append(s.on, f)
}

// Draw makes the transactions of an input, instead of the manifest's ranges. They are drawn before the run begins.
func (p *Player) Draw(stream string, f func() (Fields, []byte)) {
	s := p.in(stream)
	given(f != nil, "Draw", stream)
	s.draw = f
}

// Drawn is the next transaction of an input by the reference; ok is false if the manifest draws it.
func (p *Player) Drawn(stream string) (side, data []byte, ok bool) {
	s := p.in(stream)
	if s.draw == nil {
		return nil, nil, false
	}
	p.enter("Draw", stream, s.draw)
	p.count()
	f, data := s.draw()
	defer at(s.draw) // it has returned
	if !s.carried {
		s.of.fit(data)
	}
	return s.of.Pack(f), data, true
}

// Job reports whether a reference that gives transactions while it is set up gives the next ones: each call is about
// one piece of work, which is left out as a whole when a run is made shorter. Random numbers are drawn before it is
// asked.
func (p *Player) Job() bool {
	p.count()
	return p.host.Job()
}

// Give offers one more transaction to an input, delay cycles from now or later, behind those that wait there.
func (p *Player) Give(stream string, delay uint64, f Fields, data []byte) {
	p.offer(stream, delay, f, data, false)
}

// Answer is Give ahead of what was drawn for the stream.
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

// Done has the run go on until f is true, or nothing happens for long, which is a fault then.
func (p *Player) Done(f func() bool) {
	given(f != nil, "Done", "")
	p.done = append(p.done, f)
}

// OnReset has f called when the device was reset in the middle of a run: it holds nothing any more, and nothing is
// expected of it.
func (p *Player) OnReset(f func()) {
	given(f != nil, "OnReset", "")
	p.resets = append(p.resets, f)
}

// End has f called when the run is over: the place for what must be so at last.
func (p *Player) End(f func()) {
	given(f != nil, "End", "")
	p.end = append(p.end, f)
}

// Fail tells of a fault of the device. The first one counts.
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

// Want compares fields of a transaction.
func (p *Player) Want(m *Msg, f Fields) {
	p.compares(m)
	if name, want, got, ok := m.Of.differ(f, m.Side); !ok {
		p.Wrong(m, name, want, got)
	}
}

// WantData compares the data of a transaction.
func (p *Player) WantData(m *Msg, data []byte) {
	p.compares(m)
	if !slices.Equal(data, m.Data) {
		what, expected, got := Differ(data, m.Data)
		p.Wrong(m, what, expected, got)
	}
}

// differ is the first field that is not as expected, in the stream's order.
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
