package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/host"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
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
	{"tables/later parts", "G6 G3", calm, missingParts},
	{"tables/enabled queues", "G6 Q5 T11", calm, enabledQueues},
	{"tables/busy while a receive queue drains", "G7 Q5", stalled, func(r *rig) { busyWhileDraining(r, nicspec.TableRxq) }},
	{"tables/busy while a transmit queue drains", "G7 T11", stalled, func(r *rig) { busyWhileDraining(r, nicspec.TableTxq) }},
	{"tables/commands end in time", "G7", stalled, commandsEnd},
}

// entryBytes are the tables that there are, with their sizes.
var entryBytes = map[nicspec.Table]int{
	nicspec.TableRxq: nicspec.RxqEntrySize, nicspec.TableTxq: nicspec.TxqEntrySize, nicspec.TableKey: nicspec.KeyEntrySize,
	nicspec.TableRule: nicspec.RuleEntrySize,
}

// tables lists them in order.
var tables = []nicspec.Table{nicspec.TableRxq, nicspec.TableTxq, nicspec.TableKey, nicspec.TableRule}

func (r *rig) entries(t nicspec.Table) int {
	return map[nicspec.Table]int{
		nicspec.TableRxq: r.sizes.NumRxq, nicspec.TableTxq: r.sizes.NumTxq, nicspec.TableKey: r.sizes.NumKeys,
		nicspec.TableRule: r.sizes.NumRules,
	}[t]
}

// pattern fills n bytes that differ from those of other seeds.
func pattern(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0x7061))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

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
		for _, t := range []nicspec.Table{nicspec.TableIndirection, nicspec.TableAccount, nicspec.TablePortCfg} {
			all = append(all, refusal{op, t, 0, nicspec.TableStatusNotBuilt}, refusal{op, t, 0xffff, nicspec.TableStatusNotBuilt})
		}
		for _, t := range tables {
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
	for _, t := range tables {
		for _, i := range []int{0, 1, r.entries(t) - 1} {
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

func goodRxq() nicspec.RxqEntryFields {
	return nicspec.RxqEntryFields{Enable: 1, SplitMode: nicspec.SplitModeHeaders, LogSize: 4, HdrBufSize: 128, PayBufSize: 2048,
		RingBase: 0x10000, CqBase: 0x20000}
}

// valueCase is a change of an entry that is good, and what becomes of it.
type valueCase[F any] struct {
	name string
	mod  func(*F)
	want nicspec.TableStatus
}

const (
	tblOk   = nicspec.TableStatusOk
	tblBad  = nicspec.TableStatusBadValue
	tblLate = nicspec.TableStatusNotBuilt
)

func rxqValues(r *rig) {
	type f = nicspec.RxqEntryFields
	for i, c := range []valueCase[f]{
		{"enable 2", func(e *f) { e.Enable = 2 }, tblBad},
		{"enable 255", func(e *f) { e.Enable = 255 }, tblBad},
		{"split_mode 3", func(e *f) { e.SplitMode = 3 }, tblBad},
		{"split_mode 255", func(e *f) { e.SplitMode = 255 }, tblBad},
		{"log_size 0", func(e *f) { e.LogSize = 0 }, tblBad},
		{"log_size 1", func(e *f) { e.LogSize = 1 }, tblBad},
		{"log_size 2", func(e *f) { e.LogSize = 2 }, tblOk},
		{"log_size 15", func(e *f) { e.LogSize = 15 }, tblOk},
		{"log_size 16", func(e *f) { e.LogSize = 16 }, tblBad},
		{"log_size 18", func(e *f) { e.LogSize = 18 }, tblBad},
		{"log_size 255", func(e *f) { e.LogSize = 255 }, tblBad},
		{"ring_base odd", func(e *f) { e.RingBase++ }, tblBad},
		{"ring_base by 32", func(e *f) { e.RingBase += 32 }, tblBad},
		{"cq_base by 8", func(e *f) { e.CqBase += 8 }, tblBad},
		{"bases high", func(e *f) { e.RingBase, e.CqBase = 0xffff_ffff_ffff_ffc0, 0x0123_4567_89ab_cdc0 }, tblOk},
		{"pay_buf_size 0", func(e *f) { e.PayBufSize = 0 }, tblBad},
		{"hdr_buf_size 0 with Headers", func(e *f) { e.HdrBufSize = 0 }, tblBad},
		{"hdr_buf_size 0 with Fixed", func(e *f) { e.HdrBufSize, e.SplitMode = 0, nicspec.SplitModeFixed }, tblBad},
		{"hdr_buf_size 0 with None", func(e *f) { e.HdrBufSize, e.SplitMode = 0, nicspec.SplitModeNone }, tblOk},
		{"split_len 0 with Fixed", func(e *f) { e.SplitLen, e.SplitMode = 0, nicspec.SplitModeFixed }, tblOk},
		{"msix_addr", func(e *f) { e.MsixAddr = 1 << 63 }, tblLate},
		{"crc_mode", func(e *f) { e.CrcMode = 1 }, tblLate},
		{"ecn_mode", func(e *f) { e.EcnMode = 0x80 }, tblLate},
		{"later and bad", func(e *f) { e.EcnMode, e.LogSize = 1, 1 }, tblBad},
		{"later, ignored", func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 }, tblOk},
		{"read-only", func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, tblOk},
	} {
		e := goodRxq()
		c.mod(&e)
		q := i % r.sizes.NumRxq
		want := e
		want.State, want.Error, want.Pi, want.Ci, want.Cqi = nicspec.QueueStateRun, 0, 0, 0, 0
		want.MsixAddr, want.MsixData, want.ModCount, want.ModCycles, want.CrcMode, want.EcnMode = 0, 0, 0, 0, 0, 0
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableRxq, q, c.name, c.want, encode(&e, nicspec.RxqEntrySize), encode(&want, nicspec.RxqEntrySize),
			encode(&off, nicspec.RxqEntrySize), e.Enable > 1)
	}
}

func txqValues(r *rig) {
	type f = nicspec.TxqEntryFields
	for i, c := range []valueCase[f]{
		{"enable 2", func(e *f) { e.Enable = 2 }, tblBad},
		{"enable 129", func(e *f) { e.Enable = 129 }, tblBad},
		{"log_size 1", func(e *f) { e.LogSize = 1 }, tblBad},
		{"log_size 2", func(e *f) { e.LogSize = 2 }, tblOk},
		{"log_size 15", func(e *f) { e.LogSize = 15 }, tblOk},
		{"log_size 16", func(e *f) { e.LogSize = 16 }, tblBad},
		{"log_size 130", func(e *f) { e.LogSize = 130 }, tblBad},
		{"ring_base by 16", func(e *f) { e.RingBase += 16 }, tblBad},
		{"cq_base by 4", func(e *f) { e.CqBase += 4 }, tblBad},
		{"msix_addr", func(e *f) { e.MsixAddr = 1 }, tblLate},
		{"ecn_mode", func(e *f) { e.EcnMode = 1 }, tblLate},
		{"later and bad", func(e *f) { e.MsixAddr, e.CqBase = 1, 1 }, tblBad},
		{"later, ignored", func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 }, tblOk},
		{"read-only", func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, tblOk},
	} {
		e := f{Enable: 1, LogSize: 4, RingBase: 0x10000, CqBase: 0x20000}
		c.mod(&e)
		want := f{Enable: e.Enable, LogSize: e.LogSize, State: nicspec.QueueStateRun, RingBase: e.RingBase, CqBase: e.CqBase}
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableTxq, i%r.sizes.NumTxq, c.name, c.want, encode(&e, nicspec.TxqEntrySize),
			encode(&want, nicspec.TxqEntrySize), encode(&off, nicspec.TxqEntrySize), e.Enable > 1)
	}
}

// checkValue writes an entry with enable 1, which is taken or refused, and then with enable 0, which is always taken.
func checkValue(r *rig, t nicspec.Table, q int, name string, want nicspec.TableStatus, entry, on, off []byte, strange bool) {
	r.t.Helper()
	before := r.entry(t, q)
	require.Equal(r.t, want, r.command(nicspec.TableOpWrite, t, q, entry), name)
	if want == tblOk {
		require.Equal(r.t, on, r.entry(t, q)[:len(on)], "%s: as it reads", name)
		r.disable(t, q)
	} else {
		require.Equal(r.t, before, r.entry(t, q), "%s: a refused command changes nothing", name)
	}
	if strange {
		return
	}
	entry[0] = 0
	require.Equal(r.t, tblOk, r.command(nicspec.TableOpWrite, t, q, entry), "%s, with enable 0", name)
	require.Equal(r.t, off, r.entry(t, q)[:len(off)], "%s, with enable 0", name)
}

func keyValues(r *rig) {
	type f = nicspec.KeyEntryFields
	for i, c := range []valueCase[f]{
		{"good", func(*f) {}, tblOk},
		{"valid 2", func(e *f) { e.Valid = 2 }, tblBad},
		{"valid 255", func(e *f) { e.Valid = 255 }, tblBad},
		{"up to the last address", func(e *f) { e.VaBase, e.Length = 0xffff_ffff_ffff_f000, 0x1000 }, tblOk},
		{"beyond the last address", func(e *f) { e.VaBase, e.Length = 0xffff_ffff_ffff_f000, 0x1001 }, tblBad},
		{"length 0 at the last address", func(e *f) { e.VaBase, e.Length = ^uint64(0), 0 }, tblOk},
		{"length 1 at the last address", func(e *f) { e.VaBase, e.Length = ^uint64(0), 1 }, tblOk},
		{"length 2 at the last address", func(e *f) { e.VaBase, e.Length = ^uint64(0), 2 }, tblBad},
		{"a whole endpoint", func(e *f) { e.BusBase, e.Length, e.VaBase = 1<<56, 1<<56, 0 }, tblOk},
		{"more than an endpoint", func(e *f) { e.BusBase, e.Length, e.VaBase = 1<<56, 1<<56+1, 0 }, tblBad},
		{"to the end of an endpoint", func(e *f) { e.BusBase, e.Length = 1<<56-4096, 4096 }, tblOk},
		{"into the next endpoint", func(e *f) { e.BusBase, e.Length = 1<<56-4096, 4097 }, tblBad},
		{"the last endpoint", func(e *f) { e.BusBase, e.Length = 0xffff_ffff_ffff_ff00, 256 }, tblOk},
		{"beyond the last endpoint", func(e *f) { e.BusBase, e.Length = 0xffff_ffff_ffff_ff00, 257 }, tblBad},
		{"every length", func(e *f) { e.BusBase, e.VaBase, e.Length = 0, 0, ^uint64(0) }, tblBad},
		{"bad though not valid", func(e *f) { e.Valid, e.BusBase, e.Length = 0, 1<<56-1, 2 }, tblBad},
		{"not valid", func(e *f) { e.Valid = 0 }, tblOk},
		{"no rights", func(e *f) { e.RightRead, e.RightWrite = false, false }, tblOk},
	} {
		e := f{Valid: 1, RightRead: true, RightWrite: true, Variant: 0xa5, VaBase: 0x1234_5678_9abc, Length: 77777, BusBase: 1<<56 | 0x4321}
		c.mod(&e)
		index := i * 14 % r.sizes.NumKeys
		before := r.entry(nicspec.TableKey, index)
		b := encode(&e, nicspec.KeyEntrySize)
		b[1] |= 0xfc // reserved
		b[3], b[7] = 0xff, 0xff
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableKey, index, b), c.name)
		if c.want == tblOk {
			before = append(encode(&e, nicspec.KeyEntrySize), make([]byte, 96)...)
		}
		require.Equal(r.t, before, r.entry(nicspec.TableKey, index), c.name)
	}
}

func ruleValues(r *rig) {
	type f = nicspec.RuleEntryFields
	for i, c := range []valueCase[f]{
		{"good", func(*f) {}, tblOk},
		{"drop", func(e *f) { e.Action = nicspec.ActionDrop }, tblOk},
		{"valid 2", func(e *f) { e.Valid = 2 }, tblBad},
		{"not valid", func(e *f) { e.Valid = 0 }, tblOk},
		{"not valid and bad", func(e *f) { e.Valid, e.Action = 0, 3 }, tblBad},
		{"action 3", func(e *f) { e.Action = 3 }, tblBad},
		{"action 255", func(e *f) { e.Action = 255 }, tblBad},
		{"action Rss", func(e *f) { e.Action = nicspec.ActionRss }, tblLate},
		{"action Rss, queue beyond", func(e *f) { e.Action, e.Queue = nicspec.ActionRss, 0x100 }, tblBad},
		{"the last queue", func(e *f) { e.Queue = uint16(r.sizes.NumRxq - 1) }, tblOk},
		{"queue beyond", func(e *f) { e.Queue = uint16(r.sizes.NumRxq) }, tblBad},
		{"queue beyond, drop", func(e *f) { e.Queue, e.Action = 0xffff, nicspec.ActionDrop }, tblBad},
		{"account_en", func(e *f) { e.AccountEn = 1 }, tblLate},
		{"account_en and bad", func(e *f) { e.AccountEn, e.Valid = 1, 9 }, tblBad},
		{"later, ignored", func(e *f) { e.Account, e.SlowQueue = 0xff, 0xffff }, tblOk},
	} {
		e := f{Valid: 1, Action: nicspec.ActionQueue, Queue: 3}
		copy(e.Value[:], pattern(nicspec.SteerKeySize, uint64(i)))
		copy(e.Mask[:], pattern(nicspec.SteerKeySize, uint64(i)+1000))
		c.mod(&e)
		index := i * 4 % r.sizes.NumRules
		before := r.entry(nicspec.TableRule, index)
		b := encode(&e, nicspec.RuleEntrySize)
		for k := 120; k < 128; k++ {
			b[k] = 0xff // reserved
		}
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableRule, index, b), c.name)
		if c.want == tblOk {
			e.Account, e.SlowQueue = 0, 0
			before = encode(&e, nicspec.RuleEntrySize)
		}
		require.Equal(r.t, before, r.entry(nicspec.TableRule, index), c.name)
	}
}

// writtenEntries writes every entry of every table and reads them all back: none is another's.
func writtenEntries(r *rig) {
	const some = 24
	want := map[nicspec.Table]map[int][]byte{}
	for _, t := range tables {
		want[t] = map[int][]byte{}
		n := r.entries(t)
		for k := range min(n, some) {
			i := k * n / min(n, some)
			e := goodEntry(t, uint64(i)<<8|uint64(t))
			r.commit(t, i, e)
			want[t][i] = e
		}
	}
	for _, t := range tables {
		for k := range min(r.entries(t), some) {
			i := k * r.entries(t) / min(r.entries(t), some)
			require.Equal(r.t, want[t][i], r.entry(t, i)[:entryBytes[t]], "%v %d", t, i)
		}
	}
}

// goodEntry is an entry with random fields that reads back as written.
func goodEntry(t nicspec.Table, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 3))
	switch t {
	case nicspec.TableRxq: // enable 0: anything goes
		return encode(&nicspec.RxqEntryFields{SplitMode: nicspec.SplitMode(rng.Uint32()), LogSize: uint8(rng.Uint32()),
			SplitLen: uint16(rng.Uint32()), HdrBufSize: uint16(rng.Uint32()), PayBufSize: uint16(rng.Uint32()),
			RingBase: rng.Uint64(), CqBase: rng.Uint64()}, nicspec.RxqEntrySize)
	case nicspec.TableTxq:
		return encode(&nicspec.TxqEntryFields{LogSize: uint8(rng.Uint32()), RingBase: rng.Uint64(), CqBase: rng.Uint64()}, nicspec.TxqEntrySize)
	case nicspec.TableKey:
		return encode(&nicspec.KeyEntryFields{Valid: uint8(rng.IntN(2)), RightRead: rng.IntN(2) > 0, RightWrite: rng.IntN(2) > 0,
			Variant: uint8(rng.Uint32()), VaBase: rng.Uint64() >> 1, Length: rng.Uint64() >> 9, BusBase: rng.Uint64() &^ (1 << 55)},
			nicspec.KeyEntrySize)
	}
	f := nicspec.RuleEntryFields{Action: nicspec.Action(rng.IntN(2)), Queue: uint16(rng.IntN(4)), Valid: uint8(rng.IntN(2))}
	copy(f.Value[:], pattern(nicspec.SteerKeySize, seed))
	copy(f.Mask[:], pattern(nicspec.SteerKeySize, seed+1))
	return encode(&f, nicspec.RuleEntrySize)
}

// wordsBeyond holds that words of TBL_DATA beyond an entry are ignored by Write and zeroed by Read.
func wordsBeyond(r *rig) {
	for _, t := range tables {
		e := append(goodEntry(t, 9), pattern(4*nicspec.TableWords-entryBytes[t], 4)...)
		r.commit(t, 2, e)
		require.Equal(r.t, e, r.staged(), "%v: Write leaves TBL_DATA alone", t)
		got := r.entry(t, 2)
		require.Equal(r.t, append(e[:entryBytes[t]:entryBytes[t]], make([]byte, 4*nicspec.TableWords-entryBytes[t])...), got, "%v", t)
	}
}

func enabledQueues(r *rig) {
	for _, t := range tables[:2] {
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
		at, bell = x.at(0), nicspec.RegRxDoorbell(2)
		for range 4 {
			r.put(x, r.alloc(0, 9216, 64), r.alloc(1, 9216, 64))
		}
	} else {
		at = r.openTx(2, 2).at(0)
	}
	require.NoError(r.t, r.root.Faults.Add(host.Fault{From: at, To: at + 64*4, Delay: wait * cycles}))
	begin := r.b.Engine.Now()
	r.write(bell, 4)
	r.until("the ring is read", func() bool { return r.root.Faults.Hits() > 0 })
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
	r.synced()
	require.Equal(r.t, append(off, make([]byte, 64)...), r.staged(), "writes of TBL_DATA have no effect while busy")
	require.True(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy())
	require.Equal(r.t, tblOk, r.commandEnd())
	require.Equal(r.t, commandWord(nicspec.TableOpWrite, t, 2), r.read(nicspec.RegTblCmd))
	require.Greater(r.t, r.b.Engine.Now()-begin, simcore.Ps(wait)*cycles)
	r.quiet()
	r.moved("writes while busy", before, steps{dev(nicspec.CntRegBad): 5, dev(nicspec.CntTxWqe): free})
	got := r.entry(t, 2)
	require.Equal(r.t, off[16:32], got[16:32], "the fields of the disabling entry are stored")
	require.Equal(r.t, make([]byte, 4), got[:4])
}

// commandsEnd holds that any other command ends within 64 cycles: a read that is accepted later shows it ended.
func commandsEnd(r *rig) {
	for i := range 40 {
		t := tables[i%4]
		r.stage(goodEntry(t, uint64(i)))
		r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpWrite, t, 1))
		r.write(nicspec.RegScratch, uint32(i))
		require.EqualValues(r.t, i, r.read(nicspec.RegScratch)) // so the command was accepted before this time
		r.run(nicspec.VisibleCycles)
		require.False(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy())
	}
}
