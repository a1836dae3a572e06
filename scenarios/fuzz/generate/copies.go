package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// copyLong posts copies of 64 KB to 1 MB, give or take a line, whatever the MPS. A program has few of them, since each
// takes as long as the rest of the program.
func (g *generator) copyLong() {
	const least, most = 64 << 10, 1 << 20
	var d nicspec.DevctlReg
	d.SetMps(uint32(g.intN(3)))
	d.SetMrrs(uint32(1 + g.intN(5)))
	d.SetRcb(g.maybe(50))
	g.write("DEVCTL", uint32(d))
	g.write("CTRL", 3)
	for bytes := 0; bytes < most; {
		n := pick(g, least, least*(1+g.intN(4)), least<<g.intN(5))
		n += pick(g, 0, -1, 1) * pick(g, nicspec.LineBytes, nicspec.LineBytes, 1+g.intN(nicspec.LineBytes))
		e := program.Entry{Opcode: pick(g, nicspec.OpcodeCopy, nicspec.OpcodeCopy, nicspec.OpcodeCopyInvalidate),
			Frame: g.idFrame(), Complete: true}
		from, to := program.Piece{Key: pick(g, g.keyArm, g.keyHigh)},
			program.Piece{Key: pick(g, g.keyHost, g.keyArm, g.keyHigh)}
		switch {
		case e.Opcode == nicspec.OpcodeCopyInvalidate:
			n &^= nicspec.LineBytes - 1
			to.Skew = pick(g, 0, g.intN(64))
		case g.maybe(70): // source and destination have the same offset within their lines
			from.Skew = pick(g, 0, 4*g.intN(16), g.intN(64))
			to.Skew = from.Skew
		default:
			from.Skew, to.Skew = g.intN(64), g.intN(64)
		}
		from.Len, to.Len = uint32(n), uint32(n)
		e.Pieces = []program.Piece{from, to}
		g.add(program.Op{Send: &program.Send{Queue: pick(g, g.tx...), Entries: []program.Entry{e}}, Wait: g.wait()})
		bytes += max(n, most/4)
	}
}

// holdCopies posts copies whose writes may be held back for lack of ready, then failing copies on the same channel,
// then frames on the same queue that need no read. These frames may not leave before the copies have ended [D6] [D8].
func (g *generator) holdCopies() {
	q, other := g.txQueue(pick(g, g.tx...)), g.txQueue(0)
	other.Queue = (q.Queue + nicspec.CopyChannels*g.intN(g.Sizes.NumTxq/nicspec.CopyChannels)) % g.Sizes.NumTxq
	q.LogSize, other.LogSize = 5+g.intN(2), 5
	g.write("CTRL", 3)
	if other.Queue != q.Queue {
		g.add(program.Op{TxQueue: other})
	}
	g.add(program.Op{TxQueue: q})
	for range 7 + g.intN(5) {
		region := g.intN(program.Regions)
		s, fails := &program.Send{Queue: q.Queue},
			&program.Send{Queue: other.Queue, Entries: []program.Entry{g.failingCopy(region)}}
		for range 1 + g.intN(2) {
			s.Entries = append(s.Entries, g.shortCopy(region))
		}
		if g.maybe(30) || other.Queue == q.Queue {
			s.Entries = append(s.Entries, fails.Entries...)
		}
		for range 1 + g.intN(2) {
			e := program.Entry{Opcode: nicspec.OpcodeSend, Frame: g.idFrame(),
				Inline: 14 + g.intN(nicspec.InlineMax-13),
				Pad:    true, Complete: true, Port: uint8(g.intN(g.Sizes.Ports))}
			s.Entries = append(s.Entries, e)
		}
		g.add(program.Op{Send: s, Wait: pick(g, 0, g.intN(500))})
		if other.Queue != q.Queue {
			// a pushed entry needs no read of the ring, which might be held back, too
			fails.Entries[0].Push = g.Sizes.Has(nicspec.PartPush) && g.maybe(60)
			g.add(program.Op{Send: fails})
		}
		g.prog.Ops[len(g.prog.Ops)-1].Wait += 200 + g.intN(600)
	}
}

// shortCopy returns a copy of few writes from a part of memory.
func (g *generator) shortCopy(region int) program.Entry {
	e := g.goodCopyOf(pick(g, nicspec.OpcodeCopy, nicspec.OpcodeCopy, nicspec.OpcodeCopyInvalidate))
	n := uint32(nicspec.LineBytes * (1 + g.intN(4)))
	if e.Opcode == nicspec.OpcodeCopy {
		n = uint32(1 + pick(g, g.intN(64), g.intN(600)))
		e.Pieces[0].Key = g.goodKeys()[region]
	}
	for i := range e.Pieces {
		e.Pieces[i].Len = n
	}
	e.Complete = true
	return e
}

// failingCopy returns a copy that fails its checks, or whose source lies in a part of memory other than region and
// cannot be read.
func (g *generator) failingCopy(region int) program.Entry {
	e := g.goodCopyOf(nicspec.OpcodeCopy)
	e.Complete, e.Pieces[0].Len, e.Pieces[1].Len = g.maybe(80), 64, 64
	switch {
	case g.maybe(60):
		e.Pieces[g.intN(2)].Key = pick(g, g.keyInvalid, g.keyUnset)
	case g.sharedBuffers || g.reusedMemory: // no read may fail in these programs
		e.Pieces[1].Len++
	default:
		other := (region + 1 + g.intN(program.Regions-1)) % program.Regions
		e.Pieces[0].Key = g.goodKeys()[other]
		g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultKind(g.intN(inject.NumFaults)).String(),
			Of: program.OfMemory, Place: placeOf(other), Count: 1}})
	}
	return e
}
