package generate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

func texts(t *testing.T, p *program.Program) (all []string) {
	t.Helper()
	for i := range p.Ops {
		b, err := json.Marshal(&p.Ops[i])
		require.NoError(t, err)
		all = append(all, string(b))
	}
	return all
}

// Situations only add operations: without them, the same seed gives the other operations, in the same order.
func TestSituationsOnlyAdd(t *testing.T) {
	sizes := nicspec.DefaultBuild()
	sizes.Ports = 2
	const seeds = 300
	added := 0
	for seed := range uint64(seeds) {
		with := Generate(seed, Shape{Sizes: sizes, Stall: -1})
		all := situations
		situations = nil
		without := Generate(seed, Shape{Sizes: sizes, Stall: -1})
		situations = all
		rest := texts(t, without)
		for _, op := range texts(t, with) {
			if len(rest) > 0 && rest[0] == op {
				rest = rest[1:]
			}
		}
		require.Zero(t, len(rest), "operations of seed %d that are gone", seed)
		if len(with.Ops) > len(without.Ops) {
			added++
		}
		if with.Board.Burst == 0 {
			require.Equal(t, without.Board, with.Board)
		} else {
			require.Positive(t, with.Board.Stall)
		}
		require.NoError(t, with.Validate())
	}
	require.Greater(t, added, seeds/12)
	require.Less(t, added, seeds/4)
}

// A campaign without stalls has no bursts of stalls, and one with a fixed percentage keeps it.
func TestNoBurstsWithoutStalls(t *testing.T) {
	for seed := range uint64(200) {
		p := Generate(seed, Shape{Sizes: nicspec.DefaultBuild(), Stall: 0})
		require.Zero(t, p.Board.Stall)
		require.Zero(t, p.Board.Burst)
		p = Generate(seed, Shape{Sizes: nicspec.DefaultBuild(), Stall: 20})
		require.Equal(t, 20, p.Board.Stall)
	}
}

// Programs with situations are legal on builds with few queues or parts.
func TestSituationsOfEveryBuild(t *testing.T) {
	for _, b := range program.Builds {
		sizes, err := program.SizesOf(b.Name)
		require.NoError(t, err)
		sizes.Ports = 1
		for seed := range uint64(200) {
			require.NoError(t, Generate(seed, Shape{Sizes: sizes, Stall: -1}).Validate(), b.Name)
		}
	}
}
