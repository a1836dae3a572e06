package golden

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/wire"
)

// rxParts are the parts of the receive side.
const rxParts = nicspec.PartRss | nicspec.PartAccounts | nicspec.PartCrc32c | nicspec.PartEcn |
	nicspec.PartPause

// drawing lets a rule draw on an account.
func drawing(f nicspec.RuleEntryFields, account, slow int) nicspec.RuleEntryFields {
	f.AccountEn, f.Account, f.SlowQueue = 1, uint8(account), uint16(slow)
	return f
}

func (m *memory) account(i int, f nicspec.AccountEntryFields) {
	var b [nicspec.AccountEntrySize]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableAccount, i, b[:]))
}

// rssRule spreads frames, by the first byte of their destination address, over
// a group of the indirection table.
func rssRule(v uint8, base, log int) nicspec.RuleEntryFields {
	f := dmacRule(v, nicspec.ActionRss, base)
	f.RssLog = uint8(log)
	return f
}

func (m *memory) indirection(i, queue int) {
	var b [nicspec.IndirectionEntrySize]byte
	(&nicspec.IndirectionEntryFields{Queue: uint16(queue)}).Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableIndirection, i, b[:]))
}

// rssKey writes the whole key.
func (m *memory) rssKey(seed uint64) {
	key := pattern(nicspec.RssKeyBytes, seed)
	for i := range nicspec.RegRssKeyCount {
		m.write(nicspec.RegRssKey(i), binary.LittleEndian.Uint32(key[4*i:]))
	}
}

// steadyRule sends the frames for a queue there, over an account if it can.
func steadyRule(m *memory, q int, parts nicspec.Cap1Reg) nicspec.RuleEntryFields {
	f := dmacRule(uint8(q), nicspec.ActionQueue, q)
	if parts&nicspec.PartAccounts != 0 && q > 1 {
		m.account(q, nicspec.AccountEntryFields{Balance: 300, Latch: 1})
		f = drawing(f, q, q)
	}
	return f
}

// beginRxParts sets the parts of the receive side up, as far as they are there.
func (c *chaos) beginRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.m.rssKey(c.opt.seed)
		for i := range 16 {
			c.m.indirection((250+i)%nicspec.RssEntries, c.rng.IntN(chaosQueues))
		}
		for v := range 3 {
			c.m.rule(10+v, rssRule(uint8(5+v), 250+v, v))
		}
	}
	if c.opt.parts&nicspec.PartAccounts != 0 {
		c.m.rule(0, drawing(dmacRule(3, nicspec.ActionQueue, 2), 1, 1))
		c.m.rule(1, drawing(dmacRule(4, nicspec.ActionQueue, 3), 1, 1))
		c.m.rule(2, drawing(dmacRule(5, nicspec.ActionQueue, 0), 63, 0))
		c.m.rule(4, drawing(rssRule(7, 250, 3), 2, 0))
	}
}

// useRxParts changes something about them while frames come in.
func (c *chaos) useRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.changeRss()
	}
	if c.opt.parts&nicspec.PartAccounts != 0 {
		c.credit()
	}
	if c.opt.parts&nicspec.PartPause != 0 {
		c.pause()
	}
}

func (m *memory) portCfg(i int, f nicspec.PortEntryFields) {
	var b [nicspec.PortEntrySize]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TablePortCfg, i, b[:]))
}

// pauseFrame is a pause frame for a whole port.
func pauseFrame(quanta uint16) []byte {
	f := append(make([]byte, 0, 60), 1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 0, 1)
	return binary.BigEndian.AppendUint16(f, quanta)[:60]
}

// pfcFrame is a priority pause.
func pfcFrame(classes uint8, quanta uint16) []byte {
	f := append(make([]byte, 0, 60), 1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 1, 1, 0, classes)
	for range 8 {
		f = binary.BigEndian.AppendUint16(f, quanta)
	}
	return f[:60]
}

func (c *chaos) pause() {
	m, p := c.m, c.rng.IntN(len(c.r.peers))
	switch c.rng.IntN(8) {
	case 0:
		xoff := 64 + c.rng.IntN(20000)
		m.portCfg(p, nicspec.PortEntryFields{
			RxPause: uint8(c.rng.IntN(2)), RxPfc: uint8(c.rng.IntN(4)), TxMode: nicspec.PauseMode(c.rng.IntN(3)),
			TxClasses: uint8(c.rng.IntN(256)), PauseTime: uint16(64 + c.rng.IntN(500)), Xoff: uint32(xoff), Xon: uint32(c.rng.IntN(xoff)),
		})
	case 1:
		m.write(nicspec.RegPortMac(2*p+c.rng.IntN(2)), c.rng.Uint32())
	case 2, 3, 4:
		c.r.peers[p].send(pauseFrame(uint16(c.rng.IntN(1500))))
	case 5, 6:
		c.r.peers[p].send(pfcFrame(uint8(c.rng.IntN(8)), uint16(c.rng.IntN(1500))))
	case 7:
		c.r.peers[p].send(pauseFrame(0))
	}
}

func (c *chaos) credit() {
	m := c.m
	c.send()
	i := [...]int{1, 1, 2, 63}[c.rng.IntN(4)]
	switch c.rng.IntN(12) {
	case 0:
		m.account(i, nicspec.AccountEntryFields{Balance: uint32(c.rng.IntN(20)), Latch: uint8(c.rng.IntN(2))})
	case 1:
		m.reg(nicspec.RegAccountCredit(i&^1), 2)
	case 2:
		m.table(nicspec.TableOpRead, nicspec.TableAccount, i, nil)
		for w := range 4 {
			m.reg(nicspec.RegTblData(w), 1)
		}
	default:
		for range 1 + c.rng.IntN(3) {
			m.write(nicspec.RegAccountCredit(i), uint32(c.rng.IntN(8))|uint32(c.rng.IntN(6)/4)<<30|uint32(c.rng.IntN(2))<<31)
		}
	}
}

func (c *chaos) changeRss() {
	m := c.m
	c.send()
	switch c.rng.IntN(5) {
	case 0:
		m.write(nicspec.RegRssKey(c.rng.IntN(nicspec.RegRssKeyCount)), c.rng.Uint32())
	case 1:
		m.rssKey(c.rng.Uint64())
	case 2, 3:
		m.indirection((250+c.rng.IntN(16))%nicspec.RssEntries, c.rng.IntN(chaosQueues+1))
	case 4:
		m.write(nicspec.RegRxDefault, uint32(nicspec.ActionRss)<<16|uint32(c.rng.IntN(300))|uint32(c.rng.IntN(16))<<24)
	}
}

// modes gives a receive queue modes of its parts.
func (c *chaos) modes(f *nicspec.RxqEntryFields) {
	if c.opt.parts&nicspec.PartCrc32c != 0 {
		f.CrcMode = nicspec.CrcMode(c.rng.IntN(3))
	}
	if c.opt.parts&nicspec.PartEcn != 0 {
		f.EcnMode = uint8(c.rng.IntN(2))
	}
}

// digested gives the payload of a RoCEv2 frame a CRC-32C that is right.
func digested(f []byte) []byte {
	if len(f) < nicspec.FrameMin {
		return f
	}
	var h nic.Headers
	nic.Parse(f, 4791, &h)
	from, to := int(h.PayloadOff), int(h.L4Off)+int(h.UDPLen)-4
	if h.Roce && !h.L4LenBad && to-from > 4 {
		sum := crc32.Checksum(f[from:to-4], crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(f[to-4:], sum)
		_ = wire.SealFrame(f, false) // what cannot be sealed stays as it is
	}
	return f
}

func TestChaosWithRxPartsPasses(t *testing.T) {
	for seed := range uint64(chaosSeeds) {
		o := chaosOpt{seed: seed, steps: 300, faults: seed&1 != 0, config: seed&2 != 0, queues: seed&4 != 0, stall: int(seed) / 8 % 3 * 30,
			parts: rxParts}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			c := newChaos(t, o)
			c.run()
			cfg := DefaultConfig(c.r.opt.spec)
			if o.stall > 0 {
				cfg.EthHeldBack = 128
			}
			p := judge(t, cfg, c.r.tape)
			require.True(t, p.Passed(), "%v", p)
			require.NotZero(t, p.Stats.Delivered)
		})
	}
}

// calmParts records a run in which the parts of the receive side work and
// everything is certain.
func calmParts(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := defaultRig()
	o.spec.Ports, o.spec.NumRxq, o.spec.NumTxq, o.spec.NumRules, o.spec.Parts = 2, 8, 8, 16, rxParts
	r := newRig(t, o)
	m, rng := r.mem, rand.New(rand.NewPCG(8, 8))
	m.write(nicspec.RegDevctl, 1|2<<4)
	m.write(nicspec.RegCtrl, 3)
	m.write(nicspec.RegRxCtrl, 0)
	m.rssKey(77)
	m.rule(1, rssRule(1, 254, 2))
	m.rule(2, dmacRule(0, nicspec.ActionDrop, 0))
	for i := range 4 {
		m.indirection((254+i)%nicspec.RssEntries, i%2)
	}
	m.rule(3, drawing(dmacRule(2, nicspec.ActionQueue, 2), 9, 3))
	for q := range 4 {
		m.openRx(q, 7, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.EcnMode = nicspec.CrcMode(q%3), uint8(q%2) })
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
			m.write(nicspec.RegAccountCredit(9), credit)
			r.step(simcore.Microsecond)
		}
	}
	r.settle()
	m.reg(nicspec.RegAccountCredit(9), 1)
	m.table(nicspec.TableOpRead, nicspec.TableAccount, 9, nil)
	for w := range 4 {
		m.reg(nicspec.RegTblData(w), 1)
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

// seqOf is the completion entry in a queue of the frame with an account_seq.
func seqOf(p *tape, queue int, seq uint32) nicspec.RxCqe {
	return p.get(0, func(x *boundary.Crossing) bool {
		return rxCqe(queue)(x) && nicspec.RxCqe(x.TLP.Data).AccountSeq() == seq
	}).TLP.Data
}

// written changes what the driver wrote to a register, every time.
func (p *tape) written(off uint32, change func(v uint32) uint32) {
	for i := range p.s {
		if x := &p.s[i]; rung(off)(x) {
			binary.LittleEndian.PutUint32(x.TLP.Data, change(binary.LittleEndian.Uint32(x.TLP.Data)))
		}
	}
}

// setAccount changes the balance that the driver gave the account.
func setAccount(p *tape, balance uint32) { setWord(p, 0, balance) }

func setLatch(p *tape, latch uint32) { setWord(p, 1, latch) }

// setWord changes a word of the last table entry that the driver wrote.
func setWord(p *tape, i int, v uint32) {
	binary.LittleEndian.PutUint32(p.s[last(p, rung(nicspec.RegTblData(i)))].TLP.Data, v)
}

var rxPartSabotages = []sabotage{
	rxField("rss_hash", "S2", func(e nicspec.RxCqe) { e.SetRssHash(e.RssHash() ^ 1<<31) }),

	// CRC-32C and ECN.
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

	// Credit accounts.
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
	{"slow_path missing", func(p *tape) { e := nicspec.RxCqe(p.get(2, rxCqe(3)).TLP.Data); e.SetSlowPath(false) }, "rxq 3", "A2", "slow_path"},
	{"slow_path on the fast way", func(p *tape) { seqOf(p, 2, 5).SetSlowPath(true) }, "rxq 2", "A2", "slow_path"},
	{"account used by no rule", func(p *tape) { nicspec.RxCqe(p.get(2, rxCqe(0)).TLP.Data).SetAccountSeq(3) }, "rxq 0", "A4", "account_seq"},
	{"credit too little", func(p *tape) { setAccount(p, 11) }, "rxq 2", "A2", "slow_path"},
	{"credit too much", func(p *tape) { setAccount(p, 13) }, "rxq 3", "A2", "slow_path"},
	{"latch left out", func(p *tape) { setLatch(p, 0) }, "rxq 3", "A2", "slow_path"},
	{"resumed without being told to", func(p *tape) {
		p.written(nicspec.RegAccountCredit(9), func(v uint32) uint32 { return v &^ (1 << 31) })
	}, "rxq 2", "A2", "slow_path"},
	{"credits that nobody gave", func(p *tape) {
		p.written(nicspec.RegAccountCredit(9), func(v uint32) uint32 { return v &^ 7 })
	}, "rxq 2", "A2", "slow_path"},
	{"balance read", func(p *tape) { p.s[p.answer(nicspec.RegAccountCredit(9))].TLP.Data[0]++ }, "registers", "A5", "ACCOUNT_CREDIT[9]"},
	{"state read", func(p *tape) { p.s[p.answer(nicspec.RegAccountCredit(9))].TLP.Data[3] ^= 0x80 }, "registers", "A5", "ACCOUNT_CREDIT[9]"},
	{"balance in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(0))].TLP.Data[0]++ }, "registers", "A1", "TBL_DATA[0]"},
	{"latch in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(1))].TLP.Data[0] ^= 1 }, "registers", "A1", "TBL_DATA[1]"},
	{"state in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(1))].TLP.Data[1] ^= 1 }, "registers", "A1", "TBL_DATA[1]"},
	{"drawn in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(2))].TLP.Data[0]++ }, "registers", "A1", "TBL_DATA[2]"},
	{"seq in the table", func(p *tape) { p.s[p.answer(nicspec.RegTblData(3))].TLP.Data[0]-- }, "registers", "A1", "TBL_DATA[3]"},
}

func TestRxPartSabotageIsCaught(t *testing.T) {
	cfg, clean := calmParts(t)
	sabotagesAreCaught(t, cfg, clean, rxPartSabotages)
}

// A frame caught in a change of key and table sees each word and each entry old
// or new, and its queue goes with its hash [S4].
func TestRssWindow(t *testing.T) {
	var v versions
	cfg := nic.Config{RxEnable: true, Rss: true, DefaultAction: nicspec.ActionRss, DefaultLog: 8}
	v.init(nic.Config{})
	v.add(cfg, 10)
	for i := range 4 { // every write is over before the next
		cfg.RssKey = cfg.RssKey.With(i, 0x01020304*uint32(i+1))
		v.add(cfg, int64(100*i+100))
	}
	data := pattern(60, 3)
	copy(data[12:], []byte{8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 9, 17})
	var h nic.Headers
	nic.Parse(data, 4791, &h)
	var buf [nicspec.RssKeyBytes]byte
	input := h.RssInput(&buf)
	old := cfg.RssKey.Hash(input)
	word := func(i int, was, now uint32) uint32 { return nic.RssWord(i, was, input) ^ nic.RssWord(i, now, input) }
	cfg.RssKey = cfg.RssKey.With(0, 0x11).With(2, 0x77777777)
	first, second := word(0, 0x01020304, 0x11), word(2, 0x0306090c, 0x77777777)
	cfg.Indirection = cfg.Indirection.With(int(uint8(old)), 3)
	v.add(cfg, 1000)
	f := &rxFrame{data: data, n: 60, first: 1000, last: 1000}
	v.verdicts(f)
	require.True(t, f.rssOpen)
	alt := &f.alts[0]
	for _, hash := range []uint32{old, old ^ first, old ^ second, old ^ first ^ second} {
		require.True(t, v.rss.settleHash(f, alt, hash, 0), "%#x", hash)
		require.Equal(t, hash == old, v.rss.settleHash(f, alt, hash, 3), "%#x", hash)
	}
	require.False(t, v.rss.settleHash(f, alt, old^1, 0))
	f = &rxFrame{data: data, n: 60, first: 1065, last: 1065}
	v.verdicts(f)
	require.False(t, f.rssOpen)
	require.Len(t, f.alts, 1)
	require.Equal(t, old^first^second, f.alts[0].Hash)
}

// unmarked takes the mark back that a frame of queue 1 got.
func unmarked(p *tape) {
	first := -1 // write of the frame
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
