package protocol

// Kinds of streams.
const (
	KindAxis   = "axis"   // packets; every packet has data
	KindTLP    = "tlp"    // packets; a packet may have no data
	KindRecord = "record" // fields with a handshake, one group of values a beat
	KindLevel  = "level"  // input fields without a handshake: they keep the value set last
)

// KindCodes lists the kinds of streams by their codes.
var KindCodes = [...]string{KindAxis, KindTLP, KindRecord, KindLevel}

// Limits on what a device may have; the tables of HELLO and START use one byte per stream.
const (
	MaxStreams  = 64
	MaxObserve  = 64
	MaxTieOffs  = 256
	MaxClocks   = 8
	MaxPeriodPs = 1_000_000_000
	MinPeriodPs = 2
)

// StreamInfo describes a stream as the running device declares it.
type StreamInfo struct {
	Name      string
	Kind      string // KindAxis, KindTLP, KindRecord or KindLevel
	Out       bool
	Ready     bool // has back-pressure
	KeepUnit  int  // bytes per tkeep bit; 0: no tkeep, every beat is whole
	DataBytes int  // bytes of one beat; 0: records and levels, which have side bytes only
	SideBytes int
	Clock     int      // index into Hello.Clocks
	Fields    []Signal // fields of the side bytes; each field begins at a byte boundary
}

// Packets reports whether the stream's transactions have data.
func (s *StreamInfo) Packets() bool { return s.Kind == KindAxis || s.Kind == KindTLP }

// ClockInfo is a clock and its period, which START may override.
type ClockInfo struct {
	Name     string
	PeriodPs int64
}

// Signal is an observed output or a tied input.
type Signal struct {
	Name  string
	Width int // bits
}

// Bytes returns the number of bytes for the signal's bits.
func (s Signal) Bytes() int { return (s.Width + 7) / 8 }

// Hello is the device's introduction.
type Hello struct {
	Version   int
	BuildHash [32]byte
	PeriodPs  int64 // period of the first clock, which START may override
	Clocks    []ClockInfo
	MaxFrame  int
	Busy      int  // index into Observe, -1: none
	SkipIdle  bool // the design reads only its state and pins: see Manifest.SkipIdle
	Streams   []StreamInfo
	Observe   []Signal
	Ties      []Signal
}

func DecodeHello(b []byte) (*Hello, error) {
	c := &cursor{b: b}
	h := &Hello{}
	if c.u64() != Magic || c.bad {
		return nil, ProtoErr(FrameHello, FaultMagic, "this is not a nictwin device")
	}
	h.Version = int(c.u16())
	nStreams, nObserve, nTies := int(c.u16()), int(c.u16()), int(c.u16())
	copy(h.BuildHash[:], c.take(32))
	nClocks := c.u64()
	h.MaxFrame = int(c.u32())
	h.Busy = int(int32(c.u32()))
	if c.bad {
		return nil, ProtoErr(FrameHello, FaultTruncated, "%d bytes", len(b))
	}
	if h.Version != Version {
		return nil, ProtoErr(FrameHello, FaultVersion, "the device speaks version %d, this program %d", h.Version,
			Version)
	}
	if h.Busy < -1 || h.Busy >= nObserve {
		return nil, ProtoErr(FrameHello, FaultValue, "busy signal %d of %d", h.Busy, nObserve)
	}
	if nClocks == 0 || nClocks > MaxClocks || nStreams == 0 || nStreams > MaxStreams || nObserve > MaxObserve ||
		nTies > MaxTieOffs {
		return nil, ProtoErr(FrameHello, FaultLimit, "%d clocks, %d streams, %d observed signals, %d tie-offs", nClocks,
			nStreams, nObserve, nTies)
	}
	for range nClocks {
		k := ClockInfo{PeriodPs: int64(c.u64())}
		k.Name = c.name(int(min(c.u64(), 1<<10)))
		if k.PeriodPs < MinPeriodPs || k.PeriodPs > MaxPeriodPs {
			return nil, ProtoErr(FrameHello, FaultValue, "clock %s has a period of %d ps", k.Name, k.PeriodPs)
		}
		h.Clocks = append(h.Clocks, k)
	}
	h.PeriodPs = h.Clocks[0].PeriodPs
	for range nStreams {
		s, err := helloStream(c)
		if err == nil && s.Clock >= len(h.Clocks) {
			err = ProtoErr(FrameHello, FaultValue, "stream %s: clock %d of %d", s.Name, s.Clock, len(h.Clocks))
		}
		if err != nil {
			return nil, err
		}
		h.Streams = append(h.Streams, s)
	}
	h.Observe, h.SkipIdle = helloSignals(c, nObserve, h.Busy)
	h.Ties, _ = helloSignals(c, nTies, -1)
	if c.bad {
		return nil, ProtoErr(FrameHello, FaultTruncated, "%d bytes", len(b))
	}
	if len(c.b) != 0 {
		return nil, ProtoErr(FrameHello, FaultTrailing, "%d bytes", len(c.b))
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
		return s, ProtoErr(FrameHello, FaultTruncated, "stream table")
	}
	if int(kind) >= len(KindCodes) || out > 1 || ready > 1 || (unit != 0 && unit != 1 && unit != 4) {
		return s, ProtoErr(FrameHello, FaultValue, "stream %s", s.Name)
	}
	s.Kind = KindCodes[kind]
	if (s.DataBytes != 0) != s.Packets() || s.DataBytes > 2048 || s.SideBytes > MaxSideBytes || fields > MaxSideBytes {
		return s, ProtoErr(FrameHello, FaultLimit, "stream %s: %d data and %d side-band bytes in %d fields", s.Name,
			s.DataBytes, s.SideBytes, fields)
	}
	s.Fields, _ = helloSignals(c, fields, -1)
	sum := 0
	for _, f := range s.Fields {
		sum += f.Bytes()
	}
	if sum != s.SideBytes && !c.bad {
		return s, ProtoErr(FrameHello, FaultValue, "stream %s: fields of %d bytes, %d side-band bytes", s.Name, sum,
			s.SideBytes)
	}
	return s, nil
}

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
