package registers

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// flrWork is the kind of request that changes the work for which a reset waits; the other kinds of block flr are those
// of block regs.
const flrWork = 2

// flrPattern describes the work that a reset waits for: the signal of work has a number of gaps, and then stays high or
// low. Gaps are so short that effects of earlier cycles may still be invisible ([G4], [G5]), so a reset must not end in
// one.
type flrPattern struct {
	Op, Level, Gaps, Width, Gap uint8
}

const flrGap = nicspec.VisibleCycles * 3 / 4 // longest gap: short enough although work may be signalled a bit late

// flrReport is the outcome of a change of work: whether a reset was in progress before the change, ended although there
// was work, and has ended by now; how often its end cleared the state; and whether it ended too late [L3].
type flrReport struct {
	Op, Resetting, Early, Clears, Late, Over uint8
}

// FLR plays function-level resets: their effect on registers and tables, both while they wait for the device's work to
// end and when they end.
var FLR = &kit.Block{
	Name: "flr", RTL: "registers/nic_flr.sv", Go: "models/nic/core/regs.go",
	Ops: append(Regs.Ops[:len(Regs.Ops):len(Regs.Ops)], kit.Op{
		Name: "work", Request: kit.NewRecord[flrPattern](), Result: kit.NewRecord[flrReport](),
	}),
	Stimulus: flrStimulus, Reference: flrReference,
}

// flrStimulus returns requests of block regs with more resets, and work that begins and ends.
func flrStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for len(list) < n {
		switch {
		case kit.Maybe(rng, 12):
			w := flrPattern{Op: flrWork, Level: uint8(rng.IntN(2)), Gaps: uint8(kit.Pick(rng, 0, rng.IntN(4)))}
			w.Width, w.Gap = uint8(kit.Pick(rng, 0, rng.IntN(20))), uint8(kit.Pick(rng, flrGap, rng.IntN(flrGap)))
			list = append(list, kit.Packet{Data: kit.Encode(w)})
		case kit.Maybe(rng, 6):
			list = append(list, regsReset(rng))
		default:
			list = append(list, regsSome(rng)...)
		}
	}
	return list[:n]
}

func flrReference() func(kit.Packet) []kit.Packet {
	s := newRegsState()
	return func(req kit.Packet) []kit.Packet {
		switch req.Data[0] {
		case regsLook:
			return []kit.Packet{s.look(nicspec.StatusReg(req.Data[1]))}
		case flrWork:
			return []kit.Packet{{Data: kit.Encode(s.setWork(req.Data[1] != 0))}}
		}
		return s.request(req.Data)
	}
}

// setWork starts or ends the work that a reset waits for.
func (s *regsState) setWork(work bool) flrReport {
	t := flrReport{Op: flrWork, Resetting: kit.Flag(s.Resetting())}
	s.work = work
	s.endReset()
	t.Over = kit.Flag(!s.Resetting())
	t.Clears = kit.Flag(t.Resetting != 0 && t.Over != 0)
	return t
}
