package apps

import (
	"slices"

	"nictwin/stack/verbs"
)

// Stop makes the clients post no further messages: each flow ends with the last message that its client has posted, or
// has built in a way that cannot be undone. With Spec.SignalEvery and Spec.CloseEvery it ends with the next message
// that both ends notice.
func (r *Run) Stop() {
	for _, s := range r.sides {
		for i, e := range s.ends {
			if e.client {
				e.total = e.lastBeforeStop()
				s.peer.ends[i].total = e.total
			}
		}
	}
	for _, s := range r.sides {
		for _, e := range s.ends {
			e.role.advance()
		}
	}
}

// lastBeforeStop returns the number of messages with which a client's flow ends if it stops now.
func (e *end) lastBeforeStop() int {
	n := e.posted
	switch c := e.role.(type) {
	case *ringWriter:
		return c.next
	case *lookup:
		return c.begun
	case *client:
		n = max(n, c.counter.built)
	}
	for n > 0 && n < e.total && (!e.spec.signals(n-1) || !e.spec.closes(n-1)) {
		n++
	}
	return n
}

// Posted returns the number of messages that the flows have, answers included: those of the spec, or after Stop those
// that were posted.
func (r *Run) Posted() (n int) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.client {
				n += e.total * r.spec.MessagesPerRequest()
			}
		}
	}
	return n
}

// Close destroys all objects of a finished run, users before what they use. A server with requests in flight is left
// out if its stack cannot destroy such queue pairs (verbs.FeatureDestroyBusy).
func (r *Run) Close(await Await) error {
	u := &setup{Run: r, await: await}
	for _, owners := range []bool{false, true} { // of objects that others on their server use
		for _, s := range r.sides {
			all := s.sharers()
			if (all[0] == s) != owners || slices.ContainsFunc(all, (*side).stuck) {
				continue
			}
			if err := u.close(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// stuck reports whether a side has requests in flight that will never end, and its stack cannot destroy queue pairs
// that have such requests.
func (s *side) stuck() bool {
	if s.dev.Has(verbs.FeatureDestroyBusy) {
		return false
	}
	for _, e := range s.ends {
		if e.inFlight() != 0 || e.ring != nil && e.spec.ringCap(e).MaxRecvWR > 1 || e.recvs != nil &&
			e.recvs.end != nil && e.recvs.posted != e.recvsDone {
			return true
		}
	}
	return false
}

// close destroys the objects of a server.
func (u *setup) close(s *side) error {
	c := s.Context
	for _, step := range []struct {
		name  string
		n     int
		begin func(i int, done func(error))
	}{
		{"destroy_qp", len(s.ends), func(i int, done func(error)) { c.DestroyQP(s.ends[i].qp, done) }},
		{"destroy_srq", count(s.srq != nil), func(_ int, done func(error)) { c.DestroySRQ(s.srq, done) }},
		{"destroy_cq", 1, func(_ int, done func(error)) { c.DestroyCQ(s.cq, done) }},
		{"destroy_ah", len(s.handles), func(i int, done func(error)) { c.DestroyAH(s.handles[i], done) }},
		{"dereg_mr", len(s.revoked()), func(i int, done func(error)) { c.DeregMR(s.revoked()[i].LKey, done) }},
		{"dereg_mr", count(!s.deregistered), func(_ int, done func(error)) { c.DeregMR(s.mr.LKey, done) }},
		{"dealloc_pd", count(s.sharers()[0] == s), func(_ int, done func(error)) { c.DeallocPD(s.pd, done) }},
	} {
		if err := u.runVerbs(s, step.name, step.n, step.begin); err != nil {
			return err
		}
	}
	return nil
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
