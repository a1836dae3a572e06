package golden

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/format/wire"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// appends records Sends whose trailer the device appends: one with 54 B of headers in the entry, 101 B in memory
// and three pad bytes, and one whose UDP length is too large by one.
func appends(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenTx(0, 4)
	for i := range 2 {
		inline := roceFrame(54 + 101 + 3 + 4)[:54]
		inline[43] = 3 << 4
		inline[39] += uint8(i)
		m.PostWqe(0, nictest.Entry(uint32(i), inline, []nictest.Piece{{Key: goodKey, Addr: 0x1000, N: 101}},
			func(w nicspec.Wqe) {
				w.SetFIcrc(true)
				w.SetFAppend(true)
				w.SetL3Off(14)
				w.SetL4Off(34)
			}))
	}
	m.RingTx(0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

func TestAppendSabotageIsCaught(t *testing.T) {
	const pad, icrc = 54 + 101, 54 + 101 + 3
	cfg, clean := appends(t)
	first := newTape(t, clean).get(0, frameOut(0)).Frame.Data
	require.Len(t, first, icrc+4)
	require.Equal(t, make([]byte, 3), first[pad:icrc])
	frame := func(edit func(f []byte) []byte) func(p *tape) {
		return func(p *tape) { f := p.get(0, frameOut(0)).Frame; f.Data = edit(f.Data) }
	}
	sealed := func(f []byte) []byte {
		require.NoError(t, wire.SealFrame(f, false))
		return f
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a pad byte is not zero", frame(func(f []byte) []byte { f[icrc-1] = 1; return f }), "txq 0", "T15",
			"payload+10"},
		{"a pad byte is not zero, the ICRC covers it", frame(func(f []byte) []byte { f[pad] = 1; return sealed(f) }),
			"txq 0", "T15", "payload+10"},
		{"a pad byte too few", frame(func(f []byte) []byte { return slices.Delete(f, pad, pad+1) }), "txq 0", "T5",
			"frame length"},
		{"a pad byte too many", frame(func(f []byte) []byte { return slices.Insert(f, pad, 0) }), "txq 0", "T5",
			"frame length"},
		{"no pad", frame(func(f []byte) []byte { return slices.Delete(f, pad, icrc) }), "txq 0", "T5", "frame length"},
		{"no ICRC", frame(func(f []byte) []byte { return f[:icrc] }), "txq 0", "T5", "frame length"},
		{"no trailer", frame(func(f []byte) []byte { return f[:pad] }), "txq 0", "T5", "frame length"},
		{"a byte of the ICRC missing", frame(func(f []byte) []byte { return f[:icrc+3] }), "txq 0", "T5",
			"frame length"},
		{"the ICRC's last byte", frame(func(f []byte) []byte { f[icrc+3] ^= 0x80; return f }), "txq 0", "T8", "icrc"},
		{"the ICRC big-endian", frame(func(f []byte) []byte { slices.Reverse(f[icrc:]); return f }), "txq 0", "T8",
			"icrc"},
		{"the ICRC zero", frame(func(f []byte) []byte { clear(f[icrc:]); return f }), "txq 0", "T8", "icrc"},
		{"the ICRC where the pad begins", frame(func(f []byte) []byte {
			copy(f[pad:], f[icrc:])
			clear(f[pad+4:])
			return f
		}), "txq 0", "T15", "payload+10"},
		{"the UDP length is mended", frame(func(f []byte) []byte { f[39]++; return f }), "txq 0", "T5", "udp.length"},
		{"the trailer is read, too", func(p *tape) {
			x := clone(p.s[p.find(0, pieceRead)])
			p.header(&x, func(h *tlp.Header) {
				h.Tag, h.Address, h.Length, h.FirstBE, h.LastBE = 0xee, h.Address+100, 2, 0xe, 0xf
			})
			p.insert(p.find(0, pieceRead)+1, x)
		}, "device", "T4", "Address"},
		{"the piece's read covers the trailer", func(p *tape) {
			p.header(p.get(0, pieceRead), func(h *tlp.Header) { h.Length, h.LastBE = 27, 0xf })
		}, "device", "T4", "Address"},
		{"a length that does not fit ends well", func(p *tape) {
			nicspec.TxCqe(p.get(1, txCqe(0)).TLP.Data).SetStatus(nicspec.StatusOk)
		}, "txq 0", "T7", "status"},
		{"a length that does not fit sends", func(p *tape) {
			x := clone(p.s[p.find(0, frameOut(0))])
			x.Frame.Data[39]++
			p.insert(p.find(1, txCqe(0)), x)
		}, "txq 0", "T7", "frame"},
		{"frame_len without the trailer", func(p *tape) {
			nicspec.TxCqe(p.get(0, txCqe(0)).TLP.Data).SetFrameLen(pad)
		}, "txq 0", "T10", "frame_len"},
		{"TX_BYTES without the trailer", func(p *tape) {
			p.s[p.answer(nicspec.RegCounter(nicspec.CntTxBytes.Index(0)))].TLP.Data[0] -= 7
		}, "counters", "G5", "TX_BYTES[0]"},
	})
}

// paddedRoce returns a RoCE frame with pad bytes, followed by Ethernet padding.
func paddedRoce(t testing.TB, to uint8, payload, pad, padding int) []byte {
	f := roceFrame(54 + payload + pad + 4)
	f[0], f[43] = to<<1, uint8(pad<<4)
	require.NoError(t, wire.SealFrame(f, false))
	return append(f, make([]byte, padding)...)
}

// trims records frames of 54 B of headers and 101 B of payload with pad, ICRC and Ethernet padding, for a queue
// that trims and one that does not. Each queue also gets a frame that is not RoCE; a short frame follows.
func trims(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	for q := range 2 {
		m.rule(4+q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
		m.OpenRx(q, 4, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen, f.Trim = nicspec.SplitModeHeaders, 0, uint8(1-q)
		})
		m.post(q, 8)
	}
	for q := range 2 {
		r.peers[0].send(paddedRoce(t, uint8(q+1), 101, 3, 9))
		plain := paddedRoce(t, uint8(q+1), 101, 3, 9)
		binary.BigEndian.PutUint16(plain[36:], 4792) // 4791 is the port of RoCEv2
		r.peers[0].send(plain)
	}
	r.peers[0].send(paddedRoce(t, 1, 0, 0, 2))
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

// resize lengthens a write by a number of bytes, or shortens it if that is negative.
func (p *tape) resize(x *boundary.Crossing, by int) {
	p.header(x, func(h *tlp.Header) {
		off, n := h.Span()
		hi := off + n + by
		words := (hi + tlp.DWBytes - 1) / tlp.DWBytes
		lastBE := uint8(0xf) >> (words*tlp.DWBytes - hi)
		h.Length, h.FirstBE, h.LastBE = uint16(words), 0xf<<off&0xf, lastBE
		if words == 1 {
			h.FirstBE, h.LastBE = h.FirstBE&lastBE, 0
		}
		data := make([]byte, words*tlp.DWBytes)
		copy(data, x.TLP.Data[:min(len(x.TLP.Data), hi)])
		x.TLP.Data = data
	})
}

func TestTrimSabotageIsCaught(t *testing.T) {
	cfg, clean := trims(t)
	p := newTape(t, clean)
	for i, want := range []int{101, 101 + 3 + 4 + 9 + 12} { // the payload of UDP, from the BTH on
		require.EqualValues(t, want, nicspec.RxCqe(p.get(i, rxCqe(0)).TLP.Data).PayLen())
	}
	require.EqualValues(t, 101+3+4+9, nicspec.RxCqe(p.get(0, rxCqe(1)).TLP.Data).PayLen())
	require.EqualValues(t, 0, nicspec.RxCqe(p.get(2, rxCqe(0)).TLP.Data).PayLen())
	// placed lengthens the last write of queue q's n-th frame by a number of bytes, and also raises pay_len if `entry`
	// is set.
	placed := func(q, n, by int, entry bool) func(p *tape) {
		return func(p *tape) {
			p.resize(p.get(n, payWrite(q)), by)
			if e := nicspec.RxCqe(p.get(n, rxCqe(q)).TLP.Data); entry {
				e.SetPayLen(uint16(int(e.PayLen()) + by))
			}
		}
	}
	field := func(q, n int, set func(e nicspec.RxCqe)) func(p *tape) {
		return func(p *tape) { set(nicspec.RxCqe(p.get(n, rxCqe(q)).TLP.Data)) }
	}
	const more = "payload buffer byte"
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a pad byte written", placed(0, 0, 1, false), "rxq 0", "R10", more},
		{"all pad bytes written", placed(0, 0, 3, false), "rxq 0", "R10", more},
		{"pad and ICRC written", placed(0, 0, 7, false), "rxq 0", "R10", more},
		{"pad, ICRC and padding written", placed(0, 0, 16, false), "rxq 0", "R10", more},
		{"not trimmed, and said so", placed(0, 0, 16, true), "rxq 0", "R10", "pay_len"},
		{"only the padding left out", placed(0, 0, 7, true), "rxq 0", "R10", "pay_len"},
		{"a byte too few", placed(0, 0, -1, false), "rxq 0", "P9", ""},
		{"a byte too few, and said so", placed(0, 0, -1, true), "rxq 0", "R10", "pay_len"},
		{"another frame trimmed", placed(0, 1, -7, false), "rxq 0", "P9", ""},
		{"another frame trimmed, and said so", placed(0, 1, -7, true), "rxq 0", "R10", "pay_len"},
		{"trimmed in a queue that does not", placed(1, 0, -16, false), "rxq 1", "P9", ""},
		{"trimmed in a queue that does not, and said so", placed(1, 0, -16, true), "rxq 1", "R10", "pay_len"},
		{"the padding left out in a queue that does not trim", placed(1, 0, -9, true), "rxq 1", "R10", "pay_len"},
		{"a trailer without payload written", func(p *tape) {
			x := clone(p.s[p.find(1, payWrite(0))])
			p.resize(&x, 4-(101+3+4+9+12))
			p.header(&x, func(h *tlp.Header) { h.Address = payBuf(0, 2) &^ 3 })
			p.insert(p.find(2, rxCqe(0)), x)
		}, "rxq 0", "R10", more},
		{"pay_len of the whole frame", field(0, 0, func(e nicspec.RxCqe) { e.SetPayLen(117) }), "rxq 0", "R10",
			"pay_len"},
		{"frame_len without what was trimmed", field(0, 0, func(e nicspec.RxCqe) { e.SetFrameLen(155) }), "rxq 0",
			"R10", "frame_len"},
		{"the ICRC not looked at", field(0, 0, func(e nicspec.RxCqe) { e.SetIcrc(nicspec.VerdictNotChecked) }), "rxq 0",
			"H10", "icrc"},
		{"RX_BYTES without what was trimmed", func(p *tape) {
			p.s[p.answer(nicspec.RegCounter(nicspec.CntRxBytes.Index(0)))].TLP.Data[0] -= 16
		}, "counters", "G5", "RX_BYTES[0]"},
	})
}
