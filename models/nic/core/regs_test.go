package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

func cmd(op nicspec.TableOp, t nicspec.Table, i int) uint32 {
	return uint32(nicspec.NewTblCmd(op, t, i))
}

// plainSpec returns the default build without optional parts.
func plainSpec() nicspec.Build {
	s := nicspec.DefaultBuild()
	s.Parts = 0
	return s
}

// commit writes an entry of a table by table command and returns the effect of the command.
func (r *Regs) commit(t nicspec.Table, i int, entry []byte) Effect {
	for w := range nicspec.TableWords {
		v := uint32(0)
		for b := range 4 {
			if 4*w+b < len(entry) {
				v |= uint32(entry[4*w+b]) << (8 * b)
			}
		}
		r.Write32(nicspec.RegTblData(w), v)
	}
	return r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpWrite, t, i))
}

func TestRegisterReset(t *testing.T) {
	s := plainSpec()
	s.Ports, s.NumRules = 2, 100
	r := NewRegs(s)
	for off, want := range map[uint32]uint32{
		nicspec.RegId: 0x5443494e, nicspec.RegVersion: 0x20000, nicspec.RegCap0: 100<<16 | 8<<12 | 6<<8 | 6<<4 | 2,
		nicspec.RegCap1: 0, nicspec.RegCtrl: 0, nicspec.RegDevctl: 0x21, nicspec.RegCplTimeout: 65536,
		nicspec.RegRocePort: 4791, nicspec.RegTblCmd: 0, 0x30: 0, nicspec.RegRxDoorbell(0): 0, 0xfffc: 0,
	} {
		require.Equal(t, want, r.Read32(off), "%#x", off)
	}
	require.Equal(t, 256, r.Limits().MPS)
	require.Equal(t, 512, r.Limits().MRRS)
}

func TestRegisterWrites(t *testing.T) {
	r := NewRegs(plainSpec())
	for off, want := range map[uint32]uint32{
		nicspec.RegCtrl: 3, nicspec.RegDevctl: 0x177, nicspec.RegCplTimeout: 0xffffffff, nicspec.RegRxCtrl: 7,
		nicspec.RegRxDefault: 0xffffff, nicspec.RegRocePort: 0xffff, nicspec.RegScratch: 0xffffffff,
		nicspec.RegTblData(31): 0xffffffff, nicspec.RegId: nicspec.DeviceMagic, nicspec.RegCounter(0): 0,
		nicspec.RegRssKey(0): 0, nicspec.RegPortMac(0): 0, nicspec.RegAccountCredit(0): 0, nicspec.RegTxPush(0): 0,
		nicspec.RegStatus: 0,
	} {
		r.Write32(off, 0xffffffff)
		require.Equal(t, want, r.Read32(off), "%#x", off)
	}
	require.Equal(t, 128, r.Limits().MPS, "7 counts as 0")
	r.Write32(nicspec.RegCplTimeout, 5)
	require.EqualValues(t, 1024, r.CplTimeout())
	r.Write32(nicspec.RegDevctl, 0x52)
	require.Equal(t, 512, r.Limits().MPS)
	require.Equal(t, 4096, r.Limits().MRRS)
}

func TestTableCommandChecks(t *testing.T) {
	rxq := func(mod func(*nicspec.RxqEntryFields)) []byte {
		f := nicspec.RxqEntryFields{Enable: 1, LogSize: 2, PayBufSize: 1, RingBase: 64, CqBase: 128}
		mod(&f)
		b := make([]byte, 64)
		f.Encode(b)
		return b
	}
	key := func(f nicspec.KeyEntryFields) []byte { b := make([]byte, 32); f.Encode(b); return b }
	rule := func(f nicspec.RuleEntryFields) []byte { b := make([]byte, 128); f.Encode(b); return b }
	for _, c := range []struct {
		name  string
		table nicspec.Table
		index int
		entry []byte
		want  nicspec.TableStatus
	}{
		{"no table", 7, 0, nil, nicspec.TableStatusBadTable},
		{"later table", nicspec.TableAccount, 999, nil, nicspec.TableStatusNotBuilt},
		{"index", nicspec.TableRule, 64, nil, nicspec.TableStatusBadIndex},
		{"queue", nicspec.TableRxq, 0, rxq(func(*nicspec.RxqEntryFields) {}), nicspec.TableStatusOk},
		{"enabled", nicspec.TableRxq, 0, rxq(func(*nicspec.RxqEntryFields) {}), nicspec.TableStatusEnabled},
		{"enabled before value", nicspec.TableRxq, 0, rxq(func(f *nicspec.RxqEntryFields) { f.LogSize = 1 }),
			nicspec.TableStatusEnabled},
		{"enable 2", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.Enable = 2 }),
			nicspec.TableStatusBadValue},
		{"size 1", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.LogSize = 1 }),
			nicspec.TableStatusBadValue},
		{"size 16", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.LogSize = 16 }),
			nicspec.TableStatusBadValue},
		{"ring", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.RingBase = 32 }),
			nicspec.TableStatusBadValue},
		{"completion ring", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.CqBase = 1 }),
			nicspec.TableStatusBadValue},
		{"buffer", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.PayBufSize = 0 }),
			nicspec.TableStatusBadValue},
		{"split", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.SplitMode = 1 }),
			nicspec.TableStatusBadValue},
		{"mode 3", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = 3, 1 }),
			nicspec.TableStatusBadValue},
		{"msix", nicspec.TableRxq, 1, rxq(func(f *nicspec.RxqEntryFields) { f.MsixAddr = 4 }),
			nicspec.TableStatusNotBuilt},
		{"value before later", nicspec.TableRxq, 1,
			rxq(func(f *nicspec.RxqEntryFields) { f.CrcMode, f.LogSize = 1, 1 }), nicspec.TableStatusBadValue},
		{"disabled is not checked", nicspec.TableRxq, 1,
			rxq(func(f *nicspec.RxqEntryFields) { f.Enable, f.LogSize = 0, 99 }), nicspec.TableStatusOk},
		{"transmit", nicspec.TableTxq, 1, rxq(func(f *nicspec.RxqEntryFields) {}), nicspec.TableStatusOk},
		{"key", nicspec.TableKey, 255,
			key(nicspec.KeyEntryFields{Valid: 1, VaBase: 1<<64 - 5, Length: 5, BusBase: 1<<57 - 5}),
			nicspec.TableStatusOk},
		{"key valid", nicspec.TableKey, 0, key(nicspec.KeyEntryFields{Valid: 2}), nicspec.TableStatusBadValue},
		{"key wraps", nicspec.TableKey, 0, key(nicspec.KeyEntryFields{VaBase: 1<<64 - 5, Length: 6}),
			nicspec.TableStatusBadValue},
		{"key endpoint", nicspec.TableKey, 0, key(nicspec.KeyEntryFields{BusBase: 1<<57 - 5, Length: 6}),
			nicspec.TableStatusBadValue},
		{"rule", nicspec.TableRule, 63, rule(nicspec.RuleEntryFields{Valid: 1, Action: 1, Queue: 63}),
			nicspec.TableStatusOk},
		{"rule queue", nicspec.TableRule, 0, rule(nicspec.RuleEntryFields{Valid: 1, Queue: 64}),
			nicspec.TableStatusBadValue},
		{"rule action", nicspec.TableRule, 0, rule(nicspec.RuleEntryFields{Action: 3}), nicspec.TableStatusBadValue},
		{"rule rss", nicspec.TableRule, 0, rule(nicspec.RuleEntryFields{Action: 2}), nicspec.TableStatusNotBuilt},
		{"rule account", nicspec.TableRule, 0, rule(nicspec.RuleEntryFields{AccountEn: 1}),
			nicspec.TableStatusNotBuilt},
	} {
		r := NewRegs(plainSpec())
		require.Equal(t, nicspec.TableStatusOk, r.commit(nicspec.TableRxq, 0, rxq(func(f *nicspec.RxqEntryFields) {
			if c.name == "queue" {
				f.Enable = 0
			}
		})).Status)
		before := *r
		e := r.commit(c.table, c.index, c.entry)
		require.Equal(t, c.want, e.Status, c.name)
		require.Equal(t, uint32(c.want), nicspec.TblCmdReg(r.Read32(nicspec.RegTblCmd)).Status(), c.name)
		if c.want != nicspec.TableStatusOk {
			require.Equal(t, before.rxq, r.rxq, c.name)
			require.Equal(t, EffectTableRefused, e.Kind)
		}
	}
	r := NewRegs(plainSpec())
	for _, op := range []nicspec.TableOp{0, 3} {
		require.Equal(t, nicspec.TableStatusBadOp, r.Write32(nicspec.RegTblCmd, cmd(op, 99, 0)).Status)
	}
}

func TestEntriesReadBack(t *testing.T) {
	r := NewRegs(plainSpec())
	for _, c := range []struct {
		table nicspec.Table
		size  int
		fill  func([]byte)
	}{
		{nicspec.TableRxq, 64, func(b []byte) {
			(&nicspec.RxqEntryFields{SplitMode: 2, LogSize: 3, SplitLen: 4, HdrBufSize: 5, PayBufSize: 6, RingBase: 7,
				CqBase: 8}).Encode(b)
		}},
		{nicspec.TableTxq, 64,
			func(b []byte) { (&nicspec.TxqEntryFields{LogSize: 3, RingBase: 7, CqBase: 8}).Encode(b) }},
		{nicspec.TableKey, 32, func(b []byte) {
			(&nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Variant: 9, VaBase: 1, Length: 2,
				BusBase: 3}).Encode(b)
		}},
		{nicspec.TableRule, 128, func(b []byte) {
			(&nicspec.RuleEntryFields{Value: [56]byte{1, 2}, Mask: [56]byte{3}, Valid: 1, Action: 1,
				Queue: 5}).Encode(b)
		}},
	} {
		b := make([]byte, 128)
		c.fill(b)
		require.Equal(t, nicspec.TableStatusOk, r.commit(c.table, 3, b[:c.size]).Status)
		for w := range nicspec.TableWords {
			r.Write32(nicspec.RegTblData(w), 0xffffffff)
		}
		require.Equal(t, EffectTableRead, r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpRead, c.table, 3)).Kind)
		got := r.staged()
		require.Equal(t, b, got[:], "table %v", c.table)
	}
}

func TestDoorbells(t *testing.T) {
	r := NewRegs(plainSpec())
	ring := func(i int, pi uint32) EffectKind { return r.Write32(nicspec.RegRxDoorbell(i), pi).Kind }
	require.Equal(t, EffectDoorbellBad, ring(0, 0), "off")
	require.Equal(t, EffectDoorbellBad, ring(200, 0), "beyond the build")
	f := nicspec.RxqEntryFields{Enable: 1, LogSize: 3, PayBufSize: 1}
	b := make([]byte, 64)
	f.Encode(b)
	require.Equal(t, EffectQueueEnabled, r.commit(nicspec.TableRxq, 0, b).Kind)
	require.Equal(t, EffectDoorbell, ring(0, 8|0xabcd0000), "upper half ignored")
	require.Equal(t, EffectDoorbell, ring(0, 8), "same again")
	require.Equal(t, EffectDoorbellBad, ring(0, 9), "ring full")
	require.Equal(t, EffectDoorbellBad, ring(0, 7), "going back")
	r.Rxq(0).CI = 8
	require.Equal(t, EffectDoorbell, ring(0, 16))
	require.EqualValues(t, 4, r.Dev(nicspec.CntDbBad))
	e := r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpRead, nicspec.TableRxq, 0))
	require.Equal(t, EffectTableRead, e.Kind)
	d := r.staged()
	got := nicspec.DecodeRxqEntry(d[:])
	require.Equal(t, [...]uint16{16, 8, 0}, [...]uint16{got.Pi, got.Ci, got.Cqi})
	require.Equal(t, nicspec.QueueStateRun, got.State)
}

func TestDisablingKeepsTheOldRingUntilDrained(t *testing.T) {
	r := NewRegs(plainSpec())
	b := make([]byte, 64)
	(&nicspec.TxqEntryFields{Enable: 1, LogSize: 3, CqBase: 640}).Encode(b)
	require.Equal(t, EffectQueueEnabled, r.commit(nicspec.TableTxq, 1, b).Kind)
	e := r.commit(nicspec.TableTxq, 1, make([]byte, 64))
	require.Equal(t, EffectQueueDraining, e.Kind)
	require.True(t, r.Busy())
	require.True(t, nicspec.TblCmdReg(r.Read32(nicspec.RegTblCmd)).Busy())
	require.Equal(t, nicspec.QueueStateOff, r.Txq(1).State)
	require.EqualValues(t, 640, r.Txq(1).CqeAddr(0))
	r.Write32(nicspec.RegTblData(0), 5)
	require.Equal(t, EffectRegBad, r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpRead, nicspec.TableKey, 1)).Kind)
	require.EqualValues(t, 2, r.Dev(nicspec.CntRegBad))
	require.Zero(t, r.Read32(nicspec.RegTblData(0)))
	r.Drained()
	require.False(t, r.Busy())
	require.Zero(t, r.Txq(1).CqBase)
	require.Equal(t, EffectQueueEnabled, r.commit(nicspec.TableTxq, 1, b).Kind)
	require.EqualValues(t, 2, r.Txq(1).Epoch)
}
