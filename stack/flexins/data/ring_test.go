package data

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// ringModel models a ring by the list of its pieces, oldest first. A piece leaves the list when it and all before it
// have been freed.
type ringModel struct {
	size uint64
	next uint64 // end of the newest piece
	list []claim
}

// claim is the position of a piece in the ring, with the memory that was skipped before it, from begin on.
type claim struct {
	piece             *piece
	begin, at, behind uint64
	given             bool
}

// expect returns the place that the next piece must get, and where the memory skipped for it starts; ok is false if
// there is no room.
func (m *ringModel) expect(bytes uint64) (begin, at uint64, ok bool) {
	tail, empty := uint64(0), len(m.list) == 0
	if !empty {
		tail = m.list[0].begin
	}
	switch wraps := m.size-m.next < bytes; {
	case empty && wraps:
		return 0, 0, bytes <= m.size
	case empty:
		return m.next, m.next, true
	case m.next <= tail: // the free memory, if any, lies between next and tail
		return m.next, m.next, tail-m.next >= bytes
	case wraps:
		return m.next, 0, bytes <= tail
	}
	return m.next, m.next, true
}

func (m *ringModel) take(p *piece, from uint64) {
	begin, at, _ := m.expect(p.bytes)
	m.list = append(m.list, claim{piece: p, begin: begin, at: at, behind: at + p.bytes})
	m.next = p.at - from + p.bytes
}

func (m *ringModel) give(i int) *piece {
	m.list[i].given = true
	p := m.list[i].piece
	for len(m.list) > 0 && m.list[0].given {
		m.list = m.list[1:]
	}
	return p
}

// TestRingAgreesWithModel checks that pieces lie within the ring, at whole lines, and never overlap a piece in use, in
// whatever order they are freed. There must be room exactly when the free part is contiguous; once all are freed, there
// must be room for the whole ring.
func TestRingAgreesWithModel(t *testing.T) {
	wrapped, refused, passed := 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		from, lines := uint64(r.IntN(1<<20))*nicspec.LineBytes, 1+r.IntN(24)
		size := uint64(lines) * nicspec.LineBytes
		x, m := newRing(from, size), ringModel{size: size}
		for range 400 {
			n := 1 + r.IntN(max(lines/(1+r.IntN(4)), 1)*nicspec.LineBytes)
			begin, at, ok := m.expect(wholeLines(n))
			require.Equal(t, ok, x.fits(n), "seed %d: room for %d B in %d: next %d, %+v", seed, n, size, m.next, m.list)
			if ok && r.IntN(5) < 3 {
				p := x.take(n)
				require.Equal(t, from+at, p.at, "seed %d", seed)
				require.Zero(t, p.at%nicspec.LineBytes)
				require.GreaterOrEqual(t, p.bytes, uint64(n))
				require.LessOrEqual(t, at+p.bytes, size, "seed %d", seed)
				for _, o := range m.list {
					require.True(t, o.given || at >= o.behind || at+p.bytes <= o.at, "seed %d: %d to %d lies over %+v",
						seed, at, at+p.bytes, o)
				}
				if at == 0 && begin > 0 {
					wrapped++
				}
				m.take(p, from)
				continue
			}
			if !ok {
				refused++
				require.NotEmpty(t, m.list, "seed %d: no room for %d B in an empty ring of %d", seed, n, size)
			}
			if len(m.list) == 0 {
				continue
			}
			i := r.IntN(min(len(m.list), 3))
			for m.list[i].given {
				i--
			}
			if i > 0 {
				passed++
			}
			x.free(m.give(i))
		}
		for _, c := range slices.Backward(slices.Clone(m.list)) {
			if !c.given {
				x.free(c.piece)
			}
		}
		require.Zero(t, x.used, "seed %d", seed)
		require.True(t, x.fits(int(size)), "seed %d", seed)
		require.False(t, x.fits(int(size)+1), "seed %d", seed)
	}
	t.Log(wrapped, "pieces passed over the end,", refused, "found no room,", passed,
		"were given back before older ones")
	require.Greater(t, wrapped, 1000)
	require.Greater(t, refused, 1000)
	require.Greater(t, passed, 1000)
}

// TestRingAllocatesNothing checks that the ring reuses its records: once pieces have been freed, taking others
// allocates nothing.
func TestRingAllocatesNothing(t *testing.T) {
	x := newRing(0, 1<<12)
	var held [4]*piece
	turn := func() {
		for i := range held {
			held[i] = x.take(700)
		}
		for i := range held {
			x.free(held[len(held)-1-i])
		}
	}
	turn()
	require.Zero(t, testing.AllocsPerRun(100, turn))
}
