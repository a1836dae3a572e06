package golden

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// What TLPs took since a cycle is never less than it was, and little more.
func TestTLPUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var u tlpUse
	var busy []bool
	for range 20000 {
		first := int64(len(busy) + rng.IntN(5)*rng.IntN(40))
		n := int64(1 + rng.IntN(30))
		u.add(first, n)
		for int64(len(busy)) < first {
			busy = append(busy, false)
		}
		for range n {
			busy = append(busy, true)
		}
	}
	now := int64(len(busy))
	var took int64
	for since := now - 1; since >= max(now-100_000, 0); since-- {
		if busy[since] {
			took++
		}
		most := took + useStep + 30
		if oldest := u.mark(useMarks - 1).cycle; since < oldest {
			most = u.since(oldest) + oldest - since
		}
		if got := u.since(since); got < took || got > most {
			require.Fail(t, "wrong", "since %d cycles: got %d, want %d to %d", now-since, got, took, most)
		}
	}
}

// A stall never takes more than it is granted, which is little more than its
// share.
func TestHeldAtMost(t *testing.T) {
	for _, percent := range []int{0, 1, 10, 50, 90, 99} {
		cfg := Config{TLPStall: percent}
		rng := rand.New(rand.NewPCG(uint64(percent), 1))
		for range 20 {
			var held int64
			for n := range int64(10_000) {
				if most := cfg.heldAtMost(n); held > most {
					require.Fail(t, "too few", "%d of %d cycles were held, at most %d are granted", held, n, most)
				}
				if rng.IntN(100) < percent {
					held++
				}
			}
		}
		require.LessOrEqual(t, cfg.heldAtMost(100_000), int64(1000*percent+1300))
	}
	require.Zero(t, (&Config{}).heldAtMost(1<<40))
}
