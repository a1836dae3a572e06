package golden

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// sabotage is a fault of the device: it changes the recorded crossings, and the first mismatch that the referee reports
// must have these values.
type sabotage struct {
	name   string
	edit   func(p *tape)
	domain string // beginning of the mismatch's domain
	rule   string
	field  string // beginning of the mismatch's field
}

var sabotages = []sabotage{
	// Faults of receive: data.
	{"payload byte flipped", func(p *tape) { p.get(3, payWrite(0)).TLP.Data[40] ^= 4 }, "rxq 0", "R10", ""},
	{"header byte flipped", func(p *tape) { p.get(0, hdrWrite(1)).TLP.Data[20] ^= 1 }, "rxq 1", "R10", ""},
	{"data write missing", func(p *tape) { p.drop(p.find(2, payWrite(0))) }, "rxq 0", "P9", ""},
	{"data write twice", func(p *tape) { i := p.find(2, payWrite(0)); p.insert(i+1, clone(p.s[i])) }, "rxq 0", "R10",
		"write"},
	{"data at the next byte", func(p *tape) { shift(p, p.get(0, payWrite(1)), 4) }, "rxq 1", "P9", ""},
	{"data beyond the frame", func(p *tape) { grow(p, payWrite(0)) }, "rxq 0", "R10", "payload buffer byte"},
	{"stray write", func(p *tape) {
		p.header(p.get(1, payWrite(0)), func(h *tlp.Header) { h.Address += 1 << 40 })
	}, "device", "C2", "Address"},
	{"write to the buffer of a descriptor that is done", func(p *tape) {
		i := p.find(0, payWrite(0))
		p.insert(p.find(0, rxCqe(0))+1, clone(p.s[i]))
	}, "device", "C2", "Address"},
	{"write without a frame", func(p *tape) {
		x := clone(p.s[p.find(5, payWrite(0))])
		p.insert(p.find(0, frameIn), x)
	}, "rxq 0", "R10", "write"},
	{"data after its completion entry", func(p *tape) { p.move(p.find(0, payWrite(0)), p.find(0, rxCqe(0))+1) },
		"rxq 0", "P9", ""},
	{"not enabled byte set", func(p *tape) {
		x := p.get(0, out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.FirstBE == 0xe }))
		x.TLP.Data[0] = 1
	}, "device", "B6", "payload bytes"},

	// Faults of receive: completion entries.
	{"completion entry missing", func(p *tape) { p.drop(p.find(1, rxCqe(0))) }, "rxq 0", "P9",
		"completion entry address"},
	{"last completion entry missing", func(p *tape) { p.drop(last(p, rxCqe(2))) }, "rxq 2", "R10", "completion entry"},
	{"completion entry twice", func(p *tape) { i := p.find(1, rxCqe(0)); p.insert(i+1, clone(p.s[i])) }, "rxq 0", "P9",
		"completion entry address"},
	{"completion entries swapped", func(p *tape) { p.swap(p.find(1, rxCqe(0)), p.find(2, rxCqe(0))) }, "rxq 0", "P9",
		"completion entry address"},
	{"completion entry early", func(p *tape) { p.move(p.find(0, rxCqe(0)), p.find(0, payWrite(0))) }, "rxq 0", "P9",
		""},
	{"completion entry before its frame", func(p *tape) { p.move(p.find(0, rxCqe(0)), p.find(0, frameIn)) }, "rxq 0",
		"R10", "port_seq"},
	rxField("type", "R10", func(e nicspec.RxCqe) { e.SetType(nicspec.CqeTypeTx) }),
	rxField("status", "R10", func(e nicspec.RxCqe) { e.SetStatus(nicspec.StatusBadFormat) }),
	rxField("queue", "R10", func(e nicspec.RxCqe) { e.SetQueue(1) }),
	rxField("index", "R10", func(e nicspec.RxCqe) { e.SetIndex(e.Index() + 1) }),
	rxField("rule", "R5", func(e nicspec.RxCqe) { e.SetRule(e.Rule() ^ 1) }),
	rxField("frame_len", "R10", func(e nicspec.RxCqe) { e.SetFrameLen(e.FrameLen() - 1) }),
	rxField("hdr_len", "R8", func(e nicspec.RxCqe) { e.SetHdrLen(9) }),
	rxField("l3_type", "H2", func(e nicspec.RxCqe) { e.SetL3Type(e.L3Type() ^ 3) }),
	rxField("l4_type", "H4", func(e nicspec.RxCqe) { e.SetL4Type(e.L4Type() ^ 3) }),
	rxField("vlan_count", "H1", func(e nicspec.RxCqe) { e.SetVlanCount(e.VlanCount() ^ 1) }),
	rxField("ip_csum", "H8", func(e nicspec.RxCqe) { e.SetIpCsum(e.IpCsum() ^ 3) }),
	rxField("l4_csum", "H9", func(e nicspec.RxCqe) { e.SetL4Csum(e.L4Csum() ^ 3) }),
	rxField("icrc", "H10", func(e nicspec.RxCqe) { e.SetIcrc(e.Icrc() ^ 3) }),
	rxField("payload_off", "H7", func(e nicspec.RxCqe) { e.SetPayloadOff(e.PayloadOff() + 4) }),
	rxField("dest_qp", "H6", func(e nicspec.RxCqe) { e.SetDestQp(e.DestQp() + 1) }),
	rxField("psn", "H6", func(e nicspec.RxCqe) { e.SetPsn(e.Psn() ^ 1<<31) }),
	rxField("phase", "Q8", func(e nicspec.RxCqe) { e.SetPhase(!e.Phase()) }),
	rxField("reserved byte", "R10", func(e nicspec.RxCqe) { e[62] = 1 }),
	rxField("pay_len", "R10", func(e nicspec.RxCqe) { e[60] ^= 1 }),
	{"port_seq of another frame", func(p *tape) {
		e := nicspec.RxCqe(p.get(0, rxCqe(0)).TLP.Data)
		e.SetPortSeq(e.PortSeq() + 1000)
	}, "rxq 0", "R1", "port_seq"},
	{"another queue's frame named", toOtherQueue, "rxq 0", "R1", "port_seq"},
	{"frame lost", loseFrame, "rxq 0", "R10", "frame"},
	{"frame that a rule drops is delivered", func(p *tape) { steerElsewhere(p, 0) }, "rxq 0", "R10", "write"},
	{"frame of another queue is delivered", func(p *tape) { steerElsewhere(p, 4) }, "rxq 0", "R10", "write"},
	{"overflow with room", func(p *tape) {
		loseFrame(p)
		p.s[p.answer(nicspec.RegCounter(nicspec.CntRxDropOverflow.Index(0)))].TLP.Data[0]++
	}, "rxq 0", "R10", "frame"},

	// Faults of ring reads.
	{"descriptors read again", func(p *tape) {
		i := p.find(3, descRead(0))
		x := clone(p.s[i])
		p.header(&x, func(h *tlp.Header) { h.Tag = 0xee })
		p.insert(i+1, x)
	}, "rxq 0", "Q3", "read"},
	{"descriptors read that are not posted", func(p *tape) {
		i := p.find(0, frameIn)
		x := clone(p.s[p.find(0, descRead(0))])
		p.header(&x, func(h *tlp.Header) { h.Tag = 0xee })
		p.insert(i, x)
	}, "rxq 0", "Q3", "read"},
	{"work entry read before its doorbell",
		func(p *tape) { p.move(p.find(0, wqeRead(0)), p.find(0, rung(nicspec.RegTxDoorbell(0)))) }, "txq 0", "T2",
		"read"},
	{"half a descriptor read", func(p *tape) {
		p.header(p.get(0, descRead(0)), func(h *tlp.Header) { h.Length -= 2 })
	}, "rxq 0", "Q3", "Address"},
	{"piece read again", func(p *tape) {
		i := p.find(0, pieceRead)
		x := clone(p.s[i])
		p.header(&x, func(h *tlp.Header) { h.Tag = 0xee })
		p.insert(i+1, x)
	}, "device", "T4", "Address"},
	{"stray read", func(p *tape) {
		p.header(p.get(0, pieceRead), func(h *tlp.Header) { h.Address += 1 << 30 })
	}, "device", "T4", "Address"},
	{"tag used twice", func(p *tape) {
		i := p.find(0, pieceRead)
		k := p.find(1, pieceRead)
		tag := tlp.Parse(&p.s[i].TLP.Hdr).Tag
		p.header(&p.s[k], func(h *tlp.Header) { h.Tag = tag })
	}, "device", "P2", "Tag"},

	// Faults of TLPs.
	{"4 KB crossing", func(p *tape) {
		p.header(p.get(0, pieceRead), func(h *tlp.Header) { h.Address = keyBus + 4096 - 4; h.Length = 8 })
	}, "device", "P3", "end within 4 KB page"},
	{"read over MRRS", func(p *tape) { p.header(p.get(0, descRead(1)), func(h *tlp.Header) { h.Length = 1024 }) },
		"device", "P3", ""},
	{"write over MPS", func(p *tape) { overMPS(p) }, "device", "P3", "payload bytes"},
	{"wrong requester",
		func(p *tape) { p.header(p.get(0, payWrite(0)), func(h *tlp.Header) { h.RequesterID = 0x100 }) }, "device",
		"P2", "RequesterID"},
	{"traffic class", func(p *tape) { p.header(p.get(0, payWrite(0)), func(h *tlp.Header) { h.TC = 1 }) }, "device",
		"P2", "TC"},
	{"attributes", func(p *tape) { p.header(p.get(0, pieceRead), func(h *tlp.Header) { h.Attr = tlp.RelaxedOrder }) },
		"device", "P11", "Attr"},
	{"tag in a write", func(p *tape) { p.header(p.get(0, payWrite(0)), func(h *tlp.Header) { h.Tag = 3 }) }, "device",
		"P2", "Tag"},
	{"poisoned write", func(p *tape) { p.header(p.get(0, payWrite(0)), func(h *tlp.Header) { h.EP = true }) }, "device",
		"P2", "EP"},
	{"four DWs below 4 GB", func(p *tape) { p.header(p.get(0, descRead(0)), func(h *tlp.Header) { h.Addr64 = true }) },
		"device", "P1", "Addr64"},
	{"illegal byte enables", func(p *tape) { p.header(p.get(0, rxCqe(0)), func(h *tlp.Header) { h.FirstBE = 5 }) },
		"device", "P4", "FirstBE"},
	{"length against payload", func(p *tape) { p.header(p.get(0, rxCqe(0)), func(h *tlp.Header) { h.Length = 15 }) },
		"device", "B5", "payload bytes"},
	{"message", func(p *tape) {
		x := p.get(0, pieceRead)
		x.TLP.Hdr = [16]byte{0x34, 0, 0, 0, 2, 0, 0, 0x7f}
	}, "device", "P2", "Kind"},

	// Faults of transmit.
	{"frame byte flipped", func(p *tape) { p.get(0, frameOut(0)).Frame.Data[50] ^= 1 }, "txq 0", "T5", "ipv4.options"},
	{"frame's destination", func(p *tape) { p.get(0, frameOut(0)).Frame.Data[3] ^= 1 }, "txq 0", "T5", "eth.dst"},
	{"frame too short", func(p *tape) { f := p.get(1, frameOut(0)).Frame; f.Data = f.Data[:len(f.Data)-1] }, "txq 0",
		"T5", "frame length"},
	{"frame too long", func(p *tape) { f := p.get(1, frameOut(0)).Frame; f.Data = append(f.Data, 0) }, "txq 0", "T5",
		"frame length"},
	{"wrong tuser", func(p *tape) { p.get(2, frameOut(0)).Frame.Queue = 1 }, "txq 0", "B3", "tuser"},
	{"tuser beyond the build", func(p *tape) { p.get(2, frameOut(0)).Frame.Queue = 99 }, "device", "B3", "tuser"},
	{"wrong port", func(p *tape) { x := p.get(2, frameOut(0)); x.Port ^= 1 }, "txq 0", "T9", "port"},
	{"frame missing", func(p *tape) { p.drop(p.find(1, frameOut(0))) }, "txq 0", "T1", "order"},
	{"frame twice", func(p *tape) { i := p.find(1, frameOut(0)); p.insert(i+1, clone(p.s[i])) }, "txq 0", "T1",
		"frame"},
	{"frame before its reads", func(p *tape) { p.move(p.find(0, frameOut(0)), p.find(2, pieceRead)) }, "txq 0", "P5",
		"frame"},
	{"frames swapped", func(p *tape) { swapFrames(p) }, "txq 0", "T1", "order"},
	{"completion before its frame", func(p *tape) { p.move(p.find(0, txCqe(0)), p.find(0, frameOut(0))) }, "txq 0",
		"T10", "frame"},
	{"completion missing", func(p *tape) { p.drop(p.find(1, txCqe(0))) }, "txq 0", "P9", "completion entry address"},
	{"last completion missing", func(p *tape) { p.drop(last(p, txCqe(1))) }, "txq 1", "T10", "completion entry"},
	{"completion not asked for", func(p *tape) { unasked(p) }, "txq 0", "T10", "index"},
	txField("status", "T3", func(e nicspec.TxCqe) { e.SetStatus(nicspec.StatusBadKey) }),
	txField("index", "T10", func(e nicspec.TxCqe) { e.SetIndex(e.Index() ^ 8) }),
	txField("wqe_id", "T10", func(e nicspec.TxCqe) { e.SetWqeId(5) }),
	txField("frame_len", "T10", func(e nicspec.TxCqe) { e.SetFrameLen(e.FrameLen() + 4) }),
	txField("phase", "Q8", func(e nicspec.TxCqe) { e.SetPhase(false) }),
	txField("queue", "T10", func(e nicspec.TxCqe) { e.SetQueue(1) }),
	{"failing entry completes well", func(p *tape) { failing(p).SetStatus(nicspec.StatusOk) }, "txq 1", "T3", "status"},
	{"Event without a cause",
		func(p *tape) { nicspec.TxCqe(p.get(0, txCqe(0)).TLP.Data).SetType(nicspec.CqeTypeEvent) }, "txq 0", "T2",
		"type"},
	{"Event without a cause, receive",
		func(p *tape) { nicspec.RxCqe(p.get(0, rxCqe(0)).TLP.Data).SetType(nicspec.CqeTypeEvent) }, "rxq 0", "Q4",
		"type"},

	// Faults of registers.
	{"register value", func(p *tape) { p.s[p.answer(nicspec.RegTblCmd)].TLP.Data[0] ^= 1 }, "registers", "G6",
		"TBL_CMD"},
	{"table status", func(p *tape) { p.s[p.answer(nicspec.RegTblCmd)].TLP.Data[3] ^= 0x0c }, "registers", "G6",
		"TBL_CMD"},
	{"answer missing", func(p *tape) { p.drop(p.answer(nicspec.RegRuleHits(15))) }, "registers", "G2", "answer"},
	{"answer twice", func(p *tape) { i := p.answer(nicspec.RegTblCmd); p.insert(i+1, clone(p.s[i])) }, "registers",
		"G2", "Tag"},
	{"answer to nobody",
		func(p *tape) { p.header(&p.s[p.answer(nicspec.RegTblCmd)], func(h *tlp.Header) { h.Tag ^= 0x80 }) },
		"registers", "G2", "Tag"},
	{"answer's byte count",
		func(p *tape) { p.header(&p.s[p.answer(nicspec.RegTblCmd)], func(h *tlp.Header) { h.ByteCount = 8 }) },
		"registers", "G2", "ByteCount"},
	{"answer's completer",
		func(p *tape) { p.header(&p.s[p.answer(nicspec.RegTblCmd)], func(h *tlp.Header) { h.CompleterID = 1 }) },
		"registers", "G2", "CompleterID"},
	{"answer refused", func(p *tape) {
		x := &p.s[p.answer(nicspec.RegTblCmd)]
		x.TLP.Data = nil
		p.header(x, func(h *tlp.Header) { h.Kind, h.Status, h.Length = tlp.Cpl, tlp.StatusUR, 0 })
	}, "registers", "G2", "Kind"},
	counter("RX_FRAMES[0]", nicspec.CntRxFrames.Index(0)),
	counter("RX_BYTES[1]", nicspec.CntRxBytes.Index(1)),
	counter("RX_DELIVERED[0]", nicspec.CntRxDelivered.Index(0)),
	counter("RX_DROP_RULE[0]", nicspec.CntRxDropRule.Index(0)),
	counter("RX_DROP_OVERFLOW[0]", nicspec.CntRxDropOverflow.Index(0)),
	counter("TX_FRAMES[1]", nicspec.CntTxFrames.Index(1)),
	counter("TX_WQE", nicspec.CntTxWqe.Index()),
	counter("TX_ERR", nicspec.CntTxErr.Index()),
	counter("RX_CQE", nicspec.CntRxCqe.Index()),
	counter("TX_CQE", nicspec.CntTxCqe.Index()),
	counter("DB_BAD", nicspec.CntDbBad.Index()),
	counter("CPL_ERR", nicspec.CntCplErr.Index()),
	{"wrong RULE_HITS", func(p *tape) { p.s[p.answer(nicspec.RegRuleHits(4))].TLP.Data[0]++ }, "counters", "G5",
		"RULE_HITS[4]"},
	{"counter not read", func(p *tape) {
		i := p.answer(nicspec.RegCounter(nicspec.CntTxWqe.Index()))
		tag := tlp.Parse(&p.s[i].TLP.Hdr).Tag
		p.drop(i)
		for k := i - 1; k >= 0; k-- {
			if p.s[k].Kind == boundary.TLPIn && p.s[k].TLP.Hdr[6] == tag {
				p.drop(k)
				return
			}
		}
	}, "counters", "G5", "TX_WQE"},
}

func rxField(field, rule string, set func(nicspec.RxCqe)) sabotage {
	return sabotage{"rx " + field, func(p *tape) {
		x := p.get(2, func(x *boundary.Crossing) bool { return rxCqe(0)(x) && nicspec.RxCqe(x.TLP.Data).Roce() })
		set(nicspec.RxCqe(x.TLP.Data))
	}, "rxq 0", rule, field}
}

func txField(field, rule string, set func(nicspec.TxCqe)) sabotage {
	return sabotage{"tx " + field, func(p *tape) { set(nicspec.TxCqe(p.get(1, txCqe(0)).TLP.Data)) }, "txq 0", rule,
		field}
}

func counter(name string, index int) sabotage {
	rule := "G5"
	if strings.HasPrefix(name, "RX_DROP") {
		rule = "C1"
	}
	return sabotage{"counter " + name, func(p *tape) { p.s[p.answer(nicspec.RegCounter(index))].TLP.Data[0]++ },
		"counters", rule, name}
}

// rung picks writes to the register at an offset, such as a doorbell.
func rung(off uint32) pick {
	return func(x *boundary.Crossing) bool {
		return x.Kind == boundary.TLPIn && tlp.Parse(&x.TLP.Hdr).Address == nicspec.BarBase+uint64(off) &&
			tlp.Parse(&x.TLP.Hdr).Kind == tlp.MWr
	}
}

func last(p *tape, is pick) int {
	at := -1
	for i := range p.s {
		if is(&p.s[i]) {
			at = i
		}
	}
	require.GreaterOrEqual(p.t, at, 0)
	return at
}

func shift(p *tape, x *boundary.Crossing, by uint64) {
	p.header(x, func(h *tlp.Header) { h.Address += by })
}

// grow makes a frame's last write one byte longer.
func grow(p *tape, is pick) {
	i := p.find(0, rxCqe(0))
	for ; !is(&p.s[i]); i-- {
	}
	x := &p.s[i]
	p.header(x, func(h *tlp.Header) {
		if h.LastBE == 0xf || h.LastBE == 0 {
			h.Length++
			h.LastBE = 1
			x.TLP.Data = append(x.TLP.Data, 0, 0, 0, 0)
		} else {
			h.LastBE = h.LastBE<<1 | 1
		}
	})
}

func overMPS(p *tape) {
	x := p.get(0, payWrite(0))
	x.TLP.Data = append(x.TLP.Data, make([]byte, 512)...)
	p.header(x, func(h *tlp.Header) { h.Length += 128; h.LastBE = 0xf })
}

func toOtherQueue(p *tape) {
	e := nicspec.RxCqe(p.get(0, rxCqe(0)).TLP.Data)
	f := nicspec.RxCqe(p.get(0, rxCqe(1)).TLP.Data)
	e.SetPort(f.Port())
	e.SetPortSeq(f.PortSeq())
}

// loseFrame removes the last delivery to queue 0: its writes and its completion entry.
func loseFrame(p *tape) {
	i := last(p, rxCqe(0))
	for k := i; k > 0; k-- {
		if payWrite(0)(&p.s[k]) {
			p.drop(k)
			i--
		} else if rxCqe(0)(&p.s[k]) && k != i {
			break
		}
	}
	p.drop(last(p, rxCqe(0)))
}

func TestSabotageIsCaught(t *testing.T) {
	cfg, clean := calm(t)
	require.NotZero(t, judge(t, cfg, clean).Stats.Dropped)
	sabotagesAreCaught(t, cfg, clean, sabotages)
}

// sabotagesAreCaught requires that a recording passes, and that each fault put into it is reported.
func sabotagesAreCaught(t *testing.T, cfg Config, clean []boundary.Crossing, faults []sabotage, held ...boundary.Held) {
	p := judgeHeld(t, cfg, clean, held)
	require.True(t, p.Passed(), "%v", p)
	for i := range faults {
		s := &faults[i]
		t.Run(s.name, func(t *testing.T) {
			p := newTape(t, clean)
			s.edit(p)
			got := judgeHeld(t, cfg, p.s, held)
			require.Equal(t, Differs, got.Result)
			m := got.List[0]
			t.Log(m)
			require.True(t, strings.HasPrefix(m.Domain, s.domain), "domain %s", m.Domain)
			if s.rule != "" {
				require.Equal(t, s.rule, m.Rule)
			}
			require.True(t, strings.HasPrefix(m.Field, s.field), "field %s", m.Field)
		})
	}
}
