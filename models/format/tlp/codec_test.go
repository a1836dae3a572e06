package tlp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// unhex decodes a header written as hex digits; blanks are ignored.
func unhex(t testing.TB, s string) (hdr [HeaderBytes]byte) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	require.LessOrEqual(t, len(b), HeaderBytes)
	copy(hdr[:], b)
	return hdr
}

// headerVectors are headers encoded by hand from the figures of PCIe 2.2.
var headerVectors = []struct {
	wire string
	hdr  Header
	text string
}{
	{"40000001 0200000f 12345678",
		Header{Kind: MWr, Length: 1, RequesterID: 0x0200, FirstBE: 0xf, Address: 0x12345678},
		"MWr32 addr=0x12345678 len=1DW be=f/0 req=02:00.0 tag=0x00"},
	{"60503010 02005aff 02000000 00000040",
		Header{Kind: MWr, Addr64: true, TC: 5, Attr: RelaxedOrder | NoSnoop, Length: 16, RequesterID: 0x0200,
			Tag: 0x5a, FirstBE: 0xf, LastBE: 0xf, Address: 0x0200_0000_0000_0040},
		"MWr64 addr=0x0200000000000040 len=16DW be=f/f req=02:00.0 tag=0x5a tc=5 attr=RO|NS"},
	{"20000000 01007fff 01000000 00001000",
		Header{Kind: MRd, Addr64: true, Length: 1024, RequesterID: 0x0100, Tag: 0x7f, FirstBE: 0xf, LastBE: 0xf,
			Address: 0x0100_0000_0000_1000},
		"MRd64 addr=0x0100000000001000 len=1024DW be=f/f req=01:00.0 tag=0x7f"},
	{"00040002 0000013c 00000ff8",
		Header{Kind: MRd, Attr: IDBasedOrder, Length: 2, Tag: 1, FirstBE: 0xc, LastBE: 3, Address: 0xff8},
		"MRd32 addr=0x00000ff8 len=2DW be=c/3 req=00:00.0 tag=0x01 attr=IDO"},
	{"4a004010 01000040 02002140",
		Header{Kind: CplD, EP: true, Length: 16, CompleterID: 0x0100, ByteCount: 64, RequesterID: 0x0200,
			Tag: 0x21, LowerAddr: 0x40},
		"CplD SC len=16DW bc=64 la=0x40 req=02:00.0 tag=0x21 cpl=01:00.0 EP"},
	{"4a000020 00000000 0200ff00",
		Header{Kind: CplD, Length: 32, ByteCount: 4096, RequesterID: 0x0200, Tag: 0xff},
		"CplD SC len=32DW bc=4096 la=0x00 req=02:00.0 tag=0xff cpl=00:00.0"},
	{"0a000000 02002004 010b0304",
		Header{Kind: Cpl, CompleterID: 0x0200, Status: StatusUR, ByteCount: 4, RequesterID: 0x010b, Tag: 3,
			LowerAddr: 4},
		"Cpl UR bc=4 la=0x04 req=01:01.3 tag=0x03 cpl=02:00.0"},
	{"0a008000 00009008 02000000",
		Header{Kind: Cpl, TD: true, Status: StatusCA, BCM: true, ByteCount: 8, RequesterID: 0x0200},
		"Cpl CA bc=8 la=0x00 req=02:00.0 tag=0x00 cpl=00:00.0 BCM TD"},
	{"72000002 0000007f 02001ab4 00000001",
		Header{Kind: MsgD, Length: 2, Code: CodeVendor1, Routing: RouteByID, TargetID: 0x0200, VendorID: 0x1ab4,
			VendorDW: 1},
		"MsgD vendor1 route=id len=2DW to=02:00.0 vendor=0x1ab4 dw3=0x00000001 req=00:00.0 tag=0x00"},
	{"34000000 0000057e 00001234 deadbeef",
		Header{Kind: Msg, Tag: 5, Code: CodeVendor0, Routing: RouteLocal, VendorID: 0x1234, VendorDW: 0xdeadbeef},
		"Msg vendor0 route=local to=00:00.0 vendor=0x1234 dw3=0xdeadbeef req=00:00.0 tag=0x05"},
}

func TestHeaderVectors(t *testing.T) {
	for _, v := range headerVectors {
		wire := unhex(t, v.wire)
		h, err := Decode(&wire)
		require.NoError(t, err, v.wire)
		require.Equal(t, v.hdr, h, v.wire)
		require.Equal(t, v.text, h.String())
		got := [HeaderBytes]byte{12: 0xee, 13: 0xee, 14: 0xee, 15: 0xee} // Encode must clear the unused DW
		require.NoError(t, v.hdr.Encode(&got))
		require.Equal(t, wire, got, v.text)
	}
}

func TestDecodeNamesWhatItRefuses(t *testing.T) {
	for _, v := range []struct{ wire, field, says string }{
		{"01000001", "Fmt/Type", "MRdLk"},
		{"21000001", "Fmt/Type", "MRdLk"},
		{"0b000000", "Fmt/Type", "CplLk"},
		{"4b000001", "Fmt/Type", "CplDLk"},
		{"02000001", "Fmt/Type", "IORd"},
		{"44000001", "Fmt/Type", "CfgWr0"},
		{"6e000001", "Fmt/Type", "CAS"},
		{"5b000001", "Fmt/Type", "DMWr"},
		{"91000000", "Fmt/Type", "prefixes"},
		{"2a000000", "Fmt/Type", "reserved"},
		{"ff000000", "Fmt/Type", "reserved"},
		{"40800001 0000000f", "T9", "10-bit tags"},
		{"40080001 0000000f", "T8", "10-bit tags"},
		{"40020001 0000000f", "LN", "lightweight notification"},
		{"40010001 0000000f", "TH", "processing hints"},
		{"40000801 0000000f", "AT", "address translation"},
		{"40000001 0000000f 00001003", "PH", "processing hints"},
		{"60000001 0000000f 00000001 00001002", "PH", "processing hints"},
		{"40000001 0000000f 00001000 00000001", "DW3", "three DWs"},
		{"4a000001 00000004 02000000 01000000", "DW3", "three DWs"},
		{"4a000001 00000004 02000080", "LowerAddr", "bit 7"},
		{"0a000001 00002004 02000000", "Length", "reserved"},
		{"30000001 0000007e", "Length", "reserved"},
	} {
		hdr := unhex(t, v.wire)
		_, err := Decode(&hdr)
		var fe *FieldError
		require.ErrorAs(t, err, &fe, v.wire)
		require.Equal(t, v.field, fe.Field, v.wire)
		require.Contains(t, err.Error(), v.says, v.wire)
		require.Contains(t, err.Error(), "decode")
	}
}

func TestParseIgnoresReservedBits(t *testing.T) {
	plain, odd := unhex(t, "40000001 0000000f 00001000"), unhex(t, "408b0c01 0000000f 00001003 ffffffff")
	require.Equal(t, Parse(&plain), Parse(&odd))
	plain, odd = unhex(t, "0a000000 00002004 02000010"), unhex(t, "0a0003ff 00002004 02000090 00000001")
	require.Equal(t, Parse(&plain), Parse(&odd))
	locked := unhex(t, "01000001 0000000f")
	require.Equal(t, Header{}, Parse(&locked))
}

func TestEncodeNamesWhatDoesNotFit(t *testing.T) {
	ok := map[Kind]Header{
		MWr:  {Kind: MWr, Length: 1, FirstBE: 0xf},
		CplD: {Kind: CplD, Length: 1, ByteCount: 4},
		Cpl:  {Kind: Cpl, ByteCount: 4},
		Msg:  {Kind: Msg},
	}
	for _, v := range []struct {
		kind  Kind
		field string
		spoil func(*Header)
	}{
		{MWr, "Kind", func(h *Header) { h.Kind = KindInvalid }},
		{MWr, "Kind", func(h *Header) { h.Kind = numKinds }},
		{MWr, "TC", func(h *Header) { h.TC = 8 }},
		{MWr, "Attr", func(h *Header) { h.Attr = 8 }},
		{MWr, "Length", func(h *Header) { h.Length = 0 }},
		{MWr, "Length", func(h *Header) { h.Length = 1025 }},
		{MWr, "FirstBE", func(h *Header) { h.FirstBE = 16 }},
		{MWr, "LastBE", func(h *Header) { h.LastBE = 16 }},
		{MWr, "Address", func(h *Header) { h.Address = 2 }},
		{MWr, "Address", func(h *Header) { h.Address = 1 << 32 }},
		{Cpl, "Length", func(h *Header) { h.Length = 1 }},
		{Msg, "Length", func(h *Header) { h.Length = 1 }},
		{CplD, "Status", func(h *Header) { h.Status = 8 }},
		{CplD, "ByteCount", func(h *Header) { h.ByteCount = 0 }},
		{CplD, "ByteCount", func(h *Header) { h.ByteCount = 4097 }},
		{CplD, "LowerAddr", func(h *Header) { h.LowerAddr = 128 }},
		{Msg, "Routing", func(h *Header) { h.Routing = 8 }},
	} {
		h := ok[v.kind]
		var dst [HeaderBytes]byte
		require.NoError(t, h.Encode(&dst))
		v.spoil(&h)
		before := dst
		err := h.Encode(&dst)
		var fe *FieldError
		require.ErrorAs(t, err, &fe, v.field)
		require.Equal(t, v.field, fe.Field)
		require.Equal(t, before, dst, "a failed Encode leaves dst alone")
	}
}

// drawHeader draws a header that can be encoded, legal or not.
func drawHeader(t *rapid.T) Header {
	u8 := func(name string, maximum int) uint8 { return uint8(rapid.IntRange(0, maximum).Draw(t, name)) }
	u16 := func(name string) uint16 { return rapid.Uint16().Draw(t, name) }
	h := Header{
		Kind: Kind(rapid.IntRange(1, int(numKinds)-1).Draw(t, "kind")),
		TC:   u8("tc", 7), Attr: Attr(u8("attr", 7)),
		TD: rapid.Bool().Draw(t, "td"), EP: rapid.Bool().Draw(t, "ep"),
		RequesterID: u16("requester"), Tag: u8("tag", 255),
	}
	if h.Kind != Cpl && h.Kind != Msg {
		h.Length = uint16(rapid.IntRange(1, MaxLengthDW).Draw(t, "length"))
	}
	switch {
	case h.Kind.IsMemory():
		h.Addr64 = rapid.Bool().Draw(t, "addr64")
		h.FirstBE, h.LastBE = u8("first", 15), u8("last", 15)
		h.Address = rapid.Uint64().Draw(t, "address") &^ 3
		if !h.Addr64 {
			h.Address &= 1<<32 - 1
		}
	case h.Kind.IsCompletion():
		h.CompleterID, h.Status, h.BCM = u16("completer"), Status(u8("status", 7)), rapid.Bool().Draw(t, "bcm")
		h.ByteCount = uint16(rapid.IntRange(1, PageBytes).Draw(t, "byte count"))
		h.LowerAddr = u8("lower", 127)
	default:
		h.Code, h.Routing = u8("code", 255), Routing(u8("routing", 7))
		h.TargetID, h.VendorID, h.VendorDW = u16("target"), u16("vendor"), rapid.Uint32().Draw(t, "dw3")
	}
	return h
}

func TestEncodeThenDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		var wire [HeaderBytes]byte
		require.NoError(t, h.Encode(&wire))
		got, err := Decode(&wire)
		require.NoError(t, err)
		require.Equal(t, h, got)
		_, differ := Diff(&h, &got)
		require.False(t, differ)
	})
}

// FuzzDecode: a header that Decode accepts encodes to the same bytes; the error for any other is a
// FieldError.
func FuzzDecode(f *testing.F) {
	for _, v := range headerVectors {
		hdr := unhex(f, v.wire)
		f.Add(hdr[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var hdr, again [HeaderBytes]byte
		copy(hdr[:], b)
		h, err := Decode(&hdr)
		if err != nil {
			var fe *FieldError
			if !errors.As(err, &fe) || fe.Field == "" || fe.Want == "" {
				t.Fatalf("refused %x with %v", hdr, err)
			}
			Unsupported(&hdr, 0)
			return
		}
		if err := h.Encode(&again); err != nil || !bytes.Equal(hdr[:], again[:]) {
			t.Fatalf("%x decodes to %v, which encodes to %x (%v)", hdr, h, again, err)
		}
		if h != Parse(&hdr) {
			t.Fatalf("Parse and Decode differ on %x", hdr)
		}
	})
}

func TestDiffNamesEveryField(t *testing.T) {
	for _, v := range headerVectors {
		base := v.hdr
		for f := range NumFields {
			if !base.Has(f) {
				continue
			}
			other := base
			changeField(&other, f)
			d, ok := Diff(&base, &other)
			require.True(t, ok, "%v of %v", f, base)
			require.Equal(t, Difference{f, base.Value(f), other.Value(f)}, d)
			_, ok = DiffExcept(&base, &other, Fields(f))
			require.False(t, ok && f != FieldKind)
		}
	}
	a, b := headerVectors[0].hdr, headerVectors[4].hdr
	d, ok := Diff(&a, &b)
	require.True(t, ok)
	require.Equal(t, "Kind: MWr against CplD", d.String())
	require.Equal(t, "RequesterID: 02:00.0 against 01:00.0", Difference{FieldRequesterID, 0x200, 0x100}.String())
	require.Equal(t, "Address: 0x1000 against 0x40", Difference{FieldAddress, 0x1000, 0x40}.String())
}

// changeField sets a field to another value that fits its bits.
func changeField(h *Header, f Field) {
	switch f {
	case FieldKind:
		h.Kind = h.Kind%(numKinds-1) + 1
	case FieldAddr64:
		h.Addr64 = !h.Addr64
	case FieldTC:
		h.TC ^= 1
	case FieldAttr:
		h.Attr ^= NoSnoop
	case FieldTD:
		h.TD = !h.TD
	case FieldEP:
		h.EP = !h.EP
	case FieldLength:
		h.Length ^= 1
	case FieldRequesterID:
		h.RequesterID ^= 1
	case FieldTag:
		h.Tag ^= 1
	case FieldFirstBE:
		h.FirstBE ^= 1
	case FieldLastBE:
		h.LastBE ^= 1
	case FieldAddress:
		h.Address ^= 4
	case FieldCompleterID:
		h.CompleterID ^= 1
	case FieldStatus:
		h.Status ^= 1
	case FieldBCM:
		h.BCM = !h.BCM
	case FieldByteCount:
		h.ByteCount ^= 1
	case FieldLowerAddr:
		h.LowerAddr ^= 1
	case FieldCode:
		h.Code ^= 1
	case FieldRouting:
		h.Routing ^= 1
	case FieldTargetID:
		h.TargetID ^= 1
	case FieldVendorID:
		h.VendorID ^= 1
	case FieldVendorDW:
		h.VendorDW ^= 1
	}
}

func TestCodecAllocatesNothing(t *testing.T) {
	wire := unhex(t, headerVectors[1].wire)
	var out [HeaderBytes]byte
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h, err := Decode(&wire)
		if err != nil || h.Encode(&out) != nil {
			t.Error("codec failed")
		}
	}))
}

func TestUnsupported(t *testing.T) {
	for _, v := range []struct {
		wire string
		ok   bool
		bc   uint16
		la   uint8
	}{
		{"00000002 01000547 00001048", true, 7, 0x48},          // MRd: bytes 0 to 6 of two DWs
		{"20000001 0100050c 01000000 0000104c", true, 2, 0x4e}, // MRd64: bytes 2 and 3
		{"01000003 010005ff 00001004", true, 12, 0},            // MRdLk
		{"02000001 01000501 00000040", true, 4, 0},             // IORd
		{"6c000002 010005ff 00000001 00000040", true, 8, 0},    // FetchAdd
		{"01000000 010005ff 00001000", true, PageBytes, 0},     // MRdLk of 4 KB
		{"40000001 0100050f 00001004", false, 0, 0},            // MWr
		{"0b000000 01000004 00000500", false, 0, 0},            // CplLk
		{"30000000 0100057e", false, 0, 0},                     // Msg
		{"1f000000 01000501", false, 0, 0},                     // reserved
	} {
		hdr := unhex(t, v.wire)
		cpl, ok := Unsupported(&hdr, 0x0200)
		require.Equal(t, v.ok, ok, v.wire)
		if !ok {
			continue
		}
		want := Header{Kind: Cpl, Status: StatusUR, RequesterID: 0x0100, Tag: 5, CompleterID: 0x0200, ByteCount: v.bc,
			LowerAddr: v.la}
		require.Equal(t, want, cpl, v.wire)
		require.NoError(t, cpl.Encode(&hdr))
	}
}
