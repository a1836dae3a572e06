package generate

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// round is the number of entries after which a 16-bit index wraps to the same value.
const round = 1 << 16

// manyLaps takes the indices of a ring beyond 65,536, with the shortest possible entries.
func (g *generator) manyLaps() {
	g.ready()
	if b := &g.prog.Board; g.Stall < 0 { // so many entries take long enough without stalls
		b.Stall, b.Jitter, b.Delay, b.MPS = 0, 0, min(b.Delay, 80), 4096
	}
	if g.maybe(70) {
		g.transmitLaps()
	} else {
		g.receiveLaps()
	}
}

func (g *generator) transmitLaps() {
	q, log := pick(g, g.tx...), 8+g.of(3)
	g.open(q, 1<<log)
	s := &program.Send{Queue: q}
	each := g.maybe(30) // one completion entry per entry, so that their index wraps, too
	blocks := 0
	for range 4 + g.of(6) {
		e := program.Entry{Opcode: nicspec.OpcodeNop, Complete: each || g.maybe(10), Frame: g.name()}
		switch {
		case !each:
			e.Blocks = g.blocks()
		case g.maybe(5):
			e = g.frameOf(g.of(g.Sizes.Ports), 14+g.of(nicspec.InlineMax-13))
		}
		s.Entries = append(s.Entries, e)
		blocks++
		if g.Sizes.Has(nicspec.PartLong) {
			blocks += int(e.Blocks)
		}
	}
	s.Times = (round+g.of(2<<log))/blocks + 1
	g.add(program.Op{Send: s})
}

func (g *generator) receiveLaps() {
	q := pick(g, g.rx...)
	c := g.rxQueue(q)
	c.LogSize, c.Ring, c.Done = 8+g.of(3), g.place(false), g.place(false)
	c.PayBytes, c.HdrBytes = 128, min(c.HdrBytes, 128)
	if c.Msix != nil {
		c.Msix.Count, c.Msix.Cycles = uint16(40+g.of(200)), 0
	}
	g.add(program.Op{RxQueue: c})
	g.write("RX_DEFAULT", 1<<16|uint32(q))
	f := &program.Feed{Queue: q, Port: g.of(g.Sizes.Ports), Hdr: g.place(true), Pay: g.place(true)}
	for range 4 + g.of(6) {
		x := g.name()
		x.DMAC, x.Len = dmac(len(g.rx)), nicspec.FrameMin+g.of(5)
		f.Frames = append(f.Frames, x)
	}
	f.Times = (round+g.of(2<<c.LogSize))/len(f.Frames) + 1
	g.add(program.Op{Feed: f, Wait: 500})
}
