package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// TestOtherNonPostedRequests: non-posted requests of types that package tlp does not decode are
// answered with UR.
func TestOtherNonPostedRequests(t *testing.T) {
	for _, c := range []struct {
		ft   byte
		want Inbound
	}{
		{0x01, InRefused}, {0x21, InRefused}, {0x02, InRefused}, {0x42, InRefused}, {0x04, InRefused},
		{0x44, InRefused},
		{0x05, InRefused}, {0x45, InRefused}, {0x4c, InRefused}, {0x6d, InRefused}, {0x4e, InRefused},
		{0x5b, InRefused},
		{0x7b, InRefused}, {0x30, InDropped}, {0x74, InDropped}, {0x80, InDropped}, {0x9e, InDropped},
		{0x0f, InDropped},
		{0x41, InDropped}, {0x0a, InCompletion}, {0x4a, InCompletion}, {0x0b, InCompletion}, {0x4b, InCompletion},
	} {
		hdr := [16]byte{c.ft, 0, 0, 3, 1, 8, 0x42, 0xff}
		var h tlp.Header
		require.Equal(t, c.want, DecodeInbound(&hdr, &h), "%#x", c.ft)
		if c.want != InRefused {
			continue
		}
		var o Outcome
		r := NewRegs(nicspec.DefaultBuild())
		r.Take(&hdr, nil, &o)
		require.True(t, o.Answered)
		require.Equal(t, tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, RequesterID: 0x108, Tag: 0x42,
			CompleterID: 0x200,
			ByteCount:   12}, o.Answer.Header)
		hdr[2] |= 0x40 // poisoned requests get no answer
		r.Take(&hdr, nil, &o)
		require.False(t, o.Answered)
		require.EqualValues(t, 2, r.Dev(nicspec.CntTlpUnsupported))
	}
}

// FuzzTake takes requests with any header. It checks that every answer can be encoded, and that
// headers that package tlp decodes mean the same here.
func FuzzTake(f *testing.F) {
	f.Add([]byte{0x20, 0, 0, 1, 1, 0, 9, 0xf, 2, 0, 0, 0, 0, 0, 0, 0x10}, []byte{})
	f.Add([]byte{0x60, 0, 0, 2, 1, 0, 9, 0xff, 2, 0, 0, 0, 0, 0, 0, 0x80}, make([]byte, 8))
	f.Add([]byte{0x4a, 0, 0, 1, 1, 0, 0, 4, 2, 0, 9, 0}, make([]byte, 4))
	f.Fuzz(func(t *testing.T, hdr, data []byte) {
		var raw [tlp.HeaderBytes]byte
		copy(raw[:], hdr)
		var o Outcome
		r := NewRegs(nicspec.DefaultBuild())
		r.Take(&raw, data, &o)
		if o.Answered {
			var enc [tlp.HeaderBytes]byte
			if err := o.Answer.Header.Encode(&enc); err != nil {
				t.Fatal(err)
			}
		}
		known, err := tlp.Decode(&raw)
		var h tlp.Header
		DecodeInbound(&raw, &h)
		if err != nil || known.Kind.IsMessage() {
			return
		}
		known.TD, known.BCM = false, false
		if known != h {
			t.Fatalf("%+v\nis not\n%+v", h, known)
		}
	})
}
