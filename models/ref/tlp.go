package ref

import (
	"math/rand/v2"

	"nictwin/models/format/tlp"
)

// TLP is the decoded header of a TLP; PCIe 2.2.
type TLP = tlp.Header

// ParseTLP decodes the header and payload of a TLP in wire format: 12 or 16 bytes of header, then
// the payload. A malformed TLP is a fault of the device.
func (p *Player) ParseTLP(m *Msg, b []byte) (h TLP, payload []byte, ok bool) {
	p.compares(m)
	var raw [tlp.HeaderBytes]byte
	if len(b) < 12 {
		p.Wrong(m, "TLP", "a header of 12 or 16 bytes", Shown(b))
		return h, nil, false
	}
	n := 12
	if b[0]>>5&1 == 1 { // fmt[0] is 1: a header of four double words
		n = 16
	}
	copy(raw[:n], b)
	h, err := tlp.Decode(&raw)
	if err != nil || len(b) < n {
		p.Wrong(m, "TLP", "a valid header (PCIe 2.2)", Shown(b))
		return h, nil, false
	}
	if len(b) != n+h.PayloadBytes() {
		p.Wrong(m, "TLP", h.String(), Shown(b[n:]))
		return h, nil, false
	}
	return h, b[n:], true
}

// TLPBytes returns a TLP in wire format.
func TLPBytes(h TLP, payload []byte) []byte {
	var raw [tlp.HeaderBytes]byte
	if err := h.Encode(&raw); err != nil {
		mistake("TLP %v: %v", h, err)
	}
	return append(raw[:4*h.SizeDW():4*h.SizeDW()], payload...)
}

// Complete answers a memory read with completions, split at random where PCIe 2.3.1.1 allows a
// completer to split: at multiples of rcb bytes, and at most mps bytes each. data has every byte of
// the request.
func Complete(r *rand.Rand, req TLP, data []byte, mps, rcb int, completer uint16) [][]byte {
	offset, n := req.Span()
	at := req.Address + uint64(offset)
	if n != len(data) {
		mistake("%v asks for %d bytes, but was given %d", req, n, len(data))
	}
	var list [][]byte
	left := n
	for s := tlp.SplitCompletion(at, n, mps, rcb); s.More(); {
		x := s.Take(r.IntN(s.Choices()))
		first := int(x.Addr - at)
		pad := int(x.Addr % tlp.DWBytes)
		dws := (pad + x.Len + tlp.DWBytes - 1) / tlp.DWBytes
		payload := make([]byte, dws*tlp.DWBytes)
		copy(payload[pad:], data[first:first+x.Len])
		h := TLP{
			Kind: tlp.CplD, Length: uint16(dws), RequesterID: req.RequesterID, Tag: req.Tag, TC: req.TC, Attr: req.Attr,
			CompleterID: completer, ByteCount: uint16(left), LowerAddr: uint8(x.Addr & 0x7f),
		}
		list = append(list, TLPBytes(h, payload))
		left -= x.Len
	}
	return list
}
