package wire

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// codec is a header type under test: how its layer and its fields decode and encode.
type codec struct {
	header Header // HeaderNone for the BTH
	size   int
	parse  func(b []byte) (view []byte, f fields, err error)
}

var codecs = []codec{
	{HeaderNone, BTHSize, parsing(ParseBTH, func(v BTH) fields { f := v.Fields(); return &f })},
	{HeaderRETH, RETHSize, parsing(ParseRETH, func(v RETH) fields { f := v.Fields(); return &f })},
	{HeaderAETH, AETHSize, parsing(ParseAETH, func(v AETH) fields { f := v.Fields(); return &f })},
	{HeaderDETH, DETHSize, parsing(ParseDETH, func(v DETH) fields { f := v.Fields(); return &f })},
	{HeaderImmDt, ImmDtSize, parsing(ParseImmDt, func(v ImmDt) fields { f := v.Fields(); return &f })},
	{HeaderIETH, IETHSize, parsing(ParseIETH, func(v IETH) fields { f := v.Fields(); return &f })},
	{HeaderAtomicETH, AtomicETHSize, parsing(ParseAtomicETH, func(v AtomicETH) fields { f := v.Fields(); return &f })},
	{HeaderAtomicAckETH, AtomicAckETHSize,
		parsing(ParseAtomicAckETH, func(v AtomicAckETH) fields { f := v.Fields(); return &f })},
	{HeaderCNP, CNPSize, parsing(ParseCNP, func(v CNP) fields { f := v.Fields(); return &f })},
}

func parsing[V ~[]byte](parse func([]byte) (V, error), meaning func(V) fields) func([]byte) ([]byte, fields, error) {
	return func(b []byte) ([]byte, fields, error) {
		v, err := parse(b)
		if err != nil {
			return nil, nil, err
		}
		return v, meaning(v), nil
	}
}

func (c codec) name() string {
	if c.header == HeaderNone {
		return "BTH"
	}
	return c.header.String()
}

func TestHeadersRoundTrip(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := rapid.SliceOfN(rapid.Byte(), c.size, c.size+8).Draw(t, "bytes")
				before := bytes.Clone(in)
				v, f, err := c.parse(in)
				if err != nil || len(v) != c.size || cap(v) != c.size || &v[0] != &in[0] {
					t.Fatalf("view of %d bytes, capacity %d: %v", len(v), cap(v), err)
				}
				out := bytes.Repeat([]byte{0xa5}, len(in))
				if err := f.Encode(out); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out[:c.size], in[:c.size]) {
					t.Fatalf("%x became %x through %+v", in[:c.size], out[:c.size], f)
				}
				if !bytes.Equal(in, before) {
					t.Fatal("the input was changed")
				}
				for _, x := range out[c.size:] {
					if x != 0xa5 {
						t.Fatal("bytes after the header were written")
					}
				}
			})
		})
	}
}

func TestHeadersTruncated(t *testing.T) {
	for _, c := range codecs {
		_, f, err := c.parse(make([]byte, c.size))
		require.NoError(t, err)
		for n := range c.size {
			want := &TruncatedError{Header: c.name(), Need: c.size, Have: n}
			_, _, err := c.parse(make([]byte, n))
			require.Equal(t, want, err)
			require.Equal(t, want, f.Encode(make([]byte, n)))
			var l gopacket.DecodingLayer = &BTHLayer{}
			if c.header != HeaderNone {
				l = newExt(c.header, nil)
			}
			var df feedback
			require.Equal(t, want, l.DecodeFromBytes(make([]byte, n), &df))
			require.True(t, df.truncated)
			require.Empty(t, l.LayerPayload())
		}
	}
	require.EqualError(t, &TruncatedError{Header: "RETH", Need: 16, Have: 3},
		"wire: RETH truncated: needs 16 bytes, have 3")
}

func TestEncodeRanges(t *testing.T) {
	for _, tc := range []struct {
		f    fields
		text string
	}{
		{&BTHFields{PadCnt: 4}, "wire: BTH.PadCnt is 0x4, the largest that fits is 0x3"},
		{&BTHFields{TVer: 16}, "wire: BTH.TVer is 0x10, the largest that fits is 0xf"},
		{&BTHFields{Resv6: 64}, "wire: BTH.Resv6 is 0x40, the largest that fits is 0x3f"},
		{&BTHFields{Resv7: 128}, "wire: BTH.Resv7 is 0x80, the largest that fits is 0x7f"},
		{&BTHFields{DestQP: 1 << 24}, "wire: BTH.DestQP is 0x1000000, the largest that fits is 0xffffff"},
		{&BTHFields{PSN: 1 << 24}, "wire: BTH.PSN is 0x1000000, the largest that fits is 0xffffff"},
		{&AETHFields{MSN: 1 << 24}, "wire: AETH.MSN is 0x1000000, the largest that fits is 0xffffff"},
		{&DETHFields{SrcQP: 1 << 31}, "wire: DETH.SrcQP is 0x80000000, the largest that fits is 0xffffff"},
	} {
		dst := bytes.Repeat([]byte{0x5a}, 32)
		require.EqualError(t, tc.f.Encode(dst), tc.text)
		require.Equal(t, bytes.Repeat([]byte{0x5a}, 32), dst, tc.text)
	}
}

// TestHeaderPlaces: every field of every header is in its bytes.
func TestHeaderPlaces(t *testing.T) {
	b := func(s string) []byte { return unhex(t, s) }
	require.Equal(t, BTHFields{Opcode: RCWriteOnlyImm, SE: true, MigReq: true, PadCnt: 3, TVer: 5, PKey: 0x8123,
		FECN: true, BECN: true, Resv6: 0x2a, DestQP: 0x102030, AckReq: true, Resv7: 0x55, PSN: 0x405060},
		BTH(b("0bf58123ea102030d5405060")).Fields())
	require.Equal(t, RETHFields{VA: 0x0102030405060708, RKey: 0x090a0b0c, DMALen: 0x0d0e0f10},
		RETH(b("0102030405060708090a0b0c0d0e0f10")).Fields())
	require.Equal(t, AETHFields{Syndrome: NAKRemoteAccess, MSN: 0x010203}, AETH(b("62010203")).Fields())
	require.Equal(t, DETHFields{QKey: 0x11111111, Resv: 0x99, SrcQP: 0x010203}, DETH(b("1111111199010203")).Fields())
	require.Equal(t, ImmDtFields{Imm: 0x01020304}, ImmDt(b("01020304")).Fields())
	require.Equal(t, IETHFields{RKey: 0x01020304}, IETH(b("01020304")).Fields())
	require.Equal(t, AtomicETHFields{VA: 1, RKey: 2, SwapAdd: 3, Compare: 4},
		AtomicETH(b("0000000000000001000000020000000000000003"+"0000000000000004")).Fields())
	require.Equal(t, AtomicAckETHFields{Orig: 0x0102030405060708}, AtomicAckETH(b("0102030405060708")).Fields())
}

func TestBTHSetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := BTH(rapid.SliceOfN(rapid.Byte(), BTHSize, BTHSize).Draw(t, "bytes"))
		f := b.Fields()
		f.FECN, f.BECN, f.AckReq = !f.FECN, !f.BECN, !f.AckReq
		qp, psn := rapid.Uint32().Draw(t, "qp"), rapid.Uint32().Draw(t, "psn")
		f.DestQP, f.PSN = qp&max24, psn&max24
		b.SetFECN(f.FECN)
		b.SetBECN(f.BECN)
		b.SetAckReq(f.AckReq)
		b.SetDestQP(qp)
		b.SetPSN(psn)
		if b.Fields() != f {
			t.Fatalf("%+v, want %+v", b.Fields(), f)
		}
	})
}

func TestCheckCNP(t *testing.T) {
	good := NewCNP(0x123456, 0xffff)
	require.NoError(t, CheckCNP(&good, &CNPFields{}))
	require.Equal(t, uint32(0x123456), good.DestQP)

	bad := BTHFields{Opcode: RCAck, SE: true, MigReq: true, PadCnt: 1, AckReq: true, PSN: 7}
	err := CheckCNP(&bad, &CNPFields{Resv: [CNPSize]byte{15: 1}})
	for _, f := range []string{"Opcode RC_ACK, want CNP", "BECN", "SE", "MigReq", "PadCnt", "AckReq", "PSN 7, want 0",
		"Resv"} {
		require.ErrorContains(t, err, f)
	}
	for _, v := range loadVectors(t) {
		if v.Opcode == "0x81" && v.Valid {
			p := udpPayload(v.packet)
			bth, cnp := BTH(p).Fields(), CNP(p[BTHSize:]).Fields()
			require.NoError(t, CheckCNP(&bth, &cnp), v.Name)
		}
	}
}
