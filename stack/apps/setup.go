package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/stack/verbs"
)

// qkey is the Q_Key of all UD queue pairs.
const qkey = 0x1234_5678

// Await runs the simulation until done returns true, or returns an error that names what it waited
// for.
type Await func(what string, done func() bool) error

// setup creates the objects of a workload.
type setup struct {
	*Run
	await Await
}

// runVerbs starts n control verbs and waits for all of them; begin starts verb i and passes it the callback.
func (u *setup) runVerbs(s *side, name string, n int, begin func(i int, done func(error))) error {
	ended := 0
	var errs []error
	for i := range n {
		begin(i, func(err error) {
			ended++
			if err != nil {
				errs = append(errs, fmt.Errorf("server %s: %s: %w", s.Name, name, err))
			}
		})
	}
	err := u.await(fmt.Sprintf("the end of %s on server %s", name, s.Name), func() bool { return ended == n })
	return errors.Join(append(errs, err)...)
}

// storeIn returns the callback of a verb that creates an object; it stores the object at `to`.
func storeIn[T any](to *T, done func(error)) func(T, error) {
	return func(v T, err error) {
		*to = v
		done(err)
	}
}

const allAccess = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic

// open creates the objects that all queue pairs of a server share.
func (u *setup) open(s *side) error {
	c := s.Context
	if err := u.runVerbs(s, "query_device", 1,
		func(_ int, done func(error)) { c.QueryDevice(storeIn(&s.dev, done)) }); err != nil {
		return err
	}
	if u.spec.Invalidate && !s.dev.Has(verbs.FeatureInvalidate) {
		return verbs.Errorf(string(u.spec.Kind), verbs.EOPNOTSUPP, "server %s: SEND_WITH_INV: the device lacks it",
			s.Name)
	}
	if u.spec.Kind == Nop && !s.dev.Has(verbs.FeatureNop) {
		return verbs.Errorf(string(u.spec.Kind), verbs.EOPNOTSUPP, "server %s: the device lacks it", s.Name)
	}
	if owner := s.sharers()[0]; owner != s {
		s.pd = owner.pd
	} else if err := u.runVerbs(s, "alloc_pd", 1,
		func(_ int, done func(error)) { c.AllocPD(storeIn(&s.pd, done)) }); err != nil {
		return err
	}
	access := allAccess
	if !s.dev.Has(verbs.FeatureAtomics) {
		access &^= verbs.AccessRemoteAtomic
	}
	if err := u.runVerbs(s, "reg_mr", 1,
		func(_ int, done func(error)) { c.RegMR(s.pd, s.Base, s.Bytes, access, storeIn(&s.mr, done)) }); err != nil {
		return err
	}
	entries := u.completions(s)
	if err := u.runVerbs(s, "create_cq", 1,
		func(_ int, done func(error)) { c.CreateCQ(entries, storeIn(&s.cq, done)) }); err != nil {
		return err
	}
	if u.spec.SharedReceive {
		return u.shareReceives(s)
	}
	return nil
}

// shareReceives creates the receive queue that queue pairs of a side share, or opens that of another one on its server.
func (u *setup) shareReceives(s *side) (err error) {
	if s.shared = u.receives(s, nil); s.shared == nil {
		return nil
	}
	opener, ok := s.Context.(verbs.SRQOpener)
	switch owner := s.shared.owner; {
	case u.spec.SharedReceiveBy == SharedByServer && !ok:
		return verbs.Errorf("shared_receive_by", verbs.EOPNOTSUPP, "%s: server %s: applications on this device cannot "+
			"share a receive queue: want %s", SharedByServer, s.Name, SharedByApplication)
	case owner != s:
		if s.srq, err = opener.OpenSRQ(owner.srq); err != nil {
			return fmt.Errorf("server %s: open_srq: %w", s.Name, err)
		}
	default:
		attr := verbs.SRQAttr{MaxWR: s.shared.area.slots, MaxSGE: u.spec.Pieces}
		if err = u.runVerbs(s, "create_srq", 1,
			func(_ int, done func(error)) { s.Context.CreateSRQ(s.pd, attr, storeIn(&s.srq, done)) }); err != nil {
			return err
		}
	}
	s.shared.post = s.srq.PostRecv
	return nil
}

// completions returns the number of entries that a side's completion queue needs: each request of a shared receive
// queue may end there.
func (u *setup) completions(s *side) (n int) {
	for _, e := range s.ends {
		if e.ring != nil {
			c := u.spec.ringCap(e)
			n += c.MaxSendWR + c.MaxRecvWR
		} else {
			n += u.spec.sendRequests()
		}
	}
	for _, x := range s.sharers() {
		slots, _ := u.receptions(x, nil)
		n += slots
	}
	return n
}

// recvDepth returns the most receive requests that an end has posted at a time.
func (u *setup) recvDepth(e *end) int {
	if !e.client && u.spec.traits().Receives || e.client && u.spec.traits().Answered() {
		return u.spec.receives()
	}
	return 0
}

// receptions returns the receive requests of an end, or of all of a side if e is nil: those posted at a time, and those
// of the whole run.
func (u *setup) receptions(s *side, e *end) (slots, total int) {
	for _, x := range s.ends {
		if k := u.recvDepth(x); k > 0 && x.ring == nil && (e == nil || e == x) {
			slots, total = slots+k, total+u.spec.receptions()
		}
	}
	return slots, total
}

// receives creates the receive queue of an end, or that of a whole side if e is nil. It returns nil if nothing is
// received.
func (u *setup) receives(s *side, e *end) *receives {
	n, total := u.receptions(s, e)
	if n == 0 {
		return nil
	}
	r := &receives{end: e, side: s, spec: u.spec}
	r.makeBatch()
	if all := s.sharers(); e != nil {
		r.pool = u.newPool(s, n, total)
	} else if all[0] == s {
		n, total := 0, 0
		for _, x := range all {
			slots, of := u.receptions(x, nil)
			n, total = n+slots, total+of
		}
		r.pool = u.newPool(s, n, total)
	} else {
		r.pool = all[0].shared.pool
	}
	r.hand(n)
	return r
}

// newPool allocates the memory of a receive queue.
func (u *setup) newPool(s *side, slots, total int) *pool {
	p := &pool{owner: s, key: s.mr.LKey, total: total, memory: u.spec.traits().Sends || u.spec.Served()}
	if !p.memory {
		p.area = area{slots: slots, pieces: 1}
		return p
	}
	_, longest := s.lengths()
	p.area = u.allocArea(s, slots, max(longest+u.spec.header(), u.spec.ReceiveBytes), u.spec.Pieces)
	return p
}

// allocArea allocates memory of a server. A lack of memory is reported at the end of setup, with the total needed.
func (u *setup) allocArea(s *side, slots, bytes, pieces int) area {
	a, err := s.arena.alloc(slots, bytes, pieces, u.spec.Offset)
	if err != nil {
		u.lacks(fmt.Errorf("server %s, with %d B for the application: %w", s.Name, s.Bytes, err))
	}
	return a
}

// lacks notes the first memory that a server does not have; others follow from it.
func (u *setup) lacks(err error) {
	if u.shortage == nil {
		u.shortage = err
	}
}

// allocate allocates the memory of a server's ends.
func (u *setup) allocate(s *side) {
	spec := u.spec
	for _, e := range s.ends {
		if e.recvs = s.shared; s.shared == nil {
			if e.recvs = u.receives(s, e); e.recvs != nil {
				e.recvs.post = e.qp.PostRecv
			}
		} else if u.recvDepth(e) == 0 {
			e.recvs = nil
		}
		e.allocateNotice()
		e.makeBatch()
		if !spec.ordered() {
			e.outcomes = make([]outcome, spec.Count)
		}
		if spec.AnyOrder {
			e.seen = make([]bool, spec.Count)
		}
		e.sendDone, e.recvDone = make([]Completion, 0, spec.Count), make([]Completion, 0, spec.Count)
		switch r := e.role.(type) {
		case ringEnd:
			ringOf(e).memory(u, s)
		case *lookup:
			longest, _ := s.lengths()
			r.out = u.allocArea(s, spec.Depth, longest, 1)
			r.served = u.newServed()
		case *client:
			longest, _ := s.lengths()
			r.out = u.allocArea(s, spec.Depth, longest, spec.Pieces)
			r.served = u.newServed()
			r.counter = counter{shared: spec.SharedCounter, before: make([]uint64, spec.Depth),
				ops: make([]atomic, spec.Depth)}
		case *server:
			switch {
			case spec.Kind == Atomics && !spec.SharedCounter || spec.Kind == Atomics && r.first():
				r.exposed = u.allocArea(s, 1, counterLen, 1)
			case spec.Kind == Atomics:
				r.exposed = s.counterOwner().exposed
			case spec.Invalidate:
				r.exposed = u.allocArea(s, spec.Count, keyBytes, 1)
			case spec.Kind == ListWalk:
				r.exposed = u.allocArea(s, spec.spread(), NodeBytes, 1)
			case spec.Kind == BatchedRead:
				r.exposed = u.allocArea(s, spec.spread(), valueBytes, 1)
			case spec.namesRemote():
				r.exposed = u.allocArea(s, spec.buffers(), spec.largest(), 1)
			case spec.Kind == Echo || spec.Kind == PingPong:
				r.out = u.allocArea(s, spec.Depth, spec.largest(), spec.Pieces)
			}
		}
	}
}

// makeBatch allocates the scratch for one batch of requests.
func (e *end) makeBatch() {
	n := 1
	if e.client || e.spec.traits().TwoWay {
		n = e.spec.Batch
	}
	if _, ok := e.role.(*lookup); ok {
		n = e.spec.readsOf(slices.Index(e.spec.Sizes, e.spec.largest()))
	}
	e.wrs = make([]verbs.SendWR, n)
	longest, _ := e.side.lengths()
	for range n {
		e.sges = append(e.sges, make([]verbs.SGE, 0, maxPieces+1))
		if e.spec.Inline {
			e.inline = append(e.inline, make([]byte, longest))
		}
	}
}

// first reports whether this is the first server end on its side.
func (s *server) first() bool { return s.side.counterOwner() == s }

// counterOwner returns the first server end of a side: with SharedCounter the clients of all others use its counter.
func (s *side) counterOwner() *server {
	for _, e := range s.ends {
		if r, ok := e.role.(*server); ok {
			return r
		}
	}
	return nil
}

// blank writes the initial contents of the memory of all ends.
func (u *setup) blank(s *side) error {
	var errs []error
	for _, a := range s.areas() {
		errs = append(errs, a.fillGuards(s.Memory))
	}
	for _, e := range s.ends {
		if e.ring != nil {
			errs = append(errs, ringOf(e).clear())
		}
		if c, ok := e.role.(*client); ok && u.spec.Payload == Reused && u.spec.Kind != Read {
			errs = append(errs, c.prefill())
		}
		r, ok := e.role.(*server)
		if ok && u.spec.traits().Lookup {
			errs = append(errs, r.fillLookup())
		}
		if !ok || u.spec.Kind != Read && u.spec.Kind != Atomics {
			continue
		}
		for m := range r.exposed.slots {
			b := e.want(u.spec.bufferBytes(m))
			if clear(b); u.spec.Kind == Read {
				pattern(b, u.spec.Seed, e.flow, request, m)
			}
			errs = append(errs, s.Memory.Write(r.exposed.pieceAddr(m, 0), b))
		}
	}
	return errors.Join(errs...)
}

// areas returns all memory that the application has on a server, in order.
func (s *side) areas() (all []*area) {
	if s.shared != nil && s.shared.memory && s.shared.owner == s {
		all = append(all, &s.shared.area)
	}
	for _, e := range s.ends {
		e.role.areas(func(a *area, _ bool) {
			if a.piece > 0 && (len(all) == 0 || s.run.spec.Kind != Atomics || all[len(all)-1].base != a.base) {
				all = append(all, a)
			}
		})
	}
	return all
}
