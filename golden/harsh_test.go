package golden

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// marks gives the cycle in which each part of the harsh run begins.
type marks map[string]int64

// harsh records a run in which reads fail, queues stop, are disabled and enabled, and frames are dropped for many
// causes.
func harsh(t testing.TB) (Config, []boundary.Crossing, marks) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m, at := r.mem, marks{}
	mark := func(name string) {
		r.settle()
		r.step(simcore.Microsecond)
		at[name] = r.tape[len(r.tape)-1].Last
	}
	m.Write32(nicspec.RegCplTimeout, 2000)
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.readable(pattern(keySpan, 1))
	for q := range 4 {
		m.rule(4+q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
	}
	for q := range 3 {
		m.OpenRx(q, 5, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 2000 })
	}
	m.OpenTx(0, 5)
	m.OpenTx(1, 5)
	send := func(q, n int) { r.peers[0].send(destined(q, n)) }

	mark("no descriptor")
	m.post(1, 2)
	r.step(simcore.Microsecond)
	for range 4 {
		send(1, 100)
	}
	mark("too long")
	m.post(1, 4)
	r.step(simcore.Microsecond)
	send(1, 3000)
	send(1, 200)
	mark("queue off")
	send(3, 100)
	mark("receive disabled")
	m.Write32(nicspec.RegCtrl, 2)
	r.step(simcore.Microsecond)
	send(1, 100)
	r.step(simcore.Microsecond)
	m.Write32(nicspec.RegCtrl, 3)
	mark("pieces fail")
	for i := range 5 {
		m.FailOnce(keyBus+uint64(i)*0x1000, nictest.ReadFaults[i])
		m.push(1, entryAt(i, 500))
	}
	m.push(1, entryAt(6, 600))
	m.RingTx(1)
	r.step(simcore.Microsecond)
	m.push(1, entryAt(7, 100))
	m.RingTx(1)
	mark("ring fails")
	m.Strike(inject.Fault{Kind: inject.FaultUR, From: m.Rx[0].Base + 16*4, Count: 1, Delay: 3 * simcore.Microsecond})
	m.Strike(inject.Fault{From: m.Rx[0].Base + 16*4, Delay: 3 * simcore.Microsecond})
	m.post(0, 12)
	for range 6 {
		send(0, 120)
	}
	mark("entry ring fails")
	m.FailOnce(m.Tx[0].Base+64*4, inject.FaultPoison)
	for i := range 8 {
		m.push(0, entryAt(i, 300))
	}
	m.RingTx(0)
	mark("closing")
	m.disable(nicspec.TableRxq, 0)
	m.disable(nicspec.TableTxq, 0)
	m.OpenRx(0, 5, nil)
	m.OpenTx(0, 5)
	m.post(0, 8)
	mark("transmit disabled")
	m.Write32(nicspec.RegCtrl, 1)
	r.step(simcore.Microsecond)
	m.push(0, entryAt(1, 400))
	m.RingTx(0)
	r.step(simcore.Microsecond)
	m.Write32(nicspec.RegCtrl, 3)
	mark("rule changes")
	m.rule(4, dmacRule(1, nicspec.ActionDrop, 0))
	send(0, 140)
	r.step(simcore.Microsecond)
	m.rule(4, dmacRule(1, nicspec.ActionQueue, 2))
	m.post(2, 4)
	r.step(simcore.Microsecond)
	send(0, 140)
	mark("refusals")
	m.Write32(nicspec.RegRxDoorbell(7), 1)
	m.Send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 1, FirstBE: 3, Address: nicspec.BarBase}, make([]byte, 4))
	m.Send(tlp.Header{Kind: tlp.MRd, Addr64: true, Length: 1, FirstBE: 0xf, Tag: 0xc0, Address: nicspec.BarBase +
		nicspec.BarBytes}, nil)
	m.Send(tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, ByteCount: 4, RequesterID: 0x200, Tag: 0xd0}, nil)
	mark("end")
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape, at
}

// destined returns a frame that the rules of the test steer to a queue.
func destined(q, n int) []byte {
	f := pattern(n, uint64(n))
	copy(f, []byte{uint8(q+1) << 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x88, 0xb5})
	return f
}

// entryAt returns a work entry that sends n bytes of the i-th page of memory.
func entryAt(i, n int) *nicspec.WqeFields {
	w := &nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 1, FComplete: true, WqeId: uint32(i)}
	(&nicspec.SegFields{Key: goodKey, Len: uint32(n), Addr: 0x1000 + uint64(i)*0x1000}).Encode(w.Slots[:])
	return w
}

// in returns a pick that also requires that the given part of the harsh run has begun before the crossing.
func (at marks) in(part string, is pick) pick {
	return func(x *boundary.Crossing) bool { return x.Last > at[part] && is(x) }
}

func typed(q pick, t nicspec.CqeType) pick {
	return func(x *boundary.Crossing) bool { return q(x) && nicspec.RxCqe(x.TLP.Data).Type() == t }
}

var ctrlWrite = rung(nicspec.RegCtrl)

// harshSabotages are faults of a device in the harsh run.
var harshSabotages = []struct {
	name   string
	edit   func(p *tape, at marks)
	domain string
	rule   string
	field  string
}{
	{"Event missing", func(p *tape, _ marks) { p.drop(p.find(0, typed(rxCqe(0), nicspec.CqeTypeEvent))) }, "rxq 0",
		"Q4", "Event"},
	{"Event's status", func(p *tape, _ marks) {
		nicspec.RxCqe(p.get(0, typed(rxCqe(0), nicspec.CqeTypeEvent)).TLP.Data).SetStatus(nicspec.StatusCplAbort)
	}, "rxq 0", "Q4", "status"},
	{"Event's index", func(p *tape, _ marks) {
		nicspec.RxCqe(p.get(0, typed(rxCqe(0), nicspec.CqeTypeEvent)).TLP.Data).SetIndex(5)
	}, "rxq 0", "Q4", "index"},
	{"two Events", func(p *tape, _ marks) {
		i := p.find(0, typed(rxCqe(0), nicspec.CqeTypeEvent))
		x := clone(p.s[i])
		shift(p, &x, 64)
		p.insert(i+1, x)
	}, "rxq 0", "Q4", "type"},
	{"Event of entries missing", func(p *tape, _ marks) { p.drop(p.find(0, typed(txCqe(0), nicspec.CqeTypeEvent))) },
		"txq 0", "T2", "Event"},
	{"Event before the read failed", func(p *tape, at marks) {
		i := p.find(0, typed(txCqe(0), nicspec.CqeTypeEvent))
		p.move(i, p.find(0, at.in("entry ring fails", wqeRead(0))))
	}, "txq 0", "P9", "completion entry address"},
	{"status of a failed piece", func(p *tape, at marks) {
		nicspec.TxCqe(p.get(0, at.in("pieces fail", txCqe(1))).TLP.Data).SetStatus(nicspec.StatusCplAbort)
	}, "txq 1", "T6", "status"},
	{"failed piece completes well", func(p *tape, at marks) {
		nicspec.TxCqe(p.get(2, at.in("pieces fail", txCqe(1))).TLP.Data).SetStatus(nicspec.StatusOk)
	}, "txq 1", "T6", "status"},
	{"frame of a failed piece", func(p *tape, at marks) {
		i := p.find(0, at.in("pieces fail", txCqe(1)))
		x := clone(*p.get(0, at.in("pieces fail", frameOut(1))))
		x.Frame.Data = pattern(500, 1)
		p.insert(i, x)
	}, "txq 1", "P5", "frame"},
	{"timeout too early", func(p *tape, at marks) {
		i, k := p.find(3, at.in("pieces fail", txCqe(1))), p.find(2, at.in("pieces fail", txCqe(1)))
		p.move(i, k+1)
		p.s[k+1].First, p.s[k+1].Last = p.s[k].Last, p.s[k].Last
	}, "txq 1", "T10", "frame"},
	{"delivered to a descriptor after the failed read", func(p *tape, at marks) {
		i := p.find(3, at.in("ring fails", payWrite(0)))
		x := clone(p.s[i])
		shift(p, &x, 5*0x2800)
		p.insert(i+1, x)
	}, "rxq 0", "R10", "write"},
	{"tag used while it rests", func(p *tape, at marks) { reuseTag(p, at) }, "device", "P6", "Tag"},
	{"dropped though descriptors were posted", func(p *tape, at marks) {
		p.move(p.find(0, at.in("too long", rung(nicspec.RegRxDoorbell(1)))),
			p.find(0, at.in("no descriptor", frameIn))-1)
		early(p, at, "no descriptor", rung(nicspec.RegRxDoorbell(1)))
	}, "rxq 1", "R10", "frame"},
	{"delivered though too long", func(p *tape, at marks) {
		x := p.get(1, at.in("too long", frameIn))
		x.Frame.Data = append(x.Frame.Data, make([]byte, 2500)...)
	}, "rxq 1", "R8", "frame"},
	{"delivered though receive is off", func(p *tape, at marks) {
		p.move(p.find(0, at.in("receive disabled", ctrlWrite)), p.find(0, at.in("too long", frameIn)))
		early(p, at, "too long", ctrlWrite)
	}, "rxq 1", "R2", "frame"},
	{"old rule after its window", func(p *tape, at marks) {
		x := p.get(0, at.in("rule changes", rung(nicspec.RegTblData(28))))
		x.TLP.Data[1] = uint8(nicspec.ActionQueue)
	}, "rxq 0", "R10", "frame"},
	{"entry fetched while transmit is off", func(p *tape, at marks) {
		p.move(p.find(1, at.in("transmit disabled", ctrlWrite)), p.find(0, at.in("transmit disabled", wqeRead(0))))
	}, "txq 0", "T1", "tx_enable"},
	{"ring read after its queue is off", func(p *tape, at marks) {
		x := clone(*p.get(0, at.in("closing", descRead(0))))
		p.insert(p.find(1, at.in("closing", rung(nicspec.RegTblData(0)))), x)
	}, "device", "T4", "Address"},
	{"entry after its queue is off", func(p *tape, at marks) {
		x := clone(*p.get(0, at.in("ring fails", rxCqe(0))))
		p.insert(p.find(1, at.in("closing", rung(nicspec.RegTblData(0)))), x)
	}, "device", "C2", "Address"},
	{"refusal missing", func(p *tape, at marks) { p.drop(p.find(0, at.in("refusals", out(tlp.Cpl, any1)))) },
		"registers", "G2", "Tag"},
	{"refusal's status", func(p *tape, at marks) {
		p.header(p.get(0, at.in("refusals", out(tlp.Cpl, any1))), func(h *tlp.Header) { h.Status = tlp.StatusCA })
	}, "registers", "P8", "Status"},
	{"cause of a drop", func(p *tape, at marks) {
		p.s[p.answer(nicspec.RegCounter(nicspec.CntRxDropNoDesc.Index(0)))].TLP.Data[0]--
		p.s[p.answer(nicspec.RegCounter(nicspec.CntRxDropQueueOff.Index(0)))].TLP.Data[0]++
	}, "counters", "C1", "RX_DROP_NO_DESC[0]"},
	harshCounter(nicspec.CntQueueErr), harshCounter(nicspec.CntCplTimeouts), harshCounter(nicspec.CntCplUnexpected),
	harshCounter(nicspec.CntRegBad), harshCounter(nicspec.CntTlpUnsupported), harshCounter(nicspec.CntDbBad),
	harshCounter(nicspec.CntCplErr),
	harshCounter(nicspec.CntTxErr),
}

func any1(*tlp.Header, *boundary.Crossing) bool { return true }

func harshCounter(c nicspec.DevCounter) (s struct {
	name   string
	edit   func(p *tape, at marks)
	domain string
	rule   string
	field  string
}) {
	s.name, s.domain, s.rule, s.field = c.String(), "counters", "G5", c.String()
	s.edit = func(p *tape, _ marks) { p.s[p.answer(nicspec.RegCounter(c.Index()))].TLP.Data[0]-- }
	return s
}

// early delays everything after a picked write by 200 cycles, so that the write has taken effect by then [G4].
func early(p *tape, at marks, part string, is pick) {
	for i := p.find(0, at.in(part, is)) + 1; i < len(p.s); i++ {
		p.s[i].First += 200
		p.s[i].Last += 200
	}
}

// reuseTag gives the tag of the poisoned read to the next read.
func reuseTag(p *tape, at marks) {
	i := p.find(0, at.in("pieces fail", func(x *boundary.Crossing) bool {
		return x.Kind == boundary.TLPIn && tlp.Parse(&x.TLP.Hdr).EP
	}))
	tag := tlp.Parse(&p.s[i].TLP.Hdr).Tag
	for ; ; i++ {
		if p.s[i].Kind != boundary.TLPOut {
			continue
		}
		if h := tlp.Parse(&p.s[i].TLP.Hdr); h.Kind == tlp.MRd {
			p.header(&p.s[i], func(h *tlp.Header) { h.Tag = tag })
			return
		}
	}
}

func TestHarshSabotageIsCaught(t *testing.T) {
	cfg, clean, at := harsh(t)
	p := judge(t, cfg, clean)
	require.True(t, p.Passed(), "%v", p)
	for i := range harshSabotages {
		s := &harshSabotages[i]
		t.Run(s.name, func(t *testing.T) {
			p := newTape(t, clean)
			s.edit(p, at)
			got := judge(t, cfg, p.s)
			require.Equal(t, Differs, got.Result)
			m := got.List[0]
			t.Log(m)
			require.True(t, strings.HasPrefix(m.Domain, s.domain), "domain %s", m.Domain)
			require.Equal(t, s.rule, m.Rule)
			require.True(t, strings.HasPrefix(m.Field, s.field), "field %s", m.Field)
		})
	}
}
