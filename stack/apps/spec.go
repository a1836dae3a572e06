package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// Kind is what the applications do.
type Kind string

// The kinds.
const (
	Send      Kind = "send"      // SEND, which the server takes
	Write     Kind = "write"     // RDMA_WRITE, each message to a place of its own in the server's memory
	WriteImm  Kind = "write_imm" // the same with immediate data, of which the server hears
	Read      Kind = "read"      // RDMA_READ of the server's memory
	Atomics   Kind = "atomics"   // FETCH_ADD and CMP_SWP of a counter in the server's memory
	Echo      Kind = "echo"      // SEND, and the server sends other bytes of the same length back
	PingPong  Kind = "ping_pong" // the same, one message at a time
	Reflector Kind = "reflector" // SEND, and the server sends the very bytes back, from where they were received

	// SEND of requests that a handler on the server's card answers by walking a list in the server's memory
	ListWalk    Kind = "list_walk"
	BatchedRead Kind = "batched_read" // the same, by values at many addresses

	Ring Kind = "ring" // messages through a ring buffer of package rb2, whose receiver reads them from its memory

	allKinds = "send, write, write_imm, read, atomics, echo, ping_pong, reflector, list_walk, batched_read or ring"
)

// twoWay reports whether every message has an answer.
func (k Kind) twoWay() bool { return k == Echo || k == PingPong || k == Reflector }

// sends reports whether messages take receive requests of the server that have memory.
func (k Kind) sends() bool { return k == Send || k.twoWay() }

// Served reports whether handlers on the server's card answer.
func (k Kind) Served() bool { return k == ListWalk || k == BatchedRead }

// answered reports whether every message of a client has an answer that takes one of its receive requests.
func (k Kind) answered() bool { return k.twoWay() || k.Served() }

// needsRC reports whether only reliable connections have it.
func (k Kind) needsRC() bool { return k == Read || k == Atomics || k.Served() || k == Ring }

// Transport is the service of the queue pairs.
type Transport string

// The transports.
const (
	RC Transport = "rc"
	UC Transport = "uc"
	UD Transport = "ud"

	Raw   Transport = "raw"   // Ethernet frames, with a header of the application's
	Solar Transport = "solar" // blocks of storage, a packet each
)

func (t Transport) qpType() verbs.QPType {
	return map[Transport]verbs.QPType{RC: verbs.QPTRC, UC: verbs.QPTUC, UD: verbs.QPTUD, Raw: verbs.QPTRawPacket,
		Solar: verbs.QPTSolar}[t]
}

// Spec is a workload.
type Spec struct {
	Kind      Kind      `yaml:"kind"`
	Transport Transport `yaml:"transport"`
	// applications on each server, each with a verbs context and a core of its own
	Processes  int  `yaml:"processes"`
	QueuePairs int  `yaml:"queue_pairs"` // flows
	BothWays   bool `yaml:"both_ways"`   // as many flows again whose client is the second server
	// bytes of message i: those of entry i, from the first again after the last
	Sizes []int `yaml:"sizes"`
	Count int   `yaml:"count"` // messages of a flow
	Depth int   `yaml:"depth"` // requests of a flow under way; ring: its slots

	Payload Payload `yaml:"payload"` // when applications touch the bytes of messages

	Pieces      int  `yaml:"pieces"`       // of memory that a request has (SGEs)
	Offset      int  `yaml:"offset"`       // bytes behind a multiple of 64 at which each piece begins
	Inline      bool `yaml:"inline"`       // bytes go with the request
	Immediate   bool `yaml:"immediate"`    // SENDs carry immediate data
	Invalidate  bool `yaml:"invalidate"`   // SENDs each invalidate a region of the server
	Batch       int  `yaml:"batch"`        // requests that the client posts at a time, as far as there is room
	Events      bool `yaml:"events"`       // completions are taken when an event tells of them, not by polling
	SignalEvery int  `yaml:"signal_every"` // only every so many-th request ends with a completion, and the last

	LowLatency    bool `yaml:"low_latency"`    // queue pairs are low-latency ones, for messages up to the largest
	SharedReceive bool `yaml:"shared_receive"` // one receive queue for all flows of a server
	// receive requests of a flow that are posted at a time; 0: see Spec.receives
	Receives int `yaml:"receives"`
	// list_walk: nodes that walk i goes through: those of entry i, from the first again after the last; 0: its key is
	// nowhere
	Hops          []int `yaml:"hops"`
	SharedCounter bool  `yaml:"shared_counter"` // atomics: all flows add to one counter

	Ring rb2.Spec `yaml:"ring"` // of each flow

	AnyOrder bool `yaml:"any_order"` // UD: messages may pass each other on the way

	Ports int  `yaml:"ports"` // of each server, which flows use in turn
	PSN   *int `yaml:"psn"`   // of every sender's first packet; null: drawn, near the wrap for some

	MTU      int  `yaml:"mtu"`       // of the path
	Timeout  *int `yaml:"timeout"`   // of retransmission: 4.096 us x 2^timeout; 0: never; null: DefaultTimeout
	Retries  int  `yaml:"retries"`   // without an answer
	RNRRetry int  `yaml:"rnr_retry"` // when the receiver is not ready; 7: without end
	RNRTimer int  `yaml:"rnr_timer"` // code of the time that a receiver that is not ready asks for

	Misuse *Misuse `yaml:"misuse"` // something that the client or server does wrong; nil: nothing
	Seed   uint64  `yaml:"seed"`   // of what messages hold
}

// Misuse is a request of flow 0 that is not as it has to be.
type Misuse struct {
	What    Wrongdoing `yaml:"what"`
	Message int        `yaml:"message"` // whose request it is
}

// Wrongdoing is what is wrong with a request.
type Wrongdoing string

// What can be wrong.
const (
	RemoteKey    Wrongdoing = "remote_key"    // a key that the server does not have
	RemoteBounds Wrongdoing = "remote_bounds" // the last byte is beyond the server's region
	LocalKey     Wrongdoing = "local_key"     // a key that the client does not have
	LocalBounds  Wrongdoing = "local_bounds"  // the last byte is beyond the client's region
	ShortReceive Wrongdoing = "short_receive" // the server's receive request has one byte less than the message
	BadReceive   Wrongdoing = "bad_receive"   // the server's receive request has a key that the server does not have
	// the server posts no receive request for the message, nor for any behind it
	NoReceive  Wrongdoing = "no_receive"
	Deregister Wrongdoing = "deregister"  // the server deregisters its memory before it answers the message
	Unaligned  Wrongdoing = "unaligned"   // an atomic whose address is no multiple of eight
	RevokedKey Wrongdoing = "revoked_key" // a WRITE by the key that the message before it invalidated
	allWrong              = "remote_key, remote_bounds, local_key, local_bounds, short_receive, bad_receive, " +
		"no_receive, deregister, unaligned or revoked_key"
)

func (w Wrongdoing) remote() bool  { return w == RemoteKey || w == RemoteBounds }
func (w Wrongdoing) receive() bool { return w == ShortReceive || w == BadReceive || w == NoReceive }

// Codes of timeouts.
const (
	DefaultTimeout = 8
	MaxTimeout     = 31
)

// RetransmitAfter returns the code of the timeout.
func (s *Spec) RetransmitAfter() int {
	if s.Timeout == nil {
		return DefaultTimeout
	}
	return *s.Timeout
}

// DefaultSpec is 64 SENDs of 1 KB over one RC queue pair, eight under way. A timeout of 1 ms, seven retries and an RNR
// time of 10 us are assumptions: short, as simulated time is dear.
func DefaultSpec() Spec {
	return Spec{
		Kind: Send, Transport: RC, Processes: 1, QueuePairs: 1, Sizes: []int{1024}, Count: 64, Depth: 8, Payload: Fresh,
		Pieces: 1, Batch: 1, SignalEvery: 1,
		Ring: rb2.DefaultSpec(), Ports: 1, MTU: 1024, Retries: 7, RNRRetry: 7, RNRTimer: 1, Seed: 1,
	}
}

// Limits of a workload.
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
	maxTotal     = 1 << 22 // messages of all flows: each has its completions kept
	stampLen     = 4       // bytes with the message's number
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
		bad(!s.Kind.needsRC(), "kind", "%s: %v %s does not have it: want %s, or %v %s", s.Kind, field.Path("transport"),
			s.Transport, Send, field.Path("transport"), RC)
		bad(s.Transport != UD || s.Kind.sends(), "kind", "%s: %v ud does not have it: want %s, %s, %s or %s", s.Kind,
			field.Path("transport"), Send, Echo, PingPong, Reflector)
	}
	within("processes", s.Processes, 1, maxProcesses)
	within("queue_pairs", s.QueuePairs, 1, maxPairs)
	within("count", s.Count, 1, maxCount)
	if s.Count > 0 && s.Count <= maxCount && s.QueuePairs > 0 && s.QueuePairs <= maxPairs && s.Processes > 0 &&
		s.Processes <= maxProcesses {
		bad(s.Messages() <= maxTotal, "count", "%d: with %v, %v and %v that makes %d messages of all flows: want at "+
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
		least, most = LeastFrame-etherBytes, s.MTU-etherBytes
	case s.Transport == UC: // which may lose messages: each says its number
		least = stampLen
	}
	for i, n := range s.Sizes {
		if at := field.Path(fmt.Sprintf("sizes[%d]", i)); n < least || n > most {
			errs = append(errs, field.Errorf(at, "%d: %s over %s takes %d to %d bytes", n, s.Kind, s.Transport, least,
				most))
		} else if s.Kind == BatchedRead && n%valueBytes != 0 {
			errs = append(errs, field.Errorf(at, "%d: %s brings values of %d bytes: want a multiple of that", n, s.Kind,
				valueBytes))
		}
	}
	return field.Against(errors.Join(errs...), "kind", "transport", "mtu")
}

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
		": kind %s has no bytes to send along: want false", s.Kind)
	bad(!s.Inline || s.Pieces == 1, "inline", ": inline bytes have no pieces: want %v 1, or false",
		field.Path("pieces"))
	bad(!s.Immediate || s.Kind.sends(), "immediate", ": kind %s has no SENDs: want false", s.Kind)
	bad(!s.LowLatency || s.Transport == RC && s.Kind.sends(), "low_latency",
		": low-latency queue pairs have SENDs over rc alone: want that, or false")
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
	bad(len(s.Hops) == 0 || s.Kind == ListWalk, "hops", ": kind %s walks through nothing: want none", s.Kind)
	bad(len(s.Hops) <= maxDepth, "hops", ": %d of them: want %d at most", len(s.Hops), maxDepth)
	for i, n := range s.Hops {
		bad(n >= 0 && n <= maxHops, field.Path(fmt.Sprintf("hops[%d]", i)),
			"%d: want 0 for a key that is nowhere, to %d", n, maxHops)
	}
	bad(s.Kind != Atomics || s.Pieces == 1 && s.Offset%counterLen == 0, "pieces",
		"%d at %v %d: an atomic has one piece of 8 bytes, aligned: want 1 and a multiple of 8",
		s.Pieces, field.Path("offset"), s.Offset)
	return errors.Join(errs...)
}

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
	bad(slices.Contains([]Wrongdoing{RemoteKey, RemoteBounds, LocalKey, LocalBounds, ShortReceive, BadReceive,
		NoReceive, Deregister, Unaligned, RevokedKey}, x.What), "misuse.what", "%q: want %s", x.What, allWrong)
	bad(!x.What.remote() || !s.Kind.sends(), "misuse.what", "%s: kind %s names no remote memory", x.What, s.Kind)
	bad(x.What != RemoteKey || !s.Kind.Served(), "misuse.what", "%s: kind %s names no remote key", x.What, s.Kind)
	bad(!x.What.receive() || s.Kind.sends(), "misuse.what", "%s: kind %s places nothing by receive requests", x.What,
		s.Kind)
	bad(x.What != LocalKey && x.What != LocalBounds || !s.Inline, "misuse.what", "%s: inline bytes have no key", x.What)
	bad(!x.What.receive() || !s.SharedReceive, "misuse.what", "%s: with %v nobody knows whose request it is", x.What,
		field.Path("shared_receive"))
	bad(x.What != Unaligned || s.Kind == Atomics, "misuse.what", "%s: kind %s has no atomics", x.What, s.Kind)
	bad(x.What != Deregister || s.Kind == PingPong && s.Inline, "misuse.what",
		"%s: the answer has to need no memory, and nothing else may be under way: want kind %s with %v", x.What,
		PingPong, field.Path("inline"))
	bad(!x.What.receive() || !s.LowLatency, "misuse.what", "%s: a low-latency queue pair refuses to post it", x.What)
	bad(x.What != ShortReceive || s.Pieces == 1, "misuse.what", "%s: want %v 1", x.What, field.Path("pieces"))
	bad(x.Message >= 0 && x.Message < s.Count, "misuse.message", "%d: want 0 to %d, the last of %v", x.Message,
		s.Count-1, field.Path("count"))
	if x.Message >= 0 && len(s.Sizes) > 0 {
		bad(s.size(x.Message) > 0, "misuse.message", "%d: it has no bytes by %v: want one with some", x.Message,
			field.Path("sizes"))
	}
	return errors.Join(errs...)
}

// size is the bytes of a message.
func (s *Spec) size(m int) int { return s.Sizes[m%len(s.Sizes)] }

func (s *Spec) largest() int { return slices.Max(s.Sizes) }

// UnderWay returns how many bytes of messages the applications have posted and not ended at most.
func (s *Spec) UnderWay() int { return s.Processes * s.flows() * min(s.Depth, s.Count) * s.largest() }

// Largest returns the bytes of the longest message.
func (s *Spec) Largest() int { return s.largest() }
