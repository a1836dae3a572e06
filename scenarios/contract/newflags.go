package contract

import (
	"math/rand/v2"

	"nictwin/models/nicspec"
)

// flagChecks set what revision 2 adds to a work entry, in builds that have it and in builds that do not [N1].
var flagChecks = []check{
	{"statuses/flags and blocks of every part", "N1 T3 T14 D1", stalled, newFlags},
}

// newFlags has entries of every opcode with fence, append and any number of blocks, each followed by one that is sound: in
// builds without a part its bits are reserved, and without part long every entry has one block.
func newFlags(r *rig) {
	x, w := r.txSetup(3, 5)
	for _, w := range w {
		r.writable(w)
	}
	rng := rand.New(rand.NewPCG(71, 9))
	var all []longEntry
	for op := range nicspec.OpcodeCopyInvalidate + 2 {
		for bits := range 16 {
			e := one(r.withOpcode(op, w, rng))
			e.FFence, e.FAppend, e.FIcrc = bits&1 != 0, bits&2 != 0, bits&2 != 0 && bits&4 != 0
			e.Blocks = uint8(rng.IntN(4))
			if bits&8 != 0 {
				e.Blocks = 0
			}
			e.more = pattern(int(e.Blocks)*nicspec.WqeBytes, rng.Uint64())
			e.FComplete = rng.IntN(3) > 0
			all = append(all, e, one(r.sound(w[0], rng.Uint64())))
		}
	}
	r.transmitLong(x, all...)
	r.quiet()
	r.noFrames()
}

// withOpcode is an entry that is sound for its opcode, if the build has it.
func (r *rig) withOpcode(op nicspec.Opcode, w []*window, rng *rand.Rand) nicspec.WqeFields {
	r.t.Helper()
	switch {
	case op == nicspec.OpcodeInvalidate:
		return copyEntry(op, r.piece(w[0], 0, 64, pattern(128, rng.Uint64())))
	case isCopy(op):
		return copyEntry(op, r.piece(w[0], 0, 64, pattern(128, rng.Uint64())), r.hole(w[1], rng.IntN(64), 64, 128))
	}
	p := rocePacket(50)
	p.bthFlags = uint8(rng.Uint32())
	f := p.build()
	e := r.cut(w, f, 0, 2, rng)
	e.L3Off, e.L4Off, e.Opcode = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), op
	return e
}
