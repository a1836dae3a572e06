package transport

import (
	"math/bits"

	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
)

// reorder holds request packets that arrived before earlier ones (selective repeat). It allocates its memory when the
// first one arrives.
type reorder struct {
	window int
	slots  []int32 // by PSN: index in `kept`, plus 1
	kept   []early
	free   []int32
	here   seq.Bitmap
	count  int
}

// early is a kept packet: those fields that are needed to serve it later.
type early struct {
	handle  Handle
	bth     wire.BTHFields
	reth    wire.RETHFields
	imm     uint32
	swapAdd uint64
	compare uint64
	payload int
	landed  bool
	recvID  uint64
}

func (r *reorder) at(p uint32) int { return int(p) & (r.window - 1) }

// put keeps a packet. It returns false if one with the same PSN is already kept.
func (r *reorder) put(p *Packet) bool {
	if r.slots == nil {
		r.slots, r.here = make([]int32, r.window), seq.NewBitmap(r.window)
	}
	k := r.at(p.BTH.PSN)
	if r.slots[k] != 0 {
		return false
	}
	var i int32
	if n := len(r.free); n > 0 {
		i, r.free = r.free[n-1], r.free[:n-1]
	} else {
		i = int32(len(r.kept))
		r.kept = append(r.kept, early{})
	}
	r.kept[i] = early{handle: p.Handle, bth: p.BTH, reth: p.RETH, imm: p.Imm, swapAdd: p.SwapAdd, compare: p.Compare,
		payload: p.Payload,
		landed:  p.Landed, recvID: p.RecvID}
	r.slots[k] = i + 1
	r.here.Set(k)
	r.count++
	return true
}

// take removes the packet with the given PSN and returns whether there was one.
func (r *reorder) take(psn uint32, p *Packet) bool {
	if r.count == 0 {
		return false
	}
	k := r.at(psn)
	i := r.slots[k] - 1
	if i < 0 {
		return false
	}
	e := &r.kept[i]
	*p = Packet{Handle: e.handle, BTH: e.bth, RETH: e.reth, Imm: e.imm, SwapAdd: e.swapAdd, Compare: e.compare,
		Payload: e.payload,
		Landed:  e.landed, RecvID: e.recvID}
	r.slots[k] = 0
	r.free = append(r.free, i)
	r.here.Clear(k)
	r.count--
	return true
}

// words returns the number of acknowledgement words that cover all kept packets from PSN e on.
func (r *reorder) words(e uint32) int {
	for w := len(r.here); w > 1; w-- {
		if r.here.Word(r.at(seq.Add(e, uint32(64*(w-1))))) != 0 {
			return w
		}
	}
	return 1
}

// takeEarly handles a packet d PSNs ahead of the expected one.
func (c *rc) takeEarly(p *Packet, d int) {
	if c.early == nil {
		if !c.nakSent {
			c.nakSent, c.nak = true, wire.NAKSequence
		}
		c.env.Drop(p.Handle)
		return
	}
	c.sackDue = true
	if d >= c.early.window || !c.early.put(p) {
		c.env.Drop(p.Handle)
		return
	}
	c.stats.Kept++
	c.env.Keep(p.Handle)
}

// serveEarly serves kept packets up to the first gap.
func (c *rc) serveEarly() {
	if c.early == nil || c.early.count == 0 {
		return
	}
	for c.receives() && c.early.take(c.expected, &c.scratch) {
		c.sackDue = true
		info := c.scratch.BTH.Opcode.Info()
		if !c.serve(&c.scratch, &info) {
			return
		}
	}
}

// dropBefore drops kept packets whose PSNs lie within the n responses of the READ at the expected PSN.
func (c *rc) dropBefore(n uint32) {
	if c.early == nil || c.early.count == 0 {
		return
	}
	for i := uint32(1); i < min(n, uint32(c.early.window)); i++ {
		if c.early.take(seq.Add(c.expected, i), &c.stray) {
			c.env.Drop(c.stray.Handle)
		}
	}
}

// dropEarly drops all kept packets and releases their buffers.
func (c *rc) dropEarly() {
	if c.early == nil {
		return
	}
	for w, m := range c.early.here {
		for ; m != 0; m &= m - 1 {
			if c.early.take(uint32(64*w+bits.TrailingZeros64(m)), &c.stray) {
				c.env.Drop(c.stray.Handle)
			}
		}
	}
}
