package data

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
)

// sender is the transmit queue of an Ethernet port, with a header slot for each of its places.
type sender struct {
	*driver.TxQueue
	c           *core
	slots       uint64
	entry       driver.Send
	inFlight    fifo.Queue[frame] // frames in the ring, oldest first
	sinceSignal int               // frames sent since one requested a completion entry
	drains      []func()          // callbacks of drain that wait for room to request a completion entry
}

// frame is a frame in the ring, with the actions to take when it ends.
type frame struct {
	q      *qp
	token  transport.Token // reported to the connection; 0: none
	staged *staged         // packet whose piece of the staging ring to free; nil: none
	then   func()          // called when the frame has ended; may be nil
}

func (c *core) openTransmit(port int, slots uint64) (*sender, error) {
	s := &sender{c: c, slots: slots}
	s.entry.Port = port
	s.entry.Pieces = make([]driver.Span, 0, nicspec.SegMax)
	s.entry.Pad = true
	var err error
	s.TxQueue, err = c.card.drv.OpenTx(driver.TxConfig{
		QueueConfig: c.queue(c.txNumber(port), c.spec.LogTransmit),
		PushBlocks:  c.spec.PushBlocks,
		OnEnd:       func(_ *driver.TxQueue, e *driver.TxEnd) { s.ended(e) },
		OnEvent: func(_ *driver.TxQueue, e driver.Event) {
			c.fail(fmt.Errorf("transmit queue %d: it has failed with status %v", c.txNumber(port), e.Status))
		},
	})
	return s, err
}

// transmit sends packets of the active queue pairs in turn, at most a burst; it returns false if none could leave.
func (c *core) transmit() bool {
	sent := 0
	for tries := c.active.Len(); tries > 0 && sent < c.spec.Burst && c.err == nil; tries-- {
		n, _ := c.active.Next()
		q := c.qps[n]
		if q == nil {
			c.active.Remove(n)
			continue
		}
		if !c.hasRoom(q) || !c.staging.ready(c.maxPayload(q)) {
			continue // the port is full: its next completion entry wakes the loop
		}
		if !c.next(q) {
			c.active.Remove(n)
			c.rearm(q)
			continue
		}
		sent++
		tries = c.active.Len() + 1
	}
	return sent > 0
}

// maxPayload returns the largest payload of a packet of a queue pair, in bytes.
func (c *core) maxPayload(q *qp) int {
	if q.config.Type == rawPacket {
		return nicspec.FrameMax
	}
	return c.spec.PayloadBytes
}

// next sends the next packet of a queue pair; it returns false if none may leave.
func (c *core) next(q *qp) bool {
	if q.config.Type == rawPacket {
		return q.sendRaw(c.tx[q.port])
	}
	p := c.staging.take()
	if !q.conn.Next(c.now(), &p.out) {
		q.recountSharer()
		q.haltOnError()
		c.staging.done(p)
		return false
	}
	c.cpu.ComputeAs(cpu.Build, c.spec.Build)
	c.staging.send(c.tx[q.portOf(&p.out)], q, p)
	return true
}

// send posts a frame: its headers in a slot, and its payload from the staging ring or its original place.
func (s *sender) send(q *qp, p *staged) {
	if p.raw {
		s.sendRaw(q, p)
		return
	}
	c, o := s.c, &p.out
	slot := s.slots + uint64(int(s.Next())&(s.Size()-1))*uint64(len(c.slot))
	buf := append(append(c.slot[:0], o.Head...), o.Inline...)
	head := len(buf)
	var tail int
	s.entry.Offloads = driver.Offloads{ICRC: true, Append: true, L3: etherBytes, L4: etherBytes + ipv4Bytes}
	if o.Head[12] == 0x86 {
		s.entry.L4 = etherBytes + ipv6Bytes
	}
	if len(o.Tail) >= transport.SolarTrailerSize { // not mere padding, which the NIC appends itself
		tail = transport.SolarTrailerSize
		buf = append(buf, o.Tail[:tail]...)
	}
	if o.CRCAt >= 0 {
		s.entry.CRC32C, s.entry.CRCStart = true, uint16(len(o.Head))
		s.entry.CRCAt = uint16(len(o.Head) + o.Payload + o.CRCAt)
	}
	s.entry.Inline = nil
	inline := q.landing != nil && len(o.Inline) > 0 && tail == 0 && len(o.Spans) == 0
	if inline && head <= nicspec.InlineMaxLong {
		s.entry.Inline, s.entry.Pieces = buf, s.entry.Pieces[:0]
		s.recordPosted(o, frame{q: q, token: o.Token})
		return
	}
	if err := c.cpu.Store(slot, buf); err != nil {
		c.fail(err)
		return
	}
	f := frame{q: q, token: o.Token}
	if p.place != nil {
		f.staged = p
	}
	var ok bool
	if s.entry.Pieces, ok = q.payload(append(s.entry.Pieces[:0], c.span(slot, head)), p); !ok {
		s.post(f, &driver.Nop{Order: driver.Order{Complete: o.Token != 0}})
		return
	}
	if tail > 0 {
		s.entry.Pieces = append(s.entry.Pieces, c.span(slot+uint64(head), tail))
	}
	s.recordPosted(o, f)
}

// recordPosted counts a posted frame, and records what to do at its end.
func (s *sender) recordPosted(o *transport.Out, f frame) {
	s.sinceSignal++
	if s.entry.Complete = o.Token != 0 || s.sinceSignal >= s.c.spec.Every; s.entry.Complete {
		s.sinceSignal = 0
	}
	s.c.stats.Sent++
	s.post(f, &s.entry)
}

const etherBytes, ipv4Bytes, ipv6Bytes = 14, 20, 40

func (s *sender) post(f frame, e driver.Entry) {
	if err := s.Post(e); err != nil {
		s.c.fail(fmt.Errorf("transmit queue %d: %w", s.Number(), err))
		return
	}
	if f.q != nil {
		f.q.frames++
	}
	s.inFlight.Push(f)
}

// drain calls done when every frame posted before has left.
func (s *sender) drain(done func()) {
	if s.inFlight.Len() == 0 {
		done()
		return
	}
	if s.Room() == 0 { // the entries in flight request completions, so there will be room
		s.drains = append(s.drains, done)
		return
	}
	s.post(frame{then: done}, &driver.Nop{Order: driver.Order{Complete: true}})
	s.c.work.Wake()
}

// ended handles a completion entry.
func (s *sender) ended(e *driver.TxEnd) {
	c := s.c
	if st := e.Cqe.Status(); st != nicspec.StatusOk {
		c.fail(fmt.Errorf("transmit queue %d: a frame ended with status %v", s.Number(), st))
	}
	for range e.N {
		f := s.inFlight.Pop()
		if f.q != nil {
			f.q.frames--
			if f.token != 0 {
				f.q.sent(f.token)
			}
			f.q.destroyIfIdle()
		}
		if f.staged != nil {
			c.staging.frameLeft(f.staged)
		}
		if f.then != nil {
			f.then()
		}
	}
	for wait := s.drains; len(wait) > 0; wait = wait[1:] {
		s.drains = s.drains[1:]
		s.drain(wait[0])
	}
	c.work.Wake()
}
