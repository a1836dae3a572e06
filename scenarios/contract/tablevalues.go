package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

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
	tblOk  = nicspec.TableStatusOk
	tblBad = nicspec.TableStatusBadValue
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
		{"msix_addr", func(e *f) { e.MsixAddr = 1 << 63 }, r.late(nicspec.PartMsix, tblOk)},
		{"msix_addr odd", func(e *f) { e.MsixAddr = 1<<40 | 2 }, r.late(nicspec.PartMsix, tblBad)},
		{"crc_mode 1", func(e *f) { e.CrcMode = 1 }, r.late(nicspec.PartCrc32c, tblOk)},
		{"crc_mode 2", func(e *f) { e.CrcMode = 2 }, r.late(nicspec.PartCrc32c, tblOk)},
		{"crc_mode 3", func(e *f) { e.CrcMode = 3 }, r.late(nicspec.PartCrc32c, tblBad)},
		{"ecn_mode 1", func(e *f) { e.EcnMode = 1 }, r.late(nicspec.PartEcn, tblOk)},
		{"ecn_mode 2", func(e *f) { e.EcnMode = 2 }, r.late(nicspec.PartEcn, tblBad)},
		{"ecn_mode 128", func(e *f) { e.EcnMode = 0x80 }, r.late(nicspec.PartEcn, tblBad)},
		{"trim 1", func(e *f) { e.Trim = 1 }, r.late(nicspec.PartTrim, tblOk)},
		{"trim 2", func(e *f) { e.Trim = 2 }, r.late(nicspec.PartTrim, tblBad)},
		{"trim 255", func(e *f) { e.Trim = 255 }, r.late(nicspec.PartTrim, tblBad)},
		{"trim and bad", func(e *f) { e.Trim, e.LogSize = 1, 1 }, tblBad},
		{"later and bad", func(e *f) { e.EcnMode, e.LogSize = 1, 1 }, tblBad},
		{"of messages, ignored", func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 }, tblOk},
		{"read-only", func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, tblOk},
	} {
		e := goodRxq()
		c.mod(&e)
		q := i % r.sizes.NumRxq
		want := e
		want.State, want.Error, want.Pi, want.Ci, want.Cqi = nicspec.QueueStateRun, 0, 0, 0, 0
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableRxq, q, c.name, c.want, encode(&e, nicspec.RxqEntrySize), r.built(&nicspec.RxqEntryInfo, encode(&want, nicspec.RxqEntrySize)),
			r.built(&nicspec.RxqEntryInfo, encode(&off, nicspec.RxqEntrySize)), e.Enable > 1)
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
		{"msix_addr odd", func(e *f) { e.MsixAddr = 1 }, r.late(nicspec.PartMsix, tblBad)},
		{"msix_addr", func(e *f) { e.MsixAddr = 4 }, r.late(nicspec.PartMsix, tblOk)},
		{"ecn_mode 3", func(e *f) { e.EcnMode = 3 }, r.late(nicspec.PartEcn, tblOk)},
		{"ecn_mode 4", func(e *f) { e.EcnMode = 4 }, r.late(nicspec.PartEcn, tblBad)},
		{"pfc_class 7", func(e *f) { e.PfcClass = 7 }, r.late(nicspec.PartPause, tblOk)},
		{"pfc_class 8", func(e *f) { e.PfcClass = 8 }, r.late(nicspec.PartPause, tblBad)},
		{"pfc_class 255", func(e *f) { e.PfcClass = 255 }, r.late(nicspec.PartPause, tblBad)},
		{"pfc_class and bad", func(e *f) { e.PfcClass, e.LogSize = 7, 1 }, tblBad},
		{"later and bad", func(e *f) { e.MsixAddr, e.CqBase = 1, 1 }, tblBad},
		{"of messages, ignored", func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 }, tblOk},
		{"read-only", func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, tblOk},
	} {
		e := f{Enable: 1, LogSize: 4, RingBase: 0x10000, CqBase: 0x20000}
		c.mod(&e)
		want := e
		want.State, want.Error, want.Pi, want.Ci, want.Cqi = nicspec.QueueStateRun, 0, 0, 0, 0
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableTxq, i%r.sizes.NumTxq, c.name, c.want, encode(&e, nicspec.TxqEntrySize),
			r.built(&nicspec.TxqEntryInfo, encode(&want, nicspec.TxqEntrySize)), r.built(&nicspec.TxqEntryInfo, encode(&off, nicspec.TxqEntrySize)), e.Enable > 1)
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
		{"beyond the last address though not valid", func(e *f) { e.Valid, e.VaBase, e.Length = 0, ^uint64(0), 2 }, tblBad},
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
		{"action Rss", func(e *f) { e.Action, e.Queue = nicspec.ActionRss, 1 }, r.late(nicspec.PartRss, tblOk)},
		{"action Rss, queue beyond", func(e *f) { e.Action, e.Queue = nicspec.ActionRss, 0x100 }, tblBad},
		{"the last queue", func(e *f) { e.Queue = uint16(r.sizes.NumRxq - 1) }, tblOk},
		{"queue beyond", func(e *f) { e.Queue = uint16(r.sizes.NumRxq) }, tblBad},
		{"queue beyond, drop", func(e *f) { e.Queue, e.Action = 0xffff, nicspec.ActionDrop }, tblBad},
		{"account_en", func(e *f) { e.AccountEn = 1 }, r.late(nicspec.PartAccounts, tblOk)},
		{"account_en and bad", func(e *f) { e.AccountEn, e.Valid = 1, 9 }, tblBad},
		{"of accounts and RSS, ignored", func(e *f) { e.Account, e.SlowQueue, e.RssLog = 0xff, 0xffff, 0xff }, tblOk},
	} {
		e := f{Valid: 1, Action: nicspec.ActionQueue, Queue: 3}
		copy(e.Value[:], pattern(nicspec.SteerKeySize, uint64(i)))
		copy(e.Mask[:], pattern(nicspec.SteerKeySize, uint64(i)+1000))
		c.mod(&e)
		index := i * 4 % r.sizes.NumRules
		before := r.entry(nicspec.TableRule, index)
		b := encode(&e, nicspec.RuleEntrySize)
		for k := 121; k < 128; k++ {
			b[k] = 0xff // reserved
		}
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableRule, index, b), c.name)
		if c.want == tblOk {
			before = r.built(&nicspec.RuleEntryInfo, encode(&e, nicspec.RuleEntrySize))
		}
		require.Equal(r.t, before, r.entry(nicspec.TableRule, index), c.name)
	}
}
