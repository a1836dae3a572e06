package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// Kind is the pattern of communication that the applications follow.
type Kind string

// Kinds of workload.
const (
	Send      Kind = "send"      // SEND, which the server takes
	Write     Kind = "write"     // RDMA_WRITE, each message to a place of its own in the server's memory
	WriteImm  Kind = "write_imm" // like write with immediate data, which completes a receive request of the server
	Read      Kind = "read"      // RDMA_READ of the server's memory
	Atomics   Kind = "atomics"   // FETCH_ADD and CMP_SWP of a counter in the server's memory
	Echo      Kind = "echo"      // SEND; the server sends other bytes of the same length back
	PingPong  Kind = "ping_pong" // like echo, one message at a time
	Reflector Kind = "reflector" // SEND; the server sends the same bytes back from where it received them

	// each SEND asks a handler on the server's card to walk a linked list in the server's memory; the handler answers
	ListWalk    Kind = "list_walk"
	BatchedRead Kind = "batched_read" // like list_walk, but reads values at many addresses

	Ring Kind = "ring" // messages through a ring buffer of package rb2, whose receiver reads them from its memory

	allKinds = "send, write, write_imm, read, atomics, echo, ping_pong, reflector, list_walk, batched_read or ring"
)

// twoWay reports whether every message has an answer.
func (k Kind) twoWay() bool { return k == Echo || k == PingPong || k == Reflector }

// sends reports whether messages land in the memory of receive requests of the server.
func (k Kind) sends() bool { return k == Send || k.twoWay() }

// Served reports whether handlers on the server's card answer the requests.
func (k Kind) Served() bool { return k == ListWalk || k == BatchedRead }

// answered reports whether every message of a client has an answer that takes one of the client's receive
// requests.
func (k Kind) answered() bool { return k.twoWay() || k.Served() }

// needsRC reports whether the kind works over reliable connections only.
func (k Kind) needsRC() bool { return k == Read || k == Atomics || k.Served() || k == Ring }

// Transport is the service type of the queue pairs.
type Transport string

// Transports; a workload uses one.
const (
	RC Transport = "rc"
	UC Transport = "uc"
	UD Transport = "ud"

	Raw   Transport = "raw"   // Ethernet frames, whose header the application writes
	Solar Transport = "solar" // blocks of storage, one packet each
)

func (t Transport) qpType() verbs.QPType {
	return map[Transport]verbs.QPType{RC: verbs.QPTRC, UC: verbs.QPTUC, UD: verbs.QPTUD, Raw: verbs.QPTRawPacket,
		Solar: verbs.QPTSolar}[t]
}

// Spec describes a workload.
type Spec struct {
	Kind      Kind      `yaml:"kind"`
	Transport Transport `yaml:"transport"`
	// applications on each server, each with its own verbs context and core
	Processes  int  `yaml:"processes"`
	QueuePairs int  `yaml:"queue_pairs"` // flows
	BothWays   bool `yaml:"both_ways"`   // adds as many flows whose client is on the second server
	// message lengths in bytes; message i takes entry i modulo the list's length
	Sizes []int `yaml:"sizes" unit:"bytes"`
	Count int   `yaml:"count"` // messages of each flow
	Depth int   `yaml:"depth"` // requests of a flow in flight; for kind ring the ring's slots

	Payload Payload `yaml:"payload"` // when applications read and write the bytes of messages

	Pieces      int  `yaml:"pieces"`              // SGEs of each request
	Offset      int  `yaml:"offset" unit:"bytes"` // distance of each piece from a multiple of 64 B
	Inline      bool `yaml:"inline"`              // requests carry their bytes
	Immediate   bool `yaml:"immediate"`           // SENDs carry immediate data
	Invalidate  bool `yaml:"invalidate"`          // each SEND invalidates a memory region of the server
	Batch       int  `yaml:"batch"`               // requests that the client posts per call, as far as there is room
	Events      bool `yaml:"events"`              // takes completions on completion events instead of by polling
	SignalEvery int  `yaml:"signal_every"`        // signals every so many-th request, and the last one

	LowLatency    bool `yaml:"low_latency"`    // uses low-latency queue pairs, sized for the largest message
	SharedReceive bool `yaml:"shared_receive"` // one receive queue for all flows of a server
	// receive requests of a flow that are posted at a time; 0: see Spec.receives
	Receives int `yaml:"receives"`
	// list_walk: the number of nodes that each walk visits; walk i takes entry i modulo the number of entries; 0: the
	// walk searches for a key that no node has
	Hops          []int `yaml:"hops"`
	SharedCounter bool  `yaml:"shared_counter"` // atomics: all flows add to one counter

	Ring rb2.Spec `yaml:"ring"` // the ring of each flow

	AnyOrder bool `yaml:"any_order"` // UD: messages may overtake each other

	Ports int  `yaml:"ports"` // ports of each server; flows take turns
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

// Misuse is a deliberate fault in one request of flow 0.
type Misuse struct {
	What    FaultKind `yaml:"what"`
	Message int       `yaml:"message"` // message whose request is faulty
}

// FaultKind is the kind of fault in a request.
type FaultKind string

// Faults of a request.
const (
	RemoteKey    FaultKind = "remote_key"    // a key that the server does not have
	RemoteBounds FaultKind = "remote_bounds" // the last byte is beyond the server's region
	LocalKey     FaultKind = "local_key"     // a key that the client does not have
	LocalBounds  FaultKind = "local_bounds"  // the last byte is beyond the client's region
	ShortReceive FaultKind = "short_receive" // the server's receive request has one byte less than the message
	BadReceive   FaultKind = "bad_receive"   // the server's receive request has a key that the server does not have
	// the server posts no receive request for this message or any later one
	NoReceive  FaultKind = "no_receive"
	Deregister FaultKind = "deregister"  // the server deregisters its memory before it answers the message
	Unaligned  FaultKind = "unaligned"   // an atomic whose address is not a multiple of eight
	RevokedKey FaultKind = "revoked_key" // a WRITE with the key that the previous message invalidated
	faultNames           = "remote_key, remote_bounds, local_key, local_bounds, short_receive, bad_receive, " +
		"no_receive, deregister, unaligned or revoked_key"
)

func (w FaultKind) remote() bool  { return w == RemoteKey || w == RemoteBounds }
func (w FaultKind) receive() bool { return w == ShortReceive || w == BadReceive || w == NoReceive }

// Timeout codes of a queue pair: 4.096 us x 2^code.
const (
	DefaultTimeout = 8
	MaxTimeout     = 31
)

// RetransmitAfter returns the timeout code of the spec, or DefaultTimeout if it has none.
func (s *Spec) RetransmitAfter() int {
	if s.Timeout == nil {
		return DefaultTimeout
	}
	return *s.Timeout
}

// DefaultSpec returns a workload of 64 SENDs of 1 KB over one RC queue pair, eight in flight. The
// timeout of 1 ms, seven retries and the RNR time of 10 us are assumptions: short, because simulated
// time is expensive.
func DefaultSpec() Spec {
	return Spec{
		Kind: Send, Transport: RC, Processes: 1, QueuePairs: 1, Sizes: []int{1024}, Count: 64, Depth: 8, Payload: Fresh,
		Pieces: 1, Batch: 1, SignalEvery: 1,
		Ring: rb2.DefaultSpec(), Ports: 1, MTU: 1024, Retries: 7, RNRRetry: 7, RNRTimer: 1, Seed: 1,
	}
}

// Limits of a spec's fields.
const (
	maxProcesses = 16
	maxPairs     = 2048
	maxCount     = 1 << 20
	maxDepth     = 1 << 12
	maxPieces    = 16
	maxHops      = 1 << 12
	maxPorts     = 8
	maxPSN       = 1<<24 - 1
	maxBytes     = 1 << 24
	maxTotal     = 1 << 22 // messages of all flows, whose completions are all kept
	stampLen     = 4       // bytes of the message number at the start of a message
)

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
	known := slices.Contains([]Kind{Send, Write, WriteImm, Read, Atomics, Echo, PingPong, Reflector, ListWalk,
		BatchedRead, Ring}, s.Kind)
	bad(known, "kind", "%q: want %s", s.Kind, allKinds)
	bad(slices.Contains([]Transport{RC, UC, UD, Raw, Solar}, s.Transport), "transport", "%q: want %s, %s, %s, %s or %s",
		s.Transport, RC, UC, UD, Raw, Solar)
	s.validateRaw(bad)
	s.validateSolar(bad)
	errs = append(errs, s.validateRing(bad))
	if s.Transport != RC && s.Transport != Raw && s.Transport != Solar && known {
		bad(!s.Kind.needsRC(), "kind", "%s: %v %s does not support it: want %s, or %v %s", s.Kind,
			field.Path("transport"), s.Transport, Send, field.Path("transport"), RC)
		bad(s.Transport != UD || s.Kind.sends(), "kind", "%s: %v ud does not support it: want %s, %s, %s or %s", s.Kind,
			field.Path("transport"), Send, Echo, PingPong, Reflector)
	}
	within("processes", s.Processes, 1, maxProcesses)
	within("queue_pairs", s.QueuePairs, 1, maxPairs)
	within("count", s.Count, 1, maxCount)
	if s.Count > 0 && s.Count <= maxCount && s.QueuePairs > 0 && s.QueuePairs <= maxPairs && s.Processes > 0 &&
		s.Processes <= maxProcesses {
		bad(s.Messages() <= maxTotal, "count", "%d: with %v, %v and %v this makes %d messages in all flows: want at "+
			"most %d",
			s.Count, field.Path("queue_pairs"), field.Path("processes"), field.Path("both_ways"), s.Messages(),
			maxTotal)
	}
	within("depth", s.Depth, 1, maxDepth)
	within("pieces", s.Pieces, 1, maxPieces)
	within("offset", s.Offset, 0, line-1)
	within("batch", s.Batch, 1, max(s.Depth, 1))
	within("signal_every", s.SignalEvery, 1, max(s.Depth, 1))
	within("receives", s.Receives, 0, maxDepth)
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
	return errors.Join(append(errs, s.validateSizes(), s.validateOptions(), s.validateMisuse())...)
}

// validateSizes rejects message lengths that the kind and transport do not allow.
func (s *Spec) validateSizes() error {
	var errs []error
	if len(s.Sizes) == 0 || len(s.Sizes) > maxDepth {
		errs = append(errs, field.Errorf("sizes", ": %d of them: want 1 to %d", len(s.Sizes), maxDepth))
	}
	least, most := 0, maxBytes
	switch {
	case s.Kind == Atomics:
		least, most = counterLen, counterLen
	case s.Kind == Ring:
		least = 1
	case s.Kind == ListWalk:
		least, most = valueBytes, valueBytes
	case s.Kind == BatchedRead:
		least, most = valueBytes, maxBatch*valueBytes
	case s.Transport == UD:
		least, most = stampLen, s.MTU
	case s.Transport == Raw:
		least, most = MinFrame-etherBytes, s.MTU-etherBytes
	case s.Transport == UC: // UC may lose messages, so each must be long enough for its number
		least = stampLen
	}
	for i, n := range s.Sizes {
		if at := field.Path(fmt.Sprintf("sizes[%d]", i)); n < least || n > most {
			errs = append(errs, field.Errorf(at, "%d: %s over %s takes %d to %d bytes", n, s.Kind, s.Transport, least,
				most))
		} else if s.Kind == BatchedRead && n%valueBytes != 0 {
			errs = append(errs, field.Errorf(at, "%d: %s returns values of %d bytes: want a multiple of that", n,
				s.Kind, valueBytes))
		}
	}
	return field.Against(errors.Join(errs...), "kind", "transport", "mtu")
}

// validateOptions rejects options that do not go together.
func (s *Spec) validateOptions() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(s.Kind != PingPong || s.Depth == 1, "depth", "%d: %v %s has one message at a time: want 1", s.Depth,
		field.Path("kind"), PingPong)
	bad(!s.Inline || s.Kind != Read && s.Kind != Atomics && s.Kind != Reflector, "inline",
		": kind %s sends no bytes inline: want false", s.Kind)
	bad(!s.Inline || s.Pieces == 1, "inline", ": inline bytes have no pieces: want %v 1, or false",
		field.Path("pieces"))
	bad(!s.Immediate || s.Kind.sends(), "immediate", ": kind %s has no SENDs: want false", s.Kind)
	bad(!s.LowLatency || s.Transport == RC && s.Kind.sends(), "low_latency",
		": low-latency queue pairs support only SENDs over rc: want these, or false")
	bad(!s.LowLatency || s.Pieces == 1 && !s.SharedReceive, "low_latency",
		": each receive request is one piece, of the queue pair's own: want %v 1 and %v false, or false",
		field.Path("pieces"), field.Path("shared_receive"))
	bad(!s.LowLatency || len(s.Sizes) > 0 && s.largest() <= s.MTU, "low_latency",
		": a message is one packet: want %v up to %v %d, or false", field.Path("sizes"), field.Path("mtu"), s.MTU)
	bad(!s.LowLatency || !s.Invalidate, "invalidate", ": low-latency queue pairs have no SEND_WITH_INV: want false, "+
		"or %v false", field.Path("low_latency"))
	bad(!s.SharedReceive || s.Kind.receives(), "shared_receive", ": kind %s takes no receive requests: want false",
		s.Kind)
	bad(!s.SharedCounter || s.Kind == Atomics, "shared_counter", ": kind %s has no counter: want false", s.Kind)
	s.validateRevoke(bad)
	s.validatePayload(bad)
	bad(len(s.Hops) == 0 || s.Kind == ListWalk, "hops", ": kind %s walks no list: want none", s.Kind)
	bad(len(s.Hops) <= maxDepth, "hops", ": %d of them: want %d at most", len(s.Hops), maxDepth)
	for i, n := range s.Hops {
		bad(n >= 0 && n <= maxHops, field.Path(fmt.Sprintf("hops[%d]", i)),
			"%d: want 0 for a key that no node has, to %d", n, maxHops)
	}
	bad(s.Kind != Atomics || s.Pieces == 1 && s.Offset%counterLen == 0, "pieces",
		"%d at %v %d: an atomic has one piece of 8 bytes, aligned: want 1 and a multiple of 8",
		s.Pieces, field.Path("offset"), s.Offset)
	return errors.Join(errs...)
}

// validateMisuse rejects faults that the workload cannot provoke.
func (s *Spec) validateMisuse() error {
	x := s.Misuse
	if x == nil {
		return nil
	}
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(slices.Contains([]FaultKind{RemoteKey, RemoteBounds, LocalKey, LocalBounds, ShortReceive, BadReceive,
		NoReceive, Deregister, Unaligned, RevokedKey}, x.What), "misuse.what", "%q: want %s", x.What, faultNames)
	bad(!x.What.remote() || !s.Kind.sends(), "misuse.what", "%s: kind %s names no remote memory", x.What, s.Kind)
	bad(x.What != RemoteKey || !s.Kind.Served(), "misuse.what", "%s: kind %s names no remote key", x.What, s.Kind)
	bad(!x.What.receive() || s.Kind.sends(), "misuse.what", "%s: kind %s places no data by receive requests", x.What,
		s.Kind)
	bad(x.What != LocalKey && x.What != LocalBounds || !s.Inline, "misuse.what", "%s: inline bytes have no key", x.What)
	bad(!x.What.receive() || !s.SharedReceive, "misuse.what", "%s: with %v the owner of a request is unknown", x.What,
		field.Path("shared_receive"))
	bad(x.What != Unaligned || s.Kind == Atomics, "misuse.what", "%s: kind %s has no atomics", x.What, s.Kind)
	bad(x.What != Deregister || s.Kind == PingPong && s.Inline, "misuse.what",
		"%s: the answer must need no memory, and no other message may be in flight: want kind %s with %v", x.What,
		PingPong, field.Path("inline"))
	bad(!x.What.receive() || !s.LowLatency, "misuse.what", "%s: a low-latency queue pair refuses to post it", x.What)
	bad(x.What != ShortReceive || s.Pieces == 1, "misuse.what", "%s: want %v 1", x.What, field.Path("pieces"))
	bad(x.Message >= 0 && x.Message < s.Count, "misuse.message", "%d: want 0 to %d, the last of %v", x.Message,
		s.Count-1, field.Path("count"))
	if x.Message >= 0 && len(s.Sizes) > 0 {
		bad(s.size(x.Message) > 0, "misuse.message", "%d: it has no bytes according to %v: want one with some",
			x.Message, field.Path("sizes"))
	}
	return errors.Join(errs...)
}

// size returns the length of message m in bytes.
func (s *Spec) size(m int) int { return s.Sizes[m%len(s.Sizes)] }

func (s *Spec) largest() int { return slices.Max(s.Sizes) }

// BytesInFlight returns an upper bound on the message bytes that the applications have in flight.
func (s *Spec) BytesInFlight() int {
	return s.Processes * s.flows() * min(s.Depth, s.Count) * s.largest()
}

// Largest returns the length of the longest message in bytes.
func (s *Spec) Largest() int { return s.largest() }
