package apps

import (
	"fmt"

	"nictwin/stack/verbs"
)

// Side is a server as an application on it sees it: a process with a verbs context of its own.
type Side struct {
	Name    string
	Context verbs.Context
	Core    Core
	Memory  Memory
	Base    uint64 // of Bytes of memory that nobody else uses
	Bytes   uint64
	Ways    []Way  // to the other server; way i leads to its way i
	Engine  Engine // nil: the card has none
}

// Way is a port, and where it leads.
type Way struct {
	Port uint8
	MAC  [6]byte      // of the port
	Peer verbs.AHAttr // the other server, as seen from here
}

// side is a Side in use.
type side struct {
	Side
	server int // 0 or 1
	peer   *side
	run    *Run
	mr     verbs.MR
	pd     verbs.PD
	dev    verbs.DeviceAttr
	cq     verbs.CQ
	stop   func() // of following cq
	room   room

	handles []verbs.AH // UD: by way

	shared *receives // nil: each queue pair has its own
	srq    verbs.SRQ
	gone   bool   // the region was deregistered
	seen   []bool // values that atomics on a shared counter brought

	ends  []*end
	byQPN map[uint32]*end
	ready []*end // had completions in this poll
	full  []*end // found no room
	short bool   // a receive queue found no room
	turn  int    // end whose receive requests are tried first then

	want, got []byte
	wcs       [16]verbs.WC
	busy      bool
	again     bool
	err       error // of the completion queue
}

// poll takes all completions that have come, and lets the ends that had some go on.
func (s *side) poll() {
	if s.busy {
		s.again = true
		return
	}
	s.busy = true
	for s.again = true; s.again && s.err == nil; {
		s.again = false
		for s.take() {
		}
		s.advance()
	}
	s.busy = false
}

// follow has the completions taken from now on.
func (s *side) follow() (err error) {
	if !s.run.spec.Events {
		s.stop, err = s.cq.Follow(s.poll)
		return err
	}
	s.cq.OnEvent(s.event)
	s.stop = func() { s.cq.OnEvent(nil) }
	return s.cq.ReqNotify(false)
}

// event takes what has come, and asks for the next event. What came before the stack knew of that is taken, too.
func (s *side) event() {
	s.poll()
	if err := s.cq.ReqNotify(false); err != nil && s.err == nil {
		s.err = fmt.Errorf("server %s: req_notify_cq: %w", s.Name, err)
	}
	s.poll()
}

// take takes completions, and reports whether there were any.
func (s *side) take() bool {
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

// advance lets the ends go on that had completions.
func (s *side) advance() {
	ready := s.ready
	for _, e := range ready {
		e.ready = false
		e.role.advance()
	}
	s.ready = ready[:0]
}

// retry posts what found no room before: receive requests, then what ends send. Room that a pipe has again is told by
// no completion. Of each kind it goes on until one finds no room again, which waits behind the others then: more
// attempts would keep the core from taking the completions that make room.
func (s *side) retry() {
	s.retryReceives()
	for range len(s.full) {
		e := s.full[0]
		s.full = append(s.full[:0], s.full[1:]...)
		e.full = false
		e.role.advance()
		if e.full {
			return
		}
	}
}

func (s *side) retryReceives() {
	if !s.short {
		return
	}
	s.short = false
	if s.shared != nil && !s.shared.again() {
		return
	}
	for i := range s.ends {
		at := (s.turn + i) % len(s.ends)
		if r := s.ends[at].recvs; r != nil && r.end != nil && !r.again() {
			s.turn = at + 1
			return
		}
	}
}

// refused is a receive request that could not be posted.
func (s *side) refused(r *receives, err error) {
	if r.end != nil {
		r.end.check("post_recv", err)
	} else if s.err == nil {
		s.err = fmt.Errorf("server %s: post_srq_recv: %w", s.Name, err)
	}
}
