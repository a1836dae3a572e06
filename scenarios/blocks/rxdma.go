package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// Places of what a frame writes.
const (
	rxHeader = iota
	rxPayload
	rxEntry
)

const (
	rxLineBytes  = 64
	rxPorts      = 2
	rxHeadAt     = 80 // of a request
	rxAddrAt     = 20 // of a result
	rxEntryAt    = 44
	rxResultSize = rxEntryAt + nicspec.CqeBytes
)

// rxdma has what follows the choice of a queue: whether it takes the frame, and what is written then.
var rxdma = &Block{
	Name: "rxdma", RTL: "nic_rxdma.sv", Go: "rxdma.go",
	Ops: []Op{{
		Name: "delivery",
		Request: layout(num("is_event", 1), num("port", 1), num("state", 1), num("late", 1), num("length", 2), num("queue", 2), num("line", 2),
			num("mps", 2), num("attr", 1), num("account_en", 1), num("slow", 1), num("ruled", 1), num("rule", 1), num("crc_drop", 1),
			num("crc_verdict", 1), code("event_status", statusName), num("account_seq", 4), num("port_seq", 4), num("hash", 4),
			num("crc", 4), num("split_mode", 1), num("log_size", 1), num("crc_mode", 1), num("ecn_mode", 1), num("split_len", 2),
			num("hdr_buf_size", 2), num("pay_buf_size", 2), num("event_index", 2), num("pi", 2), num("ci", 2), num("cqi", 2), gap(2),
			num("cq_base", 8), entry(&nicspec.RxDescInfo), raw("headers", 48)),
		Result: layout(code("writes", writesName), code("drop", dropName), num("dropped", 1), num("settled", 1), num("passed", 1),
			num("freed", 1), num("lines", 1), num("kept", 1), num("delivered", 1), num("entry_attr", 1), num("done_queue", 2),
			num("header_attr", 1), num("payload_attr", 1), num("header_bytes", 2), num("payload_bytes", 2), gap(2), num("header_addr", 8),
			num("payload_addr", 8), num("entry_addr", 8), entry(&nicspec.RxCqeInfo)).withTail("frame"),
	}},
	Stimulus: rxdmaStimulus, Settle: rxdmaSettle,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet { return []Packet{rxdmaResult(req.Data)} }
	},
}

func dropName(v uint64) string {
	if v == 0 {
		return "none"
	}
	return nicspec.PortCounter(v).String()
}

func rxdmaStimulus(rng *rand.Rand, n int) (list []Packet) {
	mps, attr := uint16(256), uint8(0)
	for range n {
		if maybe(rng, 5) {
			mps, attr = pick[uint16](rng, 128, 256, 512), uint8(rng.IntN(4))
		}
		b := noise(rng, 128)
		b[0], b[1], b[3] = flag(maybe(rng, 10)), uint8(rng.IntN(rxPorts)), uint8(pick(rng, 0, 0, rng.IntN(40)))
		b[2] = uint8(pick(rng, nicspec.QueueStateRun, nicspec.QueueStateRun, nicspec.QueueStateRun, nicspec.QueueStateRun,
			nicspec.QueueStateOff, nicspec.QueueStateError))
		size := min(max(frameLength(rng), nicspec.FrameMin), nicspec.FrameMax)
		le.PutUint16(b[4:], uint16(size))
		le.PutUint16(b[6:], uint16(rng.IntN(nic.DefaultSpec().NumRxq+int(flag(b[0] == 0 && maybe(rng, 5)))*200)))
		le.PutUint16(b[8:], rxLine(rng))
		le.PutUint16(b[10:], mps)
		b[12] = attr
		for i := 13; i < 16; i++ { // account, slow queue, rule
			b[i] &= 1
		}
		b[17], b[18], b[19] = flag(maybe(rng, 10)), uint8(rng.IntN(3)), uint8(1+rng.IntN(12))
		rxdmaQueue(rng, b, size)
		rxdmaHeaders(rng, b)
		list = append(list, Packet{Data: b})
	}
	return list
}

// rxdmaQueue fills in what the queue says of a frame of n bytes, and the addresses.
func rxdmaQueue(rng *rand.Rand, b []byte, n int) {
	split := pick(rng, 0, rng.IntN(n+1), rng.IntN(n+1), n, n+1, rng.IntN(1<<16))
	b[36], b[37], b[38], b[39] = uint8(rng.IntN(3)), uint8(rng.IntN(16)), uint8(rng.IntN(3)), uint8(rng.IntN(2))
	le.PutUint16(b[40:], uint16(split))
	le.PutUint16(b[42:], uint16(pick(rng, nicspec.FrameMax, rng.IntN(n+1), rng.IntN(200))))
	le.PutUint16(b[44:], uint16(pick(rng, nicspec.FrameMax, nicspec.FrameMax, nicspec.FrameMax, max(0, n-split), max(0, n-split-1), n)))
	if maybe(rng, 5) {
		copy(b[48:50], b[50:52]) // nothing is posted
	}
	for i, place := range [...]uint64{rxEntry, rxHeader, rxPayload} {
		const room = 1 << 29
		addr := uint64(rng.Uint32N(room))
		if maybe(rng, 50) { // its end near that of a page
			addr = addr&^(tlp.PageBytes-1) + uint64(rng.IntN(tlp.PageBytes))
			addr = max(addr&^(tlp.PageBytes-1), addr-uint64(rng.IntN(n+1)))
		}
		if place == rxEntry {
			addr &^= nicspec.CqeBytes - 1
		}
		le.PutUint64(b[56+8*i:], uint64(pick(rng, 0, rng.Uint32(), 1<<24))<<32|place<<placeBit|addr)
	}
}

// rxdmaHeaders fills in what the frame's headers say, nearly at random: where the ECN bits stand must be so.
func rxdmaHeaders(rng *rand.Rand, b []byte) {
	h := b[rxHeadAt:]
	h[0], h[1], h[2] = uint8(rng.IntN(3)), uint8(rng.IntN(3)), uint8(rng.IntN(3))
	for i := 3; i < 7; i++ { // flags
		h[i] &= 1
	}
	for i := 7; i < 10; i++ { // verdicts
		h[i] = uint8(rng.IntN(3))
	}
	h[10] = 14 + 4*h[2]
	h[29] &= 1
	h[35], h[39] = 0, 0 // numbers of 24 bits
	clear(h[40:])
	v := rxVerdict(b)
	if v.L3Type == nicspec.L3TypeNone {
		return
	}
	f := rxFrame(b)
	for (f[v.L3Off]>>4 == 4) != (v.L3Type == nicspec.L3TypeIpv4) {
		le.PutUint16(b[8:], rxLine(rng))
		f = rxFrame(b)
	}
	nic.MarkCE(f, &v.Headers)
	copy(h[30:], []byte{f[v.L3Off+11], f[v.L3Off+10]})
}

// rxLine is a line of a receive buffer.
func rxLine(rng *rand.Rand) uint16 { return uint16(rng.IntN(nicspec.RxBufBytes / rxLineBytes)) }

// rxFrame is the bytes of the buffer that a request's frame takes up, as blk_lines has them.
func rxFrame(b []byte) []byte {
	f := make([]byte, le.Uint16(b[4:]))
	first := uint32(le.Uint16(b[8:])) * rxLineBytes
	for i := range f {
		addr := uint32(b[1])<<16 | (first+uint32(i))%nicspec.RxBufBytes
		f[i] = byte(addr * 0x9e3779b1 >> 24)
	}
	return f
}

// rxVerdict is what a request says of its frame.
func rxVerdict(b []byte) *nic.RxVerdict {
	h := b[rxHeadAt:]
	v := &nic.RxVerdict{
		Drop: nic.NoDrop, Queue: le.Uint16(b[6:]), Rule: nicspec.RuleNone, Checked: true, Hash: le.Uint32(b[28:]),
		Headers: nic.Headers{
			L3Type: nicspec.L3Type(h[0]), L4Type: nicspec.L4Type(h[1]), VlanCount: h[2], Frag: h[3] != 0, Roce: h[4] != 0,
			IPLenBad: h[5] != 0, L4LenBad: h[6] != 0, L3Off: h[10], L4Off: h[11], VlanOuter: le.Uint16(h[12:]),
			VlanInner: le.Uint16(h[14:]), PayloadOff: uint16(h[16]), IPProto: h[17], Ethertype: le.Uint16(h[18:]), IPTos: h[20],
			BTHOpcode: h[21], SrcPort: le.Uint16(h[22:]), DstPort: le.Uint16(h[24:]), PKey: le.Uint16(h[26:]), BTHFlags: h[28],
			AckReq: h[29] != 0, DestQP: le.Uint32(h[32:]), PSN: le.Uint32(h[36:]),
		},
		IPCsum: nicspec.Verdict(h[7]), L4Csum: nicspec.Verdict(h[8]), ICRC: nicspec.Verdict(h[9]),
		Crc: le.Uint32(b[32:]), CrcVerdict: nicspec.Verdict(b[18]), DropCrc: b[17] != 0,
	}
	if b[15] != 0 {
		v.Rule = uint16(b[16])
	}
	return v
}

// rxQueue is the queue of a request; nil: there is none.
func rxQueue(b []byte) *nic.Queue {
	if int(le.Uint16(b[6:])) >= nic.DefaultSpec().NumRxq {
		return nil
	}
	return &nic.Queue{
		State: nicspec.QueueState(b[2]), LogSize: b[37], CqBase: le.Uint64(b[56:]), PI: le.Uint16(b[48:]), CI: le.Uint16(b[50:]),
		CQI: le.Uint16(b[52:]), SplitMode: nicspec.SplitMode(b[36]), SplitLen: le.Uint16(b[40:]), HdrBufSize: le.Uint16(b[42:]),
		PayBufSize: le.Uint16(b[44:]), CrcMode: nicspec.CrcMode(b[38]), EcnMode: b[39],
	}
}

func rxdmaResult(b []byte) Packet {
	r := make([]byte, rxResultSize)
	q, v, n := rxQueue(b), rxVerdict(b), int(le.Uint16(b[4:]))
	if b[0] != 0 {
		le.PutUint16(r[10:], v.Queue)
		le.PutUint64(r[rxAddrAt+8*rxEntry:], q.CqeAddr(q.CQI))
		nic.BuildEvent(v.Queue, le.Uint16(b[46:]), nicspec.Status(b[19]), q.Phase(q.CQI), (*[nicspec.CqeBytes]byte)(r[rxEntryAt:]))
		return Packet{Data: r}
	}
	drop := q.Admit(v, n)
	if drop == nic.NoDrop && q.Posted() == 0 {
		drop = nicspec.CntRxDropNoDesc
	}
	of := uint8(1) << b[1]
	r[3], r[5], r[6] = b[13], of, uint8((n+rxLineBytes-1)/rxLineBytes)
	if drop != nic.NoDrop {
		r[1], r[2] = uint8(drop), of
		return Packet{Data: r}
	}
	r[4], r[7], r[8] = b[13], of, of
	copy(r[10:12], b[6:8])
	return Packet{Data: rxDelivered(b, r, q, v)}
}

// rxDelivered is a result r with what the frame of a request writes.
func rxDelivered(b, r []byte, q *nic.Queue, v *nic.RxVerdict) []byte {
	var p nic.RxPlan
	f := rxFrame(b)
	nic.PlanRx(q, v, len(f), &nic.RxSlot{
		Port: int(b[1]), Seq: le.Uint32(b[24:]), Queue: v.Queue, Index: q.CI, CQI: q.CQI, Desc: nicspec.DecodeRxDesc(b[64:80]),
		SlowPath: b[14] != 0, AccountSeq: le.Uint32(b[20:]),
	}, &p)
	if p.MarkCE {
		nic.MarkCE(f, &v.Headers)
	}
	if p.HdrLen != 0 {
		r[12] = b[12]
		le.PutUint64(r[rxAddrAt+8*rxHeader:], p.HdrAddr)
	}
	if p.PayLen != 0 {
		r[13] = b[12]
		le.PutUint64(r[rxAddrAt+8*rxPayload:], p.PayAddr)
	}
	le.PutUint16(r[14:], uint16(p.HdrLen))
	le.PutUint16(r[16:], uint16(p.PayLen))
	le.PutUint64(r[rxAddrAt+8*rxEntry:], p.CqeAddr)
	copy(r[rxEntryAt:], p.Cqe[:])
	return append(r, f...)
}

// rxdmaSettle puts together what was written.
func rxdmaSettle(data []byte) []byte {
	w, told := gather(data, func(told []byte) int { return int(le.Uint16(told)) })
	r := make([]byte, rxResultSize)
	header, payload, cqe := &w.places[rxHeader], &w.places[rxPayload], &w.places[rxEntry]
	if len(w.others) > 0 || len(w.places[rxEntry+1].runs) > 0 || len(cqe.bytes) > nicspec.CqeBytes || len(cqe.bytes) > 0 && !w.ended {
		w.wrong(writesKind)
	}
	r[0] = w.fault
	copy(r[1:9], told[3:11])
	r[9], r[12], r[13] = uint8(cqe.attr), uint8(header.attr), uint8(payload.attr)
	copy(r[10:12], told[11:13])
	le.PutUint16(r[14:], uint16(len(header.bytes)))
	le.PutUint16(r[16:], uint16(len(payload.bytes)))
	for i, p := range []*placed{header, payload, cqe} {
		le.PutUint64(r[rxAddrAt+8*i:], p.addr)
	}
	copy(r[rxEntryAt:], cqe.bytes)
	return append(append(r, header.bytes...), payload.bytes...)
}
