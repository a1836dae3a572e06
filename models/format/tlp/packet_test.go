package tlp

import (
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Equal(t, 12+8, p.WireBytes())

	b := make([]byte, 64)
	p, err = NewMemWrite(nicOrigin, 0x0100_0000_0000_0040, b)
	require.NoError(t, err)
	require.Same(t, &b[0], &p.Data[0], "aligned bytes are not copied")
	require.Equal(t, 16+64, p.WireBytes())
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

func TestResetKeepsStorage(t *testing.T) {
	var p Packet
	copy(p.Own(8), "leftover")
	p.Hdr[0] = 1
	p.Reset()
	require.Nil(t, p.Data)
	require.Equal(t, Packet{buf: p.buf}, p)
	data := make([]byte, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if p.SetMemWrite(nicOrigin, 0x1001, data) != nil {
			t.Error("SetMemWrite failed")
		}
		p.Reset()
	}))
}

func TestWireBytes(t *testing.T) {
	p := Packet{Data: make([]byte, 8)}
	for first, want := range map[byte]int{0x00: 12, 0x20: 16, 0x40: 12, 0x60: 16, 0x4a: 12, 0x34: 16, 0x80: 16,
		0xe0: 16} {
		p.Hdr[0] = first
		require.Equal(t, want+8, p.WireBytes(), "%#x", first)
	}
}
