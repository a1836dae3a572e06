package registers

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TableChecks write and read the tables.
var TableChecks = []kit.Check{
	{Name: "tables/commands that are refused", Rules: "G6", Stalls: kit.Stalled, Run: refusedCommands},
	{Name: "tables/fields of TBL_CMD", Rules: "G6", Stalls: kit.Calm, Run: commandFields},
	{Name: "tables/values of receive queues", Rules: "G6 Q6", Stalls: kit.Calm, Run: rxqValues},
	{Name: "tables/values of transmit queues", Rules: "G6 T11", Stalls: kit.Calm, Run: txqValues},
	{Name: "tables/values of keys", Rules: "G6", Stalls: kit.Calm, Run: keyValues},
	{Name: "tables/values of rules", Rules: "G6", Stalls: kit.Calm, Run: ruleValues},
	{Name: "tables/written and read", Rules: "G6", Stalls: kit.Stalled, Run: writtenEntries},
	{Name: "tables/words beyond the entry", Rules: "G6", Stalls: kit.Calm, Run: wordsBeyond},
	{Name: "tables/parts that are not there", Rules: "G3 G6 N1 N2", Stalls: kit.Calm, Run: missingParts},
	{Name: "tables/enabled queues", Rules: "G6 Q5 T11", Stalls: kit.Calm, Run: enabledQueues},
	{Name: "tables/busy while a receive queue drains", Rules: "G7 Q2 Q5", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { busyWhileDraining(r, nicspec.TableRxq) }},
	{Name: "tables/busy while a transmit queue drains", Rules: "G7 Q2 T11", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { busyWhileDraining(r, nicspec.TableTxq) }},
	{Name: "tables/commands end in time", Rules: "G7", Stalls: kit.Stalled, Run: commandsEnd},
}

// EntryBytes are the sizes of the tables' entries.
var EntryBytes = map[nicspec.Table]int{
	nicspec.TableRxq: nicspec.RxqEntrySize, nicspec.TableTxq: nicspec.TxqEntrySize,
	nicspec.TableKey:  nicspec.KeyEntrySize,
	nicspec.TableRule: nicspec.RuleEntrySize, nicspec.TableIndirection: nicspec.IndirectionEntrySize,
	nicspec.TableAccount: nicspec.AccountEntrySize, nicspec.TablePortCfg: nicspec.PortEntrySize,
}

var entryInfos = map[nicspec.Table]*nicspec.StructInfo{
	nicspec.TableRxq: &nicspec.RxqEntryInfo, nicspec.TableTxq: &nicspec.TxqEntryInfo,
	nicspec.TableKey:  &nicspec.KeyEntryInfo,
	nicspec.TableRule: &nicspec.RuleEntryInfo, nicspec.TableIndirection: &nicspec.IndirectionEntryInfo,
	nicspec.TableAccount: &nicspec.AccountEntryInfo, nicspec.TablePortCfg: &nicspec.PortEntryInfo,
}

// partTables are the tables of optional parts.
var partTables = []struct {
	table nicspec.Table
	part  nicspec.Cap1Reg
}{{nicspec.TableIndirection, nicspec.PartRss}, {nicspec.TableAccount, nicspec.PartAccounts},
	{nicspec.TablePortCfg, nicspec.PartPause}}

// Tables lists the tables of the build.
func Tables(r *kit.Rig) []nicspec.Table {
	all := []nicspec.Table{nicspec.TableRxq, nicspec.TableTxq, nicspec.TableKey, nicspec.TableRule}
	for _, t := range partTables {
		if r.Sizes.Has(t.part) {
			all = append(all, t.table)
		}
	}
	return all
}

func Entries(r *kit.Rig, t nicspec.Table) int {
	return map[nicspec.Table]int{
		nicspec.TableRxq: r.Sizes.NumRxq, nicspec.TableTxq: r.Sizes.NumTxq, nicspec.TableKey: r.Sizes.NumKeys,
		nicspec.TableRule: r.Sizes.NumRules, nicspec.TableIndirection: nicspec.RssEntries,
		nicspec.TableAccount: nicspec.NumAccounts,
		nicspec.TablePortCfg: r.Sizes.Ports,
	}[t]
}

func refusedCommands(r *kit.Rig) {
	data := kit.Pattern(4*nicspec.TableWords, 1)
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
			all = append(all, refusal{op, t, 0, nicspec.TableStatusBadTable},
				refusal{op, t, 0xffff, nicspec.TableStatusBadTable})
		}
		for _, t := range partTables {
			if !r.Sizes.Has(t.part) {
				all = append(all, refusal{op, t.table, 0, nicspec.TableStatusNotBuilt},
					refusal{op, t.table, 0xffff, nicspec.TableStatusNotBuilt})
			}
		}
		for _, t := range Tables(r) {
			n := Entries(r, t)
			all = append(all, refusal{op, t, n, nicspec.TableStatusBadIndex},
				refusal{op, t, 0xffff, nicspec.TableStatusBadIndex},
				refusal{op, t, n | 0x1000, nicspec.TableStatusBadIndex})
		}
	}
	r.Counted("refused commands", nil, func() {
		r.Stage(data)
		for _, c := range all {
			require.Equal(r.T, c.want, r.Command(c.op, c.table, c.index, nil), "%v %v %d", c.op, c.table, c.index)
			got := nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd))
			require.EqualValues(r.T, c.op, got.Op())
			require.EqualValues(r.T, c.table, got.Table())
			require.EqualValues(r.T, c.index, got.Index())
		}
		require.Equal(r.T, data, r.Staged(), "a refused command changes nothing")
	})
	unchanged(r)
}

// unchanged checks that the tables have their contents after reset.
func unchanged(r *kit.Rig) {
	r.T.Helper()
	for _, t := range Tables(r) {
		for _, i := range []int{0, Entries(r, t) / 2, Entries(r, t) - 1} {
			require.Equal(r.T, make([]byte, 4*nicspec.TableWords), r.Entry(t, i), "%v %d", t, i)
		}
	}
}

// commandFields checks that status and busy are ignored when written, and that reserved bits read
// 0.
func commandFields(r *kit.Rig) {
	for _, c := range []struct{ write, want uint32 }{
		{0xfc00_0000 | kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 3),
			kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 3)},
		{0x6000_0000, uint32(nicspec.TableStatusBadOp) << 26},
		{kit.CommandWord(nicspec.TableOpRead, nicspec.TableRule, 0),
			kit.CommandWord(nicspec.TableOpRead, nicspec.TableRule, 0)},
	} {
		r.Write(nicspec.RegTblCmd, c.write)
		r.CommandEnd()
		require.Equal(r.T, c.want, r.Read(nicspec.RegTblCmd), "written with %#x", c.write)
	}
	// Writes TBL_CMD together with the next register.
	r.Write2(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 0xffff), 0x1234)
	require.Equal(r.T, nicspec.TableStatusBadIndex, r.CommandEnd())
}

// withReserved returns an entry with all of its reserved bits set; they must still read 0.
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

// writtenEntries writes every entry of every table, and then reads all of them back: no two entries may share storage.
func writtenEntries(r *kit.Rig) {
	const some = 24
	want := map[nicspec.Table]map[int][]byte{}
	for _, t := range Tables(r) {
		want[t] = map[int][]byte{}
		n := Entries(r, t)
		for k := range min(n, some) {
			i := k * n / min(n, some)
			e := GoodEntry(r, t, uint64(i)<<8|uint64(t))
			r.Commit(t, i, withReserved(t, e))
			want[t][i] = e
		}
	}
	for _, t := range Tables(r) {
		for k := range min(Entries(r, t), some) {
			i := k * Entries(r, t) / min(Entries(r, t), some)
			require.Equal(r.T, want[t][i], r.Entry(t, i)[:EntryBytes[t]], "%v %d", t, i)
		}
	}
}

// GoodEntry returns an entry with random fields that reads back as written.
func GoodEntry(r *kit.Rig, t nicspec.Table, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 3))
	switch t {
	case nicspec.TableRxq: // enable 0: any value is accepted
		f := nicspec.RxqEntryFields{SplitMode: nicspec.SplitMode(rng.Uint32()), LogSize: uint8(rng.Uint32()),
			SplitLen: uint16(rng.Uint32()), HdrBufSize: uint16(rng.Uint32()), PayBufSize: uint16(rng.Uint32()),
			RingBase: rng.Uint64(), CqBase: rng.Uint64()}
		if r.Sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = rng.Uint64(), rng.Uint32(), uint16(rng.Uint32()),
				uint16(rng.Uint32())
		}
		if r.Sizes.Has(nicspec.PartEcn | nicspec.PartCrc32c) {
			f.EcnMode, f.CrcMode = uint8(rng.Uint32()), nicspec.CrcMode(rng.Uint32())
		}
		return kit.Encode(&f, nicspec.RxqEntrySize)
	case nicspec.TableTxq:
		f := nicspec.TxqEntryFields{LogSize: uint8(rng.Uint32()), RingBase: rng.Uint64(), CqBase: rng.Uint64()}
		if r.Sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = rng.Uint64(), rng.Uint32(), uint16(rng.Uint32()),
				uint16(rng.Uint32())
		}
		if r.Sizes.Has(nicspec.PartEcn | nicspec.PartPause) {
			f.EcnMode, f.PfcClass = uint8(rng.Uint32()), uint8(rng.Uint32())
		}
		return kit.Encode(&f, nicspec.TxqEntrySize)
	case nicspec.TableKey:
		return kit.Encode(&nicspec.KeyEntryFields{Valid: uint8(rng.IntN(2)), RightRead: rng.IntN(2) > 0,
			RightWrite: rng.IntN(2) > 0,
			Variant:    uint8(rng.Uint32()), VaBase: rng.Uint64() >> 1, Length: rng.Uint64() >> 9,
			BusBase: rng.Uint64() &^ (1 << 55)},
			nicspec.KeyEntrySize)
	case nicspec.TableIndirection:
		return kit.Encode(&nicspec.IndirectionEntryFields{Queue: uint16(rng.IntN(r.Sizes.NumRxq))},
			nicspec.IndirectionEntrySize)
	case nicspec.TableAccount:
		return kit.Encode(&nicspec.AccountEntryFields{Balance: rng.Uint32() >> 8, Latch: uint8(rng.IntN(2))},
			nicspec.AccountEntrySize)
	case nicspec.TablePortCfg:
		return kit.Encode(&nicspec.PortEntryFields{RxPfc: uint8(rng.Uint32()), TxClasses: uint8(rng.Uint32()),
			PauseTime: uint16(rng.Uint32()),
			// with mode None, all other fields may have any value
			Xoff: rng.Uint32(), Xon: rng.Uint32()}, nicspec.PortEntrySize)
	}
	f := nicspec.RuleEntryFields{Action: nicspec.Action(rng.IntN(2)), Queue: uint16(rng.IntN(4)),
		Valid: uint8(rng.IntN(2))}
	copy(f.Value[:], kit.Pattern(nicspec.SteerKeySize, seed))
	copy(f.Mask[:], kit.Pattern(nicspec.SteerKeySize, seed+1))
	return kit.Encode(&f, nicspec.RuleEntrySize)
}

// wordsBeyond checks that Write ignores words of TBL_DATA beyond an entry, and that Read zeroes
// them.
func wordsBeyond(r *kit.Rig) {
	for _, t := range Tables(r) {
		index := min(2, Entries(r, t)-1)
		e := append(GoodEntry(r, t, 9), kit.Pattern(4*nicspec.TableWords-EntryBytes[t], 4)...)
		r.Commit(t, index, e)
		require.Equal(r.T, e, r.Staged(), "%v: Write leaves TBL_DATA alone", t)
		got := r.Entry(t, index)
		require.Equal(r.T, append(e[:EntryBytes[t]:EntryBytes[t]], make([]byte, 4*nicspec.TableWords-EntryBytes[t])...),
			got, "%v", t)
	}
}

func enabledQueues(r *kit.Rig) {
	for _, t := range Tables(r)[:2] {
		if t == nicspec.TableRxq {
			r.OpenRx(1, 3, nil)
		} else {
			r.OpenTx(1, 3)
		}
		before := r.Entry(t, 1)
		again := append([]byte(nil), before[:64]...)
		require.Equal(r.T, nicspec.TableStatusEnabled, r.Command(nicspec.TableOpWrite, t, 1, again), "enabled again")
		again[2] = 99
		require.Equal(r.T, nicspec.TableStatusEnabled, r.Command(nicspec.TableOpWrite, t, 1, again),
			"Enabled takes precedence over BadValue")
		again[32] = 1
		require.Equal(r.T, nicspec.TableStatusEnabled, r.Command(nicspec.TableOpWrite, t, 1, again),
			"and before NotBuilt")
		again[0] = 2
		require.Equal(r.T, kit.TableBad, r.Command(nicspec.TableOpWrite, t, 1, again), "enable 2")
		require.Equal(r.T, before, r.Entry(t, 1), "nothing was changed")
		r.Disable(t, 1)
		r.Disable(t, 1) // also legal for a queue that is Off
		require.Equal(r.T, make([]byte, 128), r.Entry(t, 1))
	}
}

// busyWhileDraining disables a queue while a read of its ring is outstanding: the command must be busy until the read
// has ended.
func busyWhileDraining(r *kit.Rig, t nicspec.Table) {
	const wait = 4000
	r.Write(nicspec.RegCtrl, 2)
	var at uint64
	bell := nicspec.RegTxDoorbell(2)
	if t == nicspec.TableRxq {
		x := r.OpenRx(2, 2, nil)
		at, bell = x.At(0), nicspec.RegRxDoorbell(2)
		for range 4 {
			r.Put(x, r.Alloc(0, 9216, 64), r.Alloc(1, 9216, 64))
		}
	} else {
		at = r.OpenTx(2, 2).At(0)
	}
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: at, To: at + 64*4, Delay: r.Bed.Cycles(wait)}))
	begin := r.Bed.Engine.Now()
	r.Write(bell, 4)
	r.Until("the ring is read", func() bool { return r.Bed.Faults.Hits() > 0 })
	before := r.Counters()
	off := kit.Encode(&nicspec.RxqEntryFields{RingBase: 0x40}, 64) // with enable 0, the other fields may have any value
	if t == nicspec.TableTxq {
		off = kit.Encode(&nicspec.TxqEntryFields{RingBase: 0x40}, 64)
	}
	r.CommandLater(nicspec.TableOpWrite, t, 2, off)
	r.Synced()
	require.True(r.T, nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd)).Busy(), "a read of the queue is under way")
	r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 0))
	r.Write(nicspec.RegTblData(7), 1)
	r.Write2(nicspec.RegTblData(8), 1, 1)
	r.Write2(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 1), 5)
	r.Write(nicspec.RegScratch, 4711) // other registers can be written
	r.Write(bell, 4)                  // announces nothing new, but counts as an error since the queue is Off
	r.Synced()
	require.EqualValues(r.T, 4711, r.Read(nicspec.RegScratch))
	require.Equal(r.T, append(off, make([]byte, 64)...), r.Staged(), "writes of TBL_DATA have no effect while busy")
	require.True(r.T, nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd)).Busy())
	require.Equal(r.T, kit.TableOk, r.CommandEnd())
	require.Equal(r.T, kit.CommandWord(nicspec.TableOpWrite, t, 2), r.Read(nicspec.RegTblCmd))
	require.Greater(r.T, r.Bed.Engine.Now()-begin, r.Bed.Cycles(wait))
	r.Quiet()
	r.Moved("writes while busy", before,
		kit.Steps{kit.DevCounter(nicspec.CntRegBad): 5, kit.DevCounter(nicspec.CntDbBad): 1,
			kit.DevCounter(nicspec.CntTxWqe): kit.Free})
	got := r.Entry(t, 2)
	require.Equal(r.T, off[16:32], got[16:32], "the fields of the disabling entry are stored")
	require.Equal(r.T, make([]byte, 4), got[:4])
}

// commandsEnd checks that a table command that disables no queue ends within 64 cycles, so that a read accepted later
// shows that it is done.
func commandsEnd(r *kit.Rig) {
	for i := range 40 {
		t := Tables(r)[i%len(Tables(r))]
		r.Stage(GoodEntry(r, t, uint64(i)))
		r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, t, Entries(r, t)-1))
		r.Write(nicspec.RegScratch, uint32(i))
		require.EqualValues(r.T, i, r.Read(nicspec.RegScratch)) // proves that the command was accepted
		r.Run(nicspec.VisibleCycles)
		require.False(r.T, nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd)).Busy())
	}
}
