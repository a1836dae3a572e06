package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// blocks draws the number of blocks that an entry has after its first.
func (g *generator) blocks() uint8 {
	if !g.Sizes.Has(nicspec.PartLong) {
		if g.maybe(2) {
			return uint8(g.intN(nicspec.WqeBlocksMax)) // without part long these bits are reserved [N1]
		}
		return 0
	}
	return uint8(pick(g, 0, 0, 0, 1, 2, 3))
}

// cutLong spreads n bytes over the inline bytes and pieces of an entry of several blocks.
func (g *generator) cutLong(e *program.Entry, n int) {
	slots := e.Slots()
	most := min(slots*nicspec.WqeSlotBytes, nicspec.InlineMaxLong)
	switch {
	case n <= most && g.maybe(40):
		e.Inline = n
		return
	case g.maybe(70):
		e.Inline = min(pick(g, 14+g.intN(60), 49+g.intN(64), 113+g.intN(64)), n-1, most-nicspec.WqeSlotBytes)
	}
	rest := n - e.Inline
	pieces := min(slots-program.InlineSlots(e.Inline), nicspec.SegMax)
	for i := range 1 + g.intN(pieces) {
		if rest == 0 {
			return
		}
		p := g.piece(rest)
		if i < pieces-1 {
			p.Len = uint32(1 + pick(g, g.intN(rest), g.intN(min(rest, 4)), g.intN(min(rest, 64)),
				g.intN(min(rest, 300))))
		}
		e.Pieces = append(e.Pieces, p)
		rest -= int(p.Len)
	}
	if rest > 0 {
		e.Pieces[len(e.Pieces)-1].Len += uint32(rest)
	}
}

// append makes an entry ask the NIC to append pad and ICRC to a RoCE frame. Most frames' length fields count them.
func (g *generator) append(e *program.Entry) {
	f := &e.Frame
	if !f.Roce || len(f.Raw) > 0 || g.maybe(40) {
		e.Append = g.maybe(1)
		return
	}
	e.Append = true
	pad := g.intN(4)
	f.Flags = f.Flags&^0x30 | uint8(pad)<<4
	if f.Trailer > 0 && g.maybe(90) {
		f.Trailer = 0
	}
	if f.Payload < pad {
		f.Payload += pad
	}
	n := len(f.Build()) - 4 - pad
	if g.maybe(4) {
		n += g.intN(9) - 4
	}
	f.Len = max(n, 1)
}

// rewrite draws a software write to a buffer that entries share.
func (g *generator) rewrite() *program.Rewrite {
	off := g.intN(600)
	return &program.Rewrite{Same: 1 + g.intN(2), Place: placeOf(g.intN(program.Regions)), Off: off,
		Len:  1 + g.intN(2000),
		Seed: uint64(g.rng.Uint32())}
}

// lateWrites disables a queue while a read of its ring is unanswered; software writes TBL_DATA in the meantime.
func (g *generator) lateWrites() program.Op {
	q := pick(g, g.rx...)
	g.add(program.Op{RxQueue: g.rxQueue(q)})
	g.add(program.Op{Mend: &program.Mend{}})
	g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultNone.String(), Of: program.OfRxRing, Queue: q, Count: 1,
		Delay: 3000 + g.intN(1000)}})
	g.add(program.Op{Post: g.post(q, 1+g.intN(16)), Wait: 170 + g.intN(100)})
	return program.Op{Disable: &program.Disable{Queue: program.Queue{Queue: q}, Late: 1 + g.intN(4)}}
}

// farFault makes the read of a descriptor fail whose index is far from the first one.
func (g *generator) farFault() program.Op {
	q := pick(g, g.rx...)
	c := g.rxQueue(q)
	c.LogSize, c.PayBytes = 7+g.intN(2), nicspec.FrameMax
	g.add(program.Op{RxQueue: c})
	g.write("RX_DEFAULT", 1<<16|uint32(q))
	kind := pick(g, inject.FaultUR, inject.FaultPoison, inject.FaultShort)
	g.add(program.Op{Fault: &program.Fault{Kind: kind.String(), Of: program.OfRxRing, Queue: q, At: 64 + g.intN(40),
		Count: 1}})
	g.add(program.Op{Post: g.post(q, 120)})
	p := &program.Play{Port: g.intN(g.Sizes.Ports)}
	for range 100 + g.intN(20) {
		f := g.idFrame()
		f.DMAC, f.Len = dmac(len(g.rx)), 60+g.intN(40)
		p.Frames = append(p.Frames, f)
	}
	return program.Op{Play: p}
}
