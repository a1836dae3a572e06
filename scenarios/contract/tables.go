package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/scenarios/traffic/craft"
)

var tableChecks = []check{
	{"tables/commands that are refused", "G6", stalled, refusedCommands},
	{"tables/fields of TBL_CMD", "G6", calm, commandFields},
	{"tables/values of receive queues", "G6 Q6", calm, rxqValues},
	{"tables/values of transmit queues", "G6 T11", calm, txqValues},
	{"tables/values of keys", "G6", calm, keyValues},
	{"tables/values of rules", "G6", calm, ruleValues},
	{"tables/written and read", "G6", stalled, writtenEntries},
	{"tables/words beyond the entry", "G6", calm, wordsBeyond},
	{"tables/parts that are not there", "G3 G6 N1 N2", calm, missingParts},
	{"tables/enabled queues", "G6 Q5 T11", calm, enabledQueues},
	{"tables/busy while a receive queue drains", "G7 Q2 Q5", stalled, func(r *rig) { busyWhileDraining(r, nicspec.TableRxq) }},
	{"tables/busy while a transmit queue drains", "G7 Q2 T11", stalled, func(r *rig) { busyWhileDraining(r, nicspec.TableTxq) }},
	{"tables/commands end in time", "G7", stalled, commandsEnd},
}

// entryBytes are the sizes of the tables' entries.
var entryBytes = map[nicspec.Table]int{
	nicspec.TableRxq: nicspec.RxqEntrySize, nicspec.TableTxq: nicspec.TxqEntrySize, nicspec.TableKey: nicspec.KeyEntrySize,
	nicspec.TableRule: nicspec.RuleEntrySize, nicspec.TableIndirection: nicspec.IndirectionEntrySize,
	nicspec.TableAccount: nicspec.AccountEntrySize, nicspec.TablePortCfg: nicspec.PortEntrySize,
}

var entryInfos = map[nicspec.Table]*nicspec.StructInfo{
	nicspec.TableRxq: &nicspec.RxqEntryInfo, nicspec.TableTxq: &nicspec.TxqEntryInfo, nicspec.TableKey: &nicspec.KeyEntryInfo,
	nicspec.TableRule: &nicspec.RuleEntryInfo, nicspec.TableIndirection: &nicspec.IndirectionEntryInfo,
	nicspec.TableAccount: &nicspec.AccountEntryInfo, nicspec.TablePortCfg: &nicspec.PortEntryInfo,
}

// partTables are the tables of parts.
var partTables = []struct {
	table nicspec.Table
	part  nicspec.Cap1Reg
}{{nicspec.TableIndirection, nicspec.PartRss}, {nicspec.TableAccount, nicspec.PartAccounts}, {nicspec.TablePortCfg, nicspec.PartPause}}

// tables lists those of the build.
func (r *rig) tables() []nicspec.Table {
	all := []nicspec.Table{nicspec.TableRxq, nicspec.TableTxq, nicspec.TableKey, nicspec.TableRule}
	for _, t := range partTables {
		if r.sizes.Has(t.part) {
			all = append(all, t.table)
		}
	}
	return all
}

func (r *rig) entries(t nicspec.Table) int {
	return map[nicspec.Table]int{
		nicspec.TableRxq: r.sizes.NumRxq, nicspec.TableTxq: r.sizes.NumTxq, nicspec.TableKey: r.sizes.NumKeys,
		nicspec.TableRule: r.sizes.NumRules, nicspec.TableIndirection: nicspec.RssEntries, nicspec.TableAccount: nicspec.NumAccounts,
		nicspec.TablePortCfg: r.sizes.Ports,
	}[t]
}

// built is an entry as it reads in this build: without the fields of parts that it lacks.
func (r *rig) built(info *nicspec.StructInfo, entry []byte) []byte {
	b := append([]byte(nil), entry...)
	for _, f := range info.Fields {
		if !r.sizes.Has(f.Part) {
			for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
				b[bit/8] &^= 1 << (bit % 8)
			}
		}
	}
	return b
}

// late is what becomes of an entry that uses a part: want when the part is there.
func (r *rig) late(part nicspec.Cap1Reg, want nicspec.TableStatus) nicspec.TableStatus {
	if r.sizes.Has(part) {
		return want
	}
	return nicspec.TableStatusNotBuilt
}

// pattern fills n bytes that differ from those of other seeds.
func pattern(n int, seed uint64) []byte { return craft.Pattern(n, seed) }

func refusedCommands(r *rig) {
	data := pattern(4*nicspec.TableWords, 1)
	type refusal struct {
		op    nicspec.TableOp
		table nicspec.Table
		index int
		want  nicspec.TableStatus
	}
	all := []refusal{
		{nicspec.TableOpNone, nicspec.TableRxq, 0, nicspec.TableStatusBadOp},
		{3, nicspec.TableRxq, 0, nicspec.TableStatusBadOp},
		{3, 99, 0xffff, nicspec.TableStatusBadOp},
		{nicspec.TableOpNone, nicspec.TableAccount, 0xffff, nicspec.TableStatusBadOp},
	}
	for _, op := range []nicspec.TableOp{nicspec.TableOpWrite, nicspec.TableOpRead} {
		for _, t := range []nicspec.Table{7, 8, 0x80, 0xff} {
			all = append(all, refusal{op, t, 0, nicspec.TableStatusBadTable}, refusal{op, t, 0xffff, nicspec.TableStatusBadTable})
		}
		for _, t := range partTables {
			if !r.sizes.Has(t.part) {
				all = append(all, refusal{op, t.table, 0, nicspec.TableStatusNotBuilt}, refusal{op, t.table, 0xffff, nicspec.TableStatusNotBuilt})
			}
		}
		for _, t := range r.tables() {
			n := r.entries(t)
			all = append(all, refusal{op, t, n, nicspec.TableStatusBadIndex}, refusal{op, t, 0xffff, nicspec.TableStatusBadIndex},
				refusal{op, t, n | 0x1000, nicspec.TableStatusBadIndex})
		}
	}
	r.counted("refused commands", nil, func() {
		r.stage(data)
		for _, c := range all {
			require.Equal(r.t, c.want, r.command(c.op, c.table, c.index, nil), "%v %v %d", c.op, c.table, c.index)
			got := nicspec.TblCmdReg(r.read(nicspec.RegTblCmd))
			require.EqualValues(r.t, c.op, got.Op())
			require.EqualValues(r.t, c.table, got.Table())
			require.EqualValues(r.t, c.index, got.Index())
		}
		require.Equal(r.t, data, r.staged(), "a refused command changes nothing")
	})
	r.unchanged()
}

// unchanged demands that the tables are as after reset.
func (r *rig) unchanged() {
	r.t.Helper()
	for _, t := range r.tables() {
		for _, i := range []int{0, r.entries(t) / 2, r.entries(t) - 1} {
			require.Equal(r.t, make([]byte, 4*nicspec.TableWords), r.entry(t, i), "%v %d", t, i)
		}
	}
}

// Status and busy are ignored when written, reserved bits read 0.
func commandFields(r *rig) {
	for _, c := range []struct{ write, want uint32 }{
		{0xfc00_0000 | commandWord(nicspec.TableOpRead, nicspec.TableKey, 3), commandWord(nicspec.TableOpRead, nicspec.TableKey, 3)},
		{0x6000_0000, uint32(nicspec.TableStatusBadOp) << 26},
		{commandWord(nicspec.TableOpRead, nicspec.TableRule, 0), commandWord(nicspec.TableOpRead, nicspec.TableRule, 0)},
	} {
		r.write(nicspec.RegTblCmd, c.write)
		r.commandEnd()
		require.Equal(r.t, c.want, r.read(nicspec.RegTblCmd), "written with %#x", c.write)
	}
	r.write2(nicspec.RegTblCmd, commandWord(nicspec.TableOpRead, nicspec.TableKey, 0xffff), 0x1234) // with the place beside it
	require.Equal(r.t, nicspec.TableStatusBadIndex, r.commandEnd())
}

// withReserved is an entry with all of its reserved bits set, which read 0 for all that.
func withReserved(t nicspec.Table, entry []byte) []byte {
	b := append([]byte(nil), entry...)
	for i := range b {
		b[i] = 0xff
	}
	for _, f := range entryInfos[t].Fields {
		for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
			b[bit/8] = b[bit/8]&^(1<<(bit%8)) | entry[bit/8]&(1<<(bit%8))
		}
	}
	return b
}

// writtenEntries writes every entry of every table and reads them all back: none is another's.
func writtenEntries(r *rig) {
	const some = 24
	want := map[nicspec.Table]map[int][]byte{}
	for _, t := range r.tables() {
		want[t] = map[int][]byte{}
		n := r.entries(t)
		for k := range min(n, some) {
			i := k * n / min(n, some)
			e := r.goodEntry(t, uint64(i)<<8|uint64(t))
			r.commit(t, i, withReserved(t, e))
			want[t][i] = e
		}
	}
	for _, t := range r.tables() {
		for k := range min(r.entries(t), some) {
			i := k * r.entries(t) / min(r.entries(t), some)
			require.Equal(r.t, want[t][i], r.entry(t, i)[:entryBytes[t]], "%v %d", t, i)
		}
	}
}

// goodEntry is an entry with random fields that reads back as written.
func (r *rig) goodEntry(t nicspec.Table, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 3))
	switch t {
	case nicspec.TableRxq: // enable 0: anything goes
		f := nicspec.RxqEntryFields{SplitMode: nicspec.SplitMode(rng.Uint32()), LogSize: uint8(rng.Uint32()),
			SplitLen: uint16(rng.Uint32()), HdrBufSize: uint16(rng.Uint32()), PayBufSize: uint16(rng.Uint32()),
			RingBase: rng.Uint64(), CqBase: rng.Uint64()}
		if r.sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = rng.Uint64(), rng.Uint32(), uint16(rng.Uint32()), uint16(rng.Uint32())
		}
		if r.sizes.Has(nicspec.PartEcn | nicspec.PartCrc32c) {
			f.EcnMode, f.CrcMode = uint8(rng.Uint32()), nicspec.CrcMode(rng.Uint32())
		}
		return encode(&f, nicspec.RxqEntrySize)
	case nicspec.TableTxq:
		f := nicspec.TxqEntryFields{LogSize: uint8(rng.Uint32()), RingBase: rng.Uint64(), CqBase: rng.Uint64()}
		if r.sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = rng.Uint64(), rng.Uint32(), uint16(rng.Uint32()), uint16(rng.Uint32())
		}
		if r.sizes.Has(nicspec.PartEcn | nicspec.PartPause) {
			f.EcnMode, f.PfcClass = uint8(rng.Uint32()), uint8(rng.Uint32())
		}
		return encode(&f, nicspec.TxqEntrySize)
	case nicspec.TableKey:
		return encode(&nicspec.KeyEntryFields{Valid: uint8(rng.IntN(2)), RightRead: rng.IntN(2) > 0, RightWrite: rng.IntN(2) > 0,
			Variant: uint8(rng.Uint32()), VaBase: rng.Uint64() >> 1, Length: rng.Uint64() >> 9, BusBase: rng.Uint64() &^ (1 << 55)},
			nicspec.KeyEntrySize)
	case nicspec.TableIndirection:
		return encode(&nicspec.IndirectionEntryFields{Queue: uint16(rng.IntN(r.sizes.NumRxq))}, nicspec.IndirectionEntrySize)
	case nicspec.TableAccount:
		return encode(&nicspec.AccountEntryFields{Balance: rng.Uint32() >> 8, Latch: uint8(rng.IntN(2))}, nicspec.AccountEntrySize)
	case nicspec.TablePortCfg:
		return encode(&nicspec.PortEntryFields{RxPfc: uint8(rng.Uint32()), TxClasses: uint8(rng.Uint32()), PauseTime: uint16(rng.Uint32()),
			Xoff: rng.Uint32(), Xon: rng.Uint32()}, nicspec.PortEntrySize) // mode None: the rest may be anything
	}
	f := nicspec.RuleEntryFields{Action: nicspec.Action(rng.IntN(2)), Queue: uint16(rng.IntN(4)), Valid: uint8(rng.IntN(2))}
	copy(f.Value[:], pattern(nicspec.SteerKeySize, seed))
	copy(f.Mask[:], pattern(nicspec.SteerKeySize, seed+1))
	return encode(&f, nicspec.RuleEntrySize)
}

// wordsBeyond holds that words of TBL_DATA beyond an entry are ignored by Write and zeroed by Read.
func wordsBeyond(r *rig) {
	for _, t := range r.tables() {
		index := min(2, r.entries(t)-1)
		e := append(r.goodEntry(t, 9), pattern(4*nicspec.TableWords-entryBytes[t], 4)...)
		r.commit(t, index, e)
		require.Equal(r.t, e, r.staged(), "%v: Write leaves TBL_DATA alone", t)
		got := r.entry(t, index)
		require.Equal(r.t, append(e[:entryBytes[t]:entryBytes[t]], make([]byte, 4*nicspec.TableWords-entryBytes[t])...), got, "%v", t)
	}
}

func enabledQueues(r *rig) {
	for _, t := range r.tables()[:2] {
		if t == nicspec.TableRxq {
			r.openRx(1, 3, nil)
		} else {
			r.openTx(1, 3)
		}
		before := r.entry(t, 1)
		again := append([]byte(nil), before[:64]...)
		require.Equal(r.t, nicspec.TableStatusEnabled, r.command(nicspec.TableOpWrite, t, 1, again), "enabled again")
		again[2] = 99
		require.Equal(r.t, nicspec.TableStatusEnabled, r.command(nicspec.TableOpWrite, t, 1, again), "Enabled goes before BadValue")
		again[32] = 1
		require.Equal(r.t, nicspec.TableStatusEnabled, r.command(nicspec.TableOpWrite, t, 1, again), "and before NotBuilt")
		again[0] = 2
		require.Equal(r.t, tblBad, r.command(nicspec.TableOpWrite, t, 1, again), "enable 2")
		require.Equal(r.t, before, r.entry(t, 1), "nothing was changed")
		r.disable(t, 1)
		r.disable(t, 1) // legal when Off
		require.Equal(r.t, make([]byte, 128), r.entry(t, 1))
	}
}

// busyWhileDraining disables a queue while a read of its ring is under way: the command is busy until that has ended.
func busyWhileDraining(r *rig, t nicspec.Table) {
	const wait = 4000
	r.write(nicspec.RegCtrl, 2)
	var at uint64
	bell := nicspec.RegTxDoorbell(2)
	if t == nicspec.TableRxq {
		x := r.openRx(2, 2, nil)
		at, bell = x.At(0), nicspec.RegRxDoorbell(2)
		for range 4 {
			r.put(x, r.alloc(0, 9216, 64), r.alloc(1, 9216, 64))
		}
	} else {
		at = r.openTx(2, 2).At(0)
	}
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: at, To: at + 64*4, Delay: r.b.Cycles(wait)}))
	begin := r.b.Engine.Now()
	r.write(bell, 4)
	r.until("the ring is read", func() bool { return r.b.Faults.Hits() > 0 })
	before := r.counters()
	off := encode(&nicspec.RxqEntryFields{RingBase: 0x40}, 64) // any fields may come with enable 0
	if t == nicspec.TableTxq {
		off = encode(&nicspec.TxqEntryFields{RingBase: 0x40}, 64)
	}
	r.commandLater(nicspec.TableOpWrite, t, 2, off)
	r.synced()
	require.True(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy(), "a read of the queue is under way")
	r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpRead, nicspec.TableKey, 0))
	r.write(nicspec.RegTblData(7), 1)
	r.write2(nicspec.RegTblData(8), 1, 1)
	r.write2(nicspec.RegTblCmd, commandWord(nicspec.TableOpRead, nicspec.TableKey, 1), 5)
	r.write(nicspec.RegScratch, 4711) // other registers take what they are given
	r.write(bell, 4)                  // the index again, but the queue is Off
	r.synced()
	require.EqualValues(r.t, 4711, r.read(nicspec.RegScratch))
	require.Equal(r.t, append(off, make([]byte, 64)...), r.staged(), "writes of TBL_DATA have no effect while busy")
	require.True(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy())
	require.Equal(r.t, tblOk, r.commandEnd())
	require.Equal(r.t, commandWord(nicspec.TableOpWrite, t, 2), r.read(nicspec.RegTblCmd))
	require.Greater(r.t, r.b.Engine.Now()-begin, r.b.Cycles(wait))
	r.quiet()
	r.moved("writes while busy", before, steps{dev(nicspec.CntRegBad): 5, dev(nicspec.CntDbBad): 1, dev(nicspec.CntTxWqe): free})
	got := r.entry(t, 2)
	require.Equal(r.t, off[16:32], got[16:32], "the fields of the disabling entry are stored")
	require.Equal(r.t, make([]byte, 4), got[:4])
}

// commandsEnd holds that any other command ends within 64 cycles: a read that is accepted later shows it ended.
func commandsEnd(r *rig) {
	for i := range 40 {
		t := r.tables()[i%len(r.tables())]
		r.stage(r.goodEntry(t, uint64(i)))
		r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpWrite, t, r.entries(t)-1))
		r.write(nicspec.RegScratch, uint32(i))
		require.EqualValues(r.t, i, r.read(nicspec.RegScratch)) // so the command was accepted before this time
		r.run(nicspec.VisibleCycles)
		require.False(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy())
	}
}
