package data

import (
	"cmp"
	"errors"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// landing is the receive side of a low-latency queue pair: a receive queue of the NIC whose descriptors are the
// application's receive requests, with header buffers in Arm memory.
type landing struct {
	q        *qp
	c        *core
	slot     int // index in Card.landings
	rx       *driver.RxQueue
	headers  uint64
	spare    []uint64           // free header buffers
	posted   fifo.Queue[landed] // requests that the NIC may fill, in the order of descriptors
	returned []landed           // requests not given to the NIC, or returned by it, while the queue is being turned off
	inUse    []uint32           // region keys of requests that the NIC has filled and whose packets are still in use
	phase    landingPhase
	onHalt   []func() // callbacks for when the queue is off
	credit   int      // descriptors not added to the account yet
}

// landed is a receive request of a low-latency queue pair; the NIC writes a message directly to its memory.
type landed struct {
	number uint64
	buffer driver.Buffer
	to     transport.Span
	status verbs.Status // result of the request when the queue is off; 0: flushed
}

// landingPhase tells whether the NIC may write to the buffers of a landing.
type landingPhase uint8

const (
	landingOpen landingPhase = iota
	landingHalting
	landingOff
)

// post gives a receive request to the NIC. If the request's memory must not be written any more, the queue pair
// goes to ERR at once, because no software checks the memory when a message arrives.
func (l *landing) post(number uint64, spans []transport.Span) error {
	q := l.q
	x := landed{number: number}
	switch {
	case l.phase != landingOpen && q.conn.State() == verbs.QPSReset: // RESET discards the request
	case l.phase == landingOff:
		q.flushed(&x)
	case l.phase == landingHalting:
		l.returned = append(l.returned, x)
	case len(spans) != 1 || int64(spans[0].Len) < int64(q.config.LowLatency) || !q.CheckLocal(spans[0]):
		x.status = verbs.WCLocProtErr
		l.returned = append(l.returned, x)
		return l.enterError()
	case len(l.spare) == 0:
		return transport.ErrFull
	default:
		last := len(l.spare) - 1
		x.to, x.buffer = spans[0], driver.Buffer{Hdr: l.spare[last], Pay: spans[0].Addr}
		l.spare = l.spare[:last]
		l.postDescriptor(&x)
	}
	return nil
}

// postDescriptor posts the descriptor of a receive request.
func (l *landing) postDescriptor(x *landed) {
	l.c.fail(l.rx.Post(x.buffer))
	l.posted.Push(*x)
	l.credit++
	l.c.work.Wake()
}

// ring rings the doorbell for new descriptors, then adds their credits to the account.
func (l *landing) ring() bool {
	if l.credit == 0 || l.phase != landingOpen {
		return false
	}
	l.c.fail(l.rx.Ring())
	l.c.fail(l.c.card.drv.AddCreditBy(l.c.bus, l.slot, l.credit))
	l.credit = 0
	return true
}

// received handles a frame whose payload the NIC has written to the application's buffer.
func (l *landing) received(f *driver.RxFrame) {
	c, q := l.c, l.q
	if c.err != nil {
		return
	}
	h, p := c.packets.take()
	p.landing, p.request = l, l.posted.Pop()
	l.inUse = append(l.inUse, p.request.to.Key)
	p.buf, p.at, p.n, p.invalidated = f.Buffer, f.Pay, f.PayLen, true
	c.cpu.ComputeAs(cpu.Parse, c.spec.Parse)
	head := c.header[:f.HdrLen]
	if err := c.cpu.Load(f.Hdr, head); err != nil {
		c.fail(err)
		return
	}
	switch {
	case f.Cqe.Icrc() != nicspec.VerdictOk:
		c.stats.BadICRC++
		c.drop(h)
	case !c.parse(h, p, head, f):
		c.stats.Malformed++
		c.drop(h)
	default:
		c.stats.Received++
		c.stats.Landed++
		c.frame.Landed, c.frame.RecvID = true, p.request.number
		c.countCongestion(&c.frame)
		q.conn.Input(c.now(), &c.frame)
		c.wake(q)
	}
}

// finish ends a packet: its receive request has been used up, or returns to the NIC.
func (l *landing) finish(h transport.Handle, p *packet) {
	x, taken := p.request, p.accepted
	k := slices.Index(l.inUse, x.to.Key)
	l.inUse = slices.Delete(l.inUse, k, k+1)
	l.c.packets.free = append(l.c.packets.free, int32(h))
	switch {
	case taken:
		l.spare = append(l.spare, x.buffer.Hdr)
	case l.phase == landingOpen:
		l.c.stats.Returned++
		l.postDescriptor(&x)
	default:
		l.returned = append(l.returned, x)
	}
}

// enterError moves a queue pair to ERR whose buffers must not be written any more.
func (l *landing) enterError() error {
	c := l.c
	if l.q.conn.State() == verbs.QPSErr {
		return nil
	}
	err := l.q.conn.Modify(c.now(), verbs.QPSErr, nil)
	c.wake(l.q)
	return err
}

// names reports whether the NIC may write to a region, or may do so again: a request for that region returns to the
// NIC when a packet is dropped.
func (l *landing) names(region uint32) bool {
	for i := range l.posted.Len() {
		if l.posted.At(i).to.Key == region {
			return true
		}
	}
	return slices.Contains(l.inUse, region)
}

// revokeLanding calls done when no low-latency queue pair of the core lets the NIC write to a region; it moves those
// that do to ERR.
func (c *core) revokeLanding(region uint32, done func()) {
	pending := 1
	finished := func() {
		if pending--; pending == 0 {
			done()
		}
	}
	for _, l := range c.landings {
		if l.phase == landingOpen && l.names(region) {
			c.fail(l.enterError())
			l.q.Async(transport.EventQPFatal)
		}
		if l.phase == landingHalting {
			pending++
			l.onHalt = append(l.onHalt, finished)
		}
	}
	finished()
}

// haltOnError turns the receive queue off once the connection is in ERR.
func (q *qp) haltOnError() {
	if l := q.landing; l != nil && l.phase == landingOpen && q.conn.State() == verbs.QPSErr {
		l.halt(nothing)
	}
}

// halt turns the receive queue off, and calls done when the NIC writes to none of its buffers any more.
func (l *landing) halt(done func()) {
	if l.phase == landingOff {
		done()
		return
	}
	l.onHalt = append(l.onHalt, done)
	if l.phase == landingHalting {
		return
	}
	l.phase = landingHalting
	a, c := l.c.card, l.c
	a.cfg.Control(func() {
		err := errors.Join(a.drv.DropRule(l.rule()), l.rx.Disable(func() { c.cpu.Call(l.halted) }))
		c.cpu.Call(func() { c.fail(err) })
	})
}

// halted handles the end of halt. In ERR it flushes the requests that the NIC had, in the order in which they were
// posted; after a RESET it discards them.
func (l *landing) halted() {
	l.phase, l.credit = landingOff, 0
	for l.posted.Len() > 0 {
		l.returned = append(l.returned, l.posted.Pop())
	}
	slices.SortFunc(l.returned, func(a, b landed) int { return cmp.Compare(a.number, b.number) })
	for i := range l.returned {
		x := &l.returned[i]
		if x.buffer.Hdr != 0 {
			l.spare = append(l.spare, x.buffer.Hdr)
		}
		if l.q.conn.State() == verbs.QPSErr {
			l.q.flushed(x)
		}
	}
	l.returned = l.returned[:0]
	wait := l.onHalt
	l.onHalt = nil
	for _, f := range wait {
		f()
	}
}

// flushed completes a receive request of a queue pair in ERR.
func (q *qp) flushed(x *landed) {
	w := transport.Completion{ID: x.number, Recv: true, Status: verbs.WCFlushErr}
	if x.status != 0 {
		w.Status = x.status
	}
	q.Complete(&w)
}
