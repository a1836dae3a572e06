package registers

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block pause.
const (
	PauseTable = iota
	pauseClass
	pauseMac
	PauseFrames
	PauseLevels
	pauseLine    = 64 // bytes of a beat of incoming frames, and of the unit of buffer levels
	pauseSteps   = 4
	pauseFrameAt = 16
	pauseQueues  = 8 // number of queues whose stops are observed
)

var Pause = &kit.Block{
	Name: "pause", RTL: "transmit/nic_pause.sv", Go: "models/nic/core/pause.go",
	Ops: []kit.Op{
		PauseTable: kit.TableOp(&nicspec.PortEntryInfo),
		pauseClass: {Name: "class", Request: kit.NewLayout(kit.Num("op", 1), kit.Num("queue", 1), kit.Num("class", 1)),
			Result: kit.NewLayout(kit.Num("op", 1))},
		pauseMac: {
			Name: "mac",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("written", 1), kit.Gap(6), kit.Num("lower", 4),
				kit.Num("upper", 4)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Gap(7), kit.Num("lower", 4), kit.Num("upper", 4)),
		},
		PauseFrames: {
			Name: "frames",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(1), kit.Num("dropped", 1), kit.Gap(5), kit.Num("apart", 4),
				kit.Num("probe", 4),
				kit.Raw("frame0", pauseLine), kit.Raw("frame1", pauseLine)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("matched0", 1), kit.Num("matched1", 1), kit.Num("open", 1),
				kit.Num("hold", 1)),
		},
		PauseLevels: {
			Name: "levels",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(7), kit.Num("lines0", 2), kit.Num("lines1", 2),
				kit.Num("lines2", 2), kit.Num("lines3", 2),
				kit.Num("cycles0", 4), kit.Num("cycles1", 4), kit.Num("cycles2", 4), kit.Num("cycles3", 4)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("sent0", 1), kit.Num("sent1", 1), kit.Num("sent2", 1),
				kit.Num("sent3", 1), kit.Num("misplaced", 1), kit.Gap(2),
				kit.Raw("frame0", pauseLine), kit.Raw("frame1", pauseLine), kit.Raw("frame2", pauseLine),
				kit.Raw("frame3", pauseLine)),
		},
	},
	Stimulus: pauseStimulus, Reference: PauseReference,
}

// Cycles within which the contract lets a stop begin or end, or a pause frame leave [F4, F6], and a few for the path to
// the output.
const (
	pauseLate  = 64 + 16
	pauseEarly = 32
)

func pauseStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	cfg := &nicspec.PortEntryFields{}
	for range n {
		switch rng.IntN(8) {
		case 0:
			var b [nicspec.PortEntrySize]byte
			f := portEntry(rng)
			f.Encode(b[:])
			list = append(list, kit.TableRequest(PauseTable, nicspec.TablePortCfg, 0, b[:]))
			if legalPort(&f) {
				cfg = &f
			}
		case 1:
			list = append(list, kit.Pick(rng, kit.TableRequest(PauseTable, nicspec.TablePortCfg, 0, nil),
				kit.Packet{Data: []byte{pauseClass, uint8(rng.IntN(pauseQueues)), uint8(rng.IntN(core.PauseClasses))}}))
		case 2:
			b := append([]byte{pauseMac, uint8(rng.IntN(4)), 0, 0, 0, 0, 0, 0}, kit.Noise(rng, 8)...)
			list = append(list, kit.Packet{Data: b})
		case 3, 4:
			list = append(list, pauseLevelsRequest(rng, cfg))
		default:
			list = append(list, pauseFramesRequest(rng))
		}
	}
	return list
}

// legalPort reports whether an entry is legal [F7].
func legalPort(f *nicspec.PortEntryFields) bool {
	return f.RxPause <= 1 && f.TxMode <= nicspec.PauseModePriority && (f.TxMode == nicspec.PauseModeNone ||
		f.Xon < f.Xoff && f.Xoff <= nicspec.RxBufBytes && f.PauseTime >= nicspec.PauseTimeMin)
}

// portEntry returns a random entry, in most cases a legal one.
func portEntry(rng *rand.Rand) nicspec.PortEntryFields {
	f := nicspec.PortEntryFields{
		RxPause: uint8(rng.IntN(2)), RxPfc: kit.Pick(rng, 0, uint8(rng.Uint32()), 0xff),
		TxMode:    nicspec.PauseMode(rng.IntN(3)),
		TxClasses: uint8(rng.Uint32()), PauseTime: uint16(2048 + rng.IntN(60000)),
		Xoff: rng.Uint32N(nicspec.RxBufBytes + 1),
	}
	f.Xon = rng.Uint32N(f.Xoff + 1)
	if kit.Maybe(rng, 50) { // levels within the buffer's size
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
		f.PauseTime = uint16(rng.IntN(nicspec.PauseTimeMin)) // a pause time below the minimum is illegal
	}
	return f
}

// pauseLevelsRequest returns a request with a sequence of buffer levels: three around the marks and then an empty
// buffer; or one above the upper mark and one at the lower; or one that lasts for two renewals of the pause.
func pauseLevelsRequest(rng *rand.Rand, cfg *nicspec.PortEntryFields) kit.Packet {
	const lines = nicspec.RxBufBytes / pauseLine
	b := make([]byte, 8+6*pauseSteps)
	b[0] = PauseLevels
	level := func(i, at int) { kit.LittleEndian.PutUint16(b[8+2*i:], uint16(min(max(at, 0), lines))) }
	for i := range pauseSteps - 1 {
		level(i, kit.Pick(rng, int(cfg.Xoff)/pauseLine, int(cfg.Xon)/pauseLine, rng.IntN(lines), 0)+rng.IntN(3)-1)
	}
	if kit.Maybe(rng, 30) {
		level(0, int(cfg.Xoff)/pauseLine+1)
		level(1, int(cfg.Xon)/pauseLine)
	}
	for i := range pauseSteps {
		kit.LittleEndian.PutUint32(b[8+2*pauseSteps+4*i:], 2*pauseLate)
	}
	if half := uint32(cfg.PauseTime) / 2; half < 1<<13 && kit.Maybe(rng, 50) {
		clear(b[8 : 8+2*pauseSteps])
		kit.LittleEndian.PutUint16(b[8+2*(pauseSteps-2):], lines)
		kit.LittleEndian.PutUint32(b[8+2*pauseSteps+4*(pauseSteps-2):], 2*half+half/2)
	}
	return kit.Packet{Data: b}
}

// pauseFramesRequest returns a request with two frames and an observation. Some frames are dropped before they are
// parsed [F2]. No stop begins or ends near the time of the observation.
func pauseFramesRequest(rng *rand.Rand) kit.Packet {
	b := make([]byte, pauseFrameAt, pauseFrameAt+2*pauseLine)
	apart := kit.Pick(rng, 1, 1+rng.IntN(300))
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
	b[0], b[2] = PauseFrames, uint8(kit.Pick(rng, 0, 0, rng.IntN(4)))
	kit.LittleEndian.PutUint32(b[8:], uint32(apart))
	kit.LittleEndian.PutUint32(b[12:], uint32(probe))
	return kit.Packet{Data: b}
}

// pauseFrame returns a pause frame or, now and then, one with a flipped bit or another opcode.
func pauseFrame(rng *rand.Rand) []byte {
	f := kit.Noise(rng, pauseLine)
	copy(f, []byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01})
	binary.BigEndian.PutUint16(f[12:], nicspec.MacControlType)
	binary.BigEndian.PutUint16(f[14:], kit.Pick(rng, nicspec.PauseOpcode, nicspec.PfcOpcode, nicspec.PfcOpcode,
		uint16(rng.IntN(3))))
	quanta := func() uint16 { return uint16(kit.Pick(rng, 0, rng.IntN(2000), rng.IntN(2000), rng.IntN(1<<16))) }
	if binary.BigEndian.Uint16(f[14:]) == nicspec.PfcOpcode {
		for i := range core.PauseClasses {
			binary.BigEndian.PutUint16(f[18+2*i:], quanta())
		}
	} else {
		binary.BigEndian.PutUint16(f[16:], quanta())
	}
	if kit.Maybe(rng, 10) {
		f[rng.IntN(16)] ^= 1 << rng.IntN(8)
	}
	return f
}
