package contract

import (
	"math/bits"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var registerChecks = []check{
	{"registers/reset values", "B1 G3 G5", calm, resetValues},
	{"registers/written and read", "G1 G2 G3 G4", stalled, writtenAndRead},
	{"registers/counters cannot be written, and those that there are not read 0", "G3 G5", calm, countersStay},
	{"registers/two at once", "G1 G2", stalled, twoAtOnce},
	{"registers/addresses without a register", "G3", calm, noRegister},
	{"registers/order of reads and writes", "G2 G4", stalled, readsAndWrites},
	{"registers/order of answers", "G1 G2 P8", stalled, answersInOrder},
	{"registers/shapes of writes", "G1", stalled, writeShapes},
	{"registers/shapes of reads", "G1 G2", stalled, readShapes},
	{"registers/requests elsewhere", "P8", stalled, requestsElsewhere},
	{"registers/requests that are not memory requests", "P8", stalled, otherRequests},
	{"registers/requests of every type", "P8", stalled, everyType},
	{"registers/poisoned requests", "P8", stalled, poisonedRequests},
	{"registers/completions for nobody", "P7 P8", stalled, strayCompletions},
	{"registers/doorbells", "Q2 G1 G3", stalled, doorbells},
	{"registers/doorbells across 65536", "Q1 Q2 Q8 T10", calm, doorbellsWrap},
}

// word is a 32-bit half or whole of a register.
type word struct {
	reg  *nicspec.RegInfo
	off  uint32
	high bool // upper half of a 64-bit register
}

// words lists the words of every register: of long arrays the first, the last and one between.
func words() []word {
	var all []word
	for i := range nicspec.Registers {
		reg := &nicspec.Registers[i]
		pick := []int{0}
		if n := reg.Count; n > 40 {
			pick = []int{0, n / 2, n - 1}
		} else if n > 0 {
			pick = pick[:0]
			for k := range n {
				pick = append(pick, k)
			}
		}
		for _, k := range pick {
			for half := range max(1, min(2, reg.Width/32)) {
				all = append(all, word{reg, reg.Offset + uint32(k*reg.Stride+4*half), half > 0})
			}
		}
	}
	return all
}

// reset is what a word reads after reset.
func (w *word) reset(r *rig) uint32 {
	switch {
	case !r.sizes.Has(w.reg.Part) || w.reg.Access == nicspec.WriteOnly:
		return 0
	case w.off == nicspec.RegCap1:
		return uint32(r.sizes.Parts)
	case w.off == nicspec.RegCap0:
		var c nicspec.Cap0Reg
		log := func(n int) uint32 { return uint32(bits.Len(uint(n)) - 1) }
		c.SetPorts(uint32(r.sizes.Ports))
		c.SetLogRxq(log(r.sizes.NumRxq))
		c.SetLogTxq(log(r.sizes.NumTxq))
		c.SetLogKeys(log(r.sizes.NumKeys))
		c.SetRules(uint32(r.sizes.NumRules))
		return uint32(c)
	case w.high:
		return uint32(w.reg.Reset >> 32)
	}
	return uint32(w.reg.Reset)
}

// writable is the bits of a word that read as last written.
func (w *word) writable(r *rig) uint32 {
	switch {
	case !r.sizes.Has(w.reg.Part) || w.reg.Access != nicspec.ReadWrite:
		return 0
	case w.off == nicspec.RegRocePort:
		return 0xffff // bits 15:0, says its meaning
	case w.off == nicspec.RegCtrl:
		return 3 // a function-level reset is for others to start
	case w.reg.Name == "PORT_MAC" && int(w.off-w.reg.Offset) >= 8*r.sizes.Ports:
		return 0 // of a port beyond the build
	case len(w.reg.Fields) == 0:
		return ^uint32(0)
	}
	var mask uint32
	for _, f := range w.reg.Fields {
		if r.sizes.Has(f.Part) {
			mask |= (1<<f.Width - 1) << f.Bit
		}
	}
	return mask
}

func resetValues(r *rig) {
	for _, w := range words() {
		require.Equal(r.t, w.reset(r), r.read(w.off), "%s at %#x", w.reg.Name, w.off)
	}
	for _, t := range r.tables() {
		n := r.entries(t)
		for _, i := range []int{0, n / 2, n - 1} {
			require.Equal(r.t, make([]byte, 4*nicspec.TableWords), r.entry(t, i), "%v %d", t, i)
		}
	}
	require.Equal(r.t, tally{}, *r.counters())
}

// Patterns that a register's bits are written with.
var patterns = []uint32{0xffff_ffff, 0x5555_5555, 0xaaaa_aaaa, 0}

// quiet tells which words can be written with anything: doorbells, the table command and credits do something.
func (w *word) quiet() bool {
	return w.reg.Name != "RX_DOORBELL" && w.reg.Name != "TX_DOORBELL" && w.reg.Name != "ACCOUNT_CREDIT" && w.off != nicspec.RegTblCmd
}

// still takes out of a value what would start something.
func (w *word) still(v uint32) uint32 {
	if w.off == nicspec.RegCtrl {
		v &^= 1 << 31
	}
	return v
}

func writtenAndRead(r *rig) {
	r.counted("writes of registers", nil, func() {
		for _, w := range words() {
			if !w.quiet() {
				continue
			}
			for _, v := range patterns {
				r.write(w.off, w.still(v))
				want := w.reset(r)
				if m := w.writable(r); m != 0 {
					want = v & m
				}
				if w.off == nicspec.RegStatus {
					want = 0
				}
				r.readLater(w.off, 4, func(got uint64) {
					require.EqualValues(r.t, want, got, "%s at %#x, written with %#x", w.reg.Name, w.off, v)
				})
			}
		}
	})
}

func twoAtOnce(r *rig) {
	r.counted("writes of two registers", nil, func() {
		devctl, rxCtrl, rxDefault, key := uint32(0x177), uint32(7), uint32(0x05_0040), uint32(0)
		if r.sizes.Has(nicspec.PartAttr) {
			devctl = 0x777
		}
		if r.sizes.Has(nicspec.PartCrc32c) {
			rxCtrl = 0xf
		}
		if r.sizes.Has(nicspec.PartRss) {
			rxDefault, key = 0x705_0040, 1
		}
		for _, c := range []struct {
			off            uint32
			lo, hi         uint32
			wantLo, wantHi uint32
		}{
			{nicspec.RegRocePort, 0x1234_5678, 0xcafe_f00d, 0x5678, 0xcafe_f00d},
			{nicspec.RegDevctl, 0xffff_ffff, 0x1_0000, devctl, 0x1_0000},
			{nicspec.RegDevctl, nicspec.ResetDevctl, nicspec.ResetCplTimeout, nicspec.ResetDevctl, nicspec.ResetCplTimeout},
			{nicspec.RegRxCtrl, 0xffff_ffff, 0x8705_0040, rxCtrl, rxDefault},
			{nicspec.RegCtrl, 0x7fff_ffff, 0xffff_ffff, 3, 0},
			{nicspec.RegTblData(0), 1, 2, 1, 2},
			{nicspec.RegTblData(30), 3, 4, 3, 4},
			{nicspec.RegId, 0, 0, nicspec.DeviceMagic, nicspec.ContractVersion},
			{nicspec.RegCounter(3), 5, 5, 0, 0},
			{0x30, 1, 1, 0, 0},
			{nicspec.RegRssKey(0), 1, 1, key, key},
		} {
			r.write2(c.off, c.lo, c.hi)
			require.Equal(r.t, uint64(c.wantHi)<<32|uint64(c.wantLo), r.read2(c.off), "at %#x", c.off)
			require.Equal(r.t, c.wantHi, r.read(c.off+4), "upper at %#x", c.off)
		}
	})
}

// Nothing is stored where no register is, and nothing is counted.
func noRegister(r *rig) {
	rng := rand.New(rand.NewPCG(1, 2))
	offs := []uint32{0x30, 0x3c, 0x44, 0x7c, 0x128, 0x1fc, 0x210, 0xffc, 0x1800, 0x2800, 0x4100, 0x8400, 0x9400, 0xfffc, 0x14000, 0xffffc}
	for len(offs) < 100 {
		off := uint32(rng.IntN(nicspec.BarBytes/4) * 4)
		if reg, _, _ := nicspec.RegisterAt(off); reg == nil {
			offs = append(offs, off)
		}
	}
	r.counted("accesses where no register is", nil, func() {
		for _, off := range offs {
			r.write(off, 0xffff_ffff)
			require.Zero(r.t, r.read(off), "%#x", off)
			if off%8 == 0 {
				r.write2(off, 1, 1)
			}
		}
	})
	for _, w := range words() { // and it went nowhere else
		if w.quiet() {
			require.Equal(r.t, w.reset(r), r.read(w.off), "%s at %#x", w.reg.Name, w.off)
		}
	}
}

func readsAndWrites(r *rig) {
	for n := range uint32(64) {
		r.write(nicspec.RegScratch, n)
		r.readLater(nicspec.RegScratch, 4, func(v uint64) { require.EqualValues(r.t, n, v, "a read sees the writes before it") })
		r.write(nicspec.RegScratch, ^n)
	}
	require.EqualValues(r.t, ^uint32(63), r.read(nicspec.RegScratch))
}

// countersStay writes every place of a counter, and of a rule's hits, after there was traffic on the port under test: nothing
// changes. Places without a counter read 0.
func countersStay(r *rig) {
	x, w := r.txSetup(2, 3)
	y := r.openRx(1, 3, nil)
	r.rule(2, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1})
	r.receiveAll(1)
	r.post(y, 4)
	r.transmit(x, r.sound(w[0], 1), nicspec.WqeFields{Opcode: 99})
	r.play(frameOf(100), frameOf(200), frameOf(20))
	r.doorbell(true, 1, 0x8000)
	r.quiet()
	before, there := r.counters(), map[int]uint64{}
	for i, v := range before {
		there[r.counterOf(i)] = v
	}
	for _, v := range patterns {
		for i := range nicspec.RegCounterCount {
			r.write2(nicspec.RegCounter(i), v, ^v)
		}
		for i := range nicspec.RegRuleHitsCount {
			r.write(nicspec.RegRuleHits(i), v)
		}
		r.synced()
	}
	r.moved("writes of counters", before, nil)
	for i := range nicspec.RegCounterCount {
		if c, p := nicspec.CounterAt(i); c == nil || p >= r.sizes.Ports {
			require.Zero(r.t, r.read2(nicspec.RegCounter(i)), "place %d, without a counter", i)
		} else {
			require.Equal(r.t, there[i], r.read2(nicspec.RegCounter(i)), "%s", nicspec.CounterName(i))
		}
	}
	for i := range nicspec.RegRuleHitsCount {
		want := uint64(0)
		if i == 2 {
			want = 2
		}
		require.Equal(r.t, want, r.read2(nicspec.RegRuleHits(i)), "hits of rule %d", i)
	}
}
