package provider

import (
	"errors"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/verbs"
)

// sharedQueue is a shared receive queue.
type sharedQueue struct {
	srq   *rnicverbs.SRQ
	owner *SRQ // of the context that created the queue
	pd    verbs.PD
	attr  verbs.SRQAttr
	users map[*CQ]int // queue pairs of this queue, by their receive completion queue
	used  int         // outstanding entries; each may be completed in any of these completion queues
	open  int         // handles of other contexts
	busy  bool        // the queue is being destroyed
}

// SRQ implements verbs.SRQ: it is a context's handle of a shared receive queue.
type SRQ struct {
	*sharedQueue
	c      *Context
	poster *rnicverbs.Poster
	qps    int // queue pairs that were created with this handle
	rwqe   rnicspec.RecvWQE
	closed bool
}

func (s *sharedQueue) object() verbs.Object {
	return verbs.Object{Kind: verbs.KindSRQ, Number: s.srq.Num()}
}

// live reports whether the handle may be used.
func (s *SRQ) live() bool { return !s.closed && !s.busy && s.c.objects.Has(s.object()) }

// srq returns this context's handle of a shared receive queue, or an error.
func (c *Context) srq(verb string, x verbs.SRQ) (*SRQ, error) {
	s, ok := x.(*SRQ)
	if !ok || s == nil || s.c != c || !s.live() {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "shared receive queue: want one that this context created or "+
			"opened, and that was not destroyed")
	}
	return s, nil
}

// ownSRQ returns a shared receive queue that this context created, or an error.
func (c *Context) ownSRQ(verb string, x verbs.SRQ) (*SRQ, error) {
	s, err := c.srq(verb, x)
	if err == nil && s.owner != s {
		err = verbs.Errorf(verb, verbs.EINVAL, "shared receive queue %d: want the context that created it",
			s.srq.Num())
	}
	return s, err
}

// OpenSRQ implements verbs.SRQOpener.
func (c *Context) OpenSRQ(x verbs.SRQ) (verbs.SRQ, error) {
	const verb = "open_srq"
	s, ok := x.(*SRQ)
	if !ok || s == nil || s.c.objects != c.objects || s.c == c || !s.live() {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "shared receive queue: want one of another context of this "+
			"device that was not destroyed")
	}
	p, err := s.srq.Open(c.bus)
	if err != nil {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "%v", err)
	}
	s.open++
	return &SRQ{sharedQueue: s.sharedQueue, c: c, poster: p}, nil
}

// closeSRQ ends the use of another context's shared receive queue.
func (s *SRQ) closeSRQ(verb string) error {
	if s.qps > 0 {
		return verbs.Errorf(verb, verbs.EBUSY, "shared receive queue %d: %d queue pairs of this context still use it",
			s.srq.Num(), s.qps)
	}
	s.closed = true
	s.open--
	return nil
}

// CreateSRQ implements verbs.Context.
func (c *Context) CreateSRQ(pd verbs.PD, a verbs.SRQAttr, done func(verbs.SRQ, error)) {
	const verb = "create_srq"
	err := c.checkSRQ(verb, pd, &a)
	if err == nil {
		err = c.openEvents()
	}
	if err != nil {
		done(nil, err)
		return
	}
	log := logOf(a.MaxWR)
	s := &SRQ{c: c, sharedQueue: &sharedQueue{pd: pd, attr: a, users: map[*CQ]int{}}}
	s.owner, s.attr.MaxWR = s, 1<<log
	s.srq, err = c.dev.NewSRQ(c.bus, uint8(log), c.events, func(err error) {
		if err == nil && a.Limit > 0 {
			c.ModifySRQ(s, a.Limit, func(err error) { done(s, err) })
			return
		}
		if err != nil {
			done(nil, failed(verb, err))
			return
		}
		done(s, nil)
	})
	if err != nil {
		done(nil, verbs.Errorf(verb, verbs.ENOMEM, "%v", err))
		return
	}
	s.poster = s.srq.Own()
	if err := c.objects.Add(verb, s.object(), pdObject(pd)); err != nil {
		done(nil, err)
		return
	}
	c.srqs[s.srq.Num()] = s
}

func (c *Context) checkSRQ(verb string, pd verbs.PD, a *verbs.SRQAttr) error {
	switch {
	case !c.objects.Has(pdObject(pd)):
		return verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", pdObject(pd))
	case a.MaxWR < 1 || a.MaxWR > c.attr.MaxSRQWR || a.MaxSGE < 0 || a.MaxSGE > c.attr.MaxSRQSGE:
		return verbs.Errorf(verb, verbs.EINVAL, "max_wr is %d, max_sge %d: want 1 to %d and 0 to %d", a.MaxWR, a.MaxSGE,
			c.attr.MaxSRQWR, c.attr.MaxSRQSGE)
	}
	return nil
}

// ModifySRQ implements verbs.Context.
func (c *Context) ModifySRQ(x verbs.SRQ, limit int, done func(error)) {
	const verb = "modify_srq"
	s, err := c.ownSRQ(verb, x)
	if err == nil && (limit < 0 || limit > s.attr.MaxWR) {
		err = verbs.Errorf(verb, verbs.EINVAL, "limit is %d: want 0 to %d", limit, s.attr.MaxWR)
	}
	if err != nil {
		done(err)
		return
	}
	s.srq.Limit(limit, func(err error) { done(failed(verb, err)) })
}

// DestroySRQ implements verbs.Context.
func (c *Context) DestroySRQ(x verbs.SRQ, done func(error)) {
	const verb = "destroy_srq"
	s, err := c.srq(verb, x)
	if err == nil && s.owner != s {
		done(s.closeSRQ(verb))
		return
	}
	if err == nil {
		err = c.objects.CanDestroy(verb, s.object())
	}
	if err == nil && s.open > 0 {
		err = verbs.Errorf(verb, verbs.EBUSY, "shared receive queue %d: %d other contexts still use it", s.srq.Num(),
			s.open)
	}
	if err != nil {
		done(err)
		return
	}
	s.busy = true
	s.srq.Destroy(func(err error) {
		s.busy = false
		if err = failed(verb, err); errors.Is(err, verbs.EINVAL) {
			err = verbs.Errorf(verb, verbs.EBUSY, "shared receive queue %d: the NIC is still reading its requests",
				s.srq.Num())
		}
		if err != nil {
			done(err)
			return
		}
		delete(c.srqs, s.srq.Num())
		done(c.objects.Destroy(verb, s.object()))
	})
}

// PostRecv implements verbs.SRQ.
func (s *SRQ) PostRecv(wrs []verbs.RecvWR) (n int, err error) {
	for n = range wrs {
		if err = s.postRecv(&wrs[n]); err != nil {
			return n, s.ring(n, err)
		}
	}
	return len(wrs), s.ring(len(wrs), nil)
}

// ring rings the doorbell for the n requests that were posted, and returns err or else the doorbell's error.
func (s *SRQ) ring(n int, err error) error {
	s.countPending()
	if n > 0 {
		if e := s.poster.RingRecv(); e != nil && err == nil {
			return verbs.Errorf("post_srq_recv", verbs.EIO, "%v", e)
		}
	}
	return err
}

func (s *SRQ) postRecv(w *verbs.RecvWR) error {
	const verb = "post_srq_recv"
	s.countPending()
	switch {
	case !s.live():
		return verbs.Errorf(verb, verbs.EINVAL, "the queue was destroyed")
	case len(w.SGEs) > s.attr.MaxSGE:
		return verbs.Errorf(verb, verbs.EINVAL, "%d pieces of memory: the queue was created with %d", len(w.SGEs),
			s.attr.MaxSGE)
	case s.used >= s.attr.MaxWR:
		return verbs.ErrRecvFull
	}
	for cq := range s.users {
		if cq.full() {
			return verbs.ErrRecvFull
		}
	}
	s.rwqe = s.c.receiveEntry(s.pd, w)
	return posted(s.poster.Recv(&s.rwqe))
}

// countPending updates the number of completions that outstanding entries may add to the completion queues of the
// queue pairs.
func (s *sharedQueue) countPending() {
	more := s.srq.Outstanding() - s.used
	if more == 0 {
		return
	}
	s.used += more
	for cq := range s.users {
		cq.mayArrive += more
	}
}

// serve counts a queue pair that completes receive requests in a completion queue (by +1), or no longer does (-1).
func (s *sharedQueue) serve(cq *CQ, by int) {
	s.countPending()
	before := s.users[cq]
	switch s.users[cq] += by; {
	case before == 0:
		cq.mayArrive += s.used
	case s.users[cq] == 0:
		cq.mayArrive -= s.used
		delete(s.users, cq)
	}
}

// eventLog is log2 of the entries of the queue of events. It holds the events that all queue pairs and shared receive
// queues may have at a time.
const eventLog = 12

// openEvents creates the queue of events, once.
func (c *Context) openEvents() error {
	if c.events != nil {
		return nil
	}
	cq, err := c.dev.NewCQOn(c.bus, eventLog)
	if err == nil {
		_, err = cq.Follow(c.readEvents)
	}
	if err != nil {
		return verbs.Errorf("create_srq", verbs.ENOMEM, "%v", err)
	}
	c.events = cq
	return nil
}

// readEvents takes the events that have arrived.
func (c *Context) readEvents() {
	if c.eventsAgain = c.readingEvents; c.eventsAgain {
		return
	}
	c.readingEvents = true
	if err := c.events.Poll(c.event, func(int) {
		if c.readingEvents = false; c.eventsAgain {
			c.readEvents()
		}
	}); err != nil {
		c.readingEvents = false
	}
}

// event reports an event of the NIC to the application.
func (c *Context) event(e *rnicspec.CQE) {
	s := c.srqs[uint32(e.ID)]
	if s == nil {
		return // the queue was destroyed
	}
	switch e.Opcode {
	case rnicspec.EventSRQLimit:
		c.notify(verbs.AsyncEvent{Type: verbs.EventSRQLimit, SRQ: s})
	case rnicspec.EventLastWQE:
		for cq := range s.users {
			if q := cq.qps[e.QPN]; q != nil && q.shared != nil && q.shared.owner == s {
				q.c.notify(verbs.AsyncEvent{Type: verbs.EventQPLastWQEReach, QP: q})
				return
			}
		}
	}
}

var (
	_ verbs.SRQ       = (*SRQ)(nil)
	_ verbs.SRQOpener = (*Context)(nil)
)
