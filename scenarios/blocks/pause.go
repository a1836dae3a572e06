package blocks

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of pause.
const (
	pauseTable = iota
	pauseClass
	pauseMac
	pauseFrames
	pauseLevels
	pauseLine    = 64 // bytes: frames that come in, and the unit of the buffer
	pauseSteps   = 4
	pauseFrameAt = 16
	pauseQueues  = 8 // that are looked at
)

var pause = &Block{
	Name: "pause", RTL: "nic_pause.sv", Go: "models/nic/core/pause.go",
	Ops: []Op{
		pauseTable: tableOp(&nicspec.PortEntryInfo),
		pauseClass: {Name: "class", Request: layout(num("op", 1), num("queue", 1), num("class", 1)), Result: layout(num("op", 1))},
		pauseMac: {
			Name:    "mac",
			Request: layout(num("op", 1), num("written", 1), gap(6), num("lower", 4), num("upper", 4)),
			Result:  layout(num("op", 1), gap(7), num("lower", 4), num("upper", 4)),
		},
		pauseFrames: {
			Name: "frames",
			Request: layout(num("op", 1), gap(1), num("dropped", 1), gap(5), num("apart", 4), num("probe", 4),
				raw("frame0", pauseLine), raw("frame1", pauseLine)),
			Result: layout(num("op", 1), num("matched0", 1), num("matched1", 1), num("open", 1), num("hold", 1)),
		},
		pauseLevels: {
			Name: "levels",
			Request: layout(num("op", 1), gap(7), num("lines0", 2), num("lines1", 2), num("lines2", 2), num("lines3", 2),
				num("cycles0", 4), num("cycles1", 4), num("cycles2", 4), num("cycles3", 4)),
			Result: layout(num("op", 1), num("sent0", 1), num("sent1", 1), num("sent2", 1), num("sent3", 1), num("misplaced", 1), gap(2),
				raw("frame0", pauseLine), raw("frame1", pauseLine), raw("frame2", pauseLine), raw("frame3", pauseLine)),
		},
	},
	Stimulus: pauseStimulus, Reference: pauseReference,
}

// Cycles that the contract leaves free when a stop begins or ends, or a pause frame leaves [F4, F6], and a few for the
// way there.
const (
	pauseLate  = 64 + 16
	pauseEarly = 32
)

func pauseStimulus(rng *rand.Rand, n int) (list []Packet) {
	cfg := &nicspec.PortEntryFields{}
	for range n {
		switch rng.IntN(8) {
		case 0:
			var b [nicspec.PortEntrySize]byte
			f := portEntry(rng)
			f.Encode(b[:])
			list = append(list, tableRequest(pauseTable, nicspec.TablePortCfg, 0, b[:]))
			if legalPort(&f) {
				cfg = &f
			}
		case 1:
			list = append(list, pick(rng, tableRequest(pauseTable, nicspec.TablePortCfg, 0, nil),
				Packet{Data: []byte{pauseClass, uint8(rng.IntN(pauseQueues)), uint8(rng.IntN(core.PauseClasses))}}))
		case 2:
			b := append([]byte{pauseMac, uint8(rng.IntN(4)), 0, 0, 0, 0, 0, 0}, noise(rng, 8)...)
			list = append(list, Packet{Data: b})
		case 3, 4:
			list = append(list, pauseLevelsRequest(rng, cfg))
		default:
			list = append(list, pauseFramesRequest(rng))
		}
	}
	return list
}

// legalPort is [F7].
func legalPort(f *nicspec.PortEntryFields) bool {
	return f.RxPause <= 1 && f.TxMode <= nicspec.PauseModePriority && (f.TxMode == nicspec.PauseModeNone ||
		f.Xon < f.Xoff && f.Xoff <= nicspec.RxBufBytes && f.PauseTime >= nicspec.PauseTimeMin)
}

// portEntry is one that mostly is legal.
func portEntry(rng *rand.Rand) nicspec.PortEntryFields {
	f := nicspec.PortEntryFields{
		RxPause: uint8(rng.IntN(2)), RxPfc: pick(rng, 0, uint8(rng.Uint32()), 0xff), TxMode: nicspec.PauseMode(rng.IntN(3)),
		TxClasses: uint8(rng.Uint32()), PauseTime: uint16(2048 + rng.IntN(60000)), Xoff: rng.Uint32N(nicspec.RxBufBytes + 1),
	}
	f.Xon = rng.Uint32N(f.Xoff + 1)
	if maybe(rng, 50) { // levels that a buffer can have
		f.Xoff, f.Xon = (f.Xoff+pauseLine-1)&^(pauseLine-1), f.Xon&^(pauseLine-1)
	}
	switch rng.IntN(12) {
	case 0:
		f.RxPause = uint8(rng.Uint32())
	case 1:
		f.TxMode = nicspec.PauseMode(rng.IntN(5))
	case 2:
		f.Xoff = nicspec.RxBufBytes + 1 + rng.Uint32N(100)
	case 3:
		f.Xon = f.Xoff + rng.Uint32N(2)
	case 4:
		f.PauseTime = uint16(nicspec.PauseTimeMin + rng.IntN(3) - 2)
		f.TxMode = nicspec.PauseModeNone
	case 5:
		f.PauseTime = uint16(rng.IntN(nicspec.PauseTimeMin)) // too short
	}
	return f
}

// pauseLevelsRequest is three levels, around the marks, then an empty buffer; or one above the upper mark and one at the
// lower; or one for as long as the pause is renewed twice.
func pauseLevelsRequest(rng *rand.Rand, cfg *nicspec.PortEntryFields) Packet {
	const lines = nicspec.RxBufBytes / pauseLine
	b := make([]byte, 8+6*pauseSteps)
	b[0] = pauseLevels
	level := func(i, at int) { le.PutUint16(b[8+2*i:], uint16(min(max(at, 0), lines))) }
	for i := range pauseSteps - 1 {
		level(i, pick(rng, int(cfg.Xoff)/pauseLine, int(cfg.Xon)/pauseLine, rng.IntN(lines), 0)+rng.IntN(3)-1)
	}
	if maybe(rng, 30) {
		level(0, int(cfg.Xoff)/pauseLine+1)
		level(1, int(cfg.Xon)/pauseLine)
	}
	for i := range pauseSteps {
		le.PutUint32(b[8+2*pauseSteps+4*i:], 2*pauseLate)
	}
	if half := uint32(cfg.PauseTime) / 2; half < 1<<13 && maybe(rng, 50) {
		clear(b[8 : 8+2*pauseSteps])
		le.PutUint16(b[8+2*(pauseSteps-2):], lines)
		le.PutUint32(b[8+2*pauseSteps+4*(pauseSteps-2):], 2*half+half/2)
	}
	return Packet{Data: b}
}

// pauseFramesRequest is two frames, of which some are dropped before they are looked at [F2], and a look at a time at which
// no stop may be about to begin or end.
func pauseFramesRequest(rng *rand.Rand) Packet {
	b := make([]byte, pauseFrameAt, pauseFrameAt+2*pauseLine)
	apart := pick(rng, 1, 1+rng.IntN(300))
	var ends []int
	for i := range 2 {
		f := pauseFrame(rng)
		b = append(b, f...)
		if p, ok := core.ParsePause(f); ok {
			for _, q := range p.Quanta {
				ends = append(ends, i*apart+int(q))
			}
		}
	}
	probe, clash := 0, true
	for width := 1000; clash; width += 1000 {
		probe, clash = pauseLate+rng.IntN(width), false
		for _, e := range ends {
			clash = clash || e > apart+probe-pauseLate && e < apart+probe+pauseEarly
		}
	}
	b[0], b[2] = pauseFrames, uint8(pick(rng, 0, 0, rng.IntN(4)))
	le.PutUint32(b[8:], uint32(apart))
	le.PutUint32(b[12:], uint32(probe))
	return Packet{Data: b}
}

// pauseFrame is one, or nearly.
func pauseFrame(rng *rand.Rand) []byte {
	f := noise(rng, pauseLine)
	copy(f, []byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01})
	binary.BigEndian.PutUint16(f[12:], nicspec.MacControlType)
	binary.BigEndian.PutUint16(f[14:], pick(rng, nicspec.PauseOpcode, nicspec.PfcOpcode, nicspec.PfcOpcode, uint16(rng.IntN(3))))
	quanta := func() uint16 { return uint16(pick(rng, 0, rng.IntN(2000), rng.IntN(2000), rng.IntN(1<<16))) }
	if binary.BigEndian.Uint16(f[14:]) == nicspec.PfcOpcode {
		for i := range core.PauseClasses {
			binary.BigEndian.PutUint16(f[18+2*i:], quanta())
		}
	} else {
		binary.BigEndian.PutUint16(f[16:], quanta())
	}
	if maybe(rng, 10) {
		f[rng.IntN(16)] ^= 1 << rng.IntN(8)
	}
	return f
}
