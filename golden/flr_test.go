package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// flrRun records a device that is reset while frames, entries, a long copy, messages and a read that never
// completes are under way, and that is used again afterwards. late is the time before the driver reads the state.
func flrRun(t testing.TB, late simcore.Ps) (Config, []boundary.Crossing, []boundary.Held) {
	t.Helper()
	o := smallRig()
	o.spec.Parts = nicspec.PartFlr | nicspec.PartMsix | nicspec.PartCopy | nicspec.PartAttr
	o.stalls.Streams = map[string]int{nic.StreamTLPOut: 30}
	r := newRig(t, o)
	m := r.mem
	begin := func() {
		m.Write32(nicspec.RegCplTimeout, 2000)
		m.Write32(nicspec.RegDevctl, 1|2<<4|devctlRO)
		m.Write32(nicspec.RegCtrl, 3)
		m.Write32(nicspec.RegScratch, 77)
		m.key(5, goodKeyEntry)
		m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
		m.rule(3, dmacRule(0, nicspec.ActionDrop, 0))
		for q := range 3 {
			m.rule(4+q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
			m.OpenRx(q, 6, rxMessages(q, 5, 50))
			m.post(q, 60)
			m.OpenTx(q, 5, txMessages(4+q, 3, 0))
		}
	}
	m.Write(keyBus, pattern(keySpan, 1))
	begin()
	r.settle()
	m.FailOnce(keyBus+0xf000, inject.FaultSilent)
	copied := nicspec.WqeFields{Opcode: nicspec.OpcodeCopy, Nseg: 2, WqeId: 9}
	(&nicspec.SegFields{Key: goodKey, Len: 0xf000, Addr: 0x1000}).Encode(copied.Slots[:])
	(&nicspec.SegFields{Key: 7, Len: 0xf000}).Encode(copied.Slots[16:])
	m.push(1, &copied)
	m.push(2, entryAt(15, 400))
	for i := range 28 {
		m.push(0, entryAt(i%8, 3000))
		r.peers[0].send(destined(i%4, 1500))
	}
	for q := range 3 {
		m.RingTx(q)
	}
	r.step(1200 * simcore.Nanosecond)
	m.Write32(nicspec.RegCtrl, flrBit)
	m.Write32(nicspec.RegScratch, 5)
	for i := range 6 {
		r.peers[0].send(destined(i%4, 100))
	}
	r.step(late)
	for n := 0; m.Reg(nicspec.RegCtrl, 1) != 0; n++ {
		require.Less(t, n, 1000)
	}
	for _, off := range []uint32{nicspec.RegScratch, nicspec.RegDevctl, nicspec.RegCplTimeout, nicspec.RegTblCmd} {
		m.Reg(off, 1)
	}
	m.Table(nicspec.TableOpRead, nicspec.TableKey, 5, nil)
	m.Reg(nicspec.RegTblData(4), 1)
	m.Table(nicspec.TableOpRead, nicspec.TableRxq, 1, nil)
	m.Reg(nicspec.RegTblData(4), 1)
	for q := range 3 { // all indices must be 0
		m.Table(nicspec.TableOpRead, nicspec.TableRxq, q, nil)
		m.Reg(nicspec.RegTblData(12), 2)
		m.Table(nicspec.TableOpRead, nicspec.TableTxq, q, nil)
		m.Reg(nicspec.RegTblData(12), 2)
	}
	m.Write32(nicspec.RegCtrl, 1) // frames for queues that are off
	m.Write32(nicspec.RegRxDefault, toQueue0)
	r.step(simcore.Microsecond)
	r.peers[0].send(destined(1, 80))
	r.step(simcore.Microsecond)
	m.Tx, m.Rx = [256]nictest.Ring{}, [256]nictest.Ring{}
	begin()
	for i := range 9 {
		m.push(0, entryAt(i%8, 300))
		r.peers[0].send(destined(i%4, 200))
	}
	m.RingTx(0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape, r.held
}

// isReset picks the write that starts the reset.
func isReset(x *boundary.Crossing) bool { return rung(nicspec.RegCtrl)(x) && x.TLP.Data[3] == 0x80 }

// answersOf returns the indices of the answers to reads of a register, oldest first.
func (p *tape) answersOf(off uint32) (out []int) {
	tag := -1
	for i := range p.s {
		x := &p.s[i]
		if !x.Kind.IsTLP() {
			continue
		}
		switch h := tlp.Parse(&x.TLP.Hdr); {
		case x.Kind == boundary.TLPIn && h.Kind == tlp.MRd && h.Address == nicspec.BarBase+uint64(off):
			tag = int(h.Tag)
		case x.Kind == boundary.TLPOut && h.Kind == tlp.CplD && int(h.Tag) == tag:
			out, tag = append(out, i), -1
		}
	}
	return out
}

// resetShown returns the index of the answer that shows that the reset is over.
func (p *tape) resetShown() int {
	all := p.answersOf(nicspec.RegCtrl)
	return all[len(all)-1]
}

// from returns the index of the first picked crossing, from an index on.
func (p *tape) from(at int, is pick) int {
	for i := at; i < len(p.s); i++ {
		if is(&p.s[i]) {
			return i
		}
	}
	require.Fail(p.t, "the tape has no such crossing there")
	return -1
}

// during returns the index of the first picked crossing since the reset began; `afterwards` does so since a register
// read showed that the reset was over.
func (p *tape) during(is pick) int     { return p.from(p.find(0, isReset), is) }
func (p *tape) afterwards(is pick) int { return p.from(p.resetShown(), is) }

// leftover repeats, after the reset, the first crossing that `is` picks.
func leftover(is pick) func(p *tape) {
	return func(p *tape) {
		x := clone(p.s[p.find(0, is)])
		p.insert(p.resetShown()+1, x)
	}
}

func copiedBytes(x *boundary.Crossing) bool {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address>>16 == copyBus>>16 })(x)
}

func TestResetAtWork(t *testing.T) {
	cfg, clean, held := flrRun(t, 0)
	p := newTape(t, clean)
	at := p.find(0, isReset)
	for name, is := range map[string]pick{
		"delivery": payWrite(p.deliveredDuring()), "frame": frameOut(0), "copy": copiedBytes, "entry": txCqe(1),
		"drop": frameIn,
	} {
		require.Greater(t, p.during(is), at, name)
		require.Less(t, p.during(is), p.resetShown(), name)
	}
	e := nicspec.TxCqe(p.s[p.during(txCqe(1))].TLP.Data)
	require.Equal(t, nicspec.StatusFlushed, e.Status())
	require.Equal(t, nicspec.StatusCplTimeout, nicspec.TxCqe(p.s[p.during(txCqe(2))].TLP.Data).Status())
	got := judgeHeld(t, cfg, clean, held)
	require.True(t, got.Passed(), "%v", got)
}

// deliveredDuring returns the queue to which a frame was being delivered when the reset began.
func (p *tape) deliveredDuring() int {
	at := p.find(0, isReset)
	for q := range 3 {
		for i := at; i < at+60; i++ {
			if payWrite(q)(&p.s[i]) {
				return q
			}
		}
	}
	require.Fail(p.t, "no frame was being delivered")
	return 0
}

func TestResetSabotageIsCaught(t *testing.T) {
	cfg, clean, held := flrRun(t, 0)
	q := newTape(t, clean).deliveredDuring()
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a frame is not finished", func(p *tape) { p.drop(p.during(rxCqe(q))) }, "rxq", "L2", "flr"},
		{"an entry is not finished", func(p *tape) { p.drop(p.during(txCqe(2))) }, "txq 2", "L2", "flr"},
		{"a copy is not finished", func(p *tape) { p.drop(p.during(txCqe(1))) }, "txq 1", "L2", "flr"},
		{"a Send is flushed", func(p *tape) {
			nicspec.TxCqe(p.s[p.during(txCqe(2))].TLP.Data).SetStatus(nicspec.StatusFlushed)
		}, "txq 2", "T6", "status"},
		{"over before a read", func(p *tape) {
			p.s[p.answersOf(nicspec.RegCtrl)[0]].TLP.Data = make([]byte, 4)
		}, "", "L2", "flr"},
		{"receive stays enabled", func(p *tape) { p.s[p.answersOf(nicspec.RegCtrl)[0]].TLP.Data[0] = 1 }, "registers",
			"L1", "CTRL"},
		{"flr reads 0, receive 1", func(p *tape) { p.s[p.resetShown()].TLP.Data[0] = 1 }, "registers", "L1", "CTRL"},
		{"data leaves later", leftover(payWrite(0)), "device", "C2", "Address"},
		{"a completion entry leaves later", leftover(rxCqe(0)), "device", "C2", "Address"},
		{"a message leaves later", leftover(msixWrite(0)), "device", "C2", "Address"},
		{"a frame leaves later", leftover(frameOut(0)), "txq 0", "T1", "frame"},
		{"a read leaves later", leftover(pieceRead), "device", "T4", "Address"},
		{"a copy writes later", leftover(copiedBytes), "device", "C2", "Address"},
		{"the old limits stay", func(p *tape) {
			p.header(&p.s[p.afterwards(descRead(0))], func(h *tlp.Header) { h.Attr = tlp.RelaxedOrder })
		}, "device", "P11", "Attr"},
		registerStays("SCRATCH", nicspec.RegScratch, 77),
		registerStays("DEVCTL", nicspec.RegDevctl, 1),
		registerStays("CPL_TIMEOUT", nicspec.RegCplTimeout, 1),
		{"a key stays", func(p *tape) { p.s[p.answersOf(nicspec.RegTblData(4))[0]].TLP.Data[0] = 1 }, "registers", "G3",
			"TBL_DATA[4]"},
		{"a ring stays", func(p *tape) { p.s[p.answersOf(nicspec.RegTblData(4))[1]].TLP.Data[0] = 1 }, "registers",
			"G3", "TBL_DATA[4]"},
		{"one drop more", counter("", nicspec.CntRxDropDisabled.Index(0)).edit, "counters", "C1", "RX_DROP_DISABLED"},
		{"indices stay", func(p *tape) { p.s[p.answersOf(nicspec.RegTblData(12))[2]].TLP.Data[0] = 4 }, "registers",
			"Q5", "TBL_DATA[12]"},
		{"one drop more, queue off", counter("", nicspec.CntRxDropQueueOff.Index(0)).edit, "counters", "",
			"RX_DROP_QUEUE_OFF"},
		{"a frame that comes in across the reset is delivered", func(p *tape) {
			p.s[p.afterwards(frameIn)].First = p.s[p.find(0, isReset)].Last - 5
		}, "", "", ""},
		counter("RX_DELIVERED[0]", nicspec.CntRxDelivered.Index(0)),
		counter("REG_BAD", nicspec.CntRegBad.Index()),
		counter("TX_WQE", nicspec.CntTxWqe.Index()),
	}, held...)
}

func registerStays(name string, off uint32, v uint8) sabotage {
	return sabotage{name + " stays", func(p *tape) { p.s[p.answersOf(off)[0]].TLP.Data[0] = v }, "registers", "G3",
		name}
}

// A reset that lasts more than 8,192 cycles after the end of the work is too long.
func TestResetTooLong(t *testing.T) {
	cfg, clean, held := flrRun(t, 60*simcore.Microsecond)
	p := newTape(t, clean)
	p.s[p.resetShown()].TLP.Data[3] = 0x80
	got := judgeHeld(t, cfg, p.s, held)
	require.Equal(t, Differs, got.Result)
	require.Equal(t, "L3", got.List[0].Rule)
}
