package tlp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var nicOrigin = Origin{RequesterID: 0x0200}

func TestMemWritePlacesBytes(t *testing.T) {
	p, err := NewMemWrite(Origin{RequesterID: 0x0200, TC: 3, Attr: RelaxedOrder}, 0x1003, []byte{1, 2, 3})
	require.NoError(t, err)
	h, err := p.Header()
	require.NoError(t, err)
	require.Equal(t, Header{Kind: MWr, TC: 3, Attr: RelaxedOrder, Length: 2, RequesterID: 0x0200,
		FirstBE: 0b1000, LastBE: 0b0011, Address: 0x1000}, h)
	require.Equal(t, []byte{0, 0, 0, 1, 2, 3, 0, 0}, p.Data)
	require.Equal(t, 12+8, p.TrafficBytes)

	b := make([]byte, 64)
	p, err = NewMemWrite(nicOrigin, 0x0100_0000_0000_0040, b)
	require.NoError(t, err)
	require.Same(t, &b[0], &p.Data[0], "aligned bytes are not copied")
	require.Equal(t, 16+64, p.TrafficBytes)
	require.Equal(t, "MWr64 addr=0x0100000000000040 len=16DW be=f/f req=02:00.0 tag=0x00 + 64 B", p.String())

	_, err = NewMemWrite(nicOrigin, 0xfff, b[:2])
	require.ErrorContains(t, err, "crosses a 4 KB boundary")
	_, err = NewMemRead(nicOrigin, 0, 0xfff, 2)
	require.ErrorContains(t, err, "crosses a 4 KB boundary")
	_, err = NewMemRead(nicOrigin, 0, 0, -1)
	require.Error(t, err)
	_, err = NewMemWrite(Origin{TC: 8}, 0, b)
	require.ErrorContains(t, err, "TC")
	_, err = NewMemRead(Origin{Attr: 8}, 0, 0, 4)
	require.ErrorContains(t, err, "Attr")
}

func TestZeroLengthRequests(t *testing.T) {
	w, err := NewMemWrite(nicOrigin, 0x1002, nil)
	require.NoError(t, err)
	h, _ := w.Header()
	require.True(t, h.ZeroLength())
	require.Equal(t, []byte{0, 0, 0, 0}, w.Data)
	runs := h.Runs(w.Data)
	_, _, ok := runs.Next()
	require.False(t, ok)
	r, err := NewMemRead(nicOrigin, 7, 0x1002, 0)
	require.NoError(t, err)
	h, _ = r.Header()
	require.True(t, h.ZeroLength())
	require.Nil(t, r.Data)
}

func TestSetMemWriteFromOwnStorage(t *testing.T) {
	var p Packet
	copy(p.Own(5), "hello")
	require.NoError(t, p.SetMemWrite(nicOrigin, 0x1002, p.Data))
	require.Equal(t, "\x00\x00hello\x00", string(p.Data))
}

func TestMSIX(t *testing.T) {
	var p Packet
	require.NoError(t, p.SetMSIX(nicOrigin, 0xfee0_0000, 0x11223344))
	h, err := p.Header()
	require.NoError(t, err)
	require.Equal(t, Header{Kind: MWr, Length: 1, RequesterID: 0x0200, FirstBE: 0xf, Address: 0xfee0_0000}, h)
	require.Equal(t, []byte{0x44, 0x33, 0x22, 0x11}, p.Data)
	require.ErrorContains(t, p.SetMSIX(nicOrigin, 0xfee0_0002, 0), "multiple of 4")
}

func TestVendorMessages(t *testing.T) {
	var p Packet
	v := Vendor{Type: 1, Routing: RouteByID, TargetID: 0x0000, VendorID: 0x1ab4, DW3: 9}
	require.NoError(t, p.SetVendor(nicOrigin, v, make([]byte, 16)))
	h, err := p.Header()
	require.NoError(t, err)
	require.Equal(t, Header{Kind: MsgD, Length: 4, RequesterID: 0x0200, Code: CodeVendor1, Routing: RouteByID,
		VendorID: 0x1ab4, VendorDW: 9}, h)
	require.Equal(t, 1, h.DataCredits())
	require.NoError(t, p.SetVendor(nicOrigin, Vendor{Routing: RouteLocal}, nil))
	h, _ = p.Header()
	require.Equal(t, Header{Kind: Msg, RequesterID: 0x0200, Code: CodeVendor0, Routing: RouteLocal}, h)
	require.Nil(t, p.Data)

	require.ErrorContains(t, p.SetVendor(nicOrigin, Vendor{Type: 2}, nil), "type is 2")
	require.ErrorContains(t, p.SetVendor(nicOrigin, Vendor{Routing: RouteByAddress}, nil), "routed address")
	require.ErrorContains(t, p.SetVendor(nicOrigin, Vendor{TargetID: 1}, nil), "target ID 0x1")
	require.ErrorContains(t, p.SetVendor(nicOrigin, Vendor{}, make([]byte, 3)), "3 B")
	require.ErrorContains(t, p.SetVendor(nicOrigin, Vendor{}, make([]byte, 4100)), "4100 B")
}

func TestClassesAndCredits(t *testing.T) {
	classes := map[Kind]Class{MRd: NonPosted, MWr: Posted, Msg: Posted, MsgD: Posted, Cpl: Completion, CplD: Completion}
	for k, c := range classes {
		require.Equal(t, c, k.Class())
		require.Equal(t, c == Posted, k.IsPosted())
	}
	for dws, units := range map[uint16]int{1: 1, 4: 1, 5: 2, 32: 8} {
		h := Header{Kind: MWr, Length: dws}
		require.Equal(t, units, h.DataCredits())
		h.Kind = MRd
		require.Zero(t, h.DataCredits())
	}
}

func TestPool(t *testing.T) {
	var pool Pool
	p := pool.Get()
	copy(p.Own(8), "leftover")
	p.Hdr[0], p.Seq, p.Depart, p.TrafficBytes = 1, 2, 3, 4
	pool.Put(p)
	require.Zero(t, pool.Live())
	require.Panics(t, func() { pool.Put(p) })
	q := pool.Get()
	require.Same(t, p, q)
	require.Nil(t, q.Data)
	require.Equal(t, Packet{buf: q.buf}, *q)
	require.Equal(t, 1, pool.Live())
	data := make([]byte, 100)
	pool.Put(q)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p := pool.Get()
		if p.SetMemWrite(nicOrigin, 0x1001, data) != nil {
			t.Error("SetMemWrite failed")
		}
		pool.Put(p)
	}))
}

// What is written in pieces and applied by runs is what was to be written.
func TestWriteSplitAndApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 3 * PageBytes
		l, off := drawLimits(t), rapid.IntRange(0, PageBytes).Draw(t, "offset")
		data := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "data")
		align := rapid.SampledFrom([]Align{Unaligned, Aligned}).Draw(t, "align")
		base := rapid.SampledFrom([]uint64{0x1000, 0xffff_f000, 0x0100_0000_0000_0000}).Draw(t, "base")
		want := make([]byte, room)
		copy(want[off:], data)
		got := make([]byte, room)
		m := newTestMonitor(t, func(c *MonitorConfig) { c.Limits = l })
		var p Packet
		s := SplitWrite(base+uint64(off), len(data), l.MPS, align)
		done := 0
		for piece, ok := s.Next(); ok; piece, ok = s.Next() {
			require.NoError(t, p.SetMemWrite(nicOrigin, piece.Addr, data[done:done+piece.Len]))
			done += piece.Len
			require.Empty(t, m.Check(FromDevice, 0, &p))
			h, err := p.Header()
			require.NoError(t, err)
			runs := h.Runs(p.Data)
			for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
				copy(got[addr-base:], b)
			}
		}
		require.Equal(t, want, got)
		require.Empty(t, m.End())
	})
}
