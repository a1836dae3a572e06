package apps

import (
	"fmt"

	"nictwin/stack/verbs"
)

// Side is one application's part of a server: a process with its own verbs context.
type Side struct {
	Name    string
	Context verbs.Context
	Core    Core
	Memory  Memory
	Base    uint64 // start of the memory (Bytes long) reserved for this application
	Bytes   uint64
	Routes  []Route // to the other server; route i of both servers connects the same ports
	Engine  Engine  // nil: the card has none
}

// Route is a port and the path from it to the other server.
type Route struct {
	Port uint8
	MAC  [6]byte      // the port's own address
	Peer verbs.AHAttr // path to the other server's port
}

// side is the state of a Side during a run.
type side struct {
	Side
	server int // index of the server: 0 or 1
	peer   *side
	run    *Run
	mr     verbs.MR
	pd     verbs.PD
	dev    verbs.DeviceAttr
	cq     verbs.CQ
	stop   func() // stops following cq
	arena  arena

	handles []verbs.AH // UD: address handle of the peer, by route

	shared       *receives // receive queue shared by all queue pairs of the side or server; nil: each has its own
	srq          verbs.SRQ
	deregistered bool   // the memory region was deregistered
	seen         []bool // by value: an atomic on the shared counter has returned the value

	ends      []*end
	byQPN     map[uint32]*end
	toAdvance []*end // ends that had completions in this poll
	waiting   []*end // ends whose queue or pipe had no room
	recvsFull bool   // a receive queue found no room
	nextRetry int    // index of the end whose receive requests are retried first

	want, got []byte
	wcs       [16]verbs.WC
	busy      bool
	again     bool
	err       error // error of the completion queue
}

// sharers returns the applications that share a receive queue, or would if queue pairs had none of their own: s, or all
// on its server. The first one creates the queue and has its memory.
func (s *side) sharers() []*side {
	if s.run.spec.SharedReceiveBy != SharedByServer {
		return []*side{s}
	}
	var all []*side
	for _, x := range s.run.sides {
		if x.Name == s.Name {
			all = append(all, x)
		}
	}
	return all
}

// poll takes all completions that have arrived, then lets the queue pairs (type end) to which these belong post new
// work.
func (s *side) poll() {
	if s.busy {
		s.again = true
		return
	}
	s.busy = true
	for s.again = true; s.again && s.err == nil; {
		s.again = false
		for s.takeCompletions() {
		}
		s.advance()
	}
	s.busy = false
}

// follow starts taking completions, by events or by polling.
func (s *side) follow() (err error) {
	if !s.run.spec.Events {
		s.stop, err = s.cq.Follow(s.poll)
		return err
	}
	s.cq.OnEvent(s.event)
	s.stop = func() { s.cq.OnEvent(nil) }
	return s.cq.ReqNotify(false)
}

// event takes the completions that have arrived and requests the next event. It polls again
// afterwards, for completions that arrived before the stack armed the event.
func (s *side) event() {
	s.poll()
	if err := s.cq.ReqNotify(false); err != nil && s.err == nil {
		s.err = fmt.Errorf("server %s: req_notify_cq: %w", s.Name, err)
	}
	s.poll()
}

// takeCompletions takes completions, and reports whether there were any.
func (s *side) takeCompletions() bool {
	n, err := s.cq.Poll(s.wcs[:])
	if err != nil {
		s.err = fmt.Errorf("server %s: poll_cq: %w", s.Name, err)
	}
	for i := range s.wcs[:n] {
		wc := &s.wcs[i]
		s.run.progress++
		if e := s.byQPN[wc.QPN]; e != nil {
			e.completed(wc)
		} else if s.err == nil {
			s.err = fmt.Errorf("server %s: a completion of queue pair %#x, which is not the application's", s.Name,
				wc.QPN)
		}
	}
	return n > 0 && err == nil
}

// advance lets the ends that had completions post.
func (s *side) advance() {
	ready := s.toAdvance
	for _, e := range ready {
		e.toAdvance = false
		e.role.advance()
	}
	s.toAdvance = ready[:0]
}

// retry posts what found no room before: receive requests first, then send requests. It is needed
// because no completion announces that a pipe has room again. For each kind it continues until one
// request finds no room; the next call starts behind that one. More attempts would keep the core from
// taking the completions that make room.
func (s *side) retry() {
	s.retryReceives()
	for range len(s.waiting) {
		e := s.waiting[0]
		s.waiting = append(s.waiting[:0], s.waiting[1:]...)
		e.full = false
		e.role.advance()
		if e.full {
			return
		}
	}
}

// retryReceives posts receive requests that found no room: those of the shared queue, then those of each end in turn,
// until a request again finds no room.
func (s *side) retryReceives() {
	if !s.recvsFull {
		return
	}
	s.recvsFull = false
	if s.shared != nil && !s.shared.retry() {
		return
	}
	for i := range s.ends {
		at := (s.nextRetry + i) % len(s.ends)
		if r := s.ends[at].recvs; r != nil && r.end != nil && !r.retry() {
			s.nextRetry = at + 1
			return
		}
	}
}

// refused records that a receive request could not be posted.
func (s *side) refused(r *receives, err error) {
	if r.end != nil {
		r.end.check("post_recv", err)
	} else if s.err == nil {
		s.err = fmt.Errorf("server %s: post_srq_recv: %w", s.Name, err)
	}
}
