package tlp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawAddr draws an address below or above 4 GB, half of the time near a 4 KB boundary.
func drawAddr(t *rapid.T) uint64 {
	base := rapid.SampledFrom([]uint64{0x1000, 0xffff_f000, 1 << 32, 0x0100_0000_0000_0000}).Draw(t, "base")
	if rapid.Bool().Draw(t, "near the end") {
		return base + uint64(rapid.IntRange(PageBytes-140, PageBytes-1).Draw(t, "offset"))
	}
	return base + uint64(rapid.IntRange(0, PageBytes-1).Draw(t, "offset"))
}

func drawLimits(t *rapid.T) Limits {
	sizes := []int{128, 256, 512, 1024, 2048, 4096}
	return Limits{
		MPS:  rapid.SampledFrom(sizes).Draw(t, "mps"),
		MRRS: rapid.SampledFrom(sizes).Draw(t, "mrrs"),
		RCB:  rapid.SampledFrom([]int{64, 128}).Draw(t, "rcb"),
	}
}

func TestSplitCoversTheTransfer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr, n, l := drawAddr(t), rapid.IntRange(0, 9000).Draw(t, "n"), drawLimits(t)
		align := rapid.SampledFrom([]Align{Unaligned, Aligned}).Draw(t, "align")
		s := SplitWrite(addr, n, l.MPS, align)
		count, at, left := s.Count(), addr, n
		for p, ok := s.Next(); ok; p, ok = s.Next() {
			count--
			require.Equal(t, at, p.Addr)
			require.True(t, p.Len > 0 || n == 0)
			dws, _, _ := Enables(p.Addr, p.Len)
			require.LessOrEqual(t, int(dws)*DWBytes, l.MPS)
			require.LessOrEqual(t, int(p.Addr%PageBytes)+p.Len, PageBytes)
			at, left = at+uint64(p.Len), left-p.Len
			if left == 0 {
				continue
			}
			full := at%PageBytes == 0 || int(dws)*DWBytes == l.MPS
			if align == Aligned {
				full = at%uint64(l.MPS) == 0
			}
			require.True(t, full, "piece %+v ends early", p)
		}
		require.Zero(t, left)
		require.Zero(t, count)
	})
}

func TestSplitExamples(t *testing.T) {
	all := func(s Split) (ps []Piece) {
		for p, ok := s.Next(); ok; p, ok = s.Next() {
			ps = append(ps, p)
		}
		return ps
	}
	require.Equal(t, []Piece{{0x1001, 127}, {0x1080, 128}, {0x1100, 2}}, all(SplitWrite(0x1001, 257, 128, Unaligned)))
	require.Equal(t, []Piece{{0x1041, 127}, {0x10c0, 50}}, all(SplitWrite(0x1041, 177, 128, Unaligned)))
	require.Equal(t, []Piece{{0x1041, 63}, {0x1080, 114}}, all(SplitWrite(0x1041, 177, 128, Aligned)))
	require.Equal(t, []Piece{{0xff0, 16}, {0x1000, 48}}, all(SplitRead(0xff0, 64, 512, Unaligned)))
	require.Equal(t, []Piece{{0x40, 0}}, all(SplitRead(0x40, 0, 512, Aligned)))
	require.Empty(t, all(Split{}))
	require.Panics(t, func() { SplitRead(0, -1, 512, Aligned) })
	require.Panics(t, func() { SplitWrite(0, 1, 500, Aligned) })
	require.Panics(t, func() { SplitCompletion(0, 0, 128, 64) })
	require.Panics(t, func() { SplitCompletion(0, 1, 128, 32) })
}

// TestCompletionChoices: the choices are all legal ends of a completion, and no others.
func TestCompletionChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLimits(t)
		addr := uint64(rapid.IntRange(0, 600).Draw(t, "addr"))
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		if rapid.Bool().Draw(t, "about MPS") {
			n = l.MPS + rapid.IntRange(-4, 4).Draw(t, "over")
		}
		s := SplitCompletion(addr, n, l.MPS, l.RCB)
		end := addr + uint64(n)
		for s.More() {
			left := s.Left()
			var ends []uint64
			for e := addr + 1; e <= end; e++ {
				dws, _, _ := Enables(addr, int(e-addr))
				if (e == end || e%uint64(l.RCB) == 0) && int(dws)*DWBytes <= l.MPS {
					ends = append(ends, e)
				}
				if int(dws)*DWBytes > l.MPS {
					break
				}
			}
			require.Equal(t, len(ends), s.Choices())
			for i, e := range ends {
				try := s
				require.Equal(t, Piece{addr, int(e - addr)}, try.Take(i))
			}
			longest := s
			p, ok := longest.Next()
			require.True(t, ok)
			require.Equal(t, Piece{addr, int(ends[len(ends)-1] - addr)}, p)
			p = s.Take(rapid.IntRange(0, len(ends)-1).Draw(t, "choice"))
			addr += uint64(p.Len)
			require.Equal(t, left-p.Len, s.Left())
		}
		require.Zero(t, s.Left())
		require.Zero(t, s.Choices())
		require.Panics(t, func() { s.Take(0) })
	})
}

func TestLimitsValidate(t *testing.T) {
	require.NoError(t, DefaultLimits().Validate())
	err := Limits{MPS: 64, MRRS: 8192, RCB: 256}.Validate()
	for _, want := range []string{"mps 64: want", "mrrs 8192: want", "rcb 256: want"} {
		require.ErrorContains(t, err, want)
	}
}
