package golden

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// msgAddr returns the address of queue q's messages in these tests.
func msgAddr(q int) uint64 { return 0xfee0_0000 + uint64(q)*4 }

const msgData = 0x4400

func rxMessages(v, count, cycles int) func(*nicspec.RxqEntryFields) {
	return func(f *nicspec.RxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = msgAddr(v), msgData+uint32(v), uint16(count), uint16(cycles)
	}
}

func txMessages(v, count, cycles int) func(*nicspec.TxqEntryFields) {
	return func(f *nicspec.TxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = msgAddr(v), msgData+uint32(v), uint16(count), uint16(cycles)
	}
}

// messageRun records queues with different vectors: receive queues 0 to 3 (a message per entry; per four entries;
// per ten or by time; none), and transmit queues 0 and 1, which share a message, and 2, whose ring read fails.
// Receive queue 1 and transmit queue 0 are disabled at the end.
func messageRun(t testing.TB, stall int) (Config, []boundary.Crossing, []boundary.Held) {
	t.Helper()
	o := smallRig()
	o.spec.Parts = nicspec.PartMsix
	o.stalls.Streams = map[string]int{nic.StreamTLPOut: stall}
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenRx(0, 7, rxMessages(0, 0, 0))
	m.OpenRx(1, 7, rxMessages(1, 4, 0))
	m.OpenRx(2, 7, rxMessages(2, 10, 20))
	m.OpenRx(3, 7, nil)
	m.OpenTx(0, 7, txMessages(8, 2, 0))
	m.OpenTx(1, 7, txMessages(8, 3, 9))
	m.OpenTx(2, 7, txMessages(9, 100, 0))
	for q := range 4 {
		m.rule(q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
		m.post(q, 120)
	}
	m.FailOnce(m.Tx[2].Base, inject.FaultUR)
	m.push(2, entryAt(1, 100))
	m.RingTx(2)
	for i := range 90 {
		r.peers[0].send(destined(i%4, 64+i))
		for q := range 2 {
			m.push(q, entryAt(i%10, 64+i))
			m.RingTx(q)
		}
		r.step(simcore.Ps(i%7) * 150 * simcore.Nanosecond)
	}
	r.settle()
	r.step(20 * simcore.Microsecond)
	m.disable(nicspec.TableRxq, 1)
	m.disable(nicspec.TableTxq, 0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape, r.held
}

func msixWrite(v int) pick {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address == msgAddr(v) })
}

func TestMessages(t *testing.T) {
	for _, stall := range []int{0, 50} {
		cfg, tape, held := messageRun(t, stall)
		p := judgeHeld(t, cfg, tape, held)
		require.True(t, p.Passed(), "%v", p)
		for v, want := range map[int][2]int{0: {23, 23}, 1: {6, 6}, 2: {3, 23}, 8: {60, 80}, 9: {1, 1}} {
			n := 0
			for i := range tape {
				if msixWrite(v)(&tape[i]) {
					n++
				}
			}
			require.GreaterOrEqual(t, n, want[0], "vector %d", v)
			require.LessOrEqual(t, n, want[1], "vector %d", v)
		}
	}
}

// late moves a crossing to a later cycle.
func late(p *tape, i int, cycle int64) {
	x := p.s[i]
	p.drop(i)
	for i < len(p.s) && p.s[i].Last <= cycle {
		i++
	}
	p.insert(i, x)
	p.s[i].First, p.s[i].Last = cycle, cycle
}

// idleCycle returns the n-th cycle after the given one in which m_axis_tlp is neither held back nor transfers.
func idleCycle(tape []boundary.Crossing, held []boundary.Held, after int64, n int) int64 {
	taken := map[int64]bool{}
	take := func(first, last int64) {
		for x := first; x <= last; x++ {
			taken[x] = true
		}
	}
	for i := range tape {
		if tape[i].Kind == boundary.TLPOut {
			take(tape[i].First, tape[i].Last)
		}
	}
	for _, h := range held {
		if h.Kind == boundary.TLPOut {
			take(h.First, h.Last)
		}
	}
	for n > 0 {
		if after++; !taken[after] {
			n--
		}
	}
	return after
}

// A message is in time if it leaves in the last of 1,024 cycles, and late if it leaves in the next,
// not counting cycles of other TLPs and those in which the stream was held back [M3].
func TestLateMessages(t *testing.T) {
	for _, stall := range []int{0, 50} {
		for _, more := range []int64{0, 1, 600, 5000} { // further cycles in which the stream is held back
			cfg, clean, held := messageRun(t, stall)
			at := newTape(t, clean)
			i := last(at, msixWrite(0))
			due := at.s[last(at, rxCqe(0))].Last
			at.drop(i)
			quiet := idleCycle(at.s, held, due, 900) // all other traffic has ended by then
			if more > 0 {
				held = append(slices.Clone(held),
					boundary.Held{Kind: boundary.TLPOut, First: quiet, Last: quiet + more - 1})
				slices.SortStableFunc(held, func(a, b boundary.Held) int { return cmp.Compare(a.Last, b.Last) })
			}
			for _, n := range []int{messageSlack, messageSlack + 1} {
				p := newTape(t, clean)
				late(p, i, idleCycle(at.s, held, due, n))
				got := judgeHeld(t, cfg, p.s, held)
				if n == messageSlack {
					require.True(t, got.Passed(), "stall %d, %d cycles held: %v", stall, more, got)
					continue
				}
				require.Equal(t, Differs, got.Result, "stall %d, %d cycles held", stall, more)
				require.Equal(t, [3]string{"rxq 0", "M3", "message"},
					[3]string{got.List[0].Domain, got.List[0].Rule, got.List[0].Field})
			}
		}
	}
}

// disabledRun records the disabling of a queue with an unreported entry, while a read of its descriptors is
// delayed.
func disabledRun(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Parts = nicspec.PartMsix
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.OpenRx(0, 7, rxMessages(0, 100, 0))
	m.post(0, 4)
	r.peers[0].send(destined(0, 100))
	r.settle()
	m.Strike(inject.Fault{From: m.Rx[0].Base + 16*uint64(m.Rx[0].PI), Delay: 6 * simcore.Microsecond})
	m.post(0, 4)
	r.step(simcore.Microsecond)
	m.TableLater(nicspec.TableOpWrite, nicspec.TableRxq, 0, make([]byte, nicspec.RxqEntrySize))
	r.settle()
	r.step(10 * simcore.Microsecond)
	m.Reg(nicspec.RegTblCmd, 1)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// The message of a queue being disabled may leave at once, and must leave soon after the queue's last read has
// ended [M4].
func TestMessageOfADisabledQueue(t *testing.T) {
	cfg, clean := disabledRun(t)
	require.True(t, judge(t, cfg, clean).Passed())
	drained := func(p *tape) int {
		return last(p, func(x *boundary.Crossing) bool {
			return x.Kind == boundary.TLPIn && tlp.Parse(&x.TLP.Hdr).Kind == tlp.CplD
		})
	}
	p := newTape(t, clean)
	late(p, p.find(0, msixWrite(0)), p.s[drained(p)].Last+900)
	got := judge(t, cfg, p.s)
	require.True(t, got.Passed(), "%v", got)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"long after", func(p *tape) { late(p, p.find(0, msixWrite(0)), p.s[drained(p)].Last+1100) }, "rxq 0", "M3",
			"message"},
		{"after busy", func(p *tape) { p.move(p.find(0, msixWrite(0)), len(p.s)-2) }, "rxq 0", "M4", "busy"},
		{"missing", func(p *tape) { p.drop(p.find(0, msixWrite(0))) }, "rxq 0", "M4", "busy"},
		{"before the disabling", func(p *tape) { p.move(p.find(0, msixWrite(0)), p.find(0, rxCqe(0))+1) }, "rxq 0",
			"M3", "message"},
	})
}

func TestMessageSabotageIsCaught(t *testing.T) {
	cfg, clean, _ := messageRun(t, 0)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"message missing", func(p *tape) { p.drop(p.find(3, msixWrite(0))) }, "counters", "G5", "MSIX"},
		{"last message missing", func(p *tape) { p.drop(last(p, msixWrite(0))) }, "rxq 0", "M3", ""},
		{"message twice", func(p *tape) { i := p.find(3, msixWrite(0)); p.insert(i+1, clone(p.s[i])) }, "rxq 0", "M3",
			""},
		{"message before its entry", func(p *tape) { p.move(p.find(3, msixWrite(0)), p.find(3, rxCqe(0))) }, "rxq 0",
			"M3", ""},
		{"message before its count", func(p *tape) { p.move(p.find(2, msixWrite(1)), p.find(10, rxCqe(1))+1) }, "rxq 1",
			"M3", ""},
		{"message before its time", func(p *tape) { p.move(p.find(0, msixWrite(2)), p.find(0, rxCqe(2))+3) }, "rxq 2",
			"M3", ""},
		{"message late", func(p *tape) { p.move(p.find(0, msixWrite(0)), p.find(1, msixWrite(2))) }, "rxq 0", "M3", ""},
		{"wrong data", func(p *tape) { p.get(1, msixWrite(1)).TLP.Data[0]++ }, "rxq 1", "M1", ""},
		{"wrong address", func(p *tape) { shift(p, p.get(1, msixWrite(1)), 0x1000) }, "device", "C2", ""},
		{"two DWs", func(p *tape) {
			x := p.get(1, msixWrite(1))
			x.TLP.Data = append(x.TLP.Data, 0, 0, 0, 0)
			p.header(x, func(h *tlp.Header) { h.Length, h.LastBE = 2, 0xf })
		}, "device", "C2", ""},
		{"attributes", setAttr(1, msixWrite(1), tlp.NoSnoop), "device", "P11", ""},
		{"of a disabled queue missing", func(p *tape) { p.drop(last(p, msixWrite(1))) }, "rxq 1", "M4", ""},
		{"of an Event missing", func(p *tape) { p.drop(p.find(0, msixWrite(9))) }, "txq 2", "M3", ""},
		{"shared one twice", func(p *tape) { i := last(p, msixWrite(8)); p.insert(i+1, clone(p.s[i])) }, "txq", "M3",
			""},
		{"shared ones missing", func(p *tape) { p.drop(last(p, msixWrite(8))); p.drop(last(p, msixWrite(8))) }, "txq",
			"", ""},
		counter("MSIX", nicspec.CntMsix.Index()),
	})
}
