package generate

import (
	"encoding/hex"
	"math"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// closeGate holds back the NIC's TLPs for a while. Meanwhile frames arrive and fill the receive buffer, other frames
// are sent, copies write and registers are read, so that everything that needs the TLP stream queues up.
func (g *generator) closeGate() {
	g.unblock()
	g.scarce()
	port := g.intN(g.Sizes.Ports)
	cycles := 1500 + g.intN(3000)
	came, going, reads := g.maybe(70), g.maybe(60), g.maybe(40)
	var frames []program.Frame
	if came {
		frames = g.overflowFrames()
		g.catchAll(len(frames))
	}
	g.add(program.Op{Quiet: &program.Quiet{}})
	if going {
		g.sendBehind(port)
	}
	if g.Sizes.Has(nicspec.PartCopy) && g.maybe(40) {
		g.manyCopies()
	}
	g.add(program.Op{Gate: &program.Gate{Cycles: cycles}, Wait: g.intN(100)})
	if came {
		g.add(program.Op{Play: &program.Play{Port: port, Frames: frames}})
	}
	if reads {
		left := answers - g.intN(16)
		if g.maybe(30) { // more reads than the link has credits for
			left = answers + g.prog.Board.Credits + g.intN(24)
		}
		for by := uint16(rawRequester); left > 0; by++ {
			n := min(left, readTags-8)
			g.add(g.registerReads(by, n))
			left -= n
		}
	}
	if going && g.Sizes.Has(nicspec.PartPause) {
		g.add(program.Op{Play: g.release(port)})
	}
	g.prog.Ops[len(g.prog.Ops)-1].Wait = cycles + g.intN(1000)
}

// scarce limits the links of a plain card to few TLPs in flight, so that they fill up soon.
func (g *generator) scarce() {
	if b := &g.prog.Board; b.Credits == 0 {
		b.Credits = pick(g, 8, 16, 32, 64)
	}
}

// overflowFrames returns frames that take up exactly the lines of the receive buffer within which [R3] allows no drop,
// and then some more frames.
func (g *generator) overflowFrames() (all []program.Frame) {
	most := pick(g, 1, 4, 30, longestBeats)
	add := func(lines int) {
		f := g.idFrame()
		f.DMAC, f.Len = dmac(len(g.rx)), max(nicspec.FrameMin, lines*rxLineBytes-g.intN(rxLineBytes))
		all = append(all, f)
	}
	for _, lines := range g.split(rxSureLines, most) {
		add(lines)
	}
	for more := g.intN(rxLines - rxSureLines + 20); more > 0; {
		lines := 1 + g.intN(min(most, more))
		add(lines)
		more -= lines
	}
	return all
}

// catchAll opens a receive queue with a full ring of at least n descriptors, for all frames that no rule matches.
func (g *generator) catchAll(n int) {
	q := pick(g, g.rx...)
	c := g.rxQueue(q)
	for c.LogSize = nicspec.LogSizeMin; 1<<c.LogSize < n && c.LogSize < 10; c.LogSize++ {
	}
	c.PayBytes, c.Ring, c.Done = nicspec.FrameMax, g.place(false), g.place(false)
	g.add(program.Op{RxQueue: c})
	g.add(program.Op{Post: &program.Post{Queue: q, Count: 1 << c.LogSize, Hdr: g.place(true), Pay: g.place(true)}})
	g.write("RX_DEFAULT", 1<<16|uint32(q))
}

// sendBehind queues frames with completion entries behind a stopped port, so that they are ready to leave when it is
// released.
func (g *generator) sendBehind(port int) {
	if g.Sizes.Has(nicspec.PartPause) {
		g.add(program.Op{Play: &program.Play{Port: port, Frames: []program.Frame{g.pauseFor(math.MaxUint16)}},
			Wait: 150})
	}
	for _, q := range g.pickTxQueues(1 + g.intN(3)) {
		n := 10 + g.intN(50)
		g.openTxQueue(q, n)
		s := &program.Send{Queue: q}
		for range n {
			e := g.sendOf(port, 14+g.intN(100))
			e.Complete = true
			s.Entries = append(s.Entries, e)
		}
		g.add(program.Op{Send: s, Wait: g.intN(50)})
	}
	g.prog.Ops[len(g.prog.Ops)-1].Wait = 300 + g.intN(500)
}

// manyCopies posts more copies than a channel holds, on each of some channels.
func (g *generator) manyCopies() {
	for _, q := range g.pickTxQueues(1 + g.intN(nicspec.CopyChannels)) {
		n := copyJobs + g.intN(copyJobs)
		g.openTxQueue(q, n)
		s := &program.Send{Queue: q}
		for range n {
			s.Entries = append(s.Entries, g.goodCopy())
		}
		g.add(program.Op{Send: s, Wait: g.intN(200)})
	}
}

// registerReads returns n reads of a register, back to back.
func (g *generator) registerReads(by uint16, n int) program.Op {
	h := tlp.Header{Kind: tlp.MRd, Addr64: true, RequesterID: by, FirstBE: 0xf, Length: 1,
		Address: nicspec.BarBase + uint64(pick(g, nicspec.RegScratch, nicspec.RegCounter(3), nicspec.RegDevctl))}
	var hdr [tlp.HeaderBytes]byte
	t := &program.TLP{Count: n}
	g.encode(&h, &hdr, t)
	t.Header = hex.EncodeToString(hdr[:])
	return program.Op{TLP: t}
}
