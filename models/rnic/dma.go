package rnic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// reader is the owner of a DMA read. dmaReadDone is called once, when the read has ended.
type reader interface {
	dmaReadDone(c *Comp, ok bool)
}

// dmaRead is a DMA read in progress.
type dmaRead struct {
	bus       uint64
	dst       []byte
	requested int // bytes requested so far
	open      int // requests without their last completion
	failed    bool
	queued    bool // the read is in dma.waiting
	owner     reader
}

// tag is the read request that uses a tag.
type tag struct {
	r    *dmaRead
	off  int // offset of the next byte in r.dst
	left int
	addr uint64
}

// dma accesses memory through the NIC's PCIe port. Its TLPs leave in the order in which they were
// made, so that a read never passes an earlier write.
type dma struct {
	out     fifo.Queue[*msg.TLP]
	waiting fifo.Queue[*dmaRead] // reads that have requests to send
	tags    []tag
	free    fifo.Queue[uint8]
	idle    []*dmaRead
	reads   int // number of reads in progress
}

func (d *dma) init(tags int) {
	d.tags = make([]tag, tags)
	for i := range tags {
		d.free.Push(uint8(i))
	}
}

// endpoint returns the endpoint whose memory a bus address is in.
func endpoint(bus uint64) int {
	ep, _ := mem.Split(bus)
	return min(ep, nicspec.EndpointHost)
}

// read reads memory into dst. A read of zero bytes ends at once.
func (c *Comp) read(bus uint64, dst []byte, owner reader) {
	if len(dst) == 0 {
		owner.dmaReadDone(c, true)
		return
	}
	d := &c.dma
	var r *dmaRead
	if n := len(d.idle); n > 0 {
		r, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		r = new(dmaRead)
	}
	*r = dmaRead{bus: bus, dst: dst, owner: owner, queued: true}
	d.reads++
	d.waiting.Push(r)
	c.arm(c.now())
}

// request sends read requests while there are tags and room for TLPs.
func (c *Comp) request() {
	d := &c.dma
	for d.waiting.Len() > 0 && d.free.Len() > 0 && d.out.Len() < c.spec.OutDepth {
		r := *d.waiting.Front()
		if r.failed || r.requested == len(r.dst) {
			d.waiting.Pop()
			r.queued = false
			c.readOver(r)
			continue
		}
		addr := r.bus + uint64(r.requested)
		split := tlp.SplitRead(addr, len(r.dst)-r.requested, c.spec.Limits[endpoint(addr)].MRRS, tlp.Unaligned)
		piece, _ := split.Next()
		id := d.free.Pop()
		d.tags[id] = tag{r, r.requested, piece.Len, addr}
		r.requested += piece.Len
		r.open++
		p := c.tlps.Get()
		if err := p.SetMemRead(c.origin(), id, addr, piece.Len); err != nil {
			c.fail(err)
			return
		}
		if x, ok := r.owner.(*txPacket); ok && c.payloadRead != nil {
			c.payloadRead(id, r.open == 1 && piece.Len == r.requested, x.f.Data)
		}
		d.out.Push(p)
		if r.requested == len(r.dst) {
			d.waiting.Pop()
			r.queued = false
		}
	}
}

func (c *Comp) origin() tlp.Origin { return tlp.Origin{RequesterID: c.id} }

// readOver ends a read if all of its requests have been sent and answered.
func (c *Comp) readOver(r *dmaRead) {
	if r.open > 0 || r.requested < len(r.dst) && !r.failed {
		return
	}
	owner, ok := r.owner, !r.failed
	r.owner, r.dst = nil, nil
	c.dma.idle = append(c.dma.idle, r)
	c.dma.reads--
	if !ok {
		c.counters[rnicspec.CntReadErrors]++
	}
	owner.dmaReadDone(c, ok)
}

// completion handles a completion TLP.
func (c *Comp) completion(h *tlp.Header, data []byte) {
	d := &c.dma
	if h.RequesterID != c.id || int(h.Tag) >= len(d.tags) || d.tags[h.Tag].r == nil {
		c.counters[rnicspec.CntWrongAccess]++
		return
	}
	t := &d.tags[h.Tag]
	r := t.r
	lead := int(t.addr & (tlp.DWBytes - 1))
	ok := h.Kind == tlp.CplD && h.Status == tlp.StatusSC && !h.EP && int(h.ByteCount) == t.left && len(data) > lead
	if ok {
		n := min(len(data)-lead, t.left)
		copy(r.dst[t.off:t.off+n], data[lead:])
		t.off, t.left, t.addr = t.off+n, t.left-n, t.addr+uint64(n)
		if t.left > 0 {
			return
		}
	}
	r.failed = r.failed || !ok
	t.r = nil
	d.free.Push(h.Tag)
	r.open--
	if !r.queued {
		c.readOver(r)
	}
	c.arm(c.now())
}

// write writes b to memory, and returns the number of TLPs. sender is notified of each TLP when its
// destination has accepted it.
func (c *Comp) write(bus uint64, b []byte, sender msg.Consumer) int {
	split := tlp.SplitWrite(bus, len(b), c.spec.Limits[endpoint(bus)].MPS, tlp.Unaligned)
	first, n := c.dma.out.Len(), 0
	for piece, ok := split.Next(); ok; piece, ok = split.Next() {
		p := c.tlps.Get()
		own := p.Own(piece.Len)
		off := int(piece.Addr - bus)
		copy(own, b[off:off+piece.Len])
		if err := p.SetMemWrite(c.origin(), piece.Addr, own); err != nil {
			c.fail(err)
			return n
		}
		p.Sender = sender
		c.dma.out.Push(p)
		n++
	}
	if c.spec.Place == Descending {
		for i, j := first, first+n-1; i < j; i, j = i+1, j-1 {
			a, b := c.dma.out.At(i), c.dma.out.At(j)
			*a, *b = *b, *a
		}
	}
	c.arm(c.now())
	return n
}

// sendTLPs sends as many TLPs as the port takes.
func (c *Comp) sendTLPs(now simcore.Ps) {
	for c.dma.out.Len() > 0 && c.pcie.CanSend() {
		p := c.dma.out.Pop()
		c.crossTLP(now, p, false)
		if c.pcie.SendAt(p, now) != nil {
			c.fail(errRefused)
			return
		}
	}
}
