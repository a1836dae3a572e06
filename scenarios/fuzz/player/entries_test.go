package player_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic/craft"
)

// Noise keeps an entry's meaning. Opcode, f_complete and wqe_id always stay; with NoiseUnused, so do all fields that
// the NIC reads.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		e := program.Entry{Opcode: nicspec.Opcode(rng.IntN(8)), Noise: program.Noise(rng.IntN(3)), Inline: rng.IntN(33),
			Pieces: make([]program.Piece, rng.IntN(2)),
			IPCsum: rng.IntN(2) == 0, CRC32C: rng.IntN(2) == 0}
		e.Frame.Seed = rng.Uint64()
		was := [nicspec.WqeBytes]byte(craft.Pattern(nicspec.WqeBytes, rng.Uint64()))
		raw := was
		player.Noise(&e, raw[:])
		looks := func(from, to int) {
			require.Equal(t, was[from:to], raw[from:to], "bytes %d to %d of %+v", from, to,
				e)
		}
		looks(0, 1)
		require.Equal(t, was[4]&1, raw[4]&1)
		looks(8, 12)
		send := e.Opcode >= nicspec.OpcodeSend && e.Opcode <= nicspec.OpcodeCopyInvalidate
		switch {
		case e.Noise == program.NoiseNone:
			require.Equal(t, was, raw)
			continue
		case e.Noise == program.NoiseUnused && send:
			used := 16 + 16*((e.Inline+15)/16+len(e.Pieces))
			looks(0, 6)
			looks(16, used)
			if e.IPCsum {
				looks(12, 14)
			}
			if e.CRC32C {
				looks(6, 8)
				looks(14, 16)
			}
			require.True(t, used == nicspec.WqeBytes || was[used] != raw[used] || was[used+1] != raw[used+1])
		default:
			require.NotEqual(t, was[16:], raw[16:])
		}
	}
}

// A key covers the whole region for its pieces and stays within its endpoint, however far beyond the region it should
// extend.
func TestKeysCoverTheirRegions(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 10_000 {
		base := mem.Bus(rng.IntN(2), rng.Uint64N(program.MemoryBytes-program.Room)&^4095)
		k := program.Key{Room: rng.Uint64() >> (8 + rng.IntN(56)),
			Place: program.Place{High: true, Skew: rng.IntN(4096)}}
		bus, length := player.Spans(&k, base)
		require.LessOrEqual(t, bus, base+uint64(k.Place.Skew))
		require.Equal(t, base+program.PieceBytes, bus+length)
		require.Equal(t, bus>>56, (bus+length-1)>>56, "%#x and %#x B more", bus, length)
	}
}
