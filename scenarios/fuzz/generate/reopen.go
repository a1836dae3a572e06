package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// Destination addresses, named by no other rule, for the frames of the two queues that reopen uses.
const (
	slowDest = 250 + iota
	reopenedDest
)

// reopen enables a queue again, with other settings, while frames for it wait behind frames of another queue. Each
// frame must be handled entirely by the old or by the new state of its queue [R12].
func (g *generator) reopen() {
	slow := pick(g, g.rx...)
	again := (slow + 1 + g.intN(g.Sizes.NumRxq-1)) % g.Sizes.NumRxq
	g.write("CTRL", 3)
	for i, q := range []int{slow, again} {
		g.add(program.Op{Rule: &program.Rule{Index: i, Action: nicspec.ActionQueue, Queue: uint16(q),
			Match: []program.Match{matchDest(slowDest + i)}}})
	}
	g.reopened(again)
	if g.maybe(50) { // smaller TLPs: writing a frame takes longer, so that more frames wait
		g.write("DEVCTL", 0)
	}
	port := g.intN(g.Sizes.Ports)
	for range 2 + g.intN(3) {
		c := g.rxQueue(slow)
		c.PayBytes = nicspec.FrameMax
		g.add(program.Op{RxQueue: c})
		late := g.maybe(50)
		if late {
			g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultNone.String(), Of: program.OfRxRing, Queue: slow,
				Count: 1, Delay: 500 + g.intN(2500)}})
		}
		g.add(program.Op{Post: g.post(slow, 4+g.intN(12))})
		p := &program.Play{Port: port}
		for i := range 8 + g.intN(10) {
			f := g.idFrame()
			f.DMAC, f.Len = dmac(reopenedDest), 60+g.intN(600)
			if i == 0 || g.maybe(60) {
				f.DMAC, f.Len = dmac(slowDest), pick(g, 60+g.intN(200), 3000+g.intN(nicspec.FrameMax-3000))
			}
			p.Frames = append(p.Frames, f)
		}
		g.add(program.Op{Play: p, Wait: g.intN(300)})
		for range 1 + g.intN(3) {
			g.reopened(again)
		}
	}
	g.add(program.Op{Mend: &program.Mend{}})
}

// reopened enables a queue again and gives it descriptors.
func (g *generator) reopened(q int) {
	c := g.rxQueue(q)
	if g.maybe(80) { // buffers hold the longest frame: a drop can only come from the queue's state
		c.PayBytes = nicspec.FrameMax
	}
	g.add(program.Op{RxQueue: c})
	if g.maybe(90) {
		p := g.post(q, 1+g.intN(8))
		p.Hold = false
		g.add(program.Op{Post: p, Wait: pick(g, 0, g.intN(300))})
	}
}
