package pipe

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestShared checks that a new queue goes to the core with the fewest, and that a core has one pipe to poll, however
// many queues there are.
func TestShared(t *testing.T) {
	s, err := NewShared(3)
	require.NoError(t, err)
	var got []int
	for range 7 {
		got = append(got, s.Assign())
	}
	require.Equal(t, []int{0, 1, 2, 0, 1, 2, 0}, got)
	require.NoError(t, s.Release(1))
	require.NoError(t, s.Release(1))
	require.Equal(t, []int{1, 1, 1}, []int{s.Assign(), s.Queues(1), 1})
	require.Equal(t, 1, s.Assign())
	require.NoError(t, s.Release(2))
	require.NoError(t, s.Release(2))
	require.EqualError(t, s.Release(2), "pipe: core 2 of 3 has no send queue to release")
	require.ErrorContains(t, s.Release(3), "core 3 of 3")
	_, err = NewShared(0)
	require.ErrorContains(t, err, "a context on 0 cores: want 1 or more")
}

// TestActive checks that the table has exactly the queues with unfinished entries, and that each has one turn per
// round.
func TestActive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, work, order := NewActive(), map[uint32]int{}, []uint32(nil)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			q := uint32(rapid.IntRange(0, 5).Draw(t, "queue"))
			n := rapid.IntRange(0, 3).Draw(t, "n")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				if a.Add(q, n); n > 0 && work[q] == 0 {
					order = append(order, q)
				}
				work[q] += n
			case 1:
				err := a.Done(q, n)
				if work[q] == 0 || n > work[q] {
					require.ErrorContains(t, err, "entries of queue")
					continue
				}
				require.NoError(t, err)
				if work[q] -= n; work[q] == 0 {
					order = without(order, q)
				}
			case 2:
				got, ok := a.Next()
				require.Equal(t, len(order) > 0, ok)
				if ok {
					require.Equal(t, order[0], got)
					order = append(order[1:], got)
				}
			default:
				a.Remove(q)
				work[q], order = 0, without(order, q)
			}
			require.Equal(t, len(order), a.Len())
			require.Equal(t, work[q], a.Work(q))
		}
	})
}

func without(order []uint32, q uint32) (kept []uint32) {
	for _, x := range order {
		if x != q {
			kept = append(kept, x)
		}
	}
	return kept
}

// TestShadow checks that regions never share an Arm address and translate in both directions, and that addresses
// without a shadow are reported.
func TestShadow(t *testing.T) {
	const base, size = 1 << 40, 64 * pageBytes
	rapid.Check(t, func(t *rapid.T) {
		s, err := NewShadow(Extent{base, size}, Extent{0, base})
		require.NoError(t, err)
		live := map[uint32]Region{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			key := uint32(rapid.IntRange(0, 7).Draw(t, "key"))
			if r, ok := live[key]; ok && rapid.Bool().Draw(t, "release") {
				require.NoError(t, s.Release(key))
				delete(live, key)
				_, _, err := s.HostOf(r.Arm, 1)
				require.ErrorIs(t, err, ErrUnknown)
				continue
			}
			host, n := rapid.Uint64Range(0, 1<<30).Draw(t, "host"), rapid.Uint64Range(1, 20*pageBytes).Draw(t, "n")
			r, err := s.Register(key, host, n)
			if _, there := live[key]; there {
				require.ErrorContains(t, err, "has a shadow region: want it released first")
				continue
			}
			if err != nil {
				require.ErrorContains(t, err, "no shadow addresses left")
				continue
			}
			require.Equal(t, host%pageBytes, r.Arm%pageBytes)
			require.True(t, r.Arm >= base && r.Arm+n <= base+size)
			for _, x := range live {
				require.False(t, r.Arm < x.Arm+x.Bytes && x.Arm < r.Arm+n, "%+v and %+v", r, x)
			}
			live[key] = r
			at := rapid.Uint64Range(0, n-1).Draw(t, "at")
			arm, err := s.Swap(key, host+at, n-at)
			require.NoError(t, err)
			is, back, err := s.HostOf(arm, n-at)
			require.NoError(t, err)
			require.Equal(t, []any{r, host + at}, []any{is, back})
			_, _, err = s.HostOf(arm, n-at+1)
			require.ErrorIs(t, err, ErrUnknown)
			_, err = s.Swap(key, host+at, n-at+1)
			require.ErrorContains(t, err, "the region of key")
		}
	})
}

// TestShadowErrors checks that invalid shadow regions are refused with an error that says what would be right.
func TestShadowErrors(t *testing.T) {
	_, err := NewShadow(Extent{0x1000, 0x2000}, Extent{0, 0x1000}, Extent{0x2fff, 1})
	require.ErrorContains(t, err, "shadow range 0x1000 to 0x3000 overlaps memory 0x2fff to 0x3000: want addresses "+
		"without memory")
	_, err = NewShadow(Extent{0x1001, 0x2000})
	require.ErrorContains(t, err, "want whole pages of 4096 B")
	s, err := NewShadow(Extent{0x1000, 0x2000})
	require.NoError(t, err)
	_, err = s.Register(1, 0, 0x2001)
	require.ErrorContains(t, err, "a shadow of 0x2001 B at 0x0")
	_, err = s.Register(1, 1, 0x2000)
	require.ErrorContains(t, err, "no shadow addresses left for 0x2000 B", "it lies on three pages")
	_, err = s.Register(1, ^uint64(0), 1)
	require.ErrorContains(t, err, "an end below 2^64")
	_, err = s.Swap(5, 0, 1)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, s.Release(5), ErrUnknown)
}
