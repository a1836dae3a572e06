package tlp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// slowEnabled reports whether byte pos of a request is enabled, by the definition.
func slowEnabled(h *Header, pos int) bool {
	dw, lane := pos/DWBytes, pos%DWBytes
	switch dw {
	case 0:
		return h.FirstBE>>lane&1 != 0
	case int(h.Length) - 1:
		return h.LastBE>>lane&1 != 0
	}
	return dw < int(h.Length)
}

func TestEnablesCoverExactlyTheBytes(t *testing.T) {
	for lead := range 4 {
		for n := range 14 {
			h := Header{Kind: MWr, Address: 0x100}
			h.Length, h.FirstBE, h.LastBE = Enables(0x100+uint64(lead), n)
			for pos := range int(h.Length) * DWBytes {
				require.Equal(t, pos >= lead && pos < lead+n, slowEnabled(&h, pos), "lead %d n %d pos %d", lead, n, pos)
			}
			_, fault := h.enablesFault()
			require.Empty(t, fault)
			require.Equal(t, n == 0, h.ZeroLength())
			if n == 0 {
				continue
			}
			off, span := h.Span()
			require.Equal(t, [2]int{lead, n}, [2]int{off, span})
		}
	}
	length, first, last := Enables(0x1000, PageBytes)
	require.Equal(t, [3]int{MaxLengthDW, 0xf, 0xf}, [3]int{int(length), int(first), int(last)})
}

// TestSpanFollowsTheTable: Span agrees with the standard's table of byte counts (PCIe table 2-37),
// for requests of one DW and of five.
func TestSpanFollowsTheTable(t *testing.T) {
	for _, v := range []struct{ length, first, last, off, n int }{
		{1, 0b1001, 0, 0, 4}, {1, 0b1111, 0, 0, 4}, {1, 0b0101, 0, 0, 3}, {1, 0b1010, 0, 1, 3},
		{1, 0b0011, 0, 0, 2}, {1, 0b0110, 0, 1, 2}, {1, 0b1100, 0, 2, 2},
		{1, 0b0001, 0, 0, 1}, {1, 0b0010, 0, 1, 1}, {1, 0b0100, 0, 2, 1}, {1, 0b1000, 0, 3, 1}, {1, 0, 0, 0, 1},
		{5, 0b1111, 0b1111, 0, 20}, {5, 0b1111, 0b0111, 0, 19}, {5, 0b1111, 0b0011, 0, 18}, {5, 0b1111, 0b0001, 0, 17},
		{5, 0b1110, 0b1111, 1, 19}, {5, 0b1110, 0b0001, 1, 16}, {5, 0b1100, 0b0011, 2, 16}, {5, 0b1000, 0b0001, 3, 14},
		{2, 0b0101, 0b1010, 0, 8}, {2, 0b1010, 0b0101, 1, 6},
	} {
		h := Header{Kind: MRd, Length: uint16(v.length), FirstBE: uint8(v.first), LastBE: uint8(v.last)}
		off, n := h.Span()
		require.Equal(t, [2]int{v.off, v.n}, [2]int{off, n}, "%+v", v)
	}
}

func TestRunsAreTheEnabledBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{Kind: MWr, Address: 0x2000, Length: uint16(rapid.IntRange(1, 9).Draw(t, "length"))}
		h.FirstBE, h.LastBE = uint8(rapid.IntRange(0, 15).Draw(t, "first")),
			uint8(rapid.IntRange(0, 15).Draw(t, "last"))
		data := make([]byte, rapid.IntRange(0, 10).Draw(t, "dws")*DWBytes) // less or more than Length, too
		var want, got []int
		for i := range data {
			data[i] = byte(i)
			if i < int(h.Length)*DWBytes && slowEnabled(&h, i) {
				want = append(want, i)
			}
		}
		end := -1
		runs := h.Runs(data)
		for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
			require.NotEmpty(t, b)
			require.Greater(t, int(addr-h.Address), end, "runs are apart: each as long as it can be")
			for i, v := range b {
				require.Equal(t, addr-h.Address+uint64(i), uint64(v))
				got = append(got, int(v))
			}
			end = int(addr-h.Address) + len(b)
		}
		require.Equal(t, want, got)
		_, _, ok := runs.Next()
		require.False(t, ok)
	})
}

// TestEnablesFault compares enablesFault with a list of the legal byte enables, written without the
// code's formulas.
func TestEnablesFault(t *testing.T) {
	contiguousFirst := []uint8{0b1000, 0b1100, 0b1110, 0b1111}
	contiguousLast := []uint8{0b0001, 0b0011, 0b0111, 0b1111}
	for first := range uint8(16) {
		for last := range uint8(16) {
			for _, v := range []struct {
				length uint16
				addr   uint64
				legal  bool
			}{
				{1, 0, last == 0},
				{2, 8, first != 0 && last != 0},
				{2, 4, bytes.Contains(contiguousFirst, []byte{first}) && bytes.Contains(contiguousLast, []byte{last})},
				{3, 8, bytes.Contains(contiguousFirst, []byte{first}) && bytes.Contains(contiguousLast, []byte{last})},
			} {
				h := Header{Kind: MWr, Length: v.length, Address: v.addr, FirstBE: first, LastBE: last}
				_, fault := h.enablesFault()
				require.Equal(t, v.legal, fault == "", "%v: %s", h, fault)
			}
		}
	}
}
