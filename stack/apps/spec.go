package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/stack/apps/kind"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// Kind is the name of a kind of workload.
type Kind = kind.Name

// Kinds of workload (package kind).
const (
	Send        = kind.Send
	Write       = kind.Write
	WriteImm    = kind.WriteImm
	Read        = kind.Read
	Atomics     = kind.Atomics
	Echo        = kind.Echo
	PingPong    = kind.PingPong
	Reflector   = kind.Reflector
	ListWalk    = kind.ListWalk
	BatchedRead = kind.BatchedRead
	Ring        = kind.Ring
	Nop         = kind.Nop
	KV          = kind.KV
	Chunks      = kind.Chunks
	VXLAN       = kind.VXLAN
)

// Transport is the service type of the queue pairs.
type Transport = kind.Transport

// Transports; a workload uses one.
const (
	RC    = kind.RC
	UC    = kind.UC
	UD    = kind.UD
	Raw   = kind.Raw
	Solar = kind.Solar
	UDP   = kind.UDP // its applications are in package stack/hostnet/apps
)

// qpTypes holds the type of queue pair of each transport.
var qpTypes = map[Transport]verbs.QPType{RC: verbs.QPTRC, UC: verbs.QPTUC, UD: verbs.QPTUD, Raw: verbs.QPTRawPacket,
	Solar: verbs.QPTSolar}

// traits returns the properties of the workload's kind; none if the kind does not exist.
func (s *Spec) traits() kind.Traits {
	if k := kind.Of(s.Kind, s.By); k != nil {
		return k.Traits()
	}
	return kind.Traits{}
}

// Served reports whether handlers on the server's card answer the requests.
func (s *Spec) Served() bool { return s.traits().Served }

// HandedOver reports whether messages are handed to an application, not only written to or read from memory.
func (s *Spec) HandedOver() bool { return s.traits().HandedOver() }

// Spec describes a workload.
type Spec struct {
	Kind      Kind      `yaml:"kind"`
	Transport Transport `yaml:"transport"`
	// applications on each server, each with its own verbs context and core
	Processes  int  `yaml:"processes"`
	QueuePairs int  `yaml:"queue_pairs"` // flows
	BothWays   bool `yaml:"both_ways"`   // adds the same number of flows whose client is on the second server
	// message lengths in bytes; message i takes entry i modulo the list's length
	Sizes []int `yaml:"sizes" unit:"bytes"`
	Count int   `yaml:"count"` // messages of each flow
	Depth int   `yaml:"depth"` // requests of a flow in flight; with kind `ring`: number of slots of its ring

	Payload Payload `yaml:"payload"` // when applications read and write the bytes of messages
	Memory  Places  `yaml:"memory"`  // of the buffers of messages

	Pieces      int  `yaml:"pieces"`              // SGEs of each request
	Offset      int  `yaml:"offset" unit:"bytes"` // distance of each piece from a multiple of 64 B
	Inline      bool `yaml:"inline"`              // requests carry their bytes
	Immediate   bool `yaml:"immediate"`           // SENDs carry immediate data
	Invalidate  bool `yaml:"invalidate"`          // each SEND invalidates a memory region of the server
	Batch       int  `yaml:"batch"`               // most requests, or answers, that an end posts per call
	Events      bool `yaml:"events"`              // takes completions on completion events instead of by polling
	SignalEvery int  `yaml:"signal_every"`        // signals one of every SignalEvery requests of a flow, and its last

	// write_imm: one of every CloseEvery requests of a flow, and its last, has immediate data and closes the WRITEs
	// before it
	CloseEvery int `yaml:"close_every"`

	LowLatency      bool    `yaml:"low_latency"`       // uses low-latency queue pairs, sized for the largest message
	Notice          Notice  `yaml:"notice"`            // what tells an application of a message
	SharedReceive   bool    `yaml:"shared_receive"`    // one receive queue for all flows of an application or server
	SharedReceiveBy Sharers `yaml:"shared_receive_by"` // whose flows share a receive queue
	// receive requests of a flow that are posted at a time; 0: see Spec.receives
	Receives int `yaml:"receives"`
	// receive requests that an end posts per call; buffers wait until there are as many
	ReceiveBatch int `yaml:"receive_batch"`
	ReceiveBytes int `yaml:"receive_bytes" unit:"bytes"` // least length of a receive buffer
	// list_walk: the number of nodes that each walk visits; walk i takes entry i modulo the number of entries; 0: the
	// walk searches for a key that no node has
	Hops          []int   `yaml:"hops"`
	By            kind.By `yaml:"by"`             // list_walk, batched_read: what reads the server's memory
	SharedCounter bool    `yaml:"shared_counter"` // atomics: all flows add to one counter

	// bytes of a message that its receiver reads before it reads the rest, as an RPC library has its header; 0: all
	Head int `yaml:"head" unit:"bytes"`

	Ring rb2.Spec `yaml:"ring"` // the ring of each flow

	// bytes of each answer of kinds echo, ping_pong and reflector; null: as many as its request has
	Answer *int           `yaml:"answer" unit:"bytes"`
	Every  int64          `yaml:"every_ps"` // UDP: time from one request of a flow to the next; 0: as depth allows
	KV     kind.KVSpec    `yaml:"kv"`       // options of kind kv
	Chunks kind.ChunkSpec `yaml:"chunks"`   // options of kind chunks
	VXLAN  kind.VXLANSpec `yaml:"vxlan"`    // options of kind vxlan

	AnyOrder bool `yaml:"any_order"` // UD: messages may overtake each other

	Ports int  `yaml:"ports"` // number of ports of each server; flow i uses port i modulo Ports
	PSN   *int `yaml:"psn"`   // first PSN of every sender; null: drawn from the seed, near the wrap for some

	MTU int `yaml:"mtu" unit:"bytes"` // path MTU in bytes
	// retransmission timeout of 4.096 us x 2^timeout; 0: never; null: DefaultTimeout
	Timeout  *int `yaml:"timeout"`
	Retries  int  `yaml:"retries"`   // retransmissions without an answer before the request fails
	RNRRetry int  `yaml:"rnr_retry"` // retries after an RNR NAK; 7: unlimited
	RNRTimer int  `yaml:"rnr_timer"` // RNR timer code of the receivers

	Misuse *Misuse `yaml:"misuse"` // a deliberate fault of the client or server; nil: none
	Seed   uint64  `yaml:"seed"`   // seed of the message contents
}

// DefaultSpec returns a workload of 64 SENDs of 1 KB over one RC queue pair, eight in flight. The
// timeout of 1 ms, seven retries and the RNR time of 10 us are assumptions: short, because simulated
// time is expensive.
func DefaultSpec() Spec {
	return Spec{
		Kind: Send, Transport: RC, Processes: 1, QueuePairs: 1, Sizes: []int{1024}, Count: 64, Depth: 8, Payload: Fresh,
		By: kind.ByEngine, Notice: NoticeCompletion, Memory: Places{HostPlace, HostPlace}, Pieces: 1, Batch: 1,
		SignalEvery: 1, CloseEvery: 1, ReceiveBatch: 1, SharedReceiveBy: SharedByApplication,
		Ring: rb2.DefaultSpec(), KV: kind.DefaultKV(), Chunks: kind.DefaultChunks(),
		VXLAN: kind.DefaultVXLAN(), Ports: 1, MTU: 1024, Retries: 7, RNRRetry: 7, RNRTimer: 1, Seed: 1,
	}
}

// Limits of a spec's fields.
const (
	maxProcesses = 16
	maxPairs     = 2048
	maxCount     = 1 << 20
	maxDepth     = kind.MaxDepth
	maxPieces    = 16
	maxPorts     = 8
	maxPSN       = 1<<24 - 1
	stampLen     = kind.NumberBytes
)

// MaxMessages bounds the messages of the flows of all workloads, answers not counted: their completions are all kept.
const MaxMessages = 1 << 22

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	within := func(path field.Path, v, from, to int) {
		bad(v >= from && v <= to, path, "%d: want %d to %d", v, from, to)
	}
	bad(slices.Contains([]Transport{RC, UC, UD, Raw, Solar, UDP}, s.Transport), "transport",
		"%q: want %s, %s, %s, %s, %s or %s", s.Transport, RC, UC, UD, Raw, Solar, UDP)
	bad(s.By == kind.ByEngine || s.By == kind.ByReads, "by", "%q: want %s or %s", s.By, kind.ByEngine, kind.ByReads)
	k := kind.Of(s.Kind, s.By)
	if k == nil {
		bad(false, "kind", "%q: want %s", s.Kind, kind.Names(kind.Any))
	} else {
		errs = append(errs, kind.Validate(k, s.fields()), s.validateSizes(k.Lengths()))
	}
	s.validateRaw(bad)
	s.validateSolar(bad)
	s.validateUDP(bad)
	within("processes", s.Processes, 1, maxProcesses)
	within("queue_pairs", s.QueuePairs, 1, maxPairs)
	within("count", s.Count, 1, maxCount)
	if s.Count > 0 && s.Count <= maxCount && s.QueuePairs > 0 && s.QueuePairs <= maxPairs && s.Processes > 0 &&
		s.Processes <= maxProcesses {
		bad(s.Messages() <= MaxMessages, "count",
			"%d: with %v, %v and %v this makes %d messages in all flows: want at most %d", s.Count,
			field.Path("queue_pairs"), field.Path("processes"), field.Path("both_ways"), s.Messages(), MaxMessages)
	}
	within("depth", s.Depth, 1, maxDepth)
	within("pieces", s.Pieces, 1, maxPieces)
	within("offset", s.Offset, 0, line-1)
	within("batch", s.Batch, 1, max(s.Depth, 1))
	within("signal_every", s.SignalEvery, 1, max(s.Depth, 1))
	within("close_every", s.CloseEvery, 1, maxDepth)
	bad(s.CloseEvery == 1 || s.Transport == RC && s.Misuse == nil, "close_every",
		"%d: want 1, or transport %s and no misuse", s.CloseEvery, RC)
	within("receives", s.Receives, 0, maxDepth)
	within("head", s.Head, 0, kind.MaxBytes)
	bad(s.Head == 0 || s.Payload == Fresh && s.Notice == NoticeCompletion, "head", "%d: want 0, or %v %s and %v %s, "+
		"so that completions announce the messages that are read", s.Head, field.Path("payload"), Fresh,
		field.Path("notice"), NoticeCompletion)
	within("receive_bytes", s.ReceiveBytes, 0, kind.MaxBytes)
	s.validateReceiveBatch(bad)
	within("ports", s.Ports, 1, maxPorts)
	if s.PSN != nil {
		within("psn", *s.PSN, 0, maxPSN)
	}
	bad(!s.AnyOrder || s.Transport == UD && s.Kind == Send, "any_order",
		": %s over %s keeps messages in order: want false, or kind %s over %s", s.Kind, s.Transport, Send, UD)
	within("timeout", s.RetransmitAfter(), 0, MaxTimeout)
	within("retries", s.Retries, 0, 7)
	within("rnr_retry", s.RNRRetry, 0, 7)
	within("rnr_timer", s.RNRTimer, 0, 31)
	bad(s.MTU >= 0 && s.MTU <= int(verbs.MTU8192) && verbs.MTU(s.MTU).Valid(), "mtu",
		"%d: want 256, 512, 1024, 2048, 4096 or 8192", s.MTU)
	return errors.Join(append(errs, s.validatePayload(), s.validateOptions(), s.validateMisuse())...)
}

// fields returns the fields of the spec that kinds restrict.
func (s *Spec) fields() *kind.Fields {
	f := &kind.Fields{Transport: s.Transport, Sizes: s.Sizes, Hops: s.Hops, Depth: s.Depth, Pieces: s.Pieces,
		Offset: s.Offset, Batch: s.Batch, SignalEvery: s.SignalEvery, Receives: s.Receives, Ring: s.Ring, KV: s.KV,
		Chunks: s.Chunks, VXLAN: s.VXLAN, Answer: s.Answer}
	usual := DefaultSpec()
	for _, x := range []struct {
		set  bool
		name kind.Option
	}{
		{s.Inline, kind.Inline}, {s.Immediate, kind.Immediate}, {s.Invalidate, kind.Invalidate},
		{s.LowLatency, kind.LowLatency}, {s.SharedReceive, kind.SharedReceive},
		{s.Head != 0, kind.Head},
		{s.CloseEvery != 1, kind.CloseEvery},
		{s.Notice == NoticeBytes, kind.Notice},
		{s.SharedCounter, kind.SharedCounter}, {len(s.Hops) > 0, kind.Hops}, {s.By == kind.ByReads, kind.Access},
		{s.Payload == Reused, kind.Reused},
		{s.Ring != usual.Ring, kind.RingSpec}, {s.Misuse != nil, kind.Misuse},
		{s.Transport == UDP && !slices.Equal(s.Sizes, usual.Sizes), kind.SizesOption},
		{s.Transport == UDP && s.Depth != usual.Depth, kind.DepthOption}, {s.KV != usual.KV, kind.KVOption},
		{s.Chunks != usual.Chunks, kind.ChunksOption}, {s.VXLAN != usual.VXLAN, kind.VXLANOption},
		{s.Answer != nil, kind.AnswerOption},
	} {
		if x.set && (s.Transport != UDP || slices.Contains(udpFields, string(x.name))) { // see validateUDP
			f.Set = append(f.Set, x.name)
		}
	}
	return f
}

// validateSizes rejects message lengths that the kind and the transport do not allow.
func (s *Spec) validateSizes(n kind.Lengths) error {
	var errs []error
	if len(s.Sizes) == 0 || len(s.Sizes) > maxDepth {
		errs = append(errs, field.Errorf("sizes", ": %d of them: want 1 to %d", len(s.Sizes), maxDepth))
	}
	switch s.Transport {
	case UDP:
		return errors.Join(errs...) // kind.Validate checks each size
	case UD:
		n.Least, n.Most = stampLen, s.MTU
	case Raw:
		n.Least, n.Most = MinFrame-etherBytes, s.MTU-etherBytes
	case UC: // UC may lose messages, so each contains its number
		n.Least = max(n.Least, stampLen)
	}
	for i, v := range s.Sizes {
		if at := field.Path(fmt.Sprintf("sizes[%d]", i)); v < n.Least || v > n.Most {
			errs = append(errs, field.Errorf(at, "%d: %s over %s takes %d to %d bytes", v, s.Kind, s.Transport, n.Least,
				n.Most))
		} else if v%n.Step != 0 {
			errs = append(errs, field.Errorf(at, "%d: %s returns values of %d bytes: want a multiple of that", v,
				s.Kind, n.Step))
		}
	}
	if s.Transport == RC { // then the kind alone limits the lengths
		return field.Against(errors.Join(errs...), "kind", "transport", "mtu")
	}
	return field.Against(errors.Join(errs...), "transport", "mtu", "kind")
}

// validateOptions rejects options that do not go together.
func (s *Spec) validateOptions() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(!s.Inline || s.Pieces == 1, "inline", ": inline bytes have no pieces: want %v 1, or false",
		field.Path("pieces"))
	s.validateLowLatency(bad)
	s.validateNotice(bad)
	s.validatePlaces(bad)
	s.validateRevoke(bad)
	return errors.Join(errs...)
}

// validateLowLatency rejects workloads that low-latency queue pairs cannot carry.
func (s *Spec) validateLowLatency(bad func(ok bool, path field.Path, format string, a ...any)) {
	if !s.LowLatency {
		return
	}
	bad(s.Transport == RC, "low_latency",
		": low-latency queue pairs support only SENDs over rc: want these, or false")
	bad(s.Pieces == 1 && !s.SharedReceive, "low_latency",
		": each receive request is one piece, of the queue pair's own: want %v 1 and %v false, or false",
		field.Path("pieces"), field.Path("shared_receive"))
	bad(len(s.Sizes) > 0 && s.largest() <= s.MTU, "low_latency",
		": a message is one packet: want %v up to %v %d, or false", field.Path("sizes"), field.Path("mtu"), s.MTU)
	bad(!s.Invalidate, "invalidate", ": low-latency queue pairs have no SEND_WITH_INV: want false, or %v false",
		field.Path("low_latency"))
}

// size returns the length of message m in bytes.
func (s *Spec) size(m int) int { return s.Sizes[m%len(s.Sizes)] }

// answerSize returns the length of the answer to message m in bytes.
func (s *Spec) answerSize(m int) int {
	if s.Answer != nil {
		return *s.Answer
	}
	return s.size(m)
}

func (s *Spec) largest() int { return slices.Max(s.Sizes) }

// BytesInFlight returns an upper bound on the message bytes that the applications have in flight.
func (s *Spec) BytesInFlight() int {
	return s.Processes * s.flows() * min(s.Depth, s.Count) * s.largest()
}

// Largest returns the length of the longest message in bytes.
func (s *Spec) Largest() int { return s.largest() }
