package registers

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

func goodRxq() nicspec.RxqEntryFields {
	return nicspec.RxqEntryFields{Enable: 1, SplitMode: nicspec.SplitModeHeaders, LogSize: 4, HdrBufSize: 128,
		PayBufSize: 2048,
		RingBase:   0x10000, CqBase: 0x20000}
}

func rxqValues(r *kit.Rig) {
	type f = nicspec.RxqEntryFields
	for i, c := range []kit.ValueCase[f]{
		{Name: "enable 2", Mod: func(e *f) { e.Enable = 2 }, Want: kit.TableBad},
		{Name: "enable 255", Mod: func(e *f) { e.Enable = 255 }, Want: kit.TableBad},
		{Name: "split_mode 3", Mod: func(e *f) { e.SplitMode = 3 }, Want: kit.TableBad},
		{Name: "split_mode 255", Mod: func(e *f) { e.SplitMode = 255 }, Want: kit.TableBad},
		{Name: "log_size 0", Mod: func(e *f) { e.LogSize = 0 }, Want: kit.TableBad},
		{Name: "log_size 1", Mod: func(e *f) { e.LogSize = 1 }, Want: kit.TableBad},
		{Name: "log_size 2", Mod: func(e *f) { e.LogSize = 2 }, Want: kit.TableOk},
		{Name: "log_size 15", Mod: func(e *f) { e.LogSize = 15 }, Want: kit.TableOk},
		{Name: "log_size 16", Mod: func(e *f) { e.LogSize = 16 }, Want: kit.TableBad},
		{Name: "log_size 18", Mod: func(e *f) { e.LogSize = 18 }, Want: kit.TableBad},
		{Name: "log_size 255", Mod: func(e *f) { e.LogSize = 255 }, Want: kit.TableBad},
		{Name: "ring_base odd", Mod: func(e *f) { e.RingBase++ }, Want: kit.TableBad},
		{Name: "ring_base by 32", Mod: func(e *f) { e.RingBase += 32 }, Want: kit.TableBad},
		{Name: "cq_base by 8", Mod: func(e *f) { e.CqBase += 8 }, Want: kit.TableBad},
		{Name: "bases high", Mod: func(e *f) { e.RingBase, e.CqBase = 0xffff_ffff_ffff_ffc0, 0x0123_4567_89ab_cdc0 },
			Want: kit.TableOk},
		{Name: "pay_buf_size 0", Mod: func(e *f) { e.PayBufSize = 0 }, Want: kit.TableBad},
		{Name: "hdr_buf_size 0 with Headers", Mod: func(e *f) { e.HdrBufSize = 0 }, Want: kit.TableBad},
		{Name: "hdr_buf_size 0 with Fixed", Mod: func(e *f) { e.HdrBufSize, e.SplitMode = 0, nicspec.SplitModeFixed },
			Want: kit.TableBad},
		{Name: "hdr_buf_size 0 with None", Mod: func(e *f) { e.HdrBufSize, e.SplitMode = 0, nicspec.SplitModeNone },
			Want: kit.TableOk},
		{Name: "split_len 0 with Fixed", Mod: func(e *f) { e.SplitLen, e.SplitMode = 0, nicspec.SplitModeFixed },
			Want: kit.TableOk},
		{Name: "msix_addr", Mod: func(e *f) { e.MsixAddr = 1 << 63 }, Want: r.IfBuilt(nicspec.PartMsix, kit.TableOk)},
		{Name: "msix_addr odd", Mod: func(e *f) { e.MsixAddr = 1<<40 | 2 },
			Want: r.IfBuilt(nicspec.PartMsix, kit.TableBad)},
		{Name: "crc_mode 1", Mod: func(e *f) { e.CrcMode = 1 }, Want: r.IfBuilt(nicspec.PartCrc32c, kit.TableOk)},
		{Name: "crc_mode 2", Mod: func(e *f) { e.CrcMode = 2 }, Want: r.IfBuilt(nicspec.PartCrc32c, kit.TableOk)},
		{Name: "crc_mode 3", Mod: func(e *f) { e.CrcMode = 3 }, Want: r.IfBuilt(nicspec.PartCrc32c, kit.TableBad)},
		{Name: "ecn_mode 1", Mod: func(e *f) { e.EcnMode = 1 }, Want: r.IfBuilt(nicspec.PartEcn, kit.TableOk)},
		{Name: "ecn_mode 2", Mod: func(e *f) { e.EcnMode = 2 }, Want: r.IfBuilt(nicspec.PartEcn, kit.TableBad)},
		{Name: "ecn_mode 128", Mod: func(e *f) { e.EcnMode = 0x80 }, Want: r.IfBuilt(nicspec.PartEcn, kit.TableBad)},
		{Name: "trim 1", Mod: func(e *f) { e.Trim = 1 }, Want: r.IfBuilt(nicspec.PartTrim, kit.TableOk)},
		{Name: "trim 2", Mod: func(e *f) { e.Trim = 2 }, Want: r.IfBuilt(nicspec.PartTrim, kit.TableBad)},
		{Name: "trim 255", Mod: func(e *f) { e.Trim = 255 }, Want: r.IfBuilt(nicspec.PartTrim, kit.TableBad)},
		{Name: "trim and bad", Mod: func(e *f) { e.Trim, e.LogSize = 1, 1 }, Want: kit.TableBad},
		{Name: "later and bad", Mod: func(e *f) { e.EcnMode, e.LogSize = 1, 1 }, Want: kit.TableBad},
		{Name: "of messages, ignored", Mod: func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 },
			Want: kit.TableOk},
		{Name: "read-only", Mod: func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, Want: kit.TableOk},
	} {
		e := goodRxq()
		c.Mod(&e)
		q := i % r.Sizes.NumRxq
		want := e
		want.State, want.Error, want.Pi, want.Ci, want.Cqi = nicspec.QueueStateRun, 0, 0, 0, 0
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableRxq, q, c.Name, c.Want, kit.Encode(&e, nicspec.RxqEntrySize),
			r.Built(&nicspec.RxqEntryInfo, kit.Encode(&want, nicspec.RxqEntrySize)),
			r.Built(&nicspec.RxqEntryInfo, kit.Encode(&off, nicspec.RxqEntrySize)), e.Enable > 1)
	}
}

func txqValues(r *kit.Rig) {
	type f = nicspec.TxqEntryFields
	for i, c := range []kit.ValueCase[f]{
		{Name: "enable 2", Mod: func(e *f) { e.Enable = 2 }, Want: kit.TableBad},
		{Name: "enable 129", Mod: func(e *f) { e.Enable = 129 }, Want: kit.TableBad},
		{Name: "log_size 1", Mod: func(e *f) { e.LogSize = 1 }, Want: kit.TableBad},
		{Name: "log_size 2", Mod: func(e *f) { e.LogSize = 2 }, Want: kit.TableOk},
		{Name: "log_size 15", Mod: func(e *f) { e.LogSize = 15 }, Want: kit.TableOk},
		{Name: "log_size 16", Mod: func(e *f) { e.LogSize = 16 }, Want: kit.TableBad},
		{Name: "log_size 130", Mod: func(e *f) { e.LogSize = 130 }, Want: kit.TableBad},
		{Name: "ring_base by 16", Mod: func(e *f) { e.RingBase += 16 }, Want: kit.TableBad},
		{Name: "cq_base by 4", Mod: func(e *f) { e.CqBase += 4 }, Want: kit.TableBad},
		{Name: "msix_addr odd", Mod: func(e *f) { e.MsixAddr = 1 }, Want: r.IfBuilt(nicspec.PartMsix, kit.TableBad)},
		{Name: "msix_addr", Mod: func(e *f) { e.MsixAddr = 4 }, Want: r.IfBuilt(nicspec.PartMsix, kit.TableOk)},
		{Name: "ecn_mode 3", Mod: func(e *f) { e.EcnMode = 3 }, Want: r.IfBuilt(nicspec.PartEcn, kit.TableOk)},
		{Name: "ecn_mode 4", Mod: func(e *f) { e.EcnMode = 4 }, Want: r.IfBuilt(nicspec.PartEcn, kit.TableBad)},
		{Name: "pfc_class 7", Mod: func(e *f) { e.PfcClass = 7 }, Want: r.IfBuilt(nicspec.PartPause, kit.TableOk)},
		{Name: "pfc_class 8", Mod: func(e *f) { e.PfcClass = 8 }, Want: r.IfBuilt(nicspec.PartPause, kit.TableBad)},
		{Name: "pfc_class 255", Mod: func(e *f) { e.PfcClass = 255 }, Want: r.IfBuilt(nicspec.PartPause, kit.TableBad)},
		{Name: "pfc_class and bad", Mod: func(e *f) { e.PfcClass, e.LogSize = 7, 1 }, Want: kit.TableBad},
		{Name: "later and bad", Mod: func(e *f) { e.MsixAddr, e.CqBase = 1, 1 }, Want: kit.TableBad},
		{Name: "of messages, ignored", Mod: func(e *f) { e.MsixData, e.ModCount, e.ModCycles = 1, 2, 3 },
			Want: kit.TableOk},
		{Name: "read-only", Mod: func(e *f) { e.State, e.Error, e.Pi, e.Ci, e.Cqi = 9, 9, 9, 9, 9 }, Want: kit.TableOk},
	} {
		e := f{Enable: 1, LogSize: 4, RingBase: 0x10000, CqBase: 0x20000}
		c.Mod(&e)
		want := e
		want.State, want.Error, want.Pi, want.Ci, want.Cqi = nicspec.QueueStateRun, 0, 0, 0, 0
		off := want
		off.Enable, off.State = 0, nicspec.QueueStateOff
		checkValue(r, nicspec.TableTxq, i%r.Sizes.NumTxq, c.Name, c.Want, kit.Encode(&e, nicspec.TxqEntrySize),
			r.Built(&nicspec.TxqEntryInfo, kit.Encode(&want, nicspec.TxqEntrySize)),
			r.Built(&nicspec.TxqEntryInfo, kit.Encode(&off, nicspec.TxqEntrySize)), e.Enable > 1)
	}
}

// checkValue writes an entry with enable 1, which must have the expected status, and then with enable 0, which must be
// accepted.
func checkValue(r *kit.Rig, t nicspec.Table, q int, name string, want nicspec.TableStatus, entry, on, off []byte,
	strange bool) {
	r.T.Helper()
	before := r.Entry(t, q)
	require.Equal(r.T, want, r.Command(nicspec.TableOpWrite, t, q, entry), name)
	if want == kit.TableOk {
		require.Equal(r.T, on, r.Entry(t, q)[:len(on)], "%s: entry as read back", name)
		r.Disable(t, q)
	} else {
		require.Equal(r.T, before, r.Entry(t, q), "%s: a refused command changes nothing", name)
	}
	if strange {
		return
	}
	entry[0] = 0
	require.Equal(r.T, kit.TableOk, r.Command(nicspec.TableOpWrite, t, q, entry), "%s, with enable 0", name)
	require.Equal(r.T, off, r.Entry(t, q)[:len(off)], "%s, with enable 0", name)
}

func keyValues(r *kit.Rig) {
	type f = nicspec.KeyEntryFields
	for i, c := range []kit.ValueCase[f]{
		{Name: "good", Mod: func(*f) {}, Want: kit.TableOk},
		{Name: "valid 2", Mod: func(e *f) { e.Valid = 2 }, Want: kit.TableBad},
		{Name: "valid 255", Mod: func(e *f) { e.Valid = 255 }, Want: kit.TableBad},
		{Name: "up to the last address", Mod: func(e *f) { e.VaBase, e.Length = 0xffff_ffff_ffff_f000, 0x1000 },
			Want: kit.TableOk},
		{Name: "beyond the last address", Mod: func(e *f) { e.VaBase, e.Length = 0xffff_ffff_ffff_f000, 0x1001 },
			Want: kit.TableBad},
		{Name: "length 0 at the last address", Mod: func(e *f) { e.VaBase, e.Length = ^uint64(0), 0 },
			Want: kit.TableOk},
		{Name: "length 1 at the last address", Mod: func(e *f) { e.VaBase, e.Length = ^uint64(0), 1 },
			Want: kit.TableOk},
		{Name: "length 2 at the last address", Mod: func(e *f) { e.VaBase, e.Length = ^uint64(0), 2 },
			Want: kit.TableBad},
		{Name: "a whole endpoint", Mod: func(e *f) { e.BusBase, e.Length, e.VaBase = 1<<56, 1<<56, 0 },
			Want: kit.TableOk},
		{Name: "more than an endpoint", Mod: func(e *f) { e.BusBase, e.Length, e.VaBase = 1<<56, 1<<56+1, 0 },
			Want: kit.TableBad},
		{Name: "to the end of an endpoint", Mod: func(e *f) { e.BusBase, e.Length = 1<<56-4096, 4096 },
			Want: kit.TableOk},
		{Name: "into the next endpoint", Mod: func(e *f) { e.BusBase, e.Length = 1<<56-4096, 4097 },
			Want: kit.TableBad},
		{Name: "the last endpoint", Mod: func(e *f) { e.BusBase, e.Length = 0xffff_ffff_ffff_ff00, 256 },
			Want: kit.TableOk},
		{Name: "beyond the last endpoint", Mod: func(e *f) { e.BusBase, e.Length = 0xffff_ffff_ffff_ff00, 257 },
			Want: kit.TableBad},
		{Name: "every length", Mod: func(e *f) { e.BusBase, e.VaBase, e.Length = 0, 0, ^uint64(0) },
			Want: kit.TableBad},
		{Name: "bad though not valid", Mod: func(e *f) { e.Valid, e.BusBase, e.Length = 0, 1<<56-1, 2 },
			Want: kit.TableBad},
		{Name: "beyond the last address though not valid",
			Mod: func(e *f) { e.Valid, e.VaBase, e.Length = 0, ^uint64(0), 2 }, Want: kit.TableBad},
		{Name: "not valid", Mod: func(e *f) { e.Valid = 0 }, Want: kit.TableOk},
		{Name: "no rights", Mod: func(e *f) { e.RightRead, e.RightWrite = false, false }, Want: kit.TableOk},
	} {
		e := f{Valid: 1, RightRead: true, RightWrite: true, Variant: 0xa5, VaBase: 0x1234_5678_9abc, Length: 77777,
			BusBase: 1<<56 | 0x4321}
		c.Mod(&e)
		index := i * 14 % r.Sizes.NumKeys
		before := r.Entry(nicspec.TableKey, index)
		b := kit.Encode(&e, nicspec.KeyEntrySize)
		b[1] |= 0xfc // reserved
		b[3], b[7] = 0xff, 0xff
		require.Equal(r.T, c.Want, r.Command(nicspec.TableOpWrite, nicspec.TableKey, index, b), c.Name)
		if c.Want == kit.TableOk {
			before = append(kit.Encode(&e, nicspec.KeyEntrySize), make([]byte, 96)...)
		}
		require.Equal(r.T, before, r.Entry(nicspec.TableKey, index), c.Name)
	}
}

func ruleValues(r *kit.Rig) {
	type f = nicspec.RuleEntryFields
	for i, c := range []kit.ValueCase[f]{
		{Name: "good", Mod: func(*f) {}, Want: kit.TableOk},
		{Name: "drop", Mod: func(e *f) { e.Action = nicspec.ActionDrop }, Want: kit.TableOk},
		{Name: "valid 2", Mod: func(e *f) { e.Valid = 2 }, Want: kit.TableBad},
		{Name: "not valid", Mod: func(e *f) { e.Valid = 0 }, Want: kit.TableOk},
		{Name: "not valid and bad", Mod: func(e *f) { e.Valid, e.Action = 0, 3 }, Want: kit.TableBad},
		{Name: "action 3", Mod: func(e *f) { e.Action = 3 }, Want: kit.TableBad},
		{Name: "action 255", Mod: func(e *f) { e.Action = 255 }, Want: kit.TableBad},
		{Name: "action Rss", Mod: func(e *f) { e.Action, e.Queue = nicspec.ActionRss, 1 },
			Want: r.IfBuilt(nicspec.PartRss, kit.TableOk)},
		{Name: "action Rss, queue beyond", Mod: func(e *f) { e.Action, e.Queue = nicspec.ActionRss, 0x100 },
			Want: kit.TableBad},
		{Name: "the last queue", Mod: func(e *f) { e.Queue = uint16(r.Sizes.NumRxq - 1) }, Want: kit.TableOk},
		{Name: "queue beyond", Mod: func(e *f) { e.Queue = uint16(r.Sizes.NumRxq) }, Want: kit.TableBad},
		{Name: "queue beyond, drop", Mod: func(e *f) { e.Queue, e.Action = 0xffff, nicspec.ActionDrop },
			Want: kit.TableBad},
		{Name: "account_en", Mod: func(e *f) { e.AccountEn = 1 }, Want: r.IfBuilt(nicspec.PartAccounts, kit.TableOk)},
		{Name: "account_en and bad", Mod: func(e *f) { e.AccountEn, e.Valid = 1, 9 }, Want: kit.TableBad},
		{Name: "of accounts and RSS, ignored", Mod: func(e *f) {
			e.Account, e.SlowQueue, e.RssLog = 0xff, 0xffff,
				0xff
		}, Want: kit.TableOk},
	} {
		e := f{Valid: 1, Action: nicspec.ActionQueue, Queue: 3}
		copy(e.Value[:], kit.Pattern(nicspec.SteerKeySize, uint64(i)))
		copy(e.Mask[:], kit.Pattern(nicspec.SteerKeySize, uint64(i)+1000))
		c.Mod(&e)
		index := i * 4 % r.Sizes.NumRules
		before := r.Entry(nicspec.TableRule, index)
		b := kit.Encode(&e, nicspec.RuleEntrySize)
		for k := 121; k < 128; k++ {
			b[k] = 0xff // reserved
		}
		require.Equal(r.T, c.Want, r.Command(nicspec.TableOpWrite, nicspec.TableRule, index, b), c.Name)
		if c.Want == kit.TableOk {
			before = r.Built(&nicspec.RuleEntryInfo, kit.Encode(&e, nicspec.RuleEntrySize))
		}
		require.Equal(r.T, before, r.Entry(nicspec.TableRule, index), c.Name)
	}
}
