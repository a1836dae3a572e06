package data

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// packets holds the received packets in use, by handle, and the memory of the receive queue's buffers.
type packets struct {
	base  uint64 // start of the payload buffers; header buffers follow
	bytes uint64 // length of a payload buffer
	all   []packet
	free  []int32
}

// packet is a received packet that is in use.
type packet struct {
	buf         driver.Buffer
	at          uint64   // address of the payload, which follows headers that the NIC does not recognize
	n           int      // length of the payload
	bytes       int      // bytes in the payload buffer, including headers that the NIC does not recognize
	copies      int      // number of copies of the payload in flight
	dropped     bool     // the packet is no longer needed
	invalidated bool     // the buffer needs no invalidation: a copy did that, or nothing was written
	kept        bool     // the payload is in reorder memory
	slot        uint64   // address of the packet's slot in reorder memory
	landing     *landing // low-latency queue pair whose buffer holds the payload; nil: the payload is in Arm memory
	request     landed   // the receive request whose buffer holds the payload
	accepted    bool     // the connection accepted the packet as the message for field `request`
	holder      *qp      // queue pair against whose share of the core's buffers this one counts; nil: none
	answer      bool     // the buffer counts in heldAnswers of field `holder`, not in heldRequests
}

// openReceive opens the receive queue and posts all of its buffers, which begin at address `at`.
func (c *core) openReceive(at uint64) error {
	s := c.spec
	n := 1 << s.LogReceive
	p := &c.packets
	p.base, p.bytes = at, uint64(s.PayloadBytes)
	headers := at + uint64(n*s.PayloadBytes)
	var err error
	c.rx, err = c.card.drv.OpenRx(driver.RxConfig{
		QueueConfig: c.queue(c.card.cfg.FirstRx+c.index, s.LogReceive), Split: nicspec.SplitModeHeaders,
		HdrBytes: headerBytes,
		PayBytes: s.PayloadBytes, Trim: true, OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) { c.received(f) },
	})
	if err != nil {
		return err
	}
	for i := range n {
		b := driver.Buffer{Hdr: headers + uint64(i*headerBytes), Pay: at + uint64(i*s.PayloadBytes)}
		if err := c.rx.Post(b); err != nil {
			return err
		}
	}
	return c.rx.Ring()
}

// take returns an unused record and its handle. It may move the other records in memory.
func (p *packets) take() (transport.Handle, *packet) {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		p.all[i] = packet{}
		return transport.Handle(i), &p.all[i]
	}
	p.all = append(p.all, packet{})
	i := len(p.all) - 1
	return transport.Handle(i), &p.all[i]
}

// received handles a frame.
func (c *core) received(f *driver.RxFrame) {
	if c.err != nil {
		return
	}
	h, p := c.packets.take()
	p.buf, p.at, p.n, p.bytes, p.invalidated = f.Buffer, f.Pay, f.PayLen, f.PayLen, f.PayLen == 0
	c.cpu.ComputeAs(cpu.Parse, c.spec.Parse)
	head := c.header[:f.HdrLen]
	if err := c.cpu.Load(f.Hdr, head); err != nil {
		c.fail(err)
		return
	}
	q := c.qps[f.Cqe.DestQp()]
	switch {
	case !c.addressed(f, head):
		c.stats.Stray++
		c.drop(h)
	case !f.Cqe.Roce():
		c.receivedRaw(h, f)
	case f.Cqe.Icrc() != nicspec.VerdictOk:
		c.stats.BadICRC++
		c.drop(h)
	case q == nil || q.conn == nil:
		c.stats.Stray++
		c.drop(h)
	case !c.parse(h, p, head, f):
		c.stats.Malformed++
		c.drop(h)
	case !q.mayReceive(head, f):
		c.stats.Stray++
		c.drop(h)
	default:
		c.stats.Received++
		q.hold(p, c.frame.IsRequest())
		c.countCongestion(&c.frame)
		q.conn.Input(c.now(), &c.frame)
		c.wake(q)
	}
}

// addressed reports whether a frame has the address of a port. head is what the NIC has put into the header buffer; the
// rest is in the payload buffer.
func (c *core) addressed(f *driver.RxFrame, head []byte) bool {
	const n = 6
	if len(head) < n {
		rest := c.header[len(head):n]
		if err := c.cpu.Load(f.Pay, rest[:min(len(rest), f.PayLen)]); err != nil {
			c.fail(err)
			return false
		}
		head = c.header[:n]
	}
	return slices.Contains(c.card.cfg.MACs, [n]byte(head))
}

// parse reads the headers of a RoCE packet into frame; it returns false if the packet is malformed. Headers of opcodes
// that the NIC does not know are in the payload buffer.
func (c *core) parse(h transport.Handle, p *packet, head []byte, f *driver.RxFrame) bool {
	l3, l4 := int(f.Cqe.L3Off()), int(f.Cqe.L4Off())
	const udp, bth = 8, 12
	if len(head) < l4+udp+bth {
		return false
	}
	if missing := transport.HeadersOf(head[l4+udp:]) - (len(head) - l4 - udp); missing > 0 {
		n := len(head)
		missing = min(missing, p.n, len(c.header)-n)
		head = c.header[:n+missing]
		if err := c.cpu.Load(p.at, head[n:]); err != nil {
			c.fail(err)
			return false
		}
		p.at, p.n = p.at+uint64(missing), p.n-missing
	}
	c.frame = transport.Packet{Handle: h}
	total := int(binary.BigEndian.Uint16(head[l4+4:])) - udp
	if c.frame.Parse(head[l4+udp:], total) != nil {
		return false
	}
	c.frame.Payload = min(c.frame.Payload, p.n)
	if !c.trailer(p, len(head)) {
		return false
	}
	const ce = 3
	if f.Cqe.L3Type() == nicspec.L3TypeIpv4 {
		c.frame.Marked = head[l3+1]&ce == ce
		c.frame.From.IP = netip.AddrFrom4([4]byte(head[l3+12 : l3+16]))
	} else {
		c.frame.Marked = head[l3+1]>>4&ce == ce
		c.frame.From.IP = netip.AddrFrom16([16]byte(head[l3+8 : l3+24]))
	}
	copy(c.frame.From.MAC[:], head[6:12])
	return true
}

// mayReceive reports whether a packet, which has been parsed, has the addresses of the queue pair's connection (IBTA
// 9.6): it may be for a queue pair of another host that has the same number. Datagrams come from anywhere.
func (q *qp) mayReceive(head []byte, f *driver.RxFrame) bool {
	const v4, v6 = 16, 24 // offsets of the destination address
	local, l3 := q.path.Local.IP, int(f.Cqe.L3Off())
	if q.config.Type == verbs.QPTUD || !local.IsValid() {
		return true
	}
	to := netip.AddrFrom4([4]byte(head[l3+v4 : l3+v4+4]))
	if f.Cqe.L3Type() != nicspec.L3TypeIpv4 {
		to = netip.AddrFrom16([16]byte(head[l3+v6 : l3+v6+16]))
	}
	return to == local && q.core.frame.From.IP == q.path.Peer.IP
}

// drop releases a packet that the connection does not need.
func (c *core) drop(h transport.Handle) {
	p := &c.packets.all[h]
	p.dropped = true
	c.finish(h, p)
}

// finish invalidates and reposts the buffer of a packet once it is neither needed nor being copied.
func (c *core) finish(h transport.Handle, p *packet) {
	if !p.dropped || p.copies > 0 {
		return
	}
	if p.landing != nil {
		p.landing.finish(h, p)
		return
	}
	if p.kept {
		c.reorder.free = append(c.reorder.free, p.slot)
		c.packets.free = append(c.packets.free, int32(h))
		return
	}
	if c.spec.Receive == InCache && !p.invalidated {
		p.invalidated = true
		p.copies++
		c.stats.Invalidations++
		n := (p.bytes + nicspec.LineBytes - 1) &^ (nicspec.LineBytes - 1)
		c.copies.invalidate(c.span(p.buf.Pay, n), h)
		return
	}
	if err := c.rx.Post(p.buf); err != nil {
		c.fail(err)
		return
	}
	if p.holder != nil {
		p.holder.release(p)
	}
	c.packets.free = append(c.packets.free, int32(h))
	if c.rx.Waiting() >= c.spec.Every {
		c.fail(c.rx.Ring())
	}
}

// copied handles the end of a copy or invalidation of a packet.
func (c *core) copied(h transport.Handle) {
	p := &c.packets.all[h]
	p.copies--
	c.finish(h, p)
}
