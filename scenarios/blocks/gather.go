package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

const (
	gatherPieces = 3
	gatherInline = 56 // of a request
	gatherResult = 24
	gatherLine   = 128 // bytes
	gatherTold   = 32  // of the beat behind the lines: inline bytes
	gatherFault  = 3   // slot of a piece that may fail
)

var gatherFrame = &Block{
	Name: "gather", RTL: "nic_gather.sv", Go: "comp_gather.go",
	Ops: []Op{{
		Name: "entry",
		Request: layout(num("pieces", 1), num("inline_len", 1), num("port", 1), num("complete", 1), num("length", 2), num("fault", 1),
			num("late", 1), num("queue", 1), num("ecn", 1), num("index", 2), num("wqe_id", 4), code("status", statusName),
			num("offloads", 1), num("l3_off", 1), num("l4_off", 1), num("crc_off", 2), num("crc_start", 2), num("length_0", 2),
			num("length_1", 2), num("length_2", 2), gap(2), num("address_0", 8), num("address_1", 8), num("address_2", 8),
			raw("inline", nicspec.InlineMax)),
		Result: layout(code("status", statusName), num("complete", 1), num("queue", 1), num("port", 1), num("index", 2), num("wqe_id", 4),
			num("length", 2), num("inline_len", 1), num("offloads", 1), num("ecn", 1), num("l3_off", 1), num("l4_off", 1), num("taken", 1),
			num("beats", 2), num("crc_off", 2), num("crc_start", 2)).withTail("frame"),
	}},
	Stimulus: gatherStimulus, Reference: gatherReference, Settle: gatherSettle,
}

// gatherStimulus is frames of any cut, some entries that failed before, and in half of the runs some whose reads do: these
// wait for all others, so that the buffer fills without them only.
func gatherStimulus(rng *rand.Rand, n int) (list []Packet) {
	failing := 4 * rng.IntN(2) // percent
	for range n {
		b := noise(rng, gatherInline+nicspec.InlineMax)
		b[2], b[3], b[9] = b[2]&1, b[3]&1, b[9]&3
		b[6], b[7], b[16], b[17] = 0, 0, 0, b[17]&31
		b[21], b[23] = b[21]&63, b[23]&63
		clear(b[30:32])
		b[0], b[1] = 0, 0
		le.PutUint16(b[4:], 0)
		if maybe(rng, 8) { // nothing is to leave
			b[16] = uint8(1 + rng.IntN(8))
		} else {
			gatherCut(rng, b, failing)
		}
		list = append(list, Packet{Data: b})
	}
	return list
}

// gatherCut fills in the pieces of a frame, of which so many percent fail.
func gatherCut(rng *rand.Rand, b []byte, failing int) {
	pieces := rng.IntN(gatherPieces + 1)
	room := nicspec.WqeSlotBytes * (gatherPieces - pieces)
	b[0], b[1] = uint8(pieces), uint8(pick(rng, 0, rng.IntN(room+1), room))
	if pieces == 0 {
		b[1] = uint8(1 + rng.IntN(room))
	}
	length := int(b[1])
	for i := range pieces {
		n := 1 + pick(rng, rng.IntN(4), rng.IntN(130), rng.IntN(130), rng.IntN(nicspec.FrameMax/gatherPieces-room))
		addr := pick(rng, 0, uint64(rng.Uint32()))<<32 | uint64(rng.IntN(gatherFault))<<placeBit | uint64(rng.Uint32N(1<<29))
		if maybe(rng, 30) {
			addr = addr&^(tlp.PageBytes-1) | uint64(tlp.PageBytes-1-rng.IntN(200))
		}
		if b[6] == 0 && maybe(rng, failing) {
			b[6], b[7] = uint8(1+rng.IntN(faultKinds-1)), flag(maybe(rng, 50))
			addr |= gatherFault << placeBit
		}
		le.PutUint16(b[24+2*i:], uint16(n))
		le.PutUint64(b[32+8*i:], addr)
		length += n
	}
	le.PutUint16(b[4:], uint16(length))
}

// gatherPlan is what the decoder of work entries says of a request.
func gatherPlan(b []byte) *nic.TxPlan {
	p := &nic.TxPlan{Length: int(le.Uint16(b[4:])), InlineLen: int(b[1]), NumPieces: int(b[0])}
	copy(p.Inline[:p.InlineLen], b[gatherInline:])
	off := p.InlineLen
	for i := range p.NumPieces {
		p.Pieces[i] = nic.TxPiece{Bus: le.Uint64(b[32+8*i:]), Len: int(le.Uint16(b[24+2*i:])), Off: off}
		off += p.Pieces[i].Len
	}
	return p
}

func gatherReference() func(Packet) []Packet {
	s := readerState{Reader: nic.NewReader(256), mrrs: 256}
	return func(req Packet) []Packet {
		b := req.Data
		p := gatherPlan(b)
		r := []byte{b[16], b[3], b[8], b[2]}
		r = append(append(r, b[10:16]...), b[4], b[5], b[1], b[17], b[9], b[18], b[19])
		beats := uint16(p.Length+63) / 64
		r = le.AppendUint16(append(r, uint8(beats)), max(1, beats))
		r = append(r, b[20:24]...)
		f := append([]byte(nil), p.Inline[:p.InlineLen]...)
		f = append(f, make([]byte, p.Length-len(f))...)
		for i := range p.NumPieces {
			var rd nic.Read
			piece := &p.Pieces[i]
			rd.Begin(piece.Bus, f[piece.Off:][:piece.Len])
			fault := uint8(faultNone)
			if piece.Bus>>placeBit%places == gatherFault {
				fault = b[6]
			}
			if s.read(&rd, fault, b[7] != 0); rd.Status != nicspec.StatusOk {
				r[0] = uint8(rd.Status)
				return []Packet{{Data: r}}
			}
		}
		return []Packet{{Data: append(r, f...)}}
	}
}

// gatherSettle does what the offloads do with lines: the bytes beyond the frame are of no meaning, inline bytes come beside,
// and a frame that failed does not leave.
func gatherSettle(data []byte) []byte {
	if len(data) < 2*gatherLine || len(data)%gatherLine != 0 {
		return data
	}
	lines, told := data[:len(data)-gatherLine], data[len(data)-gatherLine:]
	r := append([]byte(nil), told[:gatherResult]...)
	n := int(le.Uint16(told[10:]))
	if told[0] != uint8(nicspec.StatusOk) || n > len(lines) {
		return r
	}
	copy(lines[:min(n, int(told[12]))], told[gatherTold:])
	return append(r, lines[:n]...)
}
