package generate

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// filling is a list of operations that fills a buffer of the NIC completely, or wraps an index; random operations
// rarely do either.
type filling struct {
	perMille int // number of programs in a thousand that use this filling
	parts    nicspec.Cap1Reg
	add      func(g *generator)
}

// fillings is the table of fillings. Each is drawn independently, so a program may have several.
var fillings = []filling{
	{80, nicspec.PartPause, (*generator).holdPort},
	{30, 0, (*generator).closeGate},
	{25, 0, (*generator).slowReads},
	{10, 0, (*generator).everyQueue},
	{20, 0, (*generator).manyLaps},
}

// insertFillings inserts some fillings into the program, each at a random place after the prelude. They use a random
// generator of their own, so the other operations are the same as without them.
func (g *generator) insertFillings(rng *rand.Rand, prelude int) {
	g.rng = rng
	all := g.prog.Ops
	for _, f := range fillings {
		// Programs whose entries share buffers get no filling: the referee remembers only 256 reads of finished
		// entries, too few to attribute the many reads that a filling causes.
		if g.intN(1000) >= f.perMille || !g.Sizes.Has(f.parts) || g.sharedBuffers {
			continue
		}
		g.prog.Ops = nil
		f.add(g)
		all = slices.Insert(all, prelude+g.intN(len(all)-prelude+1), g.prog.Ops...)
	}
	g.prog.Ops = all
}

// unblock ends whatever may delay a filling: faults, stopped ports, revoked keys.
func (g *generator) unblock() {
	g.write("CTRL", 3)
	g.add(program.Op{Mend: &program.Mend{}})
	for i, k := range g.goodKeys() {
		g.add(program.Op{Key: &program.Key{Index: k, Variant: uint8(g.rng.Uint32()), Base: g.base(), Write: true,
			Place: placeOf(i)}})
	}
	if !g.Sizes.Has(nicspec.PartPause) {
		return
	}
	for port := range g.Sizes.Ports {
		g.stoppable(port)
		g.add(program.Op{Play: g.release(port)})
	}
}

// stoppable configures a port to honour every pause frame and to send none.
func (g *generator) stoppable(port int) {
	const rxPause, everyClass = 1, 0xff << 8
	g.add(program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TablePortCfg, Index: port,
		Words: []uint32{rxPause | everyClass, 0, 0, 0}}})
}

// release ends every stop of a port.
func (g *generator) release(port int) *program.Play {
	f, all := g.pauseFrame(), g.pauseFrame()
	f.Words = []uint16{nicspec.PauseOpcode, 0}
	all.Words = append([]uint16{nicspec.PfcOpcode, 0xff}, make([]uint16, 8)...)
	return &program.Play{Port: port, Frames: []program.Frame{f, all}}
}

// pickTxQueues draws n different transmit queues, preferably enabled ones.
func (g *generator) pickTxQueues(n int) []int {
	all := g.rng.Perm(g.Sizes.NumTxq)
	if g.maybe(50) {
		for _, q := range g.tx {
			all = append([]int{q}, slices.DeleteFunc(all, func(x int) bool { return x == q })...)
		}
	}
	return all[:min(n, len(all))]
}

// openTxQueue enables a transmit queue whose ring has at least the given number of slots.
func (g *generator) openTxQueue(q, places int) {
	c := g.txQueue(q)
	for c.LogSize = nicspec.LogSizeMin; 1<<c.LogSize < places; c.LogSize++ {
	}
	c.Ring, c.Done = g.place(false), g.place(false)
	g.add(program.Op{TxQueue: c})
}

// sendOf returns an entry that sends a frame of n bytes on a port.
func (g *generator) sendOf(port, n int) program.Entry {
	e := program.Entry{Opcode: nicspec.OpcodeSend, Port: uint8(port), Complete: g.maybe(30), Frame: g.idFrame()}
	e.Frame.Len, e.Pad = n, n < nicspec.FrameMin || g.maybe(10)
	g.cut(&e, n)
	return e
}

// split divides n into parts, each from 1 to most.
func (g *generator) split(n, most int) (parts []int) {
	for n > 0 {
		p := 1 + g.intN(min(n, most))
		parts = append(parts, p)
		n -= p
	}
	return parts
}
