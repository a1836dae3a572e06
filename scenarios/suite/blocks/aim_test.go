package blocks

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
	"nictwin/scenarios/suite/blocks/receive"
	"nictwin/scenarios/suite/blocks/registers"
	"nictwin/scenarios/suite/blocks/transmit"
)

// rare lists bugs that show in few cases. Each is put into the reference of a block, so that a run finds it as a
// mismatch.
var rare = []struct {
	bug       string
	block     *kit.Block
	reference func() func(kit.Packet) []kit.Packet
}{
	{"a UDP checksum of 0xffff is not checked", receive.Csum, func() func(kit.Packet) []kit.Packet {
		return func(p kit.Packet) []kit.Packet {
			list := receive.Csum.Reference()(p)
			if at := int(p.Side[2]) + 6; p.Side[0] == 1 && binary.BigEndian.Uint16(p.Data[at:]) == 0xffff {
				list[0].Data[1] ^= 1
			}
			return list
		}
	}},
	{"a UDP checksum of 0 is sent as it is", transmit.Offload, func() func(kit.Packet) []kit.Packet {
		return func(p kit.Packet) []kit.Packet {
			list := transmit.Offload.Reference()(p)
			f := list[0].Data[3:]
			if at := int(p.Side[9]) + 6; p.Side[7]&transmit.OfUDPCsum != 0 && at+2 <= len(f) &&
				binary.BigEndian.Uint16(f[at:]) == 0xffff {
				clear(f[at : at+2])
			}
			return list
		}
	}},
	{"a rule that is made invalid stays in force", receive.Steer, func() func(kit.Packet) []kit.Packet {
		right, stale := receive.SteerReference(), receive.SteerReference()
		return func(p kit.Packet) []kit.Packet {
			list := right(p)
			switch write := p.Data[0] == receive.SteerTable && p.Data[1] == 1; {
			case write && nicspec.DecodeRuleEntry(p.Data[8:]).Valid == 0:
			case p.Data[0] == receive.SteerFrame:
				return stale(p)
			default:
				stale(p)
			}
			return list
		}
	}},
	{"a pause frame that is dropped stops", registers.Pause, func() func(kit.Packet) []kit.Packet {
		answer := registers.PauseReference()
		return func(p kit.Packet) []kit.Packet {
			q := kit.Packet{Data: append([]byte(nil), p.Data...)}
			if q.Data[0] == registers.PauseFrames {
				q.Data[2] = 0
			}
			return answer(q)
		}
	}},
	{"a pause ends below xon, not at it", registers.Pause, func() func(kit.Packet) []kit.Packet {
		right, late := registers.PauseReference(), registers.PauseReference()
		return func(p kit.Packet) []kit.Packet {
			list := right(p)
			q := kit.Packet{Data: append([]byte(nil), p.Data...)}
			if q.Data[0] == registers.PauseTable && q.Data[1] == 1 {
				e := nicspec.DecodePortEntry(q.Data[8:])
				e.Xon = max(e.Xon, 1) - 1
				e.Encode(q.Data[8:])
			}
			if other := late(q); p.Data[0] == registers.PauseLevels {
				return other
			}
			return list
		}
	}},
}

// TestRareCasesAreAimedAt checks that the stimulus reaches rare cases often enough: eight runs must find each bug of
// the list `rare`.
func TestRareCasesAreAimedAt(t *testing.T) {
	for _, c := range rare {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			d := *open(t, c.block)
			b := *c.block
			b.Reference, d.Block = c.reference, &b
			for seed := uint64(1); ; seed++ {
				require.LessOrEqual(t, seed, uint64(8), "runs until the bug is found")
				r, err := d.Play(context.Background(),
					Run{Seed: seed, Stall: -1, Transactions: DefaultOptions().Transactions})
				require.NoError(t, err)
				if r.Mismatch != nil {
					t.Log(r.Mismatch)
					return
				}
			}
		})
	}
}
