package blocks

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

// rare are bugs that show in few cases, as references that have them.
var rare = []struct {
	bug       string
	block     *Block
	reference func() func(Packet) []Packet
}{
	{"a UDP checksum of 0xffff is not looked at", csum, func() func(Packet) []Packet {
		return func(p Packet) []Packet {
			list := csum.Reference()(p)
			if at := int(p.Side[2]) + 6; p.Side[0] == 1 && binary.BigEndian.Uint16(p.Data[at:]) == 0xffff {
				list[0].Data[1] ^= 1
			}
			return list
		}
	}},
	{"a UDP checksum of 0 is sent as it is", offload, func() func(Packet) []Packet {
		return func(p Packet) []Packet {
			list := offload.Reference()(p)
			f := list[0].Data[3:]
			if at := int(p.Side[9]) + 6; p.Side[7]&ofUDPCsum != 0 && at+2 <= len(f) && binary.BigEndian.Uint16(f[at:]) == 0xffff {
				clear(f[at : at+2])
			}
			return list
		}
	}},
	{"a rule that is made invalid goes on", steer, func() func(Packet) []Packet {
		right, stale := steerReference(), steerReference()
		return func(p Packet) []Packet {
			list := right(p)
			switch write := p.Data[0] == steerTable && p.Data[1] == 1; {
			case write && nicspec.DecodeRuleEntry(p.Data[8:]).Valid == 0:
			case p.Data[0] == steerFrame:
				return stale(p)
			default:
				stale(p)
			}
			return list
		}
	}},
	{"a pause frame that is dropped stops", pause, func() func(Packet) []Packet {
		answer := pauseReference()
		return func(p Packet) []Packet {
			q := Packet{Data: append([]byte(nil), p.Data...)}
			if q.Data[0] == pauseFrames {
				q.Data[2] = 0
			}
			return answer(q)
		}
	}},
	{"a pause ends below xon, not at it", pause, func() func(Packet) []Packet {
		right, late := pauseReference(), pauseReference()
		return func(p Packet) []Packet {
			list := right(p)
			q := Packet{Data: append([]byte(nil), p.Data...)}
			if q.Data[0] == pauseTable && q.Data[1] == 1 {
				e := nicspec.DecodePortEntry(q.Data[8:])
				e.Xon = max(e.Xon, 1) - 1
				e.Encode(q.Data[8:])
			}
			if other := late(q); p.Data[0] == pauseLevels {
				return other
			}
			return list
		}
	}},
}

// TestRareCasesAreAimedAt: eight runs tell bugs that show in few cases.
func TestRareCasesAreAimedAt(t *testing.T) {
	for _, c := range rare {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			d := *open(t, c.block)
			b := *c.block
			b.Reference, d.Block = c.reference, &b
			for seed := uint64(1); ; seed++ {
				require.LessOrEqual(t, seed, uint64(8), "runs until it is told")
				r, err := d.Play(context.Background(), Run{Seed: seed, Stall: -1, Transactions: DefaultOptions().Transactions})
				require.NoError(t, err)
				if r.Mismatch != nil {
					t.Log(r.Mismatch)
					return
				}
			}
		})
	}
}
