package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// FlagChecks set the flags that revision 2 of the contract adds to a work entry, in builds with and without them [N1].
var FlagChecks = []kit.Check{
	{Name: "statuses/flags and blocks of every part", Rules: "N1 T3 T14 D1", Stalls: kit.Stalled, Run: newFlags},
}

// newFlags posts entries of every opcode with fence, append and any number of blocks, each followed by a valid entry.
// In builds without one of these parts its flag is reserved, and without part long every entry has a single block.
func newFlags(r *kit.Rig) {
	x, w := r.TxSetup(3, 5)
	for _, w := range w {
		r.Writable(w)
	}
	rng := rand.New(rand.NewPCG(71, 9))
	var all []kit.LongEntry
	for op := range nicspec.OpcodeCopyInvalidate + 2 {
		for bits := range 16 {
			e := kit.One(withOpcode(r, op, w, rng))
			e.FFence, e.FAppend, e.FIcrc = bits&1 != 0, bits&2 != 0, bits&2 != 0 && bits&4 != 0
			e.Blocks = uint8(rng.IntN(4))
			if bits&8 != 0 {
				e.Blocks = 0
			}
			e.More = kit.Pattern(int(e.Blocks)*nicspec.WqeBytes, rng.Uint64())
			e.FComplete = rng.IntN(3) > 0
			all = append(all, e, kit.One(r.Sound(w[0], rng.Uint64())))
		}
	}
	r.TransmitLong(x, all...)
	r.Quiet()
	r.NoFrames()
}

// withOpcode returns a valid entry for an opcode, if the build has it.
func withOpcode(r *kit.Rig, op nicspec.Opcode, w []*kit.Window, rng *rand.Rand) nicspec.WqeFields {
	r.T.Helper()
	switch {
	case op == nicspec.OpcodeInvalidate:
		return kit.CopyEntry(op, r.Piece(w[0], 0, 64, kit.Pattern(128, rng.Uint64())))
	case kit.IsCopy(op):
		return kit.CopyEntry(op, r.Piece(w[0], 0, 64, kit.Pattern(128, rng.Uint64())),
			r.Destination(w[1], rng.IntN(64), 64, 128))
	}
	p := kit.RocePacket(50)
	p.BthFlags = uint8(rng.Uint32())
	f := p.Build()
	e := r.Cut(w, f, 0, 2, rng)
	e.L3Off, e.L4Off, e.Opcode = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), op
	return e
}
