package rtlbridge

import (
	"strings"
	"unicode"
)

// What a device sends. Decoders check every length against the frame, and the frame against its limit, before use.

// cursor reads fields from a frame; a read past its end yields zero and sets bad.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.bad = true
		c.b = nil
		return zeroField[:n:n]
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// zeroField is what reading past the end of a frame yields; no field read with take is longer.
var zeroField [64]byte

func (c *cursor) u8() uint8   { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return le.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return le.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return le.Uint64(c.take(8)) }

// name reads n bytes of text and their padding.
func (c *cursor) name(n int) string {
	if n == 0 || n > 64 || pad8(n) > len(c.b) {
		c.bad = true
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[pad8(n):]
	return s
}

func decodeHello(b []byte) (*Hello, error) {
	c := &cursor{b: b}
	h := &Hello{}
	if c.u64() != magic || c.bad {
		return nil, protoErr(FrameHello, FaultMagic, "this is not a nictwin device")
	}
	h.Version = int(c.u16())
	nStreams, nObserve, nTies := int(c.u16()), int(c.u16()), int(c.u16())
	copy(h.BuildHash[:], c.take(32))
	nClocks := c.u64()
	h.MaxFrame = int(c.u32())
	h.Busy = int(int32(c.u32()))
	if c.bad {
		return nil, protoErr(FrameHello, FaultTruncated, "%d bytes", len(b))
	}
	if h.Version != Version {
		return nil, protoErr(FrameHello, FaultVersion, "the device speaks version %d, this program %d", h.Version, Version)
	}
	if h.Busy < -1 || h.Busy >= nObserve {
		return nil, protoErr(FrameHello, FaultValue, "busy signal %d of %d", h.Busy, nObserve)
	}
	if nClocks == 0 || nClocks > maxClocks || nStreams == 0 || nStreams > maxStreams || nObserve > maxObserve || nTies > maxTieOffs {
		return nil, protoErr(FrameHello, FaultLimit, "%d clocks, %d streams, %d observed signals, %d tie-offs", nClocks, nStreams, nObserve, nTies)
	}
	for range nClocks {
		k := ClockInfo{PeriodPs: int64(c.u64())}
		k.Name = c.name(int(min(c.u64(), 1<<10)))
		if k.PeriodPs < minPeriodPs || k.PeriodPs > maxPeriodPs {
			return nil, protoErr(FrameHello, FaultValue, "clock %s has a period of %d ps", k.Name, k.PeriodPs)
		}
		h.Clocks = append(h.Clocks, k)
	}
	h.PeriodPs = h.Clocks[0].PeriodPs
	for range nStreams {
		s, err := helloStream(c)
		if err == nil && s.Clock >= len(h.Clocks) {
			err = protoErr(FrameHello, FaultValue, "stream %s: clock %d of %d", s.Name, s.Clock, len(h.Clocks))
		}
		if err != nil {
			return nil, err
		}
		h.Streams = append(h.Streams, s)
	}
	h.Observe, h.SkipIdle = helloSignals(c, nObserve, h.Busy)
	h.Ties, _ = helloSignals(c, nTies, -1)
	if c.bad {
		return nil, protoErr(FrameHello, FaultTruncated, "%d bytes", len(b))
	}
	if len(c.b) != 0 {
		return nil, protoErr(FrameHello, FaultTrailing, "%d bytes", len(c.b))
	}
	return h, nil
}

func helloStream(c *cursor) (StreamInfo, error) {
	kind, out, unit, ready := c.u8(), c.u8(), c.u8(), c.u8()
	s := StreamInfo{Out: out == 1, Ready: ready == 1, KeepUnit: int(unit)}
	s.DataBytes = int(c.u32())
	s.SideBytes = int(c.u16())
	n, fields := int(c.u16()), int(c.u16())
	s.Clock = int(c.u16())
	s.Name = c.name(n)
	if c.bad {
		return s, protoErr(FrameHello, FaultTruncated, "stream table")
	}
	if int(kind) >= len(kindCodes) || out > 1 || ready > 1 || (unit != 0 && unit != 1 && unit != 4) {
		return s, protoErr(FrameHello, FaultValue, "stream %s", s.Name)
	}
	s.Kind = kindCodes[kind]
	if (s.DataBytes != 0) != s.Packets() || s.DataBytes > 2048 || s.SideBytes > MaxSideBytes || fields > MaxSideBytes {
		return s, protoErr(FrameHello, FaultLimit, "stream %s: %d data and %d side-band bytes in %d fields", s.Name, s.DataBytes, s.SideBytes, fields)
	}
	s.Fields, _ = helloSignals(c, fields, -1)
	sum := 0
	for _, f := range s.Fields {
		sum += f.Bytes()
	}
	if sum != s.SideBytes && !c.bad {
		return s, protoErr(FrameHello, FaultValue, "stream %s: fields of %d bytes, %d side-band bytes", s.Name, sum, s.SideBytes)
	}
	return s, nil
}

// kindCodes are the kinds of streams by their codes.
var kindCodes = [...]string{KindAxis, KindTLP, KindRecord, KindLevel}

// signalSkipIdle is a flag of the busy signal.
const signalSkipIdle = 1

func helloSignals(c *cursor, n, busy int) (out []Signal, skipIdle bool) {
	for i := range n {
		w := int(c.u16())
		l := int(c.u16())
		if flags := c.u32(); i == busy {
			skipIdle = flags&signalSkipIdle != 0
		}
		out = append(out, Signal{Name: c.name(l), Width: w})
	}
	return out, skipIdle
}

func decodeError(b []byte) (*DeviceError, error) {
	c := &cursor{b: b}
	e := &DeviceError{Code: ErrorCode(c.u32())}
	n := int(c.u32())
	e.Cycle = c.u64()
	switch {
	case c.bad:
		return nil, protoErr(FrameError, FaultTruncated, "%d bytes", len(b))
	case n > maxErrorText:
		return nil, protoErr(FrameError, FaultLimit, "text of %d bytes", n)
	case pad8(n) > len(c.b):
		return nil, protoErr(FrameError, FaultTruncated, "text of %d bytes", n)
	case pad8(n) < len(c.b):
		return nil, protoErr(FrameError, FaultTrailing, "%d bytes", len(c.b)-pad8(n))
	case e.Code < CodeProtocol || e.Code > CodeIdle:
		return nil, protoErr(FrameError, FaultValue, "code %d", e.Code)
	}
	e.Text = printable(c.b[:n])
	return e, nil
}

// printable is text of a device's making with what could move a terminal's cursor, and what is no UTF-8, replaced.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(b), "?"))
}

// decodeRan reads the head of a RAN frame into r, keeping r's memory.
func decodeRan(b []byte, h *Hello, r *Ran) error {
	if len(b) < ranBytes {
		return protoErr(FrameRan, FaultTruncated, "%d bytes", len(b))
	}
	r.Index, r.Start = le.Uint64(b), le.Uint64(b[8:])
	r.Cycles, r.Flags = le.Uint32(b[16:]), le.Uint32(b[20:])
	r.RTLNs = le.Uint64(b[24:])
	r.records = le.Uint32(b[32:])
	r.left = r.records
	n := int(le.Uint16(b[36:]))
	switch {
	case le.Uint16(b[38:]) != 0 || r.Flags&^(RanQuiet|RanPartial|RanMore|RanStill) != 0:
		return protoErr(FrameRan, FaultValue, "reserved field is not zero")
	case n != len(h.Observe):
		return protoErr(FrameRan, FaultValue, "%d observed signals, the device declared %d", n, len(h.Observe))
	case r.Cycles > MaxRunCycles || r.left > maxRecords:
		return protoErr(FrameRan, FaultLimit, "%d cycles, %d records", r.Cycles, r.left)
	case len(b) < ranBytes+16*n:
		return protoErr(FrameRan, FaultTruncated, "%d bytes", len(b))
	}
	b = b[ranBytes:]
	r.Observed = r.Observed[:0]
	for range n {
		r.Observed = append(r.Observed, Observed{Value: le.Uint64(b), LastNonzero: le.Uint64(b[8:])})
		b = b[16:]
	}
	r.body, r.streams, r.rests = b, h.Streams, h.Busy >= 0
	return nil
}

// Next reads the next record into e; false when there is none left or on an error.
func (r *Ran) Next(e *Record) (bool, error) {
	if r.left == 0 {
		if len(r.body) != 0 {
			return false, protoErr(FrameRan, FaultTrailing, "%d bytes after the last record", len(r.body))
		}
		return false, nil
	}
	b := r.body
	if len(b) < eventBytes {
		return false, protoErr(FrameRan, FaultTruncated, "%d records missing", r.left)
	}
	e.Kind, e.Stream, e.Flags, e.Rule = EventKind(b[0]), b[1], b[2], Rule(b[3])
	n := int(le.Uint32(b[4:]))
	e.Ordinal, e.First, e.Last = le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	e.Side, e.Data = nil, nil
	b = b[eventBytes:]
	if int(e.Stream) >= len(r.streams) {
		return false, protoErr(FrameRan, FaultStream, "stream %d of %d", e.Stream, len(r.streams))
	}
	s := &r.streams[e.Stream]
	if e.Kind == EventOut {
		if n > MaxDataBytes {
			return false, protoErr(FrameRan, FaultLimit, "output of %d bytes", n)
		}
		side, data := pad8(s.SideBytes), pad8(n)
		if len(b) < side+data {
			return false, protoErr(FrameRan, FaultTruncated, "output of %d bytes", n)
		}
		e.Side, e.Data = b[:s.SideBytes:s.SideBytes], b[side:side+n:side+n]
		b = b[side+data:]
	}
	if e.Kind == EventRest && !r.rests {
		return false, protoErr(FrameRan, FaultValue, "a rest of cycles %d to %d: the device has no busy signal", e.First, e.Last)
	}
	if err := checkEvent(e, s, n); err != nil {
		return false, err
	}
	r.body = b
	r.left--
	return true, nil
}

func checkEvent(e *Record, s *StreamInfo, n int) error {
	switch e.Kind {
	case EventIn:
		if s.Out {
			return protoErr(FrameRan, FaultStream, "input accepted on output stream %s", s.Name)
		}
		if e.Flags == 0 || e.Flags&^(InBegin|InEnd) != 0 || e.Rule != 0 || n != 0 {
			return protoErr(FrameRan, FaultValue, "input accepted with flags %#x, rule %d, %d bytes", e.Flags, e.Rule, n)
		}
	case EventOut:
		if !s.Out {
			return protoErr(FrameRan, FaultStream, "output on input stream %s", s.Name)
		}
		if e.Flags != 0 || e.Rule != 0 {
			return protoErr(FrameRan, FaultValue, "output with flags %#x, rule %d", e.Flags, e.Rule)
		}
	case EventViolation:
		if e.Rule < RuleValidDropped || e.Rule > RulePadding || e.Flags != 0 || n != 0 {
			return protoErr(FrameRan, FaultValue, "violation of rule %d", e.Rule)
		}
	case EventRest:
		if e.Stream != 0 || e.Flags != 0 || e.Rule != 0 || n != 0 || e.Ordinal != 0 {
			return protoErr(FrameRan, FaultValue, "rest with stream %d, flags %#x, rule %d, %d bytes, ordinal %d",
				e.Stream, e.Flags, e.Rule, n, e.Ordinal)
		}
	case EventHeld:
		if s.Out && !s.Ready {
			return protoErr(FrameRan, FaultStream, "held time on output stream %s, which has no tready", s.Name)
		}
		if e.Flags != 0 || e.Rule != 0 || n != 0 || e.Ordinal != 0 {
			return protoErr(FrameRan, FaultValue, "held time with flags %#x, rule %d, %d bytes, ordinal %d", e.Flags, e.Rule, n, e.Ordinal)
		}
	default:
		return protoErr(FrameRan, FaultValue, "record type %d", e.Kind)
	}
	return nil
}
