package transmit

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// longSlots posts entries whose last pieces would lie behind their last block, each after an entry of four blocks that
// has valid pieces at the same offsets. An entry must not use slots that another entry left in the device.
func longSlots(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	var all []kit.LongEntry
	for blocks := 1; blocks < nicspec.WqeBlocksMax; blocks++ {
		for beyond := range 3 {
			inline := max(0, slotsOf(blocks)+beyond-nicspec.SegMax) * nicspec.WqeSlotBytes
			for _, full := range []int{0, 64, 112} { // inline bytes of the previous entry; they move its pieces
				before := soundLong(r, w[0], uint64(full))
				all = append(all, longSend(nicspec.WqeBlocksMax, make([]byte, full), before.Segments()...))
				p := soundLong(r, w[1], uint64(blocks))
				pieces := p.Segments()[:min(nicspec.SegMax, slotsOf(blocks)+beyond)]
				e := longSend(blocks, make([]byte, inline), pieces...)
				_, status := kit.Expected(&e, 0, r.Keys, &r.Sizes, r.Load)
				require.Equal(r.T, []nicspec.Status{nicspec.StatusOk, nicspec.StatusBadFormat,
					nicspec.StatusBadFormat}[beyond], status, "the check itself")
				all = append(all, e)
			}
		}
	}
	r.TransmitLong(x, all...)
	r.Quiet()
	r.NoFrames()
}

// longIndices posts so many entries that the index of the ring's blocks wraps at 2^16. That of completion entries
// does not: there are fewer of them.
func longIndices(r *kit.Rig) {
	x, w := r.TxSetup(4, 10)
	rng := rand.New(rand.NewPCG(86, 9))
	for laps := 0; laps < 1<<16+2048; {
		var all []kit.LongEntry
		for n := 0; n < x.Size()-4; {
			e := kit.One(nicspec.WqeFields{Opcode: nicspec.OpcodeNop, Blocks: uint8(rng.IntN(4)),
				FComplete: rng.IntN(8) == 0})
			if rng.IntN(40) == 0 {
				e = AnyLong(r, w, 1+rng.IntN(4), rng)
			}
			n += e.BlocksOf(&r.Sizes)
			laps += e.BlocksOf(&r.Sizes)
			all = append(all, e)
		}
		r.TransmitLong(x, all...)
	}
	t := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, x.Number))
	require.Equal(r.T, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{t.Pi, t.Ci, t.Cqi})
	r.Quiet()
	r.NoFrames()
}
