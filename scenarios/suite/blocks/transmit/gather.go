package transmit

import (
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

const (
	gatherPieces = 3
	gatherLine   = 128 // bytes of a line of the gather buffer
	gatherFault  = 3   // slot of a piece whose read may fail
)

// gatherEntry is a frame's entry in the form that the decoder of work entries passes on.
type gatherEntry struct {
	Pieces, InlineLen, Port, Complete uint8
	Length                            uint16
	Fault, Late, Queue, Ecn           uint8
	Index                             uint16
	WqeId                             uint32
	Status                            nicspec.Status
	Offloads, L3Off, L4Off            uint8
	CrcOff, CrcStart                  uint16
	Bytes                             [gatherPieces]uint16 // length of each piece
	_                                 [2]uint8
	Address                           [gatherPieces]uint64
	Inline                            [nicspec.InlineMax]uint8
}

// gatherEnd is the block's report at the end of a frame.
type gatherEnd struct {
	Status                  nicspec.Status
	Complete, Queue, Port   uint8
	Index                   uint16
	WqeId                   uint32
	Length                  uint16
	InlineLen, Offloads     uint8
	Ecn, L3Off, L4Off       uint8
	Taken                   uint8
	Beats, CrcOff, CrcStart uint16
}

// gatherReport is the last beat of a result, after the lines.
type gatherReport struct {
	End    gatherEnd
	_      [8]uint8
	Inline [nicspec.InlineMax]uint8
}

var GatherFrame = &kit.Block{
	Name: "gather", RTL: "transmit/nic_gather.sv", Go: "models/nic/gather.go",
	Ops: []kit.Op{{Name: "entry", Request: kit.NewRecord[gatherEntry](),
		Result: kit.NewRecord[gatherEnd]().WithTail("frame")}},
	Stimulus: gatherStimulus, Reference: gatherReference, Settle: gatherSettle,
}

// gatherStimulus returns frames in random pieces, and some entries that have already failed. In half of the runs some
// reads fail as well. A failing frame waits for all others, so that the buffer fills only in runs without failing
// reads.
func gatherStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	const offloads, beyond = 1<<5 - 1, 1<<14 - 1
	failing := 4 * rng.IntN(2) // percentage of pieces whose reads fail
	for range n {
		e := kit.Anything[gatherEntry](rng)
		e.Port, e.Complete, e.Ecn = e.Port&1, e.Complete&1, e.Ecn&3
		e.Offloads, e.CrcOff, e.CrcStart = e.Offloads&offloads, e.CrcOff&beyond, e.CrcStart&beyond
		e.Pieces, e.InlineLen, e.Length, e.Fault, e.Late, e.Status = 0, 0, 0, 0, 0, nicspec.StatusOk
		if kit.Maybe(rng, 8) { // an entry that has failed: no frame may leave
			e.Status = nicspec.Status(1 + rng.IntN(8))
		} else {
			e.cut(rng, failing)
		}
		list = append(list, kit.Packet{Data: kit.Encode(e)})
	}
	return list
}

// cut divides the frame into inline bytes and pieces. Each piece in turn is chosen, with a chance of `failing` percent,
// to have its reads fail; after one was chosen, no other is.
func (e *gatherEntry) cut(rng *rand.Rand, failing int) {
	pieces := rng.IntN(gatherPieces + 1)
	room := nicspec.WqeSlotBytes * (gatherPieces - pieces)
	e.Pieces, e.InlineLen = uint8(pieces), uint8(kit.Pick(rng, 0, rng.IntN(room+1), room))
	if pieces == 0 {
		e.InlineLen = uint8(1 + rng.IntN(room))
	}
	e.Length = uint16(e.InlineLen)
	for i := range pieces {
		n := 1 + kit.Pick(rng, rng.IntN(4), rng.IntN(130), rng.IntN(130), rng.IntN(nicspec.FrameMax/gatherPieces-room))
		addr := kit.Pick(rng, 0,
			uint64(rng.Uint32()))<<32 | uint64(rng.IntN(gatherFault))<<kit.PlaceBit | uint64(rng.Uint32N(1<<29))
		if kit.Maybe(rng, 30) {
			addr = addr&^(tlp.PageBytes-1) | uint64(tlp.PageBytes-1-rng.IntN(200))
		}
		if e.Fault == faultNone && kit.Maybe(rng, failing) {
			e.Fault, e.Late = uint8(1+rng.IntN(faultKinds-1)), kit.Flag(kit.Maybe(rng, 50))
			addr |= gatherFault << kit.PlaceBit
		}
		e.Bytes[i], e.Address[i] = uint16(n), addr
		e.Length += uint16(n)
	}
}

// plan returns the entry as the decoder of work entries passes it on.
func (e *gatherEntry) plan() *core.TxPlan {
	p := &core.TxPlan{Length: int(e.Length), InlineLen: int(e.InlineLen), NumPieces: int(e.Pieces)}
	copy(p.Inline[:p.InlineLen], e.Inline[:])
	off := p.InlineLen
	for i := range p.NumPieces {
		p.Pieces[i] = core.TxPiece{Bus: e.Address[i], Len: int(e.Bytes[i]), Off: off}
		off += p.Pieces[i].Len
	}
	return p
}

// end returns the report at the frame's end if nothing fails.
func (e *gatherEntry) end() gatherEnd {
	beats := (e.Length + 63) / 64
	return gatherEnd{
		Status: e.Status, Complete: e.Complete, Queue: e.Queue, Port: e.Port, Index: e.Index, WqeId: e.WqeId,
		Length:    e.Length,
		InlineLen: e.InlineLen, Offloads: e.Offloads, Ecn: e.Ecn, L3Off: e.L3Off, L4Off: e.L4Off, Taken: uint8(beats),
		Beats: max(1, beats), CrcOff: e.CrcOff, CrcStart: e.CrcStart,
	}
}

func gatherReference() func(kit.Packet) []kit.Packet {
	s := readerState{Reader: core.NewReader(256), mrrs: 256}
	return func(req kit.Packet) []kit.Packet {
		e := kit.Decode[gatherEntry](req.Data)
		p, end := e.plan(), e.end()
		f := append([]byte(nil), p.Inline[:p.InlineLen]...)
		f = append(f, make([]byte, p.Length-len(f))...)
		for i := range p.NumPieces {
			var rd core.Read
			piece := &p.Pieces[i]
			rd.Begin(piece.Bus, f[piece.Off:][:piece.Len])
			fault := uint8(faultNone)
			if piece.Bus>>kit.PlaceBit%kit.Places == gatherFault {
				fault = e.Fault
			}
			if s.read(&rd, fault, e.Late != 0); rd.Status != nicspec.StatusOk {
				end.Status = rd.Status
				return []kit.Packet{{Data: kit.Encode(end)}}
			}
		}
		return []kit.Packet{{Data: append(kit.Encode(end), f...)}}
	}
}

// gatherSettle treats lines as the offloads do: it ignores bytes beyond the frame, adds inline bytes, and discards a
// frame that failed.
func gatherSettle(data []byte) []byte {
	if len(data) < 2*gatherLine || len(data)%gatherLine != 0 {
		return data
	}
	lines, report := data[:len(data)-gatherLine], kit.Decode[gatherReport](data[len(data)-gatherLine:])
	r, n := kit.Encode(report.End), int(report.End.Length)
	if report.End.Status != nicspec.StatusOk || n > len(lines) {
		return r
	}
	copy(lines[:min(n, int(report.End.InlineLen))], report.Inline[:])
	return append(r, lines[:n]...)
}
