package blocks

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
	"nictwin/scenarios/suite/blocks/receive"
)

// sabotaged returns a block whose reference flips a bit in a single result: it skips `after` results of kind `op` and
// takes the first one of this kind that `flip` accepts. The second value returned becomes the number of its request.
func sabotaged(b *kit.Block, op *kit.Op, after int, flip func(data []byte) bool) (*kit.Block, *int) {
	s, at := *b, -1
	s.Reference = func() func(kit.Packet) []kit.Packet {
		answer, request, seen := b.Reference(), -1, 0
		return func(p kit.Packet) []kit.Packet {
			request++
			list := answer(p)
			for i := range list {
				if b.Op(list[i].Data) != op || at >= 0 {
					continue
				}
				if seen++; seen > after && flip(list[i].Data) {
					at = request
				}
			}
			return list
		}
	}
	return &s, &at
}

// TestEveryFieldIsCompared checks that a flipped bit in any field of the reference's results is reported, with
// block, request and field.
func TestEveryFieldIsCompared(t *testing.T) {
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			d := open(t, b)
			for i := range b.Ops {
				op := &b.Ops[i]
				for _, f := range op.Result.Fields {
					if f.Name == "op" {
						continue // the field selects the meaning of the other fields
					}
					sabotage(t, d, op, f.Name, func(data []byte) bool { return turn(&f, data) })
				}
				if tail := op.Result.Tail; tail != "" {
					sabotage(t, d, op, tail, func(data []byte) bool {
						return len(data) > op.Result.Bytes &&
							turn(&nicspec.FieldInfo{Bit: 8*len(data) - 1, Width: 1}, data)
					})
				}
			}
		})
	}
}

// turn flips the lowest bit of a field.
func turn(f *nicspec.FieldInfo, data []byte) bool {
	if f.Bit/8 >= len(data) {
		return false
	}
	data[f.Bit/8] ^= 1 << (f.Bit % 8)
	return true
}

func sabotage(t *testing.T, d *Device, op *kit.Op, field string, flip func([]byte) bool) {
	t.Helper()
	broken, at := sabotaged(d.Block, op, 3, flip)
	x := *d
	x.Block = broken
	r, err := x.Play(context.Background(), Run{Seed: 2, Stall: 20, Transactions: 200})
	require.NoError(t, err)
	require.GreaterOrEqual(t, *at, 0, "%s: no result of %s", field, op.Name)
	m := r.Mismatch
	require.NotNil(t, m, "%s, %s: not seen", op.Name, field)
	require.Contains(t, m.Field, field)
	require.Equal(t, []any{*at, op.Name}, []any{m.Transaction, m.Op}, field)
	require.Contains(t, m.Error(), fmt.Sprintf("%s transaction %d (%s): %s", d.Block.Name, *at, op.Name, field))
	require.Contains(t, m.Error(), d.Block.RTL)
}

// TestResultsAreCounted checks that missing or surplus results, and runs without any result, are mismatches.
func TestResultsAreCounted(t *testing.T) {
	d := open(t, receive.Csum)
	change := func(f func(n int, list []kit.Packet) []kit.Packet) *Mismatch {
		x, b := *d, *receive.Csum
		b.Reference = func() func(kit.Packet) []kit.Packet {
			answer, n := receive.Csum.Reference(), 0
			return func(p kit.Packet) []kit.Packet {
				n++
				return f(n, answer(p))
			}
		}
		x.Block = &b
		r, err := x.Play(context.Background(), Run{Seed: 1, Transactions: 20})
		require.NoError(t, err)
		require.NotNil(t, r.Mismatch)
		return r.Mismatch
	}
	m := change(func(n int, list []kit.Packet) []kit.Packet {
		if n == 20 {
			return append(list, slices.Clone(list)...)
		}
		return list
	})
	require.Equal(t, []any{"result", 19}, []any{m.Field, m.Transaction})
	require.Contains(t, m.Got, "nothing in 50000 cycles")
	m = change(func(n int, list []kit.Packet) []kit.Packet { return list[:kit.Flag(n < 20)] })
	require.Equal(t, []string{"results", "no more"}, []string{m.Field, m.Expected})
	m = change(func(int, []kit.Packet) []kit.Packet { return nil })
	require.Equal(t, "results", m.Field)
}
