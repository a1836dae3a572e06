package apps

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

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
	Workload string // its name; empty: the run has only one
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
	return fmt.Sprintf("%sserver %s, %s of flow %d: %s", prefixOf(w.Workload), w.Server, roleName(w.Client), w.Flow,
		w.Text)
}

// prefixOf returns the beginning of a text about one of several workloads.
func prefixOf(workload string) string {
	if workload == "" {
		return ""
	}
	return "workload " + workload + ", "
}

// Stream is the list of completions of one queue of a queue pair, in order.
type Stream struct {
	Workload string // its name; empty: the run has only one
	Server   string
	Flow     int
	Client   bool // the queue pair is the client's
	Recv     bool // the queue is the receive queue
	Loose    bool // completions of handlers' answers, whose order depends on timing
	Alone    bool // requests complete independently, in any order
	Timed    bool // the number of messages depends on timing
	List     []Completion
}

// Name returns a description of the stream for messages to the user.
func (s *Stream) Name() string {
	queue := "send"
	if s.Recv {
		queue = "receive"
	}
	return fmt.Sprintf("%sserver %s, %s of flow %d, %s queue", prefixOf(s.Workload), s.Server, roleName(s.Client),
		s.Flow, queue)
}

// Result is the outcome of a workload.
type Result struct {
	Streams  []Stream
	Memory   []Contents
	Messages int // messages that arrived correctly
	Bytes    uint64
	Lost     int       // messages sent without an error that never arrived; UC and UD allow that
	Findings []Finding // the first fault of each end
	Wrongs   int
}

// Contents identifies the contents of a workload's buffers on a server at the end.
type Contents struct{ Server, SHA256 string }

// Part is the result of one of several workloads that ran side by side.
type Part struct {
	Name  string // empty: the only one
	Timed bool   // timing decides how many messages it has
	*Result
}

// Join returns the results of workloads as one. Of Timed parts, Digest and Difference compare only which flows they
// have: how many messages a flow had until a certain time differs between NICs.
func Join(parts []Part) *Result {
	all := &Result{}
	for _, p := range parts {
		for _, s := range p.Streams {
			s.Workload, s.Timed = p.Name, p.Timed
			all.Streams = append(all.Streams, s)
		}
		for _, f := range p.Findings {
			f.Workload = p.Name
			all.Findings = append(all.Findings, f)
		}
		if !p.Timed {
			all.Memory = append(all.Memory, p.Memory...)
		}
		all.Messages, all.Bytes, all.Lost = all.Messages+p.Messages, all.Bytes+p.Bytes, all.Lost+p.Lost
		all.Wrongs += p.Wrongs
	}
	return all
}

// comparable returns the streams that are the same on every NIC.
func (r *Result) comparable() *Result {
	list := slices.DeleteFunc(slices.Clone(r.Streams), func(s Stream) bool { return s.Timed })
	return &Result{Streams: list}
}

// Result returns the outcome of the run so far.
func (r *Run) Result() (*Result, error) {
	res := &Result{Findings: r.Findings()}
	var memory []hash.Hash // by server, in the order of res.Memory
	for _, s := range r.sides {
		for _, e := range s.ends {
			res.Streams = append(res.Streams,
				Stream{Server: s.Name, Flow: e.flow, Client: e.client, Alone: !r.spec.ordered(),
					List: e.sendDone},
				Stream{Server: s.Name, Flow: e.flow, Client: e.client, Recv: true, Loose: r.spec.Served(),
					List: e.recvDone})
			res.Messages, res.Bytes, res.Wrongs = res.Messages+e.messages, res.Bytes+e.bytes, res.Wrongs+e.faults
		}
		at := slices.IndexFunc(res.Memory, func(m Contents) bool { return m.Server == s.Name })
		if at < 0 {
			at = len(memory)
			res.Memory, memory = append(res.Memory, Contents{Server: s.Name}), append(memory, sha256.New())
		}
		if err := s.digest(memory[at]); err != nil {
			return nil, err
		}
	}
	for i, h := range memory {
		res.Memory[i].SHA256 = hex.EncodeToString(h.Sum(nil))
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
			case r.spec.Kind == Read || r.spec.Kind == Atomics || r.spec.Kind == Nop || r.spec.traits().Lookup:
				n += e.succeeded() - e.messages
			case r.spec.traits().TwoWay:
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
		for _, c := range r.comparable().Counts() {
			_, _ = fmt.Fprintln(h, c)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	for i := range r.Streams {
		s := &r.Streams[i]
		if s.Timed {
			_, _ = fmt.Fprintln(h, s.Name())
			continue
		}
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
		sums := make([]string, len(r.Memory))
		for i := range r.Memory {
			sums[i] = r.Memory[i].SHA256
		}
		_, _ = fmt.Fprintln(h, sums)
	}
	return hex.EncodeToString(h.Sum(nil))
}
