package rtlbridge

import (
	"errors"
	"fmt"
	"time"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

// ErrInput is wrapped by errors about inputs that the device's streams cannot take.
var ErrInput = errors.New("input does not fit the stream")

var errNotStarted = fmt.Errorf("%w: the device has not been started", ErrInput)

// NewStart returns a run without stalls, credits or limits beyond the defaults, for the streams of this device.
func (c *Conn) NewStart(seed uint64) protocol.Start {
	s := protocol.Start{Seed: seed, Watchdog: 100_000, PeriodPs: c.hello.PeriodPs,
		Streams: make([]protocol.StreamStart, len(c.hello.Streams))}
	for _, k := range c.hello.Clocks[1:] {
		s.Clocks = append(s.Clocks, protocol.ClockStart{PeriodPs: k.PeriodPs})
	}
	for i := range s.Streams {
		s.Streams[i].Credits = -1
	}
	return s
}

func (c *Conn) checkStart(s *protocol.Start) error {
	var errs []error
	if len(s.Streams) != len(c.hello.Streams) {
		return fmt.Errorf("start: %d streams, the device has %d", len(s.Streams), len(c.hello.Streams))
	}
	if err := ValidPeriod(simcore.Ps(s.PeriodPs)); err != nil {
		errs = append(errs, fmt.Errorf("start: %w", err))
	}
	if len(s.Clocks) != len(c.hello.Clocks)-1 {
		errs = append(errs, fmt.Errorf("start: %d clocks beside the first: the device has %d", len(s.Clocks),
			len(c.hello.Clocks)-1))
	}
	for i, k := range s.Clocks {
		if ValidPeriod(simcore.Ps(k.PeriodPs)) != nil || k.PhasePs < 0 || k.PhasePs >= k.PeriodPs {
			errs = append(errs, fmt.Errorf("start: clock %d: period %d ps, phase %d ps: needs a period of %d to %d "+
				"and a phase below it", i+1, k.PeriodPs, k.PhasePs, protocol.MinPeriodPs, protocol.MaxPeriodPs))
		}
	}
	switch {
	case s.Idle > protocol.IdleCheck:
		errs = append(errs, fmt.Errorf("start: %v: needs %s", s.Idle, protocol.IdleModes()))
	case s.Idle == protocol.IdleCheck && !c.hello.SkipIdle:
		errs = append(errs, errors.New("start: idle cycles cannot be checked: the device does not declare that they "+
			"can be skipped (skip_idle in its manifest)"))
	}
	for i, x := range s.Streams {
		info := &c.hello.Streams[i]
		if x.StallPercent < 0 || x.StallPercent > 100 || x.BurstLog2 < 0 || x.BurstLog2 > 16 {
			errs = append(errs, fmt.Errorf("start: stream %s: stall of %d%% with bursts of 2^%d cycles: needs 0 to "+
				"100 and 0 to 16",
				info.Name, x.StallPercent, x.BurstLog2))
		}
		if x.MaxBytes < 0 || x.MaxBytes > protocol.MaxDataBytes {
			errs = append(errs, fmt.Errorf("start: stream %s: max_bytes %d: needs up to %d", info.Name, x.MaxBytes,
				protocol.MaxDataBytes))
		}
		if x.Credits >= 0 && (!info.Out || !info.Ready) {
			errs = append(errs, fmt.Errorf("start: stream %s: credits need an output with tready", info.Name))
		}
		if x.StallPercent > 0 && info.Out && !info.Ready {
			errs = append(errs, fmt.Errorf("start: stream %s has no tready and cannot be stalled", info.Name))
		}
	}
	for _, t := range s.Ties {
		if t.Index < 0 || t.Index >= len(c.hello.Ties) {
			errs = append(errs, fmt.Errorf("start: tie-off %d: the device has %d", t.Index, len(c.hello.Ties)))
		} else if w := c.hello.Ties[t.Index].Width; w > 64 || w < 64 && t.Value>>w != 0 {
			errs = append(errs, fmt.Errorf("start: tie-off %s of %d bits cannot be set to %#x",
				c.hello.Ties[t.Index].Name, w, t.Value))
		}
	}
	return errors.Join(errs...)
}

// Start powers the device up (again) and takes it through reset to cycle 0. Inputs that no SendRun has taken are
// dropped.
func (c *Conn) Start(s protocol.Start) error {
	if c.broken != nil {
		return c.broken
	}
	if c.due != 0 {
		return fmt.Errorf("start: %d quanta are still to be received", c.due)
	}
	if err := c.checkStart(&s); err != nil {
		return err
	}
	c.out, c.nRec, c.early = c.out[:reserve], 0, 0 // drops inputs added for the previous run
	b := protocol.AppendStart(nil, &s, c.hello.SkipIdle)
	c.index, c.rindex, c.cycle, c.taken, c.start, c.order = 0, 0, 0, 0, s, protocol.Order{}
	clear(c.sent[:])
	return c.send("start", b)
}

func (c *Conn) send(op string, b []byte) error {
	if c.record != nil {
		if _, err := c.record.Write(b); err != nil {
			return fmt.Errorf("recording the inputs: %w", err)
		}
	}
	c.t.arm(0)
	if err := c.t.write(b); err != nil {
		return c.failReading(op, err)
	}
	return nil
}

// Add queues a transaction for an input stream, to be presented not before a cycle, which must not lie before
// the start of the next quantum. The transaction travels with the next SendRun.
func (c *Conn) Add(stream int, notBefore uint64, side, data []byte) error {
	if c.start.Streams == nil {
		return errNotStarted
	}
	s := &c.hello.Streams[stream]
	limit := protocol.DefaultMaxBytes
	if m := c.start.Streams[stream].MaxBytes; m != 0 {
		limit = m
	}
	unit := s.KeepUnit
	if unit == 0 {
		unit = max(1, s.DataBytes)
	}
	switch {
	case s.Out:
		return fmt.Errorf("%w: stream %s is an output", ErrInput, s.Name)
	case len(side) != s.SideBytes:
		return fmt.Errorf("%w: stream %s: %d side-band bytes, wanted %d", ErrInput, s.Name, len(side), s.SideBytes)
	case len(data) > limit:
		return fmt.Errorf("%w: stream %s: %d bytes, the limit is %d", ErrInput, s.Name, len(data), limit)
	case len(data) > 0 && !s.Packets():
		return fmt.Errorf("%w: stream %s: %d bytes of data: kind %s has none", ErrInput, s.Name, len(data), s.Kind)
	case len(data) == 0 && s.Kind == protocol.KindAxis:
		return fmt.Errorf("%w: stream %s: a transaction needs data", ErrInput, s.Name)
	case len(data)%unit != 0:
		return fmt.Errorf("%w: stream %s: %d bytes, wanted a multiple of %d", ErrInput, s.Name, len(data), unit)
	}
	c.out = protocol.AppendTransaction(c.out, uint8(stream), notBefore, side, data)
	c.nRec++
	return c.sendEarly()
}

// AddCredits lets an output stream that was started with credits give n more transactions from a cycle on. Credits of a
// stream are added in order of their cycles.
func (c *Conn) AddCredits(stream int, cycle uint64, n int) error {
	if c.start.Streams == nil {
		return errNotStarted
	}
	s := &c.hello.Streams[stream]
	if !s.Out || c.start.Streams[stream].Credits < 0 || n < 1 || n > protocol.MaxRunCycles {
		return fmt.Errorf("%w: stream %s: %d credits: needs an output started with credits, and 1 to %d", ErrInput,
			s.Name, n, protocol.MaxRunCycles)
	}
	c.out = protocol.AppendCredit(c.out, uint8(stream), cycle, n)
	c.nRec++
	return c.sendEarly()
}

// Reset holds the device in reset from a cycle on, as long as after power-up, while time continues. Transactions
// added before and not accepted by then are dropped, even those partly transferred, in either direction; levels
// keep their values. Ordinals count what was dropped. The cycle must not be before the start of the next
// quantum.
func (c *Conn) Reset(cycle uint64) error {
	if c.start.Streams == nil {
		return errNotStarted
	}
	c.out = protocol.AppendReset(c.out, cycle)
	c.nRec++
	return c.sendEarly()
}

// sendEarly sends the inputs gathered so far in an INPUT frame of their own, before the RUN frame, if they have grown
// large.
func (c *Conn) sendEarly() error {
	if len(c.out) < softFrame {
		return nil
	}
	at := reserve - protocol.HeadBytes - protocol.InputBytes
	protocol.PutHead(c.out[at:], protocol.FrameInput, len(c.out)-at-protocol.HeadBytes)
	protocol.PutInput(c.out[at+protocol.HeadBytes:], c.nRec)
	c.early += c.nRec
	return c.flush("input", at)
}

func (c *Conn) flush(op string, at int) error {
	err := c.send(op, c.out[at:])
	c.out, c.nRec = c.out[:reserve], 0
	return err
}

// MaxAhead is the number of quanta that may be in flight.
const MaxAhead = 4

// SendRun makes the device run the next n cycles with the inputs added so far. It does not wait: Recv receives
// the answers, in order; MaxAhead quanta may be in flight.
func (c *Conn) SendRun(n uint32) error {
	if c.broken != nil {
		return c.broken
	}
	if c.start.Streams == nil {
		return errNotStarted
	}
	if n == 0 || n > protocol.MaxRunCycles {
		return fmt.Errorf("run of %d cycles: needs 1 to %d", n, protocol.MaxRunCycles)
	}
	if c.due == MaxAhead {
		return fmt.Errorf("run: %d quanta are still to be received", c.due)
	}
	begin := c.sentCycle()
	protocol.PutHead(c.out, protocol.FrameRun, len(c.out)-protocol.HeadBytes)
	protocol.PutRun(c.out[protocol.HeadBytes:], c.index, begin, n, c.nRec)
	c.index++
	c.due++
	c.early = 0
	c.sent[c.index%uint64(len(c.sent))] = begin + uint64(n)
	c.sentAt[c.index%uint64(len(c.sent))] = time.Since(c.t.epoch)
	return c.flush("run", 0)
}

// sentCycle returns the end of the quanta sent so far.
func (c *Conn) sentCycle() uint64 {
	if c.index == 0 {
		return 0
	}
	return c.sent[c.index%uint64(len(c.sent))]
}

// clockSlack is the amount by which the wall time that a device reports may exceed the time that has passed
// here, since the clocks differ.
const clockSlack = time.Second

// slowCycle is the wall time that each cycle of a quantum adds to the timeout.
const slowCycle = 20 * time.Microsecond

// Recv waits for the oldest quantum that was sent and not received and returns one RAN frame of it; while its
// flags have RanMore, further frames of the same quantum follow. The result is valid until the next call.
func (c *Conn) Recv() (*protocol.Ran, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if c.due == 0 {
		return nil, errors.New("receive: no quantum was sent")
	}
	end := c.sent[(c.rindex+1)%uint64(len(c.sent))]
	c.t.arm(time.Duration(end-c.sent[c.rindex%uint64(len(c.sent))]) * slowCycle)
	body, err := c.expect(protocol.FrameRan)
	if err != nil {
		return nil, c.fail("run", err)
	}
	r := &c.run
	if err := protocol.DecodeRan(body, c.hello, r); err != nil {
		return nil, c.fail("run", err)
	}
	if r.Index != c.rindex || r.Start+uint64(r.Cycles) > end || r.Start > end {
		return nil, c.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue, "quantum %d, cycles "+
			"%d+%d, where quantum %d up to cycle %d was due",
			r.Index, r.Start, r.Cycles, c.rindex, end))
	}
	if passed := time.Since(c.t.epoch) - c.sentAt[(c.rindex+1)%uint64(len(c.sent))]; r.RTLNs > uint64(
		passed+clockSlack) {
		return nil, c.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue, "quantum %d: %d ns of "+
			"wall time, of which %d have passed", r.Index, r.RTLNs, passed))
	}
	if r.Flags&protocol.RanStill != 0 && (!c.hello.SkipIdle || c.start.Idle == protocol.IdleEvaluate ||
		r.Flags&(protocol.RanMore|protocol.RanPartial) != 0 || r.Flags&protocol.RanQuiet == 0) {
		return nil, c.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue, "quantum %d: flags %#x: "+
			"idle, although START did not ask for it or the quantum has not ended quietly", r.Index, r.Flags))
	}
	c.order.Frame(r)
	c.cycle = r.Start + uint64(r.Cycles)
	c.taken += uint64(len(body))
	if c.taken > protocol.MostBytes(c.hello, &c.start, end-r.Start) {
		return nil, c.fail("run", fmt.Errorf("%w: %d bytes for %d cycles", protocol.ErrFlood, c.taken, end-r.Start))
	}
	if r.Flags&protocol.RanMore != 0 {
		return r, nil
	}
	c.taken = 0
	c.t.expect = time.Duration(r.RTLNs)
	if c.cycle != end && r.Flags&protocol.RanPartial == 0 {
		return nil, c.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue, "quantum %d ended at "+
			"cycle %d instead of %d", r.Index, c.cycle, end))
	}
	c.rindex++
	c.due--
	return r, nil
}

// Next reads the next event of a RAN frame received by Recv; protocol faults end the connection. A caller
// must read either all events of every frame, or none, since their order is checked across frames.
func (c *Conn) Next(r *protocol.Ran, e *protocol.Record) (bool, error) {
	ok, err := r.Next(e)
	switch {
	case err == nil && ok:
		err = c.order.Take(r, e)
	case err == nil && c.hello.Busy >= 0 && r.Flags&(protocol.RanMore|protocol.RanPartial) == 0:
		if err = c.order.Observed(r, &r.Observed[c.hello.Busy]); err != nil {
			return false, c.fail("run", err)
		}
	}
	if err != nil {
		number := r.Read()
		if ok {
			number-- // the record was read, so it is counted already
		}
		return false, c.fail("run", fmt.Errorf("record %d of quantum %d: %w", number, r.Index, err))
	}
	return ok, nil
}

// WaitStop receives the ERROR frame that follows a RAN frame with RanPartial and returns it as an *InfraError.
func (c *Conn) WaitStop() error {
	if c.broken != nil {
		return c.broken
	}
	c.t.arm(0)
	_, err := c.expect(protocol.FrameError)
	if err == nil {
		err = errors.New("the device stopped inside a quantum without saying why")
	}
	return c.fail("run", err)
}

// Waited returns the wall time spent waiting for the device in Recv.
func (c *Conn) Waited() time.Duration { return c.t.Waited }

// Close ends the session and waits for the child to end. After an earlier failure it returns nil: that failure has been
// reported.
func (c *Conn) Close() error {
	if c.broken != nil {
		return nil
	}
	var b [protocol.HeadBytes]byte
	protocol.PutHead(b[:], protocol.FrameStop, 0)
	c.t.arm(0)
	err := c.t.write(b[:])
	for range c.due { // the device answers the RUNs in flight before it reads STOP
		if err == nil {
			_, err = c.expect(protocol.FrameRan)
		}
	}
	if c.proc != nil && err == nil {
		if !c.proc.ended(c.t.timeout) {
			err = protocol.ErrTimeout
		} else if c.proc.exit != "exit status 0" {
			err = errors.New(c.proc.exit)
		}
	}
	if err != nil {
		return c.fail("close", err)
	}
	c.broken = errors.New("the connection is closed")
	return c.t.close()
}
