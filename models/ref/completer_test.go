package ref

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
)

// Read answers reads that PCIe allows, and names the fault of any other request.
func TestCompleterRead(t *testing.T) {
	read := func(at uint64, n int, tag uint8) TLP {
		length, first, last := tlp.Enables(at, n)
		return TLP{Kind: tlp.MRd, Length: length, FirstBE: first, LastBE: last, Address: at &^ 3, Tag: tag}
	}
	write := read(0, 4, 1)
	write.Kind = tlp.MWr
	for _, x := range []struct {
		name string
		b    [][]byte
		want string // "": a completion with all bytes is offered
	}{
		{"the largest, at the end of a page", [][]byte{TLPBytes(read(4096-128, 128, 1), nil)}, ""},
		{"the smallest", [][]byte{TLPBytes(read(3, 1, 1), nil)}, ""},
		{"too large", [][]byte{TLPBytes(read(0, 129, 1), nil)}, "request: expected at most 128 bytes, within one page"},
		{"into the next page", [][]byte{TLPBytes(read(4095, 2, 1), nil)},
			"request: expected at most 128 bytes, within one page"},
		{"a tag that waits", [][]byte{TLPBytes(read(0, 8, 1), nil), TLPBytes(read(64, 8, 2), nil),
			TLPBytes(read(128, 8, 2), nil)}, "tag: expected a free one, got 2"},
		{"a write", [][]byte{TLPBytes(write, []byte{1, 2, 3, 4})}, "request: expected a memory read"},
		{"no header", [][]byte{{0, 0, 0}}, "TLP: expected a header"},
	} {
		t.Run(x.name, func(t *testing.T) {
			o, in := record("o", false), &Stream{Name: "c", In: true, Kind: Packets, Unit: 4, Beat: 8}
			p, b := newBench(o, in)
			c, m := p.NewCompleter("c", nil), p.NewMemory("host")
			for _, request := range x.b {
				c.Read(&Msg{Of: o}, request, m, CompleterConfig{Most: 128, MPS: 256, RCB: 128, ID: 7})
			}
			if x.want != "" {
				require.ErrorContains(t, p.Failed(), x.want)
				return
			}
			require.Nil(t, p.Failed())
			require.Len(t, b.offers, 1)
			h, payload, ok := p.ParseTLP(&Msg{Of: o}, b.offers[0].Data)
			require.True(t, ok)
			require.EqualValues(t, 7, h.CompleterID)
			want, _, _ := p.ParseTLP(&Msg{Of: o}, x.b[0])
			offset, n := want.Span()
			require.EqualValues(t, n, h.ByteCount)
			require.Equal(t, m.Read(want.Address+uint64(offset), n), payload[offset:offset+n])
		})
	}
}

// Longest returns the largest number of beats that Bursts drew: the player waits longer for long bursts.
func TestLongest(t *testing.T) {
	id, addr := Field{"awid", 4}, Field{"awaddr", 32}
	p, _ := newBench(
		record("s.aw", true, id, addr, Field{"awlen", 8}, Field{"awsize", 3}, Field{"awburst", 2}),
		record("s.w", true, Field{"wdata", 32}, Field{"wstrb", 4}, Field{"wlast", 1}),
		record("s.b", false, Field{"bid", 4}, Field{"bresp", 2}),
		record("s.ar", true, Field{"arid", 4}, Field{"araddr", 32}, Field{"arlen", 8}, Field{"arsize", 3},
			Field{"arburst", 2}),
		record("s.r", false, Field{"rid", 4}, Field{"rdata", 32}, Field{"rresp", 2}, Field{"rlast", 1}))
	require.Zero(t, p.Longest())
	p.Bursts("s", AXIRange{Bytes: 1 << 20, Bursts: 100}, nil)
	require.Equal(t, 256, p.Longest())
}
