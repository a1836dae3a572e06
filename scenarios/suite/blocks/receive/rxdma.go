package receive

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Address ranges (kit.Places) that the parts of a frame are written to.
const (
	rxHeader = iota
	rxPayload
	rxEntry
)

const (
	rxLineBytes = 64
	rxPorts     = 2
)

// rxDelivery is a frame, or an Event, with its queue and its descriptor.
type rxDelivery struct {
	IsEvent, Port            uint8
	State                    nicspec.QueueState
	Late                     uint8
	Length, Queue, Line, Mps uint16
	Attr, AccountEn, Slow    uint8
	Ruled, Rule, CrcDrop     uint8
	CrcVerdict               nicspec.Verdict
	EventStatus              nicspec.Status
	AccountSeq, PortSeq      uint32
	Hash, Crc                uint32
	SplitMode                nicspec.SplitMode
	LogSize                  uint8
	CrcMode                  nicspec.CrcMode
	EcnMode                  uint8
	SplitLen                 uint16
	HdrBufSize, PayBufSize   uint16
	EventIndex, Pi, Ci, Cqi  uint16
	Flr                      uint8 // a function-level reset is in progress
	Trim                     uint8
	CqBase                   uint64
	Desc                     nicspec.RxDescFields
	Headers                  rxHeaders
}

// rxHeaders holds what the parser reports about a frame.
type rxHeaders struct {
	L3Type                         nicspec.L3Type
	L4Type                         nicspec.L4Type
	VlanCount                      uint8
	Frag, Roce, IpLenBad, L4LenBad uint8
	IpCsum, L4Csum, Icrc           nicspec.Verdict
	L3Off, L4Off                   uint8
	VlanOuter, VlanInner           uint16
	PayloadOff, IpProto            uint8
	Ethertype                      uint16
	IpTos, BthOpcode               uint8
	SrcPort, DstPort, Pkey         uint16
	BthFlags, AckReq               uint8
	EcnCsum                        uint16 // the IPv4 header checksum after marking
	DestQp, Psn                    uint32
	UdpLen                         uint16
	TrimAt                         uint16 // offset of pad and ICRC, if Trims is set
	Trims                          uint8  // set if the frame can be trimmed [R14]
	_                              [3]uint8
}

// rxFate says what happened to a frame, apart from the bytes written.
type rxFate struct {
	Drop                          rxDrop
	Dropped, Settled, Passed      uint8
	Freed, Lines, Kept, Delivered uint8
}

type rxResult struct {
	Writes                  kit.WritesFault
	Fate                    rxFate
	EntryAttr               uint8
	DoneQueue               uint16
	HeaderAttr, PayloadAttr uint8
	HeaderBytes             uint16
	PayloadBytes            uint16
	_                       [2]uint8
	HeaderAddr, PayloadAddr uint64
	EntryAddr               uint64
	Entry                   [nicspec.RxCqeSize]uint8 `entry:"RxCqe"`
}

// rxReport is the last beat of a result.
type rxReport struct {
	Mps       uint16
	Attr      uint8
	Fate      rxFate
	DoneQueue uint16
}

// rxDrop is the counter of a drop cause, or none if the frame was not dropped.
type rxDrop nicspec.PortCounter

func (d rxDrop) String() string {
	if d == 0 {
		return "none"
	}
	return nicspec.PortCounter(d).String()
}

// RxDMA decides whether the chosen queue takes a frame, and writes frame and completion entry to memory.
var RxDMA = &kit.Block{
	Name: "rxdma", RTL: "receive/nic_rxdma.sv", Go: "models/nic/core/rxdma.go",
	Ops: []kit.Op{{Name: "delivery", Request: kit.NewRecord[rxDelivery](),
		Result: kit.NewRecord[rxResult]().WithTail("frame")}},
	Stimulus: rxdmaStimulus, Settle: rxdmaSettle,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			d := kit.Decode[rxDelivery](req.Data)
			r, frame := d.result()
			return []kit.Packet{{Data: append(kit.Encode(r), frame...)}}
		}
	},
}

func rxdmaStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	mps, attr := uint16(256), uint8(0)
	for range n {
		if kit.Maybe(rng, 5) {
			mps, attr = kit.Pick[uint16](rng, 128, 256, 512), uint8(rng.IntN(4))
		}
		d := kit.Anything[rxDelivery](rng)
		d.IsEvent, d.Port, d.Late = kit.Flag(kit.Maybe(rng, 10)), uint8(rng.IntN(rxPorts)),
			uint8(kit.Pick(rng, 0, 0, rng.IntN(40)))
		const run = nicspec.QueueStateRun
		d.State = kit.Pick(rng, run, run, run, run, nicspec.QueueStateOff, nicspec.QueueStateError)
		d.Length = uint16(min(max(kit.FrameLength(rng), nicspec.FrameMin), nicspec.FrameMax))
		d.Queue = uint16(rng.IntN(nicspec.DefaultBuild().NumRxq +
			int(kit.Flag(d.IsEvent == 0 && kit.Maybe(rng, 5)))*200))
		d.Line = rxLine(rng)
		d.Mps, d.Attr = mps, attr
		d.AccountEn, d.Slow, d.Ruled = d.AccountEn&1, d.Slow&1, d.Ruled&1
		d.CrcDrop, d.CrcVerdict, d.EventStatus = kit.Flag(kit.Maybe(rng, 10)), nicspec.Verdict(rng.IntN(3)),
			nicspec.Status(1+rng.IntN(12))
		d.Headers.limitToParser(rng)
		d.trims(rng)
		d.atQueue(rng)
		d.mark(rng)
		d.reset(rng)
		list = append(list, kit.Packet{Data: kit.Encode(d)})
	}
	return list
}

// atQueue fills in the queue's fields and the addresses.
func (d *rxDelivery) atQueue(rng *rand.Rand) {
	n, placed := int(d.Length), int(d.Length)
	if d.Trim != 0 && d.Headers.Trims != 0 {
		placed = int(d.Headers.TrimAt)
	}
	split := kit.Pick(rng, 0, rng.IntN(n+1), rng.IntN(n+1), n, n+1, rng.IntN(1<<16))
	d.SplitMode, d.LogSize, d.CrcMode = nicspec.SplitMode(rng.IntN(3)), uint8(rng.IntN(16)),
		nicspec.CrcMode(rng.IntN(3))
	d.EcnMode = uint8(rng.IntN(2))
	d.SplitLen = uint16(split)
	d.HdrBufSize = uint16(kit.Pick(rng, nicspec.FrameMax, rng.IntN(n+1), rng.IntN(200)))
	d.PayBufSize = uint16(kit.Pick(rng, nicspec.FrameMax, nicspec.FrameMax, nicspec.FrameMax, max(0, placed-split),
		max(0, placed-split-1), placed))
	if kit.Maybe(rng, 5) {
		d.Pi = d.Ci // no descriptor is posted
	}
	d.CqBase = rxAddress(rng, rxEntry, n)
	d.Desc.HdrAddr = rxAddress(rng, rxHeader, n)
	d.Desc.PayAddr = rxAddress(rng, rxPayload, n)
}

// rxAddress returns an address in one of the address ranges, with room for a frame of n bytes.
func rxAddress(rng *rand.Rand, place uint64, n int) uint64 {
	const room = 1 << 29
	addr := uint64(rng.Uint32N(room))
	if kit.Maybe(rng, 50) { // the frame ends near the end of a page
		addr = addr&^(tlp.PageBytes-1) + uint64(rng.IntN(tlp.PageBytes))
		addr = max(addr&^(tlp.PageBytes-1), addr-uint64(rng.IntN(n+1)))
	}
	if place == rxEntry {
		addr &^= nicspec.CqeBytes - 1
	}
	return uint64(kit.Pick(rng, 0, rng.Uint32(), 1<<24))<<32 | place<<kit.PlaceBit | addr
}

// limitToParser restricts random headers to what a parser could report.
func (h *rxHeaders) limitToParser(rng *rand.Rand) {
	h.L3Type, h.L4Type, h.VlanCount = nicspec.L3Type(rng.IntN(3)), nicspec.L4Type(rng.IntN(3)), uint8(rng.IntN(3))
	for _, f := range []*uint8{&h.Frag, &h.Roce, &h.IpLenBad, &h.L4LenBad, &h.AckReq} {
		*f &= 1
	}
	for _, v := range []*nicspec.Verdict{&h.IpCsum, &h.L4Csum, &h.Icrc} {
		*v = nicspec.Verdict(rng.IntN(3))
	}
	h.L3Off = 14 + 4*h.VlanCount
	h.DestQp, h.Psn = h.DestQp&(1<<24-1), h.Psn&(1<<24-1)
}

// trims sets a UDP length that the frame's length and l4_len_bad allow, makes half of the frames RoCE, and
// computes where they are trimmed, if at all.
func (d *rxDelivery) trims(rng *rand.Rand) {
	h := &d.Headers
	d.Trim = kit.Flag(kit.Maybe(rng, 60))
	if kit.Maybe(rng, 60) {
		h.Roce, h.Frag, h.L4LenBad = 1, kit.Flag(kit.Maybe(rng, 8)), kit.Flag(kit.Maybe(rng, 8))
		h.PayloadOff = uint8(min(int(h.PayloadOff), int(d.Length)))
		h.L4Off = uint8(min(int(h.L4Off), int(d.Length)-nicspec.FrameMin/2))
	}
	room := int(d.Length) - int(h.L4Off)
	least := int(h.PayloadOff) - int(h.L4Off) + 4 // least UDP length of a frame without payload and pad
	h.UdpLen = uint16(kit.Pick(rng, rng.IntN(max(0, room)+1), rng.IntN(40), room, max(0, room-rng.IntN(8)),
		max(0, least+rng.IntN(5)-1)))
	if h.L4LenBad == 0 {
		h.UdpLen = min(h.UdpLen, uint16(max(0, room)))
	}
	const whole = nicspec.FrameMax + 1 // larger than any frame, so the frame is not trimmed
	q := core.Queue{Trim: 1}
	h.TrimAt, h.Trims = 0, 0
	if at := q.Placed(d.verdict(), whole); at != whole {
		h.TrimAt, h.Trims = uint16(at), 1
	}
}

// mark moves the frame to buffer lines where its bytes, at the offset of the IP header, have the right IP version, and
// computes the IPv4 header checksum after marking with CE.
func (d *rxDelivery) mark(rng *rand.Rand) {
	v := d.verdict()
	if v.L3Type == nicspec.L3TypeNone {
		return
	}
	f := d.frame()
	for (f[v.L3Off]>>4 == 4) != (v.L3Type == nicspec.L3TypeIpv4) {
		d.Line = rxLine(rng)
		f = d.frame()
	}
	core.MarkCE(f, &v.Headers)
	d.Headers.EcnCsum = binary.BigEndian.Uint16(f[v.L3Off+10:])
}

// reset lets a function-level reset meet some of the frames that would otherwise be delivered. It leaves out dropped
// frames, for which a reset may count either of two causes, and Events, which a reset may write or not [L2].
func (d *rxDelivery) reset(rng *rand.Rand) {
	d.Flr = 0
	if d.IsEvent == 0 && d.drop() == core.NoDrop {
		d.Flr = kit.Flag(kit.Maybe(rng, 8))
	}
}

// drop returns the cause for which the frame is dropped.
func (d *rxDelivery) drop() nicspec.PortCounter {
	q := d.queue()
	switch drop := q.Admit(d.verdict(), int(d.Length)); {
	case drop != core.NoDrop:
		return drop
	case d.Flr != 0:
		return nicspec.CntRxDropDisabled
	case q.Posted() == 0:
		return nicspec.CntRxDropNoDesc
	}
	return core.NoDrop
}

// rxLine draws a line of the receive buffer.
func rxLine(rng *rand.Rand) uint16 { return uint16(rng.IntN(nicspec.RxBufBytes / rxLineBytes)) }

// frame returns the frame's bytes: the contents that the wrapper (blk_lines) gives the lines of the receive buffer that
// the frame occupies.
func (d *rxDelivery) frame() []byte {
	f := make([]byte, d.Length)
	first := uint32(d.Line) * rxLineBytes
	for i := range f {
		addr := uint32(d.Port)<<16 | (first+uint32(i))%nicspec.RxBufBytes
		f[i] = byte(addr * 0x9e3779b1 >> 24)
	}
	return f
}

// verdict returns the frame's verdict in the form that the Go NIC uses.
func (d *rxDelivery) verdict() *core.RxVerdict {
	h := &d.Headers
	v := &core.RxVerdict{
		Drop: core.NoDrop, Queue: d.Queue, Rule: nicspec.RuleNone, Checked: true, Hash: d.Hash,
		Headers: core.Headers{
			L3Type: h.L3Type, L4Type: h.L4Type, VlanCount: h.VlanCount, Frag: h.Frag != 0, Roce: h.Roce != 0,
			IPLenBad: h.IpLenBad != 0, L4LenBad: h.L4LenBad != 0, L3Off: h.L3Off, L4Off: h.L4Off,
			VlanOuter: h.VlanOuter,
			VlanInner: h.VlanInner, PayloadOff: uint16(h.PayloadOff), IPProto: h.IpProto, Ethertype: h.Ethertype,
			IPTos:     h.IpTos,
			BTHOpcode: h.BthOpcode, SrcPort: h.SrcPort, DstPort: h.DstPort, PKey: h.Pkey, BTHFlags: h.BthFlags,
			AckReq: h.AckReq != 0, DestQP: h.DestQp, PSN: h.Psn, UDPLen: h.UdpLen,
		},
		IPCsum: h.IpCsum, L4Csum: h.L4Csum, ICRC: h.Icrc, Crc: d.Crc, CrcVerdict: d.CrcVerdict, DropCrc: d.CrcDrop != 0,
	}
	if d.Ruled != 0 {
		v.Rule = uint16(d.Rule)
	}
	return v
}

// queue returns the frame's queue, or nil.
func (d *rxDelivery) queue() *core.Queue {
	if int(d.Queue) >= nicspec.DefaultBuild().NumRxq {
		return nil
	}
	return &core.Queue{
		State: d.State, LogSize: d.LogSize, CqBase: d.CqBase, PI: d.Pi, CI: d.Ci, CQI: d.Cqi, SplitMode: d.SplitMode,
		SplitLen: d.SplitLen, HdrBufSize: d.HdrBufSize, PayBufSize: d.PayBufSize, CrcMode: d.CrcMode,
		EcnMode: d.EcnMode,
		Trim:    d.Trim, HasPayLen: true,
	}
}

// result returns the expected outcome, and the bytes of the frame as they are written to memory.
func (d *rxDelivery) result() (r rxResult, frame []byte) {
	q, v, n := d.queue(), d.verdict(), int(d.Length)
	if d.IsEvent != 0 {
		r.DoneQueue, r.EntryAddr = d.Queue, q.CqeAddr(q.CQI)
		core.BuildEvent(d.Queue, d.EventIndex, d.EventStatus, q.Phase(q.CQI), &r.Entry)
		return r, nil
	}
	drop := d.drop()
	of := uint8(1) << d.Port
	r.Fate = rxFate{Settled: d.AccountEn, Freed: of, Lines: uint8((n + rxLineBytes - 1) / rxLineBytes)}
	if drop != core.NoDrop {
		r.Fate.Drop, r.Fate.Dropped = rxDrop(drop), of
		return r, nil
	}
	r.Fate.Passed, r.Fate.Kept, r.Fate.Delivered = d.AccountEn, of, of
	r.DoneQueue = d.Queue
	return r, d.delivered(&r, q, v)
}

// delivered fills in the writes of a delivered frame, and returns its bytes.
func (d *rxDelivery) delivered(r *rxResult, q *core.Queue, v *core.RxVerdict) []byte {
	var p core.RxPlan
	f := d.frame()
	core.PlanRx(q, v, len(f), &core.RxSlot{
		Port: int(d.Port), Seq: d.PortSeq, Queue: v.Queue, Index: q.CI, CQI: q.CQI, Desc: d.Desc, SlowPath: d.Slow != 0,
		AccountSeq: d.AccountSeq,
	}, &p)
	if p.MarkCE {
		core.MarkCE(f, &v.Headers)
	}
	if p.HdrLen != 0 {
		r.HeaderAttr, r.HeaderAddr = d.Attr, p.HdrAddr
	}
	if p.PayLen != 0 {
		r.PayloadAttr, r.PayloadAddr = d.Attr, p.PayAddr
	}
	r.HeaderBytes, r.PayloadBytes = uint16(p.HdrLen), uint16(p.PayLen)
	r.EntryAddr, r.Entry = p.CqeAddr, p.Cqe
	return f[:p.HdrLen+p.PayLen]
}

// rxdmaSettle reassembles the writes of a result.
func rxdmaSettle(data []byte) []byte {
	w, last := kit.Gather(data, func(b []byte) int { return int(kit.Decode[rxReport](b).Mps) })
	t := kit.Decode[rxReport](last)
	header, payload, cqe := &w.Places[rxHeader], &w.Places[rxPayload], &w.Places[rxEntry]
	n := len(cqe.Bytes)
	if len(w.Others) > 0 || len(w.Places[rxEntry+1].Runs) > 0 || n > nicspec.CqeBytes || n > 0 && !w.Ended {
		w.Wrong(kit.WritesKind)
	}
	r := rxResult{
		Writes: w.Fault, Fate: t.Fate, DoneQueue: t.DoneQueue, EntryAttr: uint8(cqe.Attr),
		HeaderAttr:  uint8(header.Attr),
		PayloadAttr: uint8(payload.Attr), HeaderBytes: uint16(len(header.Bytes)),
		PayloadBytes: uint16(len(payload.Bytes)),
		HeaderAddr:   header.Addr, PayloadAddr: payload.Addr, EntryAddr: cqe.Addr,
	}
	copy(r.Entry[:], cqe.Bytes)
	return append(append(kit.Encode(r), header.Bytes...), payload.Bytes...)
}
