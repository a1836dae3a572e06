package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

func TestRequestsThatAreNotTaken(t *testing.T) {
	r := newRig(t, plainRig())
	h, c := r.host, r.nic.Regs()
	bar := uint64(nicspec.BarBase)
	read := tlp.Header{Kind: tlp.MRd, Addr64: true, Length: 1, FirstBE: 0xf, RequesterID: 0x0108, Tag: 9, TC: 3,
		Attr: 5}
	for _, c2 := range []struct {
		name   string
		mod    func(*tlp.Header)
		data   int
		answer bool
		bc     uint16
		la     uint8
		count  nicspec.DevCounter
	}{
		{"read beyond", func(h *tlp.Header) { h.Address = bar + nicspec.BarBytes }, 0, true, 4, 0,
			nicspec.CntTlpUnsupported},
		{"read below 4 GB", func(h *tlp.Header) { h.Addr64, h.Address, h.FirstBE = false, 0x104, 6 }, 0, true, 2, 5,
			nicspec.CntTlpUnsupported},
		{"poisoned read", func(h *tlp.Header) { h.Address, h.EP = bar, true }, 0, true, 4, 0,
			nicspec.CntTlpUnsupported},
		{"write elsewhere", func(h *tlp.Header) { h.Kind, h.Address = tlp.MWr, 0x100 }, 4, false, 0, 0,
			nicspec.CntTlpUnsupported},
		{"poisoned write", func(h *tlp.Header) { h.Kind, h.Address, h.EP = tlp.MWr, bar+0x2c, true }, 4, false, 0, 0,
			nicspec.CntTlpUnsupported},
		{"message", func(h *tlp.Header) { *h = tlp.Header{Kind: tlp.MsgD, Code: tlp.CodeVendor1, Length: 1} }, 4, false,
			0, 0,
			nicspec.CntTlpUnsupported},
		{"read of 4 DWs", func(h *tlp.Header) { h.Address, h.Length, h.LastBE = bar+0x80, 4, 0xf }, 0, true, 16, 0,
			nicspec.CntRegBad},
		{"read of bytes", func(h *tlp.Header) { h.Address, h.FirstBE = bar+0x84, 0xc }, 0, true, 2, 6,
			nicspec.CntRegBad},
		{"read of two, odd", func(h *tlp.Header) { h.Address, h.Length, h.LastBE = bar+0x84, 2, 0xf }, 0, true, 8, 4,
			nicspec.CntRegBad},
		{"write of bytes", func(h *tlp.Header) { h.Kind, h.Address, h.FirstBE = tlp.MWr, bar+0x2c, 3 }, 4, false, 0, 0,
			nicspec.CntRegBad},
		{"push", func(h *tlp.Header) {
			h.Kind, h.Address, h.Length, h.LastBE = tlp.MWr, bar+nicspec.RegTxPushBase, 16, 0xf
		}, 64, false, 0, 0, nicspec.CntRegBad},
		{"completion", func(h *tlp.Header) { *h = tlp.Header{Kind: tlp.Cpl, RequesterID: 0x200, ByteCount: 4} }, 0,
			false, 0, 0,
			nicspec.CntCplUnexpected},
		{"completion of another", func(h *tlp.Header) { *h = tlp.Header{Kind: tlp.Cpl, RequesterID: 1, ByteCount: 4} },
			0,
			false, 0, 0, nicspec.CntCplUnexpected},
	} {
		hdr := read
		c2.mod(&hdr)
		delete(h.Answers, 9)
		before, scratch := c.Dev(c2.count), c.Read32(nicspec.RegScratch)
		h.Send(hdr, make([]byte, c2.data))
		r.idle()
		require.Equal(t, before+1, c.Dev(c2.count), c2.name)
		require.Equal(t, scratch, c.Read32(nicspec.RegScratch), c2.name)
		a, ok := h.Answers[9]
		require.Equal(t, c2.answer, ok, c2.name)
		if ok {
			want := tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, RequesterID: 0x0108, Tag: 9, TC: 3, Attr: 5,
				CompleterID: 0x200, ByteCount: c2.bc, LowerAddr: c2.la}
			require.Equal(t, want, a.Header, c2.name)
		}
	}
}

func TestReadsAreAnsweredInOrder(t *testing.T) {
	r := newRig(t, defaultRig())
	h := r.host
	var order []uint8
	h.Write32(nicspec.RegScratch, 1)
	a := h.Ask(nicspec.RegScratch, 1)
	h.Write32(nicspec.RegScratch, 2)
	b := h.Ask(nicspec.RegScratch, 1)
	c := h.Ask(nicspec.RegId, 2)
	r.idle()
	order = append(order, h.Answers[a].Data[0], h.Answers[b].Data[0])
	require.Equal(t, []uint8{1, 2}, order)
	require.Equal(t, "NICT",
		string(append([]byte(nil), h.Answers[c].Data[0], h.Answers[c].Data[1], h.Answers[c].Data[2],
			h.Answers[c].Data[3])))
	require.EqualValues(t, 8, h.Answers[c].ByteCount)
}
