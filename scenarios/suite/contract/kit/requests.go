package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

func Memory(kind tlp.Kind, off uint32) tlp.Header {
	return tlp.Header{Kind: kind, Addr64: true, Length: 1, FirstBE: 0xf, RequesterID: RawRequester,
		Address: nicspec.BarBase + uint64(off)}
}

// Refused sends a memory read, and checks that the device answers it with Unsupported Request (UR).
func (r *Rig) Refused(h tlp.Header) {
	r.T.Helper()
	r.Send(h, nil)
	off, n := h.Span()
	require.Equal(r.T, tlp.Header{
		Kind: tlp.Cpl, Status: tlp.StatusUR, TC: h.TC, Attr: h.Attr, RequesterID: h.RequesterID, Tag: h.Tag,
		CompleterID: nicspec.RequesterNic, ByteCount: uint16(n), LowerAddr: uint8(h.Address+uint64(off)) & 0x7f,
	}, r.Answer().Header, "answer to %v", h)
}

// Answer waits for the answer to a raw request and returns it.
func (r *Rig) Answer() Completion {
	r.T.Helper()
	r.Until("a request is answered", func() bool { return len(r.Cpls) > 0 })
	a := r.Cpls[0]
	r.Cpls = r.Cpls[1:]
	return a
}

// RawRequester is the requester ID of raw requests.
const RawRequester = 0x0123
