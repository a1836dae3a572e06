package data

import (
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// context holds a host library's pipes to a core.
type context struct {
	id      int
	c       *core
	sq, rq  pipe.Receiver
	loop    *cpu.Loop
	element pipe.SendElement
	entries []pipe.RecvEntry
	spans   []transport.Span // spans of the receive request that is being assembled from entries
	send    transport.Send
	partial bool

	taken    Posted     // requests taken so far
	deferred []deferred // control verbs that wait until the requests posted before them are taken, oldest first
}

// Ends are the consuming ends of a context's pipes on a core. Watch lists the memory ranges whose writes may announce
// an element. Ranges of different contexts must not overlap.
type Ends struct {
	SQ, RQ pipe.Receiver
	Watch  []pipe.Extent
}

// Memory returns the loads and stores of a core, for the consuming ends that it polls.
func (a *Card) Memory(core int) pipe.Memory { return a.cores[core].cpu }

// Copier returns a copier that moves bytes between a core's memory for pipes and the host's, using its queue of copies;
// done is called as the core's software.
func (a *Card) Copier(core int) pipe.Copier { return &a.cores[core].copies }

// Attach gives every core the pipes of a context; ends holds one element per core.
func (a *Card) Attach(id int, ends []Ends) error {
	if len(ends) != len(a.cores) {
		return fmt.Errorf("data: context %d: pipes for %d cores: want %d", id, len(ends), len(a.cores))
	}
	for i, c := range a.cores {
		if c.contexts[id] != nil {
			return fmt.Errorf("data: context %d already exists", id)
		}
		x := &context{id: id, c: c, sq: ends[i].SQ, rq: ends[i].RQ}
		var err error
		if x.loop, err = c.cpu.Add(cpu.LoopSpec{Name: fmt.Sprintf("pipes of context %d", id), Poll: c.spec.Poll,
			As: cpu.Element},
			func(*cpu.Core) bool { return x.poll() }); err != nil {
			return err
		}
		for _, w := range ends[i].Watch {
			if _, err := x.loop.Watch(w.From, int(w.Bytes)); err != nil {
				x.loop.Stop()
				return fmt.Errorf("data: context %d: %w", id, err)
			}
		}
		c.contexts[id] = x
	}
	return nil
}

// Detach removes a context, whose queue pairs must have been destroyed.
func (a *Card) Detach(id int) {
	for _, c := range a.cores {
		if x := c.contexts[id]; x != nil {
			x.loop.Stop()
			delete(c.contexts, id)
			if c.latest == x {
				c.latest = nil
			}
			delete(c.polled, id)
		}
	}
}

// drainPipes takes all elements of a context. It is called before a control verb is carried out: elements posted before
// the verb are in memory by then.
func (c *core) drainPipes(context int) {
	if x := c.contexts[context]; x != nil {
		for x.poll() {
		}
	}
}

// poll takes at most Burst elements from each pipe. What they make the core post to the NIC shares the doorbells that
// the work loop rings next.
func (x *context) poll() (found bool) {
	for _, f := range x.c.polled[x.id] {
		f.readIfDue()
	}
	for n := 0; n < x.c.spec.Burst && x.takeElement(x.rq, x.takeRecv); n++ {
		found = true
	}
	for n := 0; n < x.c.spec.Burst && x.takeElement(x.sq, x.takeSend); n++ {
		found = true
	}
	if x.c.err == nil {
		x.runDeferred()
	}
	return found
}

// takeElement takes one element from a pipe, and reports whether there was one.
func (x *context) takeElement(from pipe.Receiver, take func([]byte) error) bool {
	c := x.c
	if c.err != nil {
		return false
	}
	e, err := from.Poll()
	if err == nil && e != nil {
		c.element()
		err = take(e)
	}
	if err != nil {
		c.fail(fmt.Errorf("context %d: %w", x.id, err))
	}
	return err == nil && e != nil
}

// element counts an element, and charges its cost.
func (c *core) element() {
	c.stats.Elements++
	c.cpu.ComputeAs(cpu.Element, c.spec.Element)
}

// takeSend passes a send request to its queue pair. An error of the request is reported in its completion; an element
// that no library writes ends the core.
func (x *context) takeSend(b []byte) error {
	e := &x.element
	if err := e.Decode(b); err != nil {
		return err
	}
	x.taken.Sends++
	x.c.latest = x
	q := x.c.qps[e.QPN]
	if q == nil || q.config.Context != x.id {
		return fmt.Errorf("a send element for queue pair %#x: this core has none of that context", e.QPN)
	}
	if f := x.c.card.took; f != nil {
		f(e.QPN)
	}
	if q.config.Type == rawPacket {
		return q.postRaw(e)
	}
	s := &x.send
	*s = transport.Send{
		ID: e.ID, Op: e.Opcode, Flags: e.Flags, Imm: e.Imm, RKey: e.RKey, RemoteAddr: e.RemoteAddr,
		CompareAdd: e.CompareAdd, Swap: e.Swap,
		Inline: e.Inline, Spans: s.Spans[:0], RemoteQP: e.DestQPN, RemoteQKey: e.QKey,
	}
	if q.config.SignalAll {
		s.Flags |= verbs.SendSignaled
	}
	if s.Flags&verbs.SendInline == 0 {
		s.Inline = nil
	}
	if e.Datagram {
		if s.AH = x.c.card.handles[verbs.AH(e.AH)]; s.AH == nil {
			s.AH, s.Status = &transport.AH{}, verbs.WCLocQPOpErr // the handle was destroyed
		}
	}
	q.translate(e, s)
	err := q.conn.Post(x.c.now(), s)
	if err != nil {
		return fmt.Errorf("a send element for queue pair %#x: %w", e.QPN, err)
	}
	x.c.wake(q)
	return nil
}

// translate converts an element's addresses to host memory. A request that may not be carried out gets an error status.
func (q *qp) translate(e *pipe.SendElement, s *transport.Send) {
	var need verbs.Access
	if e.Opcode == verbs.WRRead || e.Opcode.IsAtomic() {
		need = verbs.AccessLocalWrite
	}
	total := e.Bytes()
	if total > uint64(q.config.MaxMessage) || e.Opcode.IsAtomic() && e.Spans[0].Addr == pipe.WrongLength {
		s.Status = verbs.WCLocLenErr
		return
	}
	for _, x := range e.Spans {
		if x.Bytes == 0 {
			continue
		}
		to, ok := q.core.card.local(q.config.PD, x, need)
		if !ok {
			s.Status = verbs.WCLocProtErr
			return
		}
		s.Spans = append(s.Spans, to)
	}
}

// local returns the host memory behind an Arm address, and whether a queue pair of the protection domain has the access
// rights `need` to it.
func (a *Card) local(pd verbs.PD, x pipe.Span, need verbs.Access) (transport.Span, bool) {
	r, host, err := a.cfg.Shadow.HostOf(x.Addr, uint64(x.Bytes))
	if err != nil {
		return transport.Span{Addr: x.Addr, Len: x.Bytes}, false
	}
	s := transport.Span{Addr: host, Len: x.Bytes, Key: r.Key}
	return s, a.cfg.Regions.Local(pd, &verbs.SGE{Addr: host, Length: x.Bytes, LKey: r.Key}, need)
}

// takeRecv passes the receive requests of an element to their queues.
func (x *context) takeRecv(b []byte) (err error) {
	if x.entries, err = pipe.DecodeRecv(x.entries[:0], b); err != nil {
		return err
	}
	for i := range x.entries {
		e := &x.entries[i]
		if !x.partial {
			x.spans = x.spans[:0]
		}
		if e.Bytes > 0 {
			// the address and rights are checked when a message arrives
			s, _ := x.c.card.local(0, pipe.Span{Addr: e.Addr, Bytes: e.Bytes}, 0)
			x.spans = append(x.spans, s)
		}
		if x.partial = e.More; x.partial {
			continue
		}
		x.taken.Recvs++
		if err := x.c.postRecv(x.id, e.QPN, x.spans); err != nil {
			return fmt.Errorf("a receive entry for queue %#x: %w", e.QPN, err)
		}
	}
	return nil
}

// postRecv posts a receive request to a queue pair or a shared queue. The card and the library count the requests: the
// number identifies one in its completion.
func (c *core) postRecv(context int, number uint32, spans []transport.Span) error {
	if s := c.srqs[number]; s != nil && s.context == context {
		s.number++
		c.recv = transport.Recv{ID: s.number - 1, Spans: spans}
		return s.queue.Post(&c.recv)
	}
	q := c.qps[number]
	if q == nil || q.config.Context != context {
		return errors.New("this core has none of that context")
	}
	q.number++
	c.recv = transport.Recv{ID: q.number - 1, Spans: spans}
	if q.config.Type == rawPacket {
		return q.raw.PostRecv(&c.recv)
	}
	if q.landing != nil {
		return q.landing.post(q.number-1, spans)
	}
	if q.conn.State() == verbs.QPSReset { // the request was in the pipe during a RESET, which discards it
		return nil
	}
	if err := q.conn.PostRecv(&c.recv); err != nil {
		return err
	}
	c.wake(q)
	return nil
}

// Copy implements pipe.Copier. What goes to the host are completions: with fences, their copies write only after the
// payload before them is on its way, so that they are posted together with it.
func (x *copies) Copy(to, from uint64, n int, done func(error)) {
	c := x.c
	a, okTo := c.spanAt(to, n)
	b, okFrom := c.spanAt(from, n)
	if !okTo || !okFrom {
		done(fmt.Errorf("a copy of %d B from %#x to %#x: want memory of this core, and of the host under its key", n,
			from, to))
		return
	}
	x.add(job{dst: a, src: b, fence: c.fences && a.Key == c.card.cfg.Host, then: done})
}

// spanAt returns the span of this core's memory, or of the host's, at a bus address.
func (c *core) spanAt(addr uint64, n int) (driver.Span, bool) {
	for _, k := range [...]*driver.Key{c.key, c.card.cfg.Host} {
		if addr >= k.Bus && uint64(n) <= k.Len && addr-k.Bus <= k.Len-uint64(n) {
			return driver.Span{Key: k, Off: addr - k.Bus, Len: uint32(n)}, true
		}
	}
	return driver.Span{}, false
}
