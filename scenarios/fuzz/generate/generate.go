package generate

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// Shape holds the settings shared by all programs of a campaign.
type Shape struct {
	Sizes nicspec.Build // build of the NIC that will play the programs
	Stall int           // percentage; -1: drawn from the seed
	// Overlap makes all entries of all queues name the same few buffers, which software rewrites. Without it, one
	// program in twelve does so.
	Overlap bool
}

// Generate derives a program from a seed.
func Generate(seed uint64, shape Shape) *program.Program {
	const stream = 0x66757a7a // separates programs from other uses of the seed
	g := &generator{Shape: shape, rng: rand.New(rand.NewPCG(seed, stream))}
	g.choose(rand.New(rand.NewPCG(seed, stream+2)))
	g.prog = &program.Program{Schema: program.Schema, Seed: seed, Board: g.board()}
	place(&g.prog.Board, rand.New(rand.NewPCG(seed, stream+1)))
	g.prelude()
	prelude := len(g.prog.Ops)
	g.heavy, g.anyHeaders, g.pushy, g.reusedMemory = g.intN(4) == 0, g.intN(8) == 0, g.intN(8) == 0, g.intN(8) == 0
	if g.sharedBuffers = g.intN(12) == 0 || g.Overlap; g.sharedBuffers {
		g.reusedMemory = false
	}
	for range 25 + g.intN(45) {
		o := g.next()
		o.Wait = max(g.wait(), o.Wait)
		g.add(o)
	}
	g.insertFillings(rand.New(rand.NewPCG(seed, stream+4)), prelude)
	g.insertSituations(rand.New(rand.NewPCG(seed, stream+3)), prelude)
	return g.prog
}

type generator struct {
	Shape
	rng           *rand.Rand
	prog          *program.Program
	rx            []int // receive queues in use
	tx            []int
	heavy         bool // sends and receives long frames
	anyHeaders    bool // frames have headers at any offset, for offloads
	pushy         bool // most entries are pushed, with random bits in unused fields
	sharedBuffers bool // all entries name the same few buffers, and no read of memory fails
	reusedMemory  bool // pieces share memory, and no read of memory fails: the referee could not say whose read failed
	keys
	accounts [3]int // credit accounts that the rules draw on; few, so that they run out of credit
}

func (g *generator) intN(n int) int { return g.rng.IntN(n) }

func (g *generator) maybe(percent int) bool { return g.intN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.intN(len(from))] }

func (g *generator) add(o program.Op) { g.prog.Ops = append(g.prog.Ops, o) }

func (g *generator) board() program.Board {
	b := program.Board{Ports: g.Sizes.Ports, Stall: g.Stall, Seed: g.rng.Uint64() >> 11,
		MPS: pick(g, 128, 256, 512, 4096), RCB: pick(g, 64, 128),
		Random: g.maybe(50), Delay: pick(g, 0, 80, 80, 300)}
	if g.maybe(50) {
		b.Jitter = 1 + g.intN(400)
	}
	if b.Stall < 0 {
		b.Stall = pick(g, 0, 0, 10+g.intN(20), 40+g.intN(30))
	}
	return b
}

// place draws the bus addresses at which the host's and the Arm's memory are used: anywhere above 4 GB.
func place(b *program.Board, rng *rand.Rand) {
	for _, at := range []*uint64{&b.HostAt, &b.ArmAt} {
		*at = (rng.Uint64N(program.MemoryBytes-program.Room-program.HighAt) + program.HighAt) &^ (tlp.PageBytes - 1)
	}
}

// wait draws the number of cycles after an operation.
func (g *generator) wait() int {
	switch g.intN(4) {
	case 0:
		return 0
	case 1:
		return g.intN(30)
	}
	return g.intN(250)
}

// prelude configures the NIC so that most later operations have an effect.
func (g *generator) prelude() {
	n := 1 + g.intN(4)
	if g.maybe(12) { // more queues than usual
		n += g.intN(max(1, g.Sizes.NumTxq/4))
	}
	for range n {
		g.rx = append(g.rx, g.queue(g.Sizes.NumRxq))
		g.tx = append(g.tx, g.queue(g.Sizes.NumTxq))
	}
	g.settings()
	g.queues()
}

func (g *generator) settings() {
	g.write("CPL_TIMEOUT", uint32(pick(g, 0, 1024, 1500, 2000)))
	g.write("CTRL", 3)
	g.write("DEVCTL", g.devctl())
	for i := range 3 {
		g.add(program.Op{Key: &program.Key{Index: g.goodKeys()[i], Variant: uint8(g.rng.Uint32()), Base: g.base(),
			Write: true, Room: g.keyRoom(), Place: placeOf(i)}})
	}
	g.add(program.Op{Key: &program.Key{Index: g.keyNowhere, Variant: uint8(g.rng.Uint32()), Base: g.base(), Write: true,
		Place: g.nowhere(placeOf(g.intN(program.Regions)))}})
	g.add(program.Op{Key: &program.Key{Index: g.keyInvalid, Invalid: true}})
	g.add(program.Op{Key: &program.Key{Index: g.keyNoRead, NoRead: true, Write: true, Variant: 9}})
	g.add(program.Op{Key: &program.Key{Index: g.keyShort, Short: 1 + uint64(g.intN(80)), Base: g.base()}})
	g.add(program.Op{Key: &program.Key{Index: g.keyReadOnly, Place: program.Place{Host: true}}})
	if g.Sizes.Has(nicspec.PartRss) && g.maybe(75) {
		g.rss()
	}
	for range pick(g, 0, 3) {
		if o, ok := g.partOp(); ok && o.Table != nil {
			g.add(o)
		}
	}
}

// queues enables the queues and steers frames to them.
func (g *generator) queues() {
	for i, q := range g.rx {
		g.add(program.Op{RxQueue: g.rxQueue(q)})
		g.add(program.Op{Post: g.post(q, 1+g.intN(16))})
		g.add(program.Op{Rule: g.steer(i, q)})
	}
	for _, q := range g.tx {
		g.add(program.Op{TxQueue: g.txQueue(q)})
	}
	g.write("RX_DEFAULT", 1<<16|uint32(g.rx[0]))
}

// keys holds the memory keys of a program. The first three name pieces of host memory, of Arm memory, and of Arm
// memory above 4 GB; keyNowhere leads to addresses that no endpoint has.
type keys struct {
	keyHost, keyArm, keyHigh, keyInvalid, keyNoRead, keyShort, keyReadOnly, keyNowhere, keyUnset int
}

// choose draws the keys and accounts that the program uses, often including the last key.
func (g *generator) choose(rng *rand.Rand) {
	n := g.Sizes.NumKeys
	k := rng.Perm(n)
	if last := slices.Index(k, n-1); rng.IntN(2) == 0 {
		i := rng.IntN(4)
		k[i], k[last] = k[last], k[i]
	}
	g.keys = keys{k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8]}
	copy(g.accounts[:], rng.Perm(nicspec.NumAccounts))
}

// keyRoom draws how far a key extends beyond its region.
func (g *generator) keyRoom() uint64 {
	if g.maybe(40) {
		return 0
	}
	return g.rng.Uint64() >> (8 + g.intN(40))
}

// moveFar moves a location to bus addresses far from those that programs otherwise use, or, rarely, to addresses that
// no endpoint has.
func (g *generator) moveFar(p program.Place) program.Place {
	switch {
	case g.maybe(3):
		return g.nowhere(p)
	case g.maybe(25):
		p.Far = g.rng.Uint64() & p.FarBits() &^ program.FarNowhere
	}
	return p
}

func (g *generator) nowhere(p program.Place) program.Place {
	p.Far = g.rng.Uint64()&p.FarBits() | 1<<(57+g.intN(7))
	return p
}

func (k *keys) goodKeys() [program.Regions]int {
	return [program.Regions]int{k.keyHost, k.keyArm, k.keyHigh}
}

func placeOf(region int) program.Place {
	return program.Place{Host: region == program.RegionHost, High: region == program.RegionHigh}
}

// base draws the first virtual address of a key.
func (g *generator) base() uint64 {
	return pick(g, 0, 1, 0x1000, 1<<32-1<<19, 1<<63-1<<20, ^uint64(0)-program.PieceBytes, g.rng.Uint64()>>8,
		g.rng.Uint64())
}

func (g *generator) queue(n int) int { return pick(g, 0, 1, n-1, g.intN(n), g.intN(n)) }

func (g *generator) write(reg string, v uint32) {
	g.add(program.Op{Write: &program.Write{Reg: reg, Value: v}})
}

func (g *generator) devctl() uint32 {
	var d nicspec.DevctlReg
	d.SetMps(uint32(g.intN(3)))
	d.SetMrrs(uint32(g.intN(6)))
	d.SetRcb(g.maybe(50))
	d.SetRelaxedOrdering(g.maybe(50))
	d.SetNoSnoop(g.maybe(50))
	if g.maybe(5) {
		return uint32(d) | 0x77
	}
	return uint32(d)
}

// place draws a location in memory: at any byte address if bytes is set, else aligned.
func (g *generator) place(bytes bool) program.Place {
	p := placeOf(g.intN(program.Regions))
	switch {
	case bytes && g.maybe(15):
		p.Page = 1 + g.intN(300)
	case bytes && g.maybe(60):
		p.Skew = pick(g, 4*g.intN(16), g.intN(64))
	case !bytes && g.maybe(10):
		p.Page = 64 * (1 + g.intN(8))
	}
	return p
}

func (g *generator) rxQueue(q int) *program.RxQueue {
	r := &program.RxQueue{Queue: q, LogSize: g.logSize(), Split: nicspec.SplitMode(g.intN(3)),
		Ring: g.moveFar(g.place(false)), Done: g.moveFar(g.place(false))}
	r.PayBytes = uint16(pick(g, nicspec.FrameMax, nicspec.FrameMax, nicspec.FrameMax, 2048, 64+g.intN(1500),
		1+g.intN(0xffff)))
	if r.Split != nicspec.SplitModeNone {
		r.HdrBytes = uint16(pick(g, 64, 128, 256, 1+g.intN(300), nicspec.FrameMax, 1+g.intN(0xffff)))
		r.SplitLen = uint16(pick(g, 0, 64, g.intN(200), g.intN(nicspec.FrameMax), 1<<14+g.intN(3<<14), 14+g.intN(60)))
	}
	r.Crc, r.Ecn = nicspec.CrcMode(g.intN(3)), uint8(g.intN(2))
	if g.Sizes.Has(nicspec.PartTrim) && g.maybe(40) {
		r.Trim = 1
	}
	r.Msix = g.msix()
	return r
}

func (g *generator) txQueue(q int) *program.TxQueue {
	return &program.TxQueue{
		Queue: q, LogSize: g.logSize(), Ring: g.moveFar(g.place(false)), Done: g.moveFar(g.place(false)),
		Class: uint8(g.intN(8)), Ecn: uint8(g.intN(4)), Msix: g.msix(),
	}
}

func (g *generator) logSize() int {
	if g.maybe(5) {
		return nicspec.LogSizeMin + g.intN(nicspec.LogSizeMax-nicspec.LogSizeMin+1)
	}
	return 2 + g.intN(4)
}

func (g *generator) msix() *program.Msix {
	if !g.Sizes.Has(nicspec.PartMsix) || g.maybe(40) {
		return nil
	}
	m := &program.Msix{Data: g.rng.Uint32(), Count: uint16(g.intN(6)), Cycles: uint16(pick(g, 0, 1, 8)),
		At: g.moveFar(placeOf(g.intN(program.Regions)))}
	m.At.Skew = 4 * g.intN(16)
	if g.maybe(6) {
		m.Count, m.Cycles = uint16(g.rng.Uint32()), uint16(g.rng.Uint32())
	}
	if g.maybe(30) { // one message covers entries that complete up to a thousand cycles apart
		m.Count, m.Cycles = uint16(20+g.intN(40)), uint16(18+g.intN(20))
	}
	return m
}

func (g *generator) post(q, n int) *program.Post {
	return &program.Post{Queue: q, Count: n, Hdr: g.moveFar(g.place(true)), Pay: g.moveFar(g.place(true)),
		Hold: g.maybe(8)}
}

// next draws one operation of the program's body.
func (g *generator) next() program.Op {
	switch n := g.intN(100); {
	case n < 26:
		return program.Op{Play: g.play()}
	case n < 40:
		return program.Op{Post: g.post(pick(g, g.rx...), 1+g.intN(24))}
	case n < 62:
		return program.Op{Send: g.send(pick(g, g.tx...))}
	case n < 68:
		return g.toggleQueue()
	case n < 70 && g.Sizes.Has(nicspec.PartCopy) && !g.reusedMemory && !g.sharedBuffers:
		return g.failThenCopy()
	case g.sharedBuffers && g.maybe(30):
		return program.Op{Rewrite: g.rewrite()}
	case n < 72 && g.maybe(25):
		return g.lateWrites()
	case n < 74 && g.maybe(12):
		return g.farFault()
	case n < 75:
		return program.Op{Fault: g.fault()}
	case n < 77:
		return program.Op{Mend: &program.Mend{}}
	case n < 79:
		return program.Op{Bell: g.bell()}
	case n < 80:
		return g.withdraw()
	case n < 84:
		return g.oddTLP()
	case n < 85 && g.maybe(30):
		return g.flood()
	case n < 86 && len(g.tx) > 6 && g.maybe(50):
		return g.sendOnAllQueues()
	case n < 86 && g.Sizes.Has(nicspec.PartPause) && g.maybe(25):
		return g.fillToXoff()
	case n < 86 && g.Sizes.Has(nicspec.PartPause):
		return g.pauseWhileSending()
	case n < 90:
		if o, ok := g.partOp(); ok {
			return o
		}
	}
	return g.setting()
}

// toggleQueue enables or disables a queue.
func (g *generator) toggleQueue() program.Op {
	rx := g.maybe(50)
	q := pick(g, g.tx...)
	if rx {
		q = pick(g, g.rx...)
	}
	switch {
	case g.maybe(20):
		return program.Op{Disable: &program.Disable{Queue: program.Queue{Tx: !rx, Queue: q}}}
	case rx:
		return program.Op{RxQueue: g.rxQueue(q)}
	}
	return program.Op{TxQueue: g.txQueue(q)}
}

func (g *generator) bell() *program.Bell {
	b := &program.Bell{Queue: program.Queue{Tx: g.maybe(50)}, Delta: pick(g, 0, -1, -5, 65, 1000, 0x7fff),
		Upper: uint16(g.rng.Uint32())}
	b.Queue.Queue = pick(g, g.rx[0], g.tx[0], g.intN(64), g.intN(nicspec.RxqMax), nicspec.RxqMax-1, 64)
	if !b.Tx && g.maybe(25) {
		b.Queue.Queue, b.Delta, b.Over = pick(g, g.rx...), 0, 1+g.intN(3)
		return b
	}
	if b.Tx && g.maybe(60) {
		b.Queue.Queue = pick(g, g.tx...)
	} else if g.maybe(50) {
		b.Queue.Queue = pick(g, g.rx...)
	}
	return b
}
