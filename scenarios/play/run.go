package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Run describes one run: its seed and how to play it.
type Run struct {
	Seed  uint64
	Stall int    // percentage for all streams; below 0: each run draws its own
	Keep  []Span // numbers of the transactions to offer; nil: all are offered
	NoGap bool   // offer transactions back to back
	Cut   int    // truncate drawn packets to that many bytes; 0: packets keep their length
	Given Given
	Trace io.Writer

	spoiler *spoiler // corrupts outputs; nil: outputs are not corrupted
}

// Result is the outcome of a run.
type Result struct {
	Offered  int // number of transactions drawn
	Taken    int
	Compared int // number of output transactions compared
	Cycles   uint64
	Digest   uint64
	Failure  *ref.Failure // first fault of the device; nil: the run passed
	Hangs    bool         // Failure is that the device makes no progress
	Stopped  bool         // Failure is that the design stopped itself
	Tallies  []ref.Tally  // by stream, in a run without a fault
	Memories int          // number of times that a reference compared memories
	Settings Settings
	began    []int // numbers of the offered transactions
}

// played is a run in progress.
type played struct {
	*Device
	Run
	Result
	judge    judge
	cover    *Coverage
	queues   []queue
	next     []uint64 // by stream: number of its next transaction
	observed []uint64
	digest   protocol.Digest
	motion
	fair     fairness
	patience uint64
	running  bool
	jobs     int    // number of the reference's jobs so far
	gaveAt   uint64 // cycle of the reference's latest offer
	resets   []int  // numbers of taken transactions after which the device is reset
}

// queue holds the transactions of an input that have not ended.
type queue struct {
	drawn    []item
	answers  []item
	inFlight []item // transactions handed to the device and not taken yet, oldest first

	at      uint64 // earliest cycle of the transaction drawn last
	gaps    int    // number of gaps between drawn transactions
	longest uint64 // longest gap between drawn transactions, in cycles
}

// pending reports whether any transactions have not ended.
func (q *queue) pending() bool { return len(q.drawn)+len(q.answers)+len(q.inFlight) > 0 }

// finite reports whether any transactions drawn before the run have not ended.
func (q *queue) finite() bool {
	for _, list := range [][]item{q.inFlight, q.answers, q.drawn} {
		if slices.ContainsFunc(list, func(x item) bool { return x.drawn }) {
			return true
		}
	}
	return false
}

// Play powers the device up and plays a run on it. A fault of the device is in the result, not an error; a mistake of
// the user's reference is a *RefError.
func (d *Device) Play(ctx context.Context, r Run, cover *Coverage) (res *Result, err error) {
	n := len(d.streams)
	p := &played{
		Device: d, Run: r, cover: cover, digest: protocol.NewDigest(),
		queues: make([]queue, n), next: make([]uint64, n), motion: newMotion(n),
	}
	defer p.recoverMistake(&err)
	defer func() { err = p.close(err) }()
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	for p.judge.Failed() == nil {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		ended, err := p.finish()
		if err = errors.Join(err, p.judge.Err()); err != nil {
			return nil, err
		}
		if ended {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	p.Compared = p.compared()
	p.Device.at.file, p.Device.at.line = p.judge.Place()
	p.Failure, p.Result.Digest = p.judge.Failed(), p.digest.Sum()
	p.Result.Tallies, p.Result.Memories = p.judge.Tallies(), p.judge.Memories()
	return &p.Result, nil
}

// queue appends a transaction to those to be offered.
func (p *played) queue(x item) { p.queues[x.stream].drawn = append(p.queues[x.stream].drawn, x) }

// waiting reports whether an input has transactions left. Levels (inputs without handshake) and a memory's answers to
// the device do not count.
func (p *played) waiting() bool {
	for i, s := range p.streams {
		q := &p.queues[i]
		if s.Kind != ref.Level && q.pending() && (!p.judge.Plays(s.Name) || q.finite()) {
			return true
		}
	}
	return false
}

// feed hands transactions to the device, up to the window of each input.
func (p *played) feed() error {
	for i := range p.queues {
		q := &p.queues[i]
		for len(q.inFlight) < p.window[i] && len(q.drawn)+len(q.answers) > 0 {
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
				p.expectMove(x.at, x.drawn)
			}
			q.inFlight = append(q.inFlight, x)
		}
	}
	return nil
}

// advance runs a quantum and handles its events.
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
		p.judge.Sync()
		if err := p.judge.Err(); err != nil {
			return err
		}
		if ran.Flags&protocol.RanPartial != 0 {
			return p.stopped()
		}
	}
	return nil
}

// stopped handles the end of a design that has stopped itself: a failed assertion is a fault of the device. It restarts
// the device.
func (p *played) stopped() error {
	err := p.conn.WaitStop()
	stop, ok := errors.AsType[*protocol.DeviceError](err)
	if !ok || stop.Code != protocol.CodeAssert && stop.Code != protocol.CodeFinish {
		return err
	}
	p.Stopped = p.judge.Failed() == nil
	p.judge.Fail(ref.Failure{Cycle: p.Cycles, Field: "the design", Expected: "no failed assertion and no $finish",
		Got: stop.Text})
	_ = p.conn.Close() // the process has ended already
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
		if p.judge.Failed() != nil {
			continue
		}
		s := p.streams[e.Stream]
		switch e.Kind {
		case protocol.EventIn:
			p.onInput(s, &e)
		case protocol.EventOut:
			p.onOutput(s, &e)
		case protocol.EventViolation:
			p.failRule(s, &e)
		}
	}
}

// onInput handles an input beat that the device took.
func (p *played) onInput(s *ref.Stream, e *protocol.Record) {
	q, end := &p.queues[e.Stream], e.Flags&protocol.InEnd != 0
	if s.Kind != ref.Level {
		p.moves(int(e.Stream), e.Last, end, true, q.inFlight[0].drawn)
	}
	if !end {
		return
	}
	x := q.inFlight[0]
	q.inFlight = q.inFlight[1:]
	p.next[e.Stream] = e.Ordinal + 1
	p.Taken++
	p.deliver(&ref.Msg{Of: s, N: e.Ordinal, First: e.First, Last: e.Last, Side: x.side, Data: x.data})
}

// onOutput handles a transaction that an output gave.
func (p *played) onOutput(s *ref.Stream, e *protocol.Record) {
	p.Compared++
	p.moves(int(e.Stream), e.Last, true, p.judge.Listens(s.Name), p.finite[e.Stream])
	side, data := slices.Clone(e.Side), slices.Clone(e.Data)
	p.deliver(&ref.Msg{Of: s, N: e.Ordinal, First: e.First, Last: e.Last, Side: side, Data: data})
}

func (p *played) deliver(m *ref.Msg) {
	if p.cover != nil {
		p.cover.add(m)
	}
	p.trace("%8d %8d %-3s %s\n", m.First, m.Last, direction(m.Of), m)
	for _, x := range p.spoiler.spoil(m) {
		p.judge.Deliver(x)
	}
}

// trace writes a line to Options.Trace, if set. A write error is no fault of the run.
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
