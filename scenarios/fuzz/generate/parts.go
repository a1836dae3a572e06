package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// rss sets hash key and indirection table. Without a key, nothing is hashed.
func (g *generator) rss() {
	for i := range nicspec.RegRssKeyCount {
		if g.maybe(97) {
			g.add(program.Op{Write: &program.Write{Reg: "RSS_KEY", Index: i, Value: g.rng.Uint32()}})
		}
	}
	for range 4 {
		g.add(program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TableIndirection,
			Index: g.intN(16), Words: []uint32{uint32(g.queue(g.Sizes.NumRxq))}}})
	}
}

// account sets or changes a credit account.
func (g *generator) account() program.Op {
	i := pick(g, g.accounts[:]...)
	if g.maybe(35) {
		balance := uint32(pick(g, 0, 1, 3, 50, nicspec.CreditMax, g.intN(nicspec.CreditMax)))
		return program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TableAccount, Index: i,
			Words: []uint32{balance, uint32(g.intN(2)), 0, 0}}}
	}
	v := uint32(pick(g, 0, 1, 2, 10, nicspec.CreditMax, g.intN(nicspec.CreditMax)))
	if g.maybe(20) {
		v |= 1 << 30 // bit take: subtract the credits
	}
	if g.maybe(40) {
		v |= 1 << 31 // bit resume: end the slow path
	}
	return program.Op{Write: &program.Write{Reg: "ACCOUNT_CREDIT", Index: i, Value: v}}
}

// pause configures a port's pause frames.
func (g *generator) pause() program.Op {
	xon := uint32(g.intN(4000))
	xoff := xon + 1 + uint32(g.intN(3000))
	mode := uint32(g.intN(3))
	words := []uint32{
		uint32(g.intN(2)) | uint32(g.intN(256))<<8 | mode<<16 | uint32(g.intN(256))<<24,
		uint32(pick(g, nicspec.PauseTimeMin+g.intN(100), nicspec.PauseTimeMin+g.intN(100),
			nicspec.PauseTimeMin+g.intN(1<<16-nicspec.PauseTimeMin))), xoff, xon,
	}
	for g.maybe(50) {
		g.add(program.Op{Write: &program.Write{Reg: "PORT_MAC", Index: g.intN(4), Value: g.rng.Uint32()}})
	}
	return program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TablePortCfg,
		Index: g.intN(g.Sizes.Ports), Words: words}}
}

// pauseFrame draws a pause frame to be received, which stops the port or some of its classes.
func (g *generator) pauseFrame() program.Frame {
	f := g.idFrame()
	f.DMAC, f.Ether, f.Len = [6]byte{1, 0x80, 0xc2, 0, 0, 1}, nicspec.MacControlType, 60+g.intN(10)
	quanta := func() uint16 { return uint16(pick(g, 0, 1, 5, g.intN(60))) }
	if g.maybe(8) { // a pause of any length: the frame that follows soon usually ends it
		quanta = func() uint16 { return uint16(pick(g, 0, g.intN(1<<16))) }
	}
	f.Words = []uint16{nicspec.PauseOpcode, quanta()}
	if g.maybe(50) {
		f.Words = []uint16{nicspec.PfcOpcode, uint16(g.intN(256))}
		for range 8 {
			f.Words = append(f.Words, quanta())
		}
	}
	if g.maybe(10) {
		f.Words[0] = uint16(g.intN(4))
	}
	return f
}

// pauseWhileSending draws pause frames that arrive while the NIC sends.
func (g *generator) pauseWhileSending() program.Op {
	if g.maybe(60) {
		g.add(g.pause())
	}
	for range 1 + g.intN(3) {
		g.add(program.Op{Send: g.send(pick(g, g.tx...))})
	}
	p := &program.Play{Port: g.intN(g.Sizes.Ports)}
	for range 2 + g.intN(6) {
		f := g.pauseFrame()
		if g.maybe(20) {
			f = g.frame(false)
		}
		p.Frames = append(p.Frames, f)
	}
	p.Frames = append(p.Frames, g.endPauses()...)
	g.prog.Ops[len(g.prog.Ops)-1].Wait = 100 + g.intN(700) // long enough for the first frame to leave
	return program.Op{Play: p}
}

// sendOnAllQueues makes every transmit queue send at once while pause frames arrive.
func (g *generator) sendOnAllQueues() program.Op {
	for _, q := range g.tx {
		s := &program.Send{Queue: q}
		for range 1 + g.intN(3) {
			s.Entries = append(s.Entries, g.entry())
		}
		g.add(program.Op{Send: s})
	}
	if g.Sizes.Has(nicspec.PartPause) {
		return g.pauseWhileSending()
	}
	return program.Op{Play: g.play()}
}

// fillToXoff fills a port's receive buffer up to its XOFF mark several times, each time with other pause settings and
// another MAC address.
func (g *generator) fillToXoff() program.Op {
	q, port := pick(g, g.rx...), g.intN(g.Sizes.Ports)
	g.write("RX_DEFAULT", 1<<16|uint32(q))
	for range 2 + g.intN(3) {
		xon := uint32(g.intN(1000))
		words := []uint32{uint32(g.intN(256))<<8 | uint32(1+g.intN(2))<<16 | uint32(g.intN(256))<<24,
			uint32(nicspec.PauseTimeMin + g.intN(1<<16-nicspec.PauseTimeMin)), xon + 1 + uint32(g.intN(2000)), xon}
		for i := range 2 {
			g.add(program.Op{Write: &program.Write{Reg: "PORT_MAC", Index: 2*port + i, Value: g.rng.Uint32()}})
		}
		g.add(program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TablePortCfg,
			Index: port, Words: words}})
		g.add(program.Op{Post: g.post(q, 8)})
		p := &program.Play{Port: port}
		for range 3 + g.intN(4) {
			f := g.idFrame()
			f.DMAC, f.Len = dmac(len(g.rx)), 600+g.intN(1800)
			p.Frames = append(p.Frames, f)
		}
		g.add(program.Op{Play: p, Wait: 200 + g.intN(300)})
	}
	return g.pause()
}

// endPauses returns pause frames that end every pause, or now and then none.
func (g *generator) endPauses() []program.Frame {
	f := g.pauseFrame()
	f.Words = []uint16{nicspec.PauseOpcode, 0}
	all := g.pauseFrame()
	all.Words = append([]uint16{nicspec.PfcOpcode, 0xff}, make([]uint16, 8)...)
	if g.maybe(20) {
		return nil
	}
	return []program.Frame{f, all}
}

// flood draws more long frames than the receive buffer holds; they arrive while the queue waits for a descriptor.
func (g *generator) flood() program.Op {
	q := pick(g, g.rx...)
	c := g.rxQueue(q)
	c.PayBytes = nicspec.FrameMax
	g.add(program.Op{RxQueue: c})
	g.write("RX_DEFAULT", 1<<16|uint32(q))
	g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultSilent.String(), Of: program.OfRxRing, Queue: q,
		Count: 1}})
	g.add(program.Op{Post: g.post(q, 4)})
	p := &program.Play{Port: g.intN(g.Sizes.Ports)}
	for range 9 + g.intN(5) {
		f := g.idFrame()
		f.DMAC, f.Len = dmac(len(g.rx)), pick(g, nicspec.FrameMax, 9000+g.intN(216))
		p.Frames = append(p.Frames, f)
	}
	return program.Op{Play: p}
}

// partOp draws an operation that uses an optional part, if the build has any.
func (g *generator) partOp() (program.Op, bool) {
	switch n := g.intN(12); {
	case n < 7 && g.Sizes.Has(nicspec.PartAccounts):
		return g.account(), true
	case n < 10 && g.Sizes.Has(nicspec.PartPause):
		return g.pause(), true
	case n == 10 && g.Sizes.Has(nicspec.PartFlr) && g.maybe(30):
		return g.reset(), true
	}
	return program.Op{}, false
}

// reset returns a function-level reset, after which everything is configured again.
func (g *generator) reset() program.Op {
	g.add(program.Op{Reset: &program.Reset{}})
	g.settings()
	g.queues()
	return program.Op{Write: &program.Write{Reg: "CTRL", Value: 3}}
}
