package apps

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"nictwin/stack/verbs"
)

// Completion is a completion as the application saw it.
type Completion struct {
	ID      uint64 // number of the send request, or ordinal of the receive request
	Recv    bool
	Status  verbs.Status
	Opcode  verbs.WCOpcode
	Flags   verbs.WCFlags
	Bytes   uint32 // length of a received message
	Imm     uint32
	Message int // number of the message received; -1: none or unknown
}

func (c Completion) String() string {
	what := fmt.Sprintf("request %d", c.ID)
	if c.Recv {
		what = fmt.Sprintf("receive request %d", c.ID)
	}
	if c.Status != verbs.WCSuccess {
		return fmt.Sprintf("%s: %v", what, c.Status)
	}
	what = fmt.Sprintf("%s: %v", what, c.Opcode)
	if c.Recv {
		what += fmt.Sprintf(" of message %d, %d B", c.Message, c.Bytes)
	}
	if c.Flags&verbs.WCWithImm != 0 {
		what += fmt.Sprintf(", immediate data %#x", c.Imm)
	}
	return what
}

// Finding is a fault that an application found.
type Finding struct {
	Server   string
	Flow     int
	Client   bool
	What     string // byte, length, order, opcode, immediate, counter, guard, src_qp, or the call that failed
	Message  int    // number of the message concerned; -1: none
	Offset   int    // offset of the wrong byte
	Addr     uint64
	Expected byte
	Got      byte
	Text     string
}

func (w *Finding) String() string {
	return fmt.Sprintf("server %s, %s of flow %d: %s", w.Server, roleName(w.Client), w.Flow, w.Text)
}

// Stream is the list of completions of one queue of a queue pair, in order.
type Stream struct {
	Server string
	Flow   int
	Client bool // the queue pair is the client's
	Recv   bool // the queue is the receive queue
	Loose  bool // completions of handlers' answers, whose order depends on timing
	Alone  bool // requests complete independently, in any order
	List   []Completion
}

// Name returns a description of the stream for messages to the user.
func (s *Stream) Name() string {
	queue := "send"
	if s.Recv {
		queue = "receive"
	}
	return fmt.Sprintf("server %s, %s of flow %d, %s queue", s.Server, roleName(s.Client), s.Flow, queue)
}

// Result is the outcome of a workload.
type Result struct {
	Streams  []Stream
	Memory   [2]string // SHA-256 of each server's buffers at the end
	Messages int       // messages that arrived correctly
	Bytes    uint64
	Lost     int       // messages sent without an error that never arrived; UC and UD allow that
	Findings []Finding // the first fault of each end
	Wrongs   int
}

// Result returns the outcome of the run so far.
func (r *Run) Result() (*Result, error) {
	res := &Result{Findings: r.Findings()}
	var memory [2]hash.Hash
	for i := range memory {
		memory[i] = sha256.New()
	}
	for _, s := range r.sides {
		for _, e := range s.ends {
			res.Streams = append(res.Streams,
				Stream{Server: s.Name, Flow: e.flow, Client: e.client, Alone: !r.spec.Transport.ordered(),
					List: e.sendDone},
				Stream{Server: s.Name, Flow: e.flow, Client: e.client, Recv: true, Loose: r.spec.Kind.Served(),
					List: e.recvDone})
			res.Messages, res.Bytes, res.Wrongs = res.Messages+e.messages, res.Bytes+e.bytes, res.Wrongs+e.faults
		}
		if err := s.digest(memory[s.server]); err != nil {
			return nil, err
		}
	}
	for i, h := range memory {
		res.Memory[i] = hex.EncodeToString(h.Sum(nil))
	}
	res.Lost = r.lost()
	return res, nil
}

// Findings returns the first fault that each end has found so far.
func (r *Run) Findings() (all []Finding) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.firstFault != nil {
				all = append(all, *e.firstFault)
			}
		}
	}
	return all
}

// lost counts the messages that did not arrive.
func (r *Run) lost() (n int) {
	for _, s := range r.sides {
		for i, e := range s.ends {
			if !e.client {
				continue
			}
			p := s.peer.ends[i]
			switch {
			case r.spec.Kind == Read || r.spec.Kind == Atomics || r.spec.Kind.Served():
				n += e.succeeded() - e.messages
			case r.spec.Kind.twoWay():
				n += max(e.succeeded()-p.messages, 0) + max(p.succeeded()-e.messages, 0)
			default:
				n += max(e.succeeded()-p.messages, 0)
			}
		}
	}
	return n
}

// digest adds all buffers of an application to h, except those that depend on timing.
func (s *side) digest(h hash.Hash) error {
	var b []byte
	for _, a := range s.areas() {
		if a.loose {
			continue
		}
		if n := a.bytes(); uint64(len(b)) < n {
			b = make([]byte, n)
		}
		x := b[:a.bytes()]
		if err := s.Memory.Read(a.base, x); err != nil {
			return err
		}
		_, _ = h.Write(x) // a hash takes everything
	}
	return nil
}

// Digest returns a hash of everything in which two runs must agree.
func (r *Result) Digest(how Compare) string {
	h := sha256.New()
	var b [32]byte
	if how == Counts {
		for _, c := range r.Counts() {
			_, _ = fmt.Fprintln(h, c)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	for i := range r.Streams {
		s := &r.Streams[i]
		_, _ = fmt.Fprintln(h, s.Name(), len(s.List))
		for _, c := range how.list(s) {
			c = how.comparable(c)
			binary.LittleEndian.PutUint64(b[:], c.ID)
			b[8], b[9], b[10], b[11] = byte(c.Status), byte(c.Opcode), byte(c.Flags), 0
			binary.LittleEndian.PutUint32(b[12:], c.Bytes)
			binary.LittleEndian.PutUint32(b[16:], c.Imm)
			binary.LittleEndian.PutUint64(b[20:], uint64(c.Message))
			_, _ = h.Write(b[:])
		}
	}
	if how == Exact {
		_, _ = fmt.Fprintln(h, r.Memory)
	}
	return hex.EncodeToString(h.Sum(nil))
}
