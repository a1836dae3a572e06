package generate

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// situation is a sequence that random operations rarely produce, so it is inserted on purpose.
type situation struct {
	parts nicspec.Cap1Reg // optional parts that the build must have
	// how many programs of 1,000 use it: perMille, but among those whose streams stall in long bursts the greater of
	// perMille and burst
	perMille, burst int
	last            bool // must be the program's last operation, because it leaves the NIC without queues
	add             func(g *generator)
}

// situations are drawn independently, so a program may have several.
var situations = []situation{
	{parts: nicspec.PartCopy, burst: 700, add: (*generator).holdCopies},
	{parts: nicspec.PartCopy, perMille: 35, add: (*generator).copyLong},
	{perMille: 35, add: (*generator).failDeep},
	{perMille: 50, burst: 600, add: (*generator).reopen},
	{parts: nicspec.PartFlr, burst: 850, last: true, add: (*generator).hangOverReset},
}

// burstPerMille is the share of programs whose streams stall in long bursts.
const burstPerMille = 40

// insertSituations inserts some situations into the program, each at a random place after the prelude. They use a
// random generator of their own, so the other operations are the same as without them.
func (g *generator) insertSituations(rng *rand.Rand, prelude int) {
	g.rng = rng
	all, burst := g.prog.Ops, g.intN(1000) < burstPerMille && g.burst()
	for i := range situations {
		s := &situations[i]
		share := s.perMille
		if burst {
			share = max(share, s.burst)
		}
		if g.intN(1000) >= share || !g.Sizes.Has(s.parts) {
			continue
		}
		g.prog.Ops = nil
		s.add(g)
		at := len(all)
		if !s.last {
			at = prelude + g.intN(len(all)-prelude+1)
		}
		all = slices.Insert(all, at, g.prog.Ops...)
	}
	g.prog.Ops = all
}

// burst makes gaps and back-pressure come in long bursts. It reports false if the campaign has no stalls.
func (g *generator) burst() bool {
	b := &g.prog.Board
	switch {
	case g.Stall < 0:
		b.Stall = 30 + g.intN(31)
	case g.Stall == 0:
		return false
	}
	b.Burst = pick(g, 7, 8, 9, 9, 9)
	return true
}

// hangOverReset plays frames that begin before a function-level reset and end after it, with no beat during the reset
// [L2]. Usually no frame arrives while receive is being enabled, so that the reason for each drop is certain.
func (g *generator) hangOverReset() {
	burst := 1 << g.prog.Board.Burst
	for range 3 + g.intN(2) {
		if g.maybe(90) {
			g.add(program.Op{Quiet: &program.Quiet{}})
		}
		g.write("RX_DEFAULT", 1<<16|uint32(g.rx[0])) // a queue that is off after the first reset: it has no work
		g.add(program.Op{Write: &program.Write{Reg: "CTRL", Value: 3}, Wait: 2 * nicspec.VisibleCycles})
		p := &program.Play{Port: g.intN(g.Sizes.Ports)}
		for range 20 + g.intN(15) { // so many that a frame is arriving whenever the reset comes
			f := g.idFrame()
			f.DMAC, f.Len = dmac(g.intN(len(g.rx)+1)),
				pick(g, 300+g.intN(1500), 300+g.intN(3000), 300+g.intN(nicspec.FrameMax-300))
			p.Frames = append(p.Frames, f)
		}
		g.add(program.Op{Play: p, Wait: 200 + g.intN(1000)})
		g.add(program.Op{Reset: &program.Reset{}, Wait: pick(g, g.intN(burst), burst+g.intN(2*burst))})
	}
	g.add(program.Op{Quiet: &program.Quiet{}})
	if g.maybe(30) {
		g.settings()
		g.queues()
	}
}

// failDeep makes a read of a transmit ring fail while more of the ring is being fetched: nothing requested after it
// may start, even in the cycle of the failure [T2].
func (g *generator) failDeep() {
	q := g.txQueue(pick(g, g.tx...))
	q.LogSize = 6 + g.intN(3)
	g.write("CTRL", 3)
	g.add(program.Op{TxQueue: q})
	size := 1 << q.LogSize
	f := g.fault()
	f.Of, f.Queue, f.At, f.Skip, f.Nth, f.Count = program.OfTxRing, q.Queue, g.intN(size), 0, 0, 1
	g.add(program.Op{Fault: f})
	for posted := 0; posted < size-nicspec.WqeBlocksMax; {
		s := &program.Send{Queue: q.Queue}
		for range min(1+g.intN(40), size-nicspec.WqeBlocksMax-posted) {
			e := program.Entry{Opcode: nicspec.OpcodeNop, Frame: g.idFrame(), Complete: g.maybe(10)}
			if g.maybe(10) {
				e.Opcode, e.Inline, e.Pad = nicspec.OpcodeSend, 14+g.intN(nicspec.InlineMax-13), true
			}
			s.Entries = append(s.Entries, e)
			posted++
		}
		g.add(program.Op{Send: s, Wait: pick(g, 0, g.intN(20), g.intN(200))})
	}
	g.add(program.Op{Mend: &program.Mend{}, Wait: g.intN(300)})
	if g.maybe(70) {
		g.add(program.Op{TxQueue: g.txQueue(q.Queue)})
	}
}
