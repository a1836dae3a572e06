package registers

import (
	"math/bits"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// Checks cover registers and the requests that access them.
var Checks = []kit.Check{
	{Name: "registers/reset values", Rules: "B1 G3 G5", Stalls: kit.Calm, Run: resetValues},
	{Name: "registers/written and read", Rules: "G1 G2 G3 G4", Stalls: kit.Stalled, Run: writtenAndRead},
	{Name: "registers/counters cannot be written, and those that there are not read 0", Rules: "G3 G5",
		Stalls: kit.Calm, Run: countersStay},
	{Name: "registers/two at once", Rules: "G1 G2", Stalls: kit.Stalled, Run: twoAtOnce},
	{Name: "registers/addresses without a register", Rules: "G3", Stalls: kit.Calm, Run: noRegister},
	{Name: "registers/order of reads and writes", Rules: "G2 G4", Stalls: kit.Stalled, Run: readsAndWrites},
	{Name: "registers/order of answers", Rules: "G1 G2 P8", Stalls: kit.Stalled, Run: answersInOrder},
	{Name: "registers/shapes of writes", Rules: "G1", Stalls: kit.Stalled, Run: writeShapes},
	{Name: "registers/shapes of reads", Rules: "G1 G2", Stalls: kit.Stalled, Run: readShapes},
	{Name: "registers/requests elsewhere", Rules: "P8", Stalls: kit.Stalled, Run: requestsElsewhere},
	{Name: "registers/requests that are not memory requests", Rules: "P8", Stalls: kit.Stalled, Run: otherRequests},
	{Name: "registers/requests of every type", Rules: "P8", Stalls: kit.Stalled, Run: everyType},
	{Name: "registers/poisoned requests", Rules: "P8", Stalls: kit.Stalled, Run: poisonedRequests},
	{Name: "registers/completions for nobody", Rules: "P7 P8", Stalls: kit.Stalled, Run: strayCompletions},
	{Name: "registers/doorbells", Rules: "Q2 G1 G3", Stalls: kit.Stalled, Run: doorbells},
	{Name: "registers/doorbells across 65536", Rules: "Q1 Q2 Q8 T10", Stalls: kit.Calm, Run: doorbellsWrap},
}

// word is a 32-bit register, or half of a 64-bit one.
type word struct {
	Reg  *nicspec.RegInfo
	Off  uint32
	high bool // upper half of a 64-bit register
}

// Words lists the words of every register; of a long array, only the first, the last and one in between.
func Words() []word {
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

// Reset returns a word's value after reset.
func (w *word) Reset(r *kit.Rig) uint32 {
	switch {
	case !r.Sizes.Has(w.Reg.Part) || w.Reg.Access == nicspec.WriteOnly:
		return 0
	case w.Off == nicspec.RegCap1:
		return uint32(r.Sizes.Parts)
	case w.Off == nicspec.RegCap0:
		var c nicspec.Cap0Reg
		log := func(n int) uint32 { return uint32(bits.Len(uint(n)) - 1) }
		c.SetPorts(uint32(r.Sizes.Ports))
		c.SetLogRxq(log(r.Sizes.NumRxq))
		c.SetLogTxq(log(r.Sizes.NumTxq))
		c.SetLogKeys(log(r.Sizes.NumKeys))
		c.SetRules(uint32(r.Sizes.NumRules))
		return uint32(c)
	case w.high:
		return uint32(w.Reg.Reset >> 32)
	}
	return uint32(w.Reg.Reset)
}

// writable returns the bits of a word that read back as last written.
func (w *word) writable(r *kit.Rig) uint32 {
	switch {
	case !r.Sizes.Has(w.Reg.Part) || w.Reg.Access != nicspec.ReadWrite:
		return 0
	case w.Off == nicspec.RegRocePort:
		return 0xffff // bits 15:0 are writable
	case w.Off == nicspec.RegCtrl:
		return 3 // not bit 31, which would start a function-level reset
	case w.Reg.Name == "PORT_MAC" && int(w.Off-w.Reg.Offset) >= 8*r.Sizes.Ports:
		return 0 // a port that the build does not have
	case len(w.Reg.Fields) == 0:
		return ^uint32(0)
	}
	var mask uint32
	for _, f := range w.Reg.Fields {
		if r.Sizes.Has(f.Part) {
			mask |= (1<<f.Width - 1) << f.Bit
		}
	}
	return mask
}

func resetValues(r *kit.Rig) {
	for _, w := range Words() {
		require.Equal(r.T, w.Reset(r), r.Read(w.Off), "%s at %#x", w.Reg.Name, w.Off)
	}
	for _, t := range Tables(r) {
		n := Entries(r, t)
		for _, i := range []int{0, n / 2, n - 1} {
			require.Equal(r.T, make([]byte, 4*nicspec.TableWords), r.Entry(t, i), "%v %d", t, i)
		}
	}
	require.Equal(r.T, kit.Tally{}, *r.Counters())
}

// patterns are values to write to registers.
var patterns = []uint32{0xffff_ffff, 0x5555_5555, 0xaaaa_aaaa, 0}

// Quiet reports whether a word can be written with any value without a side effect. Doorbells, table commands and
// credits have side effects.
func (w *word) Quiet() bool {
	return w.Reg.Name != "RX_DOORBELL" && w.Reg.Name != "TX_DOORBELL" && w.Reg.Name != "ACCOUNT_CREDIT" &&
		w.Off != nicspec.RegTblCmd
}

// Still clears the bits of a value whose writing would start something, such as a reset.
func (w *word) Still(v uint32) uint32 {
	if w.Off == nicspec.RegCtrl {
		v &^= 1 << 31
	}
	return v
}

func writtenAndRead(r *kit.Rig) {
	r.Counted("writes of registers", nil, func() {
		for _, w := range Words() {
			if !w.Quiet() {
				continue
			}
			for _, v := range patterns {
				r.Write(w.Off, w.Still(v))
				want := w.Reset(r)
				if m := w.writable(r); m != 0 {
					want = v & m
				}
				if w.Off == nicspec.RegStatus {
					want = 0
				}
				r.ReadLater(w.Off, 4, func(got uint64) {
					require.EqualValues(r.T, want, got, "%s at %#x, written with %#x", w.Reg.Name, w.Off, v)
				})
			}
		}
	})
}

func twoAtOnce(r *kit.Rig) {
	r.Counted("writes of two registers", nil, func() {
		devctl, rxCtrl, rxDefault, key := uint32(0x177), uint32(7), uint32(0x05_0040), uint32(0)
		if r.Sizes.Has(nicspec.PartAttr) {
			devctl = 0x777
		}
		if r.Sizes.Has(nicspec.PartCrc32c) {
			rxCtrl = 0xf
		}
		if r.Sizes.Has(nicspec.PartRss) {
			rxDefault, key = 0x705_0040, 1
		}
		for _, c := range []struct {
			off            uint32
			lo, hi         uint32
			wantLo, wantHi uint32
		}{
			{nicspec.RegRocePort, 0x1234_5678, 0xcafe_f00d, 0x5678, 0xcafe_f00d},
			{nicspec.RegDevctl, 0xffff_ffff, 0x1_0000, devctl, 0x1_0000},
			{nicspec.RegDevctl, nicspec.ResetDevctl, nicspec.ResetCplTimeout, nicspec.ResetDevctl,
				nicspec.ResetCplTimeout},
			{nicspec.RegRxCtrl, 0xffff_ffff, 0x8705_0040, rxCtrl, rxDefault},
			{nicspec.RegCtrl, 0x7fff_ffff, 0xffff_ffff, 3, 0},
			{nicspec.RegTblData(0), 1, 2, 1, 2},
			{nicspec.RegTblData(30), 3, 4, 3, 4},
			{nicspec.RegId, 0, 0, nicspec.DeviceMagic, nicspec.ContractVersion},
			{nicspec.RegCounter(3), 5, 5, 0, 0},
			{0x30, 1, 1, 0, 0},
			{nicspec.RegRssKey(0), 1, 1, key, key},
		} {
			r.Write2(c.off, c.lo, c.hi)
			require.Equal(r.T, uint64(c.wantHi)<<32|uint64(c.wantLo), r.Read2(c.off), "at %#x", c.off)
			require.Equal(r.T, c.wantHi, r.Read(c.off+4), "upper at %#x", c.off)
		}
	})
}

// noRegister accesses addresses without a register: nothing may be stored or counted.
func noRegister(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(1, 2))
	offs := []uint32{0x30, 0x3c, 0x44, 0x7c, 0x128, 0x1fc, 0x210, 0xffc, 0x1800, 0x2800, 0x4100, 0x8400, 0x9400, 0xfffc,
		0x14000, 0xffffc}
	for len(offs) < 100 {
		off := uint32(rng.IntN(nicspec.BarBytes/4) * 4)
		if reg, _, _ := nicspec.RegisterAt(off); reg == nil {
			offs = append(offs, off)
		}
	}
	r.Counted("accesses where no register is", nil, func() {
		for _, off := range offs {
			r.Write(off, 0xffff_ffff)
			require.Zero(r.T, r.Read(off), "%#x", off)
			if off%8 == 0 {
				r.Write2(off, 1, 1)
			}
		}
	})
	for _, w := range Words() { // the writes must not have changed a register either
		if w.Quiet() {
			require.Equal(r.T, w.Reset(r), r.Read(w.Off), "%s at %#x", w.Reg.Name, w.Off)
		}
	}
}

func readsAndWrites(r *kit.Rig) {
	for n := range uint32(64) {
		r.Write(nicspec.RegScratch, n)
		r.ReadLater(nicspec.RegScratch, 4, func(v uint64) {
			require.EqualValues(r.T, n, v, "a read sees the writes "+
				"before it")
		})
		r.Write(nicspec.RegScratch, ^n)
	}
	require.EqualValues(r.T, ^uint32(63), r.Read(nicspec.RegScratch))
}

// countersStay writes every address of the counter arrays and of the rules' hits, after traffic on the port under test:
// no value may change. Addresses without a counter must read 0.
func countersStay(r *kit.Rig) {
	x, w := r.TxSetup(2, 3)
	y := r.OpenRx(1, 3, nil)
	r.Rule(2, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1})
	r.ReceiveAll(1)
	r.Post(y, 4)
	r.Transmit(x, r.Sound(w[0], 1), nicspec.WqeFields{Opcode: 99})
	r.Play(kit.FrameOf(100), kit.FrameOf(200), kit.FrameOf(20))
	r.Doorbell(true, 1, 0x8000)
	r.Quiet()
	before, there := r.Counters(), map[int]uint64{}
	for i, v := range before {
		there[r.CounterOf(i)] = v
	}
	for _, v := range patterns {
		for i := range nicspec.RegCounterCount {
			r.Write2(nicspec.RegCounter(i), v, ^v)
		}
		for i := range nicspec.RegRuleHitsCount {
			r.Write(nicspec.RegRuleHits(i), v)
		}
		r.Synced()
	}
	r.Moved("writes of counters", before, nil)
	for i := range nicspec.RegCounterCount {
		if c, p := nicspec.CounterAt(i); c == nil || p >= r.Sizes.Ports {
			require.Zero(r.T, r.Read2(nicspec.RegCounter(i)), "place %d, without a counter", i)
		} else {
			require.Equal(r.T, there[i], r.Read2(nicspec.RegCounter(i)), "%s", nicspec.CounterName(i))
		}
	}
	for i := range nicspec.RegRuleHitsCount {
		want := uint64(0)
		if i == 2 {
			want = 2
		}
		require.Equal(r.T, want, r.Read2(nicspec.RegRuleHits(i)), "hits of rule %d", i)
	}
}
