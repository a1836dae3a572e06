package data

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
)

// staging handles packets whose payload goes through Arm memory (DMAStaged): the queue of copies fetches it into a
// ring, and the frame is then sent from there. A piece of the ring is freed when its frame has left, so a retransmitted
// packet is fetched from the host again. Packets of a queue pair keep their order; those without payload from the host
// may overtake packets of other queue pairs.
type staging struct {
	c        *core
	ring     ring
	waiting  fifo.Queue[*staged] // packets whose copies or predecessors have not ended, oldest first
	spare    []*staged
	draining bool // the NIC was asked which frames have left, and no piece of the ring was freed since
}

// staged is a packet on its way to a transmit queue.
type staged struct {
	q      *qp
	out    transport.Out
	inline []byte
	raw    bool
	place  *piece // the payload's memory in the staging ring; nil: the payload is not in the ring
	bytes  int
	copies int  // copies into the ring that have not ended
	lost   bool // the payload's memory region was deregistered: the frame is dropped, as if the network had lost it
}

// stagingShare returns the size of one core's ring.
func (s *Spec) stagingShare(cores int) uint64 {
	if s.Transmit != DMAStaged {
		return 0
	}
	return uint64(s.StagingBytes/cores) &^ (nicspec.LineBytes - 1)
}

// ready reports whether a packet of n bytes can be accepted. If the ring is full, it asks the NIC which frames have
// left.
func (x *staging) ready(n int) bool {
	if x.c.spec.Transmit != DMAStaged {
		return true
	}
	if x.waiting.Len() >= 1<<x.c.spec.LogTransmit {
		return false // there is no room now: the end of a copy wakes the work loop
	}
	if x.ring.fits(n) {
		return true
	}
	if !x.draining {
		x.draining = true
		for _, s := range x.c.tx {
			s.drain(nothing)
		}
	}
	return false
}

func nothing() {}

// take returns an unused record of a packet.
func (x *staging) take() *staged {
	n := len(x.spare)
	if n == 0 {
		return new(staged)
	}
	p := x.spare[n-1]
	x.spare = x.spare[:n-1]
	p.q, p.raw, p.place, p.bytes, p.copies, p.lost = nil, false, nil, 0, 0, false
	return p
}

func (x *staging) done(p *staged) { x.spare = append(x.spare, p) }

// stages reports whether a packet's payload goes through the ring; an engine's payload is already in Arm memory.
func (x *staging) stages(q *qp, o *transport.Out) bool {
	return x.c.spec.Transmit == DMAStaged && len(o.Spans) > 0 && (q.served == nil || o.Spans[0].Key != armKey)
}

// send sends a packet, now or once its payload is in the ring and earlier packets of its queue pair have left.
func (x *staging) send(s *sender, q *qp, p *staged) {
	stages := x.stages(q, &p.out)
	if !stages && q.staged == 0 {
		s.send(q, p)
		x.done(p)
		return
	}
	p.q = q
	q.staged++
	q.frames++ // a packet that waits here counts like a frame in a transmit queue
	if len(p.out.Inline) > 0 {
		p.inline = append(p.inline[:0], p.out.Inline...) // copied, because the request may end before the packet leaves
		p.out.Inline = p.inline
	}
	x.waiting.Push(p)
	if stages {
		x.copy(p)
	}
}

// copy fetches the payload into the ring.
func (x *staging) copy(p *staged) {
	c := x.c
	for i := range p.out.Spans {
		p.bytes += int(p.out.Spans[i].Len)
	}
	p.place = x.ring.take(p.bytes)
	at := p.place.at
	p.copies = 1 // one more, until all copies have been requested
	for i := range p.out.Spans {
		n := int(p.out.Spans[i].Len)
		src, ok := p.q.memory(p.out.Spans[i])
		if !ok {
			p.lost = true
			break
		}
		p.copies++
		c.stats.Staged += uint64(n)
		c.copies.add(job{dst: c.span(at, n), src: src, q: p.q, staged: p})
		at += uint64(n)
	}
	p.copies--
}

// copied handles the end of a copy into the ring, or of the invalidation of a packet's lines there.
func (x *staging) copied(p *staged, err error) {
	if err != nil {
		x.c.fail(fmt.Errorf("staging ring: %w", err))
	}
	if p.copies == 0 {
		x.free(p)
		return
	}
	p.copies--
	x.c.work.Wake()
}

// flush posts the oldest packets whose payload has arrived; it returns false if there was none.
func (x *staging) flush() (found bool) {
	for x.waiting.Len() > 0 && (*x.waiting.Front()).copies == 0 && x.c.err == nil {
		p := *x.waiting.Front()
		s := x.c.tx[p.q.portOf(&p.out)]
		if s.Room() < nicspec.WqeBlocksMax {
			return found // the queue is full: its next completion entry wakes the loop
		}
		x.waiting.Pop()
		found = true
		q, place := p.q, p.place
		q.staged--
		s.send(q, p)
		q.frames--
		if place == nil {
			x.done(p)
		}
		x.c.wake(q)
		q.destroyIfIdle()
	}
	return found
}

// frameLeft frees the staging memory of a frame that has left.
func (x *staging) frameLeft(p *staged) {
	if !x.c.spec.StagingInvalidate || p.lost {
		x.free(p)
		return
	}
	x.c.stats.Invalidations++
	x.c.copies.add(job{src: x.c.span(p.place.at, int(p.place.bytes)), staged: p})
}

func (x *staging) free(p *staged) {
	x.ring.free(p.place)
	x.draining = false
	x.done(p)
	x.c.work.Wake()
}

// payload returns the pieces of a packet's payload, in the ring or in its original place. ok is false if the packet
// counts as lost.
func (q *qp) payload(into []driver.Span, p *staged) (pieces []driver.Span, ok bool) {
	if p.place != nil {
		return append(into, q.core.span(p.place.at, p.bytes)), !p.lost
	}
	for i := range p.out.Spans {
		x, ok := q.memory(p.out.Spans[i])
		if !ok { // the payload's memory region was deregistered
			return into, false
		}
		into = append(into, x)
	}
	return into, true
}
