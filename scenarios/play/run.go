package play

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Run says what is played.
type Run struct {
	Seed  uint64
	Stall int    // percent of all streams; below 0: by the seed
	Keep  []Span // transactions that are offered, by their numbers; nil: all
	NoGap bool   // transactions follow each other at once
	Cut   int    // bytes of drawn packets, which are cut; 0: they are not
	Trace io.Writer

	spoiler *spoiler // nil: none
}

// Result is what came of a run.
type Result struct {
	Offered  int // transactions that were drawn
	Taken    int
	Compared int // transactions of outputs
	Cycles   uint64
	Digest   uint64
	Failure  *ref.Failure // nil: none
	Tallies  []ref.Tally  // what the check looked at, of a run without a fault
	Memories int          // comparisons of memories by a reference
	began    []int        // numbers of the transactions that were offered
	period   int64        // of the first clock, in ps
	stalls   bool
	gaps     bool
}

// played is a run under way.
type played struct {
	*Device
	Run
	Result
	p        judge
	cover    *Coverage
	queues   []queue
	observed []uint64
	digest   protocol.Digest
	latest   uint64 // cycle in which something happened
	since    uint64 // cycle in which everything was over
	patience uint64
	ended    bool
	jobs     int    // of the reference
	given    uint64 // cycle in which it gave its last transaction
	resets   []int  // each when so many transactions were taken
}

// queue are the transactions of an input.
type queue struct {
	drawn   []item
	answers []item
	under   []item // way in the device, oldest first
}

// left reports whether something waits or is under way.
func (q *queue) left() bool { return len(q.drawn)+len(q.answers)+len(q.under) > 0 }

// mostPatience bounds a run, in times of its patience.
const mostPatience = 1000

// Play powers the device up and plays a run on it. What is wrong with the device is in the result and no error; mistakes of
// the user's reference are *RefError.
func (d *Device) Play(ctx context.Context, r Run, cover *Coverage) (res *Result, err error) {
	p := &played{Device: d, Run: r, cover: cover, digest: protocol.NewDigest(), queues: make([]queue, len(d.streams))}
	defer p.caught(&err)
	defer p.close()
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	for p.p.Failed() == nil {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		over := !p.waiting() && p.p.Over()
		if !over {
			p.since = p.Cycles
		}
		switch patience := p.patience; {
		case over && p.Cycles >= max(p.since, p.latest)+p.settle():
			p.p.Ends(p.Cycles)
			p.ended = true
		case !over && p.Cycles > p.latest+patience:
			p.silent(fmt.Sprintf("nothing in %d cycles (play.patience and the stalls of the run)%s", patience, p.forgotten()))
		case p.Cycles > mostPatience*patience && p.referenced() && p.given+patience > p.Cycles:
			return nil, p.mistake("it still gives transactions after %d cycles: want a run that comes to its end", p.Cycles)
		case p.Cycles > mostPatience*patience:
			p.silent(fmt.Sprintf("no end in %d cycles", p.Cycles))
		}
		if err := p.p.Err(); err != nil {
			return nil, err
		}
		if p.ended || p.p.Failed() != nil {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	p.Compared = p.compared()
	p.Device.at.file, p.Device.at.line = p.p.Place()
	p.Failure, p.Result.Digest, p.Result.Tallies, p.Result.Memories = p.p.Failed(), p.digest.Sum(), p.p.Tallies(), p.p.Memories()
	return &p.Result, nil
}

// begin draws the run and starts the device.
func (p *played) begin(ctx context.Context) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.Manifest.Name)) // never fails
	rng := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	m := p.mood(rng)
	if p.Stall >= 0 {
		for i, s := range p.streams {
			if s.Kind != ref.Level && (s.In || p.conn.Hello().Streams[i].Ready) {
				m.stall[i] = p.Stall
			}
		}
	}
	m.gaps = m.gaps && !p.NoGap
	p.gaps, p.stalls = m.gaps, slices.ContainsFunc(m.stall, func(x int) bool { return x > 0 })
	start := p.start(rng, &m)
	p.p = p.judge(ctx, rng.Uint64(), m.plain())
	jobs := p.jobs // numbers that the reference has used
	p.Offered = jobs
	for _, x := range p.draw(rng, p.p, m.gaps, p.Cut) {
		x.id += jobs
		p.Offered = x.id + 1
		power := p.streams[x.stream].Kind == ref.Level && len(p.queues[x.stream].drawn) == 0 // a level's first value
		if kept(p.Keep, x.id) {
			p.began = append(p.began, x.id)
		} else if !power {
			continue
		}
		p.queue(x)
	}
	if err := p.p.Err(); err != nil {
		return err
	}
	if err := p.drawResets(rng); err != nil {
		return err
	}
	p.patience, p.period = p.wait(&m), start.PeriodPs
	start.Watchdog = p.patience
	return p.conn.Start(start)
}

// wait is the time in which something must happen: the manifest's patience, and what the longest transaction or burst takes where
// the most stalled input and the most stalled output rarely go on in the same cycle.
func (p *played) wait(m *mood) uint64 {
	beats, in, out := max(1, p.p.Longest()), 0, 0
	for i, s := range p.streams {
		if !s.In {
			out = max(out, m.stall[i])
			continue
		}
		in = max(in, m.stall[i])
		for _, x := range p.queues[i].drawn {
			beats = max(beats, len(x.data)/max(1, s.Beat))
		}
	}
	return uint64(p.Spec.Patience) + uint64(4*beats)*10_000/uint64((100-in)*(100-out))
}

// start is how the device is powered up.
func (p *played) start(r *rand.Rand, m *mood) protocol.Start {
	s := p.conn.NewStart(r.Uint64())
	s.Poison = true
	for i := range s.Streams {
		s.Streams[i].StallPercent, s.Streams[i].BurstLog2 = m.stall[i], m.burst[i]
		s.Streams[i].MaxBytes = protocol.MaxDataBytes
		if !p.streams[i].In {
			s.Streams[i].MaxBytes = p.Spec.Longest
		}
	}
	h := p.conn.Hello()
	for i, c := range h.Clocks {
		v := p.Spec.Clocks[c.Name]
		period := c.PeriodPs
		if v.given() {
			period = int64(v.draw(r))
		}
		if i == 0 {
			s.PeriodPs = period
			continue
		}
		s.Clocks[i-1] = protocol.ClockStart{PeriodPs: period, PhasePs: r.Int64N(period)}
	}
	for i, t := range h.Ties {
		if v := p.Spec.TieOffs[t.Name]; v.given() {
			s.Ties = append(s.Ties, protocol.TieValue{Index: i, Value: v.draw(r)})
		}
	}
	return s
}

// queue puts a transaction behind those that wait.
func (p *played) queue(x item) { p.queues[x.stream].drawn = append(p.queues[x.stream].drawn, x) }

// waiting reports whether an input has something left; levels do not count.
func (p *played) waiting() bool {
	for i := range p.queues {
		if p.streams[i].Kind != ref.Level && p.queues[i].left() {
			return true
		}
	}
	return false
}

// feed hands transactions to the device, a window of each stream.
func (p *played) feed() error {
	for i := range p.queues {
		q := &p.queues[i]
		for len(q.under) < p.window[i] && len(q.drawn)+len(q.answers) > 0 {
			from := &q.drawn
			if len(q.answers) > 0 {
				from = &q.answers
			}
			x := (*from)[0]
			*from = (*from)[1:]
			x.at = max(x.at, p.Cycles)
			if err := p.conn.Add(i, x.at, x.side, x.data); err != nil {
				return err
			}
			if p.streams[i].Kind != ref.Level {
				p.latest = max(p.latest, x.at) // it is waited for from then on
			}
			q.under = append(q.under, x)
		}
	}
	return nil
}

// advance runs a quantum and looks at what happened.
func (p *played) advance() error {
	if err := p.reset(); err != nil {
		return err
	}
	if err := p.feed(); err != nil {
		return err
	}
	if err := p.conn.SendRun(uint32(p.quantum())); err != nil {
		return err
	}
	for more := true; more; {
		ran, err := p.conn.Recv()
		if err != nil {
			return err
		}
		p.observed = p.observed[:0]
		for _, o := range ran.Observed {
			p.observed = append(p.observed, o.Value)
		}
		p.spoiler.sample(p.observed)
		p.Cycles, more = ran.Start+uint64(ran.Cycles), ran.Flags&protocol.RanMore != 0
		if err := p.events(ran); err != nil {
			return err
		}
		p.p.Sync()
		if err := p.p.Err(); err != nil {
			return err
		}
		if ran.Flags&protocol.RanPartial != 0 {
			return p.stopped()
		}
	}
	return nil
}

// stopped takes the end of a design that stops itself: a failed assertion is a fault of the device. It is started anew.
func (p *played) stopped() error {
	err := p.conn.WaitStop()
	stop, ok := errors.AsType[*protocol.DeviceError](err)
	if !ok || stop.Code != protocol.CodeAssert && stop.Code != protocol.CodeFinish {
		return err
	}
	p.p.Fail(ref.Failure{Cycle: p.Cycles, Field: "the design", Expected: "no failed assertion and no $finish", Got: stop.Text})
	_ = p.conn.Close() // it has ended
	return p.launch()
}

func (p *played) events(ran *protocol.Ran) error {
	var e protocol.Record
	for {
		ok, err := p.conn.Next(ran, &e)
		if err != nil || !ok {
			return err
		}
		if e.Kind == protocol.EventHeld || e.Kind == protocol.EventRest {
			continue
		}
		p.digest.Add(&e)
		if p.p.Failed() != nil {
			continue
		}
		s := p.streams[e.Stream]
		switch e.Kind {
		case protocol.EventIn:
			p.took(s, &e)
		case protocol.EventOut:
			if p.Compared++; p.p.Listens(s.Name) {
				p.latest = max(p.latest, e.Last)
			}
			p.tell(&ref.Msg{Of: s, N: e.Ordinal, First: e.First, Last: e.Last, Side: slices.Clone(e.Side), Data: slices.Clone(e.Data)})
		case protocol.EventViolation:
			p.broke(s, &e)
		}
	}
}

// took is a beat that the device took.
func (p *played) took(s *ref.Stream, e *protocol.Record) {
	if s.Kind != ref.Level {
		p.latest = max(p.latest, e.Last)
	}
	if e.Flags&protocol.InEnd == 0 {
		return
	}
	q := &p.queues[e.Stream]
	x := q.under[0]
	q.under = q.under[1:]
	p.Taken++
	p.tell(&ref.Msg{Of: s, N: e.Ordinal, First: e.First, Last: e.Last, Side: x.side, Data: x.data})
}

func (p *played) tell(m *ref.Msg) {
	if p.cover != nil {
		p.cover.add(m)
	}
	p.trace("%8d %8d %-3s %s\n", m.First, m.Last, direction(m.Of), m)
	for _, x := range p.spoiler.spoil(m) {
		p.p.Tell(x)
	}
}

// trace writes a line, if somebody wants it. One that cannot be written is no fault of the run.
func (p *played) trace(format string, a ...any) {
	if p.Trace != nil {
		_, _ = fmt.Fprintf(p.Trace, format, a...)
	}
}

func direction(s *ref.Stream) string {
	if s.In {
		return "in"
	}
	return "out"
}
