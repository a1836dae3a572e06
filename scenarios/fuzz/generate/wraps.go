package generate

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// round is the number of entries after which a 16-bit index wraps to the same value.
const round = 1 << 16

// manyLaps takes the indices of a ring beyond 65,536, with the shortest possible entries.
func (g *generator) manyLaps() {
	g.unblock()
	if b := &g.prog.Board; g.Stall < 0 { // each program draws its stalls: none here, with so many entries
		b.Stall, b.Jitter, b.Delay, b.MPS = 0, 0, min(b.Delay, 80), 4096
	}
	if g.maybe(70) {
		g.transmitLaps()
	} else {
		g.receiveLaps()
	}
}

func (g *generator) transmitLaps() {
	q, log := pick(g, g.tx...), 8+g.intN(3)
	g.openTxQueue(q, 1<<log)
	s := &program.Send{Queue: q}
	each := g.maybe(30) // each work entry gets a completion entry, so that the completion ring's index wraps, too
	blocks := 0
	for range 4 + g.intN(6) {
		e := program.Entry{Opcode: nicspec.OpcodeNop, Complete: each || g.maybe(10), Frame: g.idFrame()}
		switch {
		case !each:
			e.Blocks = g.blocks()
		case g.maybe(5):
			e = g.sendOf(g.intN(g.Sizes.Ports), 14+g.intN(nicspec.InlineMax-13))
		}
		s.Entries = append(s.Entries, e)
		blocks++
		if g.Sizes.Has(nicspec.PartLong) {
			blocks += int(e.Blocks)
		}
	}
	s.Times = (round+g.intN(2<<log))/blocks + 1
	g.add(program.Op{Send: s})
}

func (g *generator) receiveLaps() {
	q := pick(g, g.rx...)
	c := g.rxQueue(q)
	c.LogSize, c.Ring, c.Done = 8+g.intN(3), g.place(false), g.place(false)
	c.PayBytes, c.HdrBytes = 128, min(c.HdrBytes, 128)
	if c.Msix != nil {
		c.Msix.Count, c.Msix.Cycles = uint16(40+g.intN(200)), 0
	}
	g.add(program.Op{RxQueue: c})
	g.write("RX_DEFAULT", 1<<16|uint32(q))
	f := &program.Feed{Queue: q, Port: g.intN(g.Sizes.Ports), Hdr: g.place(true), Pay: g.place(true)}
	for range 4 + g.intN(6) {
		x := g.idFrame()
		x.DMAC, x.Len = dmac(len(g.rx)), nicspec.FrameMin+g.intN(5)
		f.Frames = append(f.Frames, x)
	}
	f.Times = (round+g.intN(2<<c.LogSize))/len(f.Frames) + 1
	g.add(program.Op{Feed: f, Wait: 500})
}
