package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

func TestRangesAreASetOfBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Set
		var have [40]bool
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			lo := rapid.IntRange(0, 38).Draw(t, "lo")
			hi := rapid.IntRange(lo+1, 39).Draw(t, "hi")
			any, all := false, true
			for _, b := range have[lo:hi] {
				any, all = any || b, all && b
			}
			require.Equal(t, !any, r.Free(lo, hi))
			require.Equal(t, all, r.Has(lo, hi))
			switch {
			case all:
				r.Remove(lo, hi)
			default:
				require.Equal(t, !any, r.Add(lo, hi))
			}
			for i := lo; i < hi && (all || !any); i++ {
				have[i] = !all
			}
			n := 0
			for n < len(have) && have[n] {
				n++
			}
			require.Equal(t, n, r.Gap(len(have)))
			for i := 1; i < len(r.s); i++ {
				require.Less(t, r.s[i-1].Hi, r.s[i].Lo, "intervals that touch are one")
			}
		}
	})
}

func TestPageMapFindsRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMap[int]()
		type entry struct {
			addr uint64
			n    int
			o    Owner[int]
		}
		var in []entry
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(in) > 0 && rapid.Bool().Draw(t, "remove") {
				k := rapid.IntRange(0, len(in)-1).Draw(t, "which")
				m.Remove(in[k].addr, in[k].n, in[k].o)
				in = append(in[:k], in[k+1:]...)
				continue
			}
			e := entry{uint64(rapid.IntRange(0, 1<<20).Draw(t, "addr")), rapid.IntRange(1, 20000).Draw(t, "n"),
				Owner[int]{Index: uint16(i)}}
			in = append(in, e)
			m.Add(e.addr, e.n, e.o)
		}
		at := uint64(rapid.IntRange(0, 1<<20).Draw(t, "at"))
		var want, got []Owner[int]
		for _, e := range in {
			if at >= e.addr && at < e.addr+uint64(e.n) {
				want = append(want, e.o)
			}
		}
		for n := m.First(at); n != nil; n = m.Next(n) {
			if at >= n.Lo && at < n.Hi {
				got = append(got, n.Owner)
			}
		}
		require.Equal(t, want, got, "in the order in which they were entered")
	})
}

func TestPageMapForgetsPages(t *testing.T) {
	m := NewMap[int]()
	for i := range uint64(100_000) {
		m.Add(i<<20, 100, Owner[int]{})
		m.Remove(i<<20, 100, Owner[int]{})
	}
	require.Len(t, m.table, firstPages)
	m.Add(^uint64(0)-10, 100, Owner[int]{Index: 7})
	require.NotNil(t, m.First(^uint64(0)-1), "a range at the end of the address space")
}
