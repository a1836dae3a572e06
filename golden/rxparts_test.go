package golden

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// calmParts records a run of the receive parts in which the contract leaves no choice.
func calmParts(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Ports, o.spec.Parts = 2, rxParts
	r := newRig(t, o)
	m, rng := r.mem, rand.New(rand.NewPCG(8, 8))
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxCtrl, 0)
	m.rssKey(77)
	m.rule(1, rssRule(1, 254, 2))
	m.rule(2, dmacRule(0, nicspec.ActionDrop, 0))
	for i := range 4 {
		m.indirection((254+i)%nicspec.RssEntries, i%2)
	}
	m.rule(3, drawing(dmacRule(2, nicspec.ActionQueue, 2), 9, 3))
	for q := range 4 {
		m.OpenRx(q, 7, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.EcnMode = nicspec.CrcMode(q%3), uint8(q%2) })
		m.post(q, 128)
	}
	m.account(9, nicspec.AccountEntryFields{Balance: 12, Latch: 1})
	r.settle()
	r.step(simcore.Microsecond)
	for i := range 90 {
		f := testFrame(rng)
		if i%2 == 0 {
			f = digested(f)
		}
		if len(f) < 60 {
			continue
		}
		f[0] = uint8(rng.IntN(6)+1) / 2 << 1
		r.peers[rng.IntN(2)].send(f)
		r.step(simcore.Ps(rng.IntN(300)) * simcore.Nanosecond)
		if credit, ok := map[int]uint32{60: 4, 70: 6 | 1<<31}[i]; ok {
			r.settle()
			m.Write32(nicspec.RegAccountCredit(9), credit)
			r.step(simcore.Microsecond)
		}
	}
	r.settle()
	m.Reg(nicspec.RegAccountCredit(9), 1)
	m.Table(nicspec.TableOpRead, nicspec.TableAccount, 9, nil)
	for w := range 4 {
		m.Reg(nicspec.RegTblData(w), 1)
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

// seqOf returns the completion entry of a queue with an account_seq.
func seqOf(p *tape, queue int, seq uint32) nicspec.RxCqe {
	return p.get(0, func(x *boundary.Crossing) bool {
		return rxCqe(queue)(x) && nicspec.RxCqe(x.TLP.Data).AccountSeq() == seq
	}).TLP.Data
}

// written changes every value that the driver writes to a register.
func (p *tape) written(off uint32, change func(v uint32) uint32) {
	for i := range p.s {
		if x := &p.s[i]; rung(off)(x) {
			binary.LittleEndian.PutUint32(x.TLP.Data, change(binary.LittleEndian.Uint32(x.TLP.Data)))
		}
	}
}

// setAccount changes the balance that the driver gives the account.
func setAccount(p *tape, balance uint32) { setWord(p, 0, balance) }

func setLatch(p *tape, latch uint32) { setWord(p, 1, latch) }

// setWord changes word i of the last table entry that the driver writes.
func setWord(p *tape, i int, v uint32) {
	binary.LittleEndian.PutUint32(p.s[last(p, rung(nicspec.RegTblData(i)))].TLP.Data, v)
}

var rxPartSabotages = []sabotage{
	rxField("rss_hash", "S2", func(e nicspec.RxCqe) { e.SetRssHash(e.RssHash() ^ 1<<31) }),

	// Faults of CRC-32C and ECN.
	{"crc32c_value", func(p *tape) {
		e := nicspec.RxCqe(p.get(1, rxCqe(1)).TLP.Data)
		e.SetCrc32cValue(e.Crc32cValue() ^ 1)
	}, "rxq 1", "X3", "crc32c_value"},
	{"crc32c_value in mode Off", func(p *tape) {
		nicspec.RxCqe(p.get(1, rxCqe(0)).TLP.Data).SetCrc32cValue(7)
	}, "rxq 0", "X3", "crc32c_value"},
	{"crc32c", func(p *tape) {
		e := nicspec.RxCqe(p.get(1, rxCqe(2)).TLP.Data)
		e.SetCrc32c(e.Crc32c() ^ 3)
	}, "rxq 2", "X4", "crc32c"},
	{"bad CRC-32C delivered", func(p *tape) {
		p.written(nicspec.RegRxCtrl, func(v uint32) uint32 { return v | 8 })
	}, "rxq 2", "X5", "frame"},
	{"ECN not marked", unmarked, "rxq 1", "E1", "ipv4.tos"},

	// Faults of credit accounts.
	{"account_seq of another frame", func(p *tape) { seqOf(p, 2, 5).SetAccountSeq(4) }, "rxq 2", "A4", "account_seq"},
	{"account_seq left out", func(p *tape) {
		for _, q := range []int{2, 3} {
			for i := range p.s {
				if x := &p.s[i]; rxCqe(q)(x) && nicspec.RxCqe(x.TLP.Data).AccountSeq() >= 7 {
					e := nicspec.RxCqe(x.TLP.Data)
					e.SetAccountSeq(e.AccountSeq() + 1)
				}
			}
		}
	}, "rxq 2", "A4", "account_seq"},
	{"slow_path missing", func(p *tape) { e := nicspec.RxCqe(p.get(2, rxCqe(3)).TLP.Data); e.SetSlowPath(false) },
		"rxq 3", "A2", "slow_path"},
	{"slow_path on the fast way", func(p *tape) { seqOf(p, 2, 5).SetSlowPath(true) }, "rxq 2", "A2", "slow_path"},
	{"account used by no rule", func(p *tape) { nicspec.RxCqe(p.get(2, rxCqe(0)).TLP.Data).SetAccountSeq(3) }, "rxq 0",
		"A4", "account_seq"},
	{"credit too little", func(p *tape) { setAccount(p, 11) }, "rxq 2", "A2", "slow_path"},
	{"credit too much", func(p *tape) { setAccount(p, 13) }, "rxq 3", "A2", "slow_path"},
	{"latch left out", func(p *tape) { setLatch(p, 0) }, "rxq 3", "A2", "slow_path"},
	{"resumed without being told to", func(p *tape) {
		p.written(nicspec.RegAccountCredit(9), func(v uint32) uint32 { return v &^ (1 << 31) })
	}, "rxq 2", "A2", "slow_path"},
	{"credits that nobody gave", func(p *tape) {
		p.written(nicspec.RegAccountCredit(9), func(v uint32) uint32 { return v &^ 7 })
	}, "rxq 2", "A2", "slow_path"},
	{"balance read", func(p *tape) { p.s[p.answer(nicspec.RegAccountCredit(9))].TLP.Data[0]++ }, "registers", "A5",
		"ACCOUNT_CREDIT[9]"},
	{"state read", func(p *tape) { p.s[p.answer(nicspec.RegAccountCredit(9))].TLP.Data[3] ^= 0x80 }, "registers", "A5",
		"ACCOUNT_CREDIT[9]"},
	{"balance in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(0))].TLP.Data[0]++ }, "registers", "A1",
		"TBL_DATA[0]"},
	{"latch in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(1))].TLP.Data[0] ^= 1 }, "registers", "A1",
		"TBL_DATA[1]"},
	{"state in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(1))].TLP.Data[1] ^= 1 }, "registers", "A1",
		"TBL_DATA[1]"},
	{"drawn in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(2))].TLP.Data[0]++ }, "registers", "A1",
		"TBL_DATA[2]"},
	{"seq in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(3))].TLP.Data[0]-- }, "registers", "A1",
		"TBL_DATA[3]"},
}

func TestRxPartSabotageIsCaught(t *testing.T) {
	cfg, clean := calmParts(t)
	sabotagesAreCaught(t, cfg, clean, rxPartSabotages)
}

// unmarked removes the ECN mark that the device made in a frame of queue 1.
func unmarked(p *tape) {
	first := -1 // index of the frame's first write
	for i := range p.s {
		x := &p.s[i]
		if first < 0 && payWrite(1)(x) {
			first = i
		}
		if !rxCqe(1)(x) {
			continue
		}
		at := first
		first = -1
		e := nicspec.RxCqe(x.TLP.Data)
		if e.L3Type() != nicspec.L3TypeIpv4 || e.VlanCount() != 0 || e.IpTos()&3 == 3 || e.IpTos()&3 == 0 {
			continue
		}
		p.s[at].TLP.Data[1+15] = e.IpTos() // buffers begin at byte 1 of a DW
		return
	}
	require.Fail(p.t, "no frame was marked")
}
