package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// slowReads delays read completions while more reads are pending than there are tags, fetch slots and copy slots. Some
// reads time out, after which their tags may not be reused for a while [P6].
func (g *generator) slowReads() {
	const timeout = 4000
	g.unblock()
	g.add(program.Op{Quiet: &program.Quiet{}})
	g.write("CPL_TIMEOUT", timeout)
	if g.maybe(60) {
		g.write("DEVCTL", uint32(g.intN(3))) // reads of 128 B
	}
	delay := func() int { return 500 + g.intN(timeout/2) }
	kind := inject.FaultNone
	if !g.reusedMemory && !g.sharedBuffers && g.maybe(30) {
		kind = pick(g, inject.FaultPoison, inject.FaultUR, inject.FaultShort, inject.FaultSilent)
	}
	first := g.intN(program.Regions)
	for i := range 1 + g.intN(program.Regions) {
		g.add(program.Op{Fault: &program.Fault{Kind: kind.String(), Of: program.OfMemory,
			Place: placeOf((first + i) % program.Regions), Delay: delay()}})
	}
	queues := g.pickTxQueues(3 + g.intN(4))
	for _, q := range queues[1:] {
		g.openTxQueue(q, 32)
		s := &program.Send{Queue: q}
		for range 4 + g.intN(12) {
			s.Entries = append(s.Entries,
				g.sendOf(g.intN(g.Sizes.Ports), pick(g, 60+g.intN(600), 2000+g.intN(4000),
					nicspec.FrameMax-g.intN(300))))
		}
		g.add(program.Op{Send: s, Wait: g.intN(30)})
	}
	if g.Sizes.Has(nicspec.PartCopy) && g.maybe(50) {
		g.manyCopies()
	}
	if g.maybe(60) {
		g.slowRing(queues[0], delay())
	}
	g.prog.Ops[len(g.prog.Ops)-1].Wait = g.intN(timeout)
	g.add(program.Op{Mend: &program.Mend{}, Wait: g.intN(timeout / 2)})
	g.write("CPL_TIMEOUT", uint32(pick(g, 0, 1024, 1500, 2000)))
	g.write("DEVCTL", g.devctl())
}

// slowRing posts more blocks of work entries than all fetch slots hold, to a ring whose reads are answered late.
func (g *generator) slowRing(q, delay int) {
	n := fetchSlots*entryBlocks + g.intN(2*fetchSlots)
	g.openTxQueue(q, n)
	g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultNone.String(), Of: program.OfTxRing, Queue: q,
		Delay: delay}})
	s := &program.Send{Queue: q, Times: n / 4}
	for range 4 {
		s.Entries = append(s.Entries, program.Entry{Opcode: nicspec.OpcodeNop, Complete: g.maybe(20),
			Frame: g.idFrame()})
	}
	g.add(program.Op{Send: s})
}

// everyQueue posts entries on all transmit queues at once, so that their messages fall due together while none can be
// sent [M2].
func (g *generator) everyQueue() {
	const most = 64 // maximum number of queues
	g.unblock()
	g.scarce()
	queues := g.pickTxQueues(min(most, g.Sizes.NumTxq))
	wait := uint16(8 + g.intN(8))
	for _, q := range queues {
		c := g.txQueue(q)
		c.LogSize, c.Ring, c.Done = nicspec.LogSizeMin, g.place(false), g.place(false)
		for c.Msix = nil; c.Msix == nil && g.Sizes.Has(nicspec.PartMsix); c.Msix = g.msix() {
		}
		if c.Msix != nil {
			c.Msix.Count, c.Msix.Cycles = 1000, wait
		}
		g.add(program.Op{TxQueue: c})
	}
	for _, q := range queues {
		e := g.entry()
		if g.maybe(70) {
			e = program.Entry{Opcode: nicspec.OpcodeNop, Complete: true, Frame: g.idFrame()}
		}
		e.Push = false
		g.add(program.Op{Send: &program.Send{Queue: q, Entries: []program.Entry{e}}})
	}
	g.prog.Ops[len(g.prog.Ops)-1].Wait = 250 + g.intN(200)
	g.add(program.Op{Gate: &program.Gate{Cycles: 1000 + g.intN(1500)}, Wait: 1500 + g.intN(1500)})
}
