package data

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
)

// ReceiveKind says how received payload is treated in the Arm's cache.
type ReceiveKind string

// Kinds of receiving.
const (
	InCache ReceiveKind = "in_cache" // the payload's cache lines are invalidated once it is in the host (FN 3.3)
	Naive   ReceiveKind = "naive"    // the payload's cache lines stay in the cache, and are written back when evicted
)

// TransmitKind is the way that a payload takes to the wire.
type TransmitKind string

// Kinds of transmitting.
const (
	HeaderOnly TransmitKind = "header_only" // the NIC gathers the payload from host memory (FN 3.2)
	DMAStaged  TransmitKind = "dma_staged"  // the NIC copies the payload to a ring in Arm memory, and sends from there
	rdmaStaged TransmitKind = "rdma_staged" // an RDMA NIC writes the payload to Arm memory: no card here has one
)

// Spec is the configuration of data cores.
type Spec struct {
	// LogReceive is log2 of the descriptors of a core's receive queue: at least 512 (FN 3.3).
	LogReceive int `yaml:"log_receive"`

	// PayloadBytes is the size of a payload buffer in bytes, whole lines: room for the largest MTU, and for headers
	// behind a BTH that the NIC does not know.
	PayloadBytes int `yaml:"payload_bytes"`

	// LogTransmit is log2 of the blocks of a transmit queue, which has a header slot for each block. Assumption.
	LogTransmit int `yaml:"log_transmit"`

	// LogCopy is log2 of the entries of the transmit queue for copies: assumption.
	LogCopy int `yaml:"log_copy"`

	// Every is the number of frames or copies per completion request, and of buffers per doorbell: assumption.
	Every int `yaml:"every"`

	// Burst is the largest number of elements that a step takes from a pipe, and of packets that a step of the work
	// loop sends: assumption. One doorbell announces them all.
	Burst int `yaml:"burst"`

	// PushBlocks is the largest entry, in blocks, that a core writes to the NIC's registers if it waits alone. NICs of
	// the family take whole entries (the BlueFlame register of ConnectX), so that headers and payload of a low-latency
	// message need no read. 1 leaves entries of several blocks to be fetched, 0 all.
	PushBlocks int `yaml:"push_blocks"`

	// Collect is the largest number of lines of send elements, and of completions, that go with one DMA. The producer
	// sends what it has at the end of its turn, so a line waits for no other one. Assumption: FN 3.4 sends elements at
	// once.
	Collect int `yaml:"collect_lines"`

	Receive  ReceiveKind  `yaml:"receive"`
	Transmit TransmitKind `yaml:"transmit"`

	// Fence lets the NIC order the completion of a received message behind its payload: both copies are posted
	// together, the second with a fence. Without it, or on a NIC without part fence, the core posts the completion when
	// the copies have ended, which costs a second turn through core, ring and NIC.
	Fence bool `yaml:"fence"`

	// StagingBytes is the size of the staging rings of all cores together, used by dma_staged: the paper sweeps 1 to 32
	// MB; a default in the middle is an assumption.
	StagingBytes int `yaml:"staging_bytes"`

	// StagingInvalidate invalidates the lines of a staged packet once it has left, so that they are not written back to
	// memory. Off by default: assumption that staging designs do not.
	StagingInvalidate bool `yaml:"staging_invalidate"`

	// Recovery selects how RC recovers from losses.
	Recovery transport.Recovery `yaml:"recovery"`

	// CC configures congestion control.
	CC CongestionSpec `yaml:"cc"`

	// Spray sends the packets of reliable queue pairs through all Ethernet ports in turn, each with another UDP source
	// port. Recovery must then be selective repeat.
	Spray bool `yaml:"spray"`

	// SprayPorts is the number of UDP source ports to spray over. SpraySeed selects the first port of each queue pair.
	// SprayReorder is the reordering, in packets, beyond which a packet counts as lost. Assumptions.
	SprayPorts   int    `yaml:"spray_ports"`
	SpraySeed    uint64 `yaml:"spray_seed"`
	SprayReorder int    `yaml:"spray_reorder_packets"`

	// Pipe is the spec of pipes to and from the host. Its batch is that of receive entries and mailboxes; Collect is
	// that of send elements and completions.
	Pipe pipe.Spec `yaml:"pipe"`

	// LogCompletions is log2 of the lines of a pipe of completions, whose counter is read each half lap. Such a pipe
	// has to be longer than one of requests: what a request may wait for in the application, its completion has to
	// wait for on the card. Assumption.
	LogCompletions int `yaml:"log_completions"`

	// Poll is the cost in cycles of polling one empty unshared send queue: 25 ns at 2.5 GHz (FN 3.2, fs.sq_loop_2000).
	Poll int64 `yaml:"poll_cycles"`

	// Parse is the cost in cycles of a received packet's headers and connection state, besides the loads. Build is that
	// of a packet to send, Element of an element of a pipe, and Touch of the end of a copy: assumptions.
	Parse   int64 `yaml:"parse_cycles"`
	Build   int64 `yaml:"build_cycles"`
	Element int64 `yaml:"element_cycles"`
	Touch   int64 `yaml:"touch_cycles"`

	// ReorderPackets is the number of early packets that a core can keep in reorder memory for selective repeat;
	// further ones stay in receive buffers: assumption.
	ReorderPackets int `yaml:"reorder_packets"`

	// PipeBytes is the size of a core's memory for the completions that it pushes to the host: assumption.
	PipeBytes int `yaml:"pipe_bytes"`

	// CRCCycles is the cost in cycles of a CRC-32C of 64 B in software (Solar): 8 B per cycle, as with Arm's
	// instruction: assumption.
	CRCCycles int64 `yaml:"crc_cycles"`

	// RecordPoll is the time between two DMA reads of a doorbell's record: assumption.
	RecordPoll simcore.Ps `yaml:"record_poll_ps"`

	// Retry is the time after which a full pipe of completions is tried again: assumption.
	Retry simcore.Ps `yaml:"retry_ps"`
}

// DefaultSpec returns a spec with header-only transmission and in-cache reception.
func DefaultSpec() Spec {
	return Spec{
		LogReceive: 9, PayloadBytes: 4096 + 2*nicspec.LineBytes, LogTransmit: 8, LogCopy: 8, Every: 32, Burst: 8,
		PushBlocks: nicspec.WqeBlocksMax,
		Collect:    8, Receive: InCache, Transmit: HeaderOnly, Fence: true,
		StagingBytes: 4 << 20,
		Recovery:     transport.GoBackN, Pipe: pipe.DefaultSpec(), LogCompletions: 8,
		Poll: 62, Parse: 150, Build: 120, Element: 40, Touch: 20,
		ReorderPackets: 256, PipeBytes: 1 << 20, CRCCycles: 8, RecordPoll: simcore.Microsecond,
		Retry: 2 * simcore.Microsecond, CC: DefaultCongestion(), SprayPorts: 64, SpraySeed: 1, SprayReorder: 8,
	}
}

// Collecting returns the spec of a pipe of send elements.
func (s *Spec) Collecting() pipe.Spec {
	p := s.Pipe
	p.Batch = s.Collect
	return p
}

// Completions returns the spec of a pipe of completions.
func (s *Spec) Completions() pipe.Spec {
	return pipe.Spec{LogLines: s.LogCompletions, Batch: s.Collect, Credit: max(1, 1<<s.LogCompletions/2)}
}

// Validate returns every error of the spec, by field.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, low, high int64) {
		errs = append(errs, field.Within(path, v, low, high))
	}
	log := func(path field.Path, v int) { within(path, int64(v), nicspec.LogSizeMin+2, nicspec.LogSizeMax) }
	log("log_receive", s.LogReceive)
	log("log_transmit", s.LogTransmit)
	log("log_copy", s.LogCopy)
	within("payload_bytes", int64(s.PayloadBytes), 256, 1<<14)
	if s.PayloadBytes%nicspec.LineBytes != 0 {
		errs = append(errs, field.Errorf("payload_bytes", "%d: want a multiple of %d", s.PayloadBytes,
			nicspec.LineBytes))
	}
	most := int64(1) << min(max(s.LogReceive, 0), max(s.LogTransmit, 0), 15) / 4
	if e := int64(s.Every); e < 1 || e > most {
		errs = append(errs, field.Errorf("every", "%d: want 1 to %d, a quarter of the smaller ring (%v, %v)", e, most,
			field.Path("log_transmit"), field.Path("log_receive")))
	}
	within("burst", int64(s.Burst), 1, 1<<10)
	within("push_blocks", int64(s.PushBlocks), 0, nicspec.WqeBlocksMax)
	if s.Receive != InCache && s.Receive != Naive {
		errs = append(errs, field.Errorf("receive", "%q: want %s or %s", s.Receive, InCache, Naive))
	}
	switch s.Transmit {
	case HeaderOnly, DMAStaged:
	case rdmaStaged:
		errs = append(errs, field.Errorf("transmit", "%s: it needs an rnic on the card, beside the NIC of the "+
			"contract, and no card has one: want %s or %s", s.Transmit, HeaderOnly, DMAStaged))
	default:
		errs = append(errs, field.Errorf("transmit", "%q: want %s or %s", s.Transmit, HeaderOnly, DMAStaged))
	}
	within("staging_bytes", int64(s.StagingBytes), 1<<20, 32<<20)
	if s.Recovery > transport.SelectiveRepeat {
		errs = append(errs, field.Errorf("recovery", "%d: want %d or %d", s.Recovery, transport.GoBackN,
			transport.SelectiveRepeat))
	}
	errs = append(errs, s.validatePipes(), field.Under("cc", s.CC.Validate()), s.validateSpray())
	within("reorder_packets", int64(s.ReorderPackets), 0, 1<<16)
	within("pipe_bytes", int64(s.PipeBytes), 1<<12, 1<<30)
	const cycles = 1 << 32
	within("crc_cycles", s.CRCCycles, 0, cycles)
	within("poll_cycles", s.Poll, 1, cycles)
	within("parse_cycles", s.Parse, 0, cycles)
	within("build_cycles", s.Build, 0, cycles)
	within("element_cycles", s.Element, 0, cycles)
	within("touch_cycles", s.Touch, 0, cycles)
	within("record_poll_ps", int64(s.RecordPoll), 1, int64(simcore.Second))
	within("retry_ps", int64(s.Retry), 1, int64(simcore.Second))
	return errors.Join(errs...)
}

// maxLogCompletions limits the size of a pipe of completions.
const maxLogCompletions = 16

// validatePipes returns the errors of the pipes to and from the host.
func (s *Spec) validatePipes() error {
	if err := s.Pipe.Validate(); err != nil {
		return field.Under("pipe", err)
	}
	if n := s.LogCompletions; n < 0 || n > maxLogCompletions {
		return field.Errorf("log_completions", "%d: want 0 to %d", n, maxLogCompletions)
	}
	if half := max(1, 1<<min(s.Pipe.LogLines, s.LogCompletions)/2); s.Collect < 1 || s.Collect > half {
		return field.Errorf("collect_lines", "%d: want 1 to %d, half the lines of a ring (%v, %v)", s.Collect, half,
			field.Path("pipe.log_lines"), field.Path("log_completions"))
	}
	return nil
}

// MaxSGE is the most spans of a request: the frame needs a piece for its headers and one for its trailer, too.
const MaxSGE = nicspec.SegMax - 2

// MaxInline is the most inline bytes of a request: they share a header slot with the headers.
const MaxInline = 220
