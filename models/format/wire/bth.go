package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// BTHSize is the length of a base transport header in bytes.
const BTHSize = 12

// ICRCSize is the length in bytes of the invariant CRC that ends a packet.
const ICRCSize = 4

// Bits of bytes 1, 4 and 8 of a BTH (IBTA 9.2).
const (
	bthSE      = 0x80
	bthMigReq  = 0x40
	bthPadMask = 0x03
	bthPadPos  = 4
	bthTVer    = 0x0f
	bthFECN    = 0x80
	bthBECN    = 0x40
	bthResv6   = 0x3f
	bthAckReq  = 0x80
	bthResv7   = 0x7f
)

// BTH is a view of a base transport header: at least BTHSize bytes.
type BTH []byte

// ParseBTH views the first BTHSize bytes of b, or returns a *TruncatedError.
func ParseBTH(b []byte) (BTH, error) { return view(b, BTHSize, "BTH") }

// Opcode returns the operation code.
func (b BTH) Opcode() Opcode { return Opcode(b[0]) }

// PadCnt returns the number of pad bytes after the payload, 0..3.
func (b BTH) PadCnt() int { return int(b[1] >> bthPadPos & bthPadMask) }

// TVer returns the transport header version, which is 0 in every packet that the standard defines.
func (b BTH) TVer() uint8 { return b[1] & bthTVer }

// PKey returns the partition key.
func (b BTH) PKey() uint16 { return binary.BigEndian.Uint16(b[2:]) }

// FECN reports the forward congestion bit (A17); the ICRC covers neither FECN nor BECN.
func (b BTH) FECN() bool { return b[4]&bthFECN != 0 }

// BECN reports the backward congestion bit, which is set in a CNP.
func (b BTH) BECN() bool { return b[4]&bthBECN != 0 }

// DestQP returns the 24-bit destination queue pair number.
func (b BTH) DestQP() uint32 { return uint24(b[5:]) }

// AckReq reports whether the requester asks for an acknowledgement.
func (b BTH) AckReq() bool { return b[8]&bthAckReq != 0 }

// PSN returns the 24-bit packet sequence number.
func (b BTH) PSN() uint32 { return uint24(b[9:]) }

// SetBECN sets or clears BECN.
func (b BTH) SetBECN(on bool) { setBit(&b[4], bthBECN, on) }

// SetFECN sets or clears FECN.
func (b BTH) SetFECN(on bool) { setBit(&b[4], bthFECN, on) }

// SetAckReq sets or clears AckReq.
func (b BTH) SetAckReq(on bool) { setBit(&b[8], bthAckReq, on) }

// SetDestQP stores the low 24 bits of qp.
func (b BTH) SetDestQP(qp uint32) { putUint24(b[5:], qp) }

// SetPSN stores the low 24 bits of psn.
func (b BTH) SetPSN(psn uint32) { putUint24(b[9:], psn) }

// Fields decodes all fields of the header.
func (b BTH) Fields() BTHFields {
	return BTHFields{
		Opcode: b.Opcode(), SE: b[1]&bthSE != 0, MigReq: b[1]&bthMigReq != 0,
		PadCnt: uint8(b.PadCnt()), TVer: b.TVer(), PKey: b.PKey(),
		FECN: b.FECN(), BECN: b.BECN(), Resv6: b[4] & bthResv6,
		DestQP: b.DestQP(), AckReq: b.AckReq(), Resv7: b[8] & bthResv7, PSN: b.PSN(),
	}
}

func setBit(b *byte, mask byte, on bool) {
	*b &^= mask
	if on {
		*b |= mask
	}
}

// BTHFields are the fields of a base transport header (IBTA 9.2).
type BTHFields struct {
	Opcode     Opcode
	SE         bool   // solicited event
	MigReq     bool   // migration state
	PadCnt     uint8  // 0..3
	TVer       uint8  // 0..15; the standard defines only 0
	PKey       uint16 // partition key
	FECN, BECN bool
	Resv6      uint8  // the 6 reserved bits next to FECN and BECN, not covered by the ICRC
	DestQP     uint32 // 24 bits
	AckReq     bool
	Resv7      uint8  // the 7 reserved bits next to AckReq, covered by the ICRC
	PSN        uint32 // 24 bits
}

func (f *BTHFields) check() error {
	if f.PadCnt > bthPadMask {
		return &RangeError{"BTH", "PadCnt", uint64(f.PadCnt), bthPadMask}
	}
	if f.TVer > bthTVer {
		return &RangeError{"BTH", "TVer", uint64(f.TVer), bthTVer}
	}
	if f.Resv6 > bthResv6 {
		return &RangeError{"BTH", "Resv6", uint64(f.Resv6), bthResv6}
	}
	if f.Resv7 > bthResv7 {
		return &RangeError{"BTH", "Resv7", uint64(f.Resv7), bthResv7}
	}
	if err := check24("BTH", "DestQP", f.DestQP); err != nil {
		return err
	}
	return check24("BTH", "PSN", f.PSN)
}

// Encode writes the header to the first BTHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter and a *RangeError when a field does not
// fit; dst is then unchanged.
func (f *BTHFields) Encode(dst []byte) error {
	b, err := ParseBTH(dst)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	b[0] = byte(f.Opcode)
	b[1] = f.PadCnt<<bthPadPos | f.TVer
	setBit(&b[1], bthSE, f.SE)
	setBit(&b[1], bthMigReq, f.MigReq)
	binary.BigEndian.PutUint16(b[2:], f.PKey)
	b[4], b[8] = f.Resv6, f.Resv7
	b.SetFECN(f.FECN)
	b.SetBECN(f.BECN)
	b.SetDestQP(f.DestQP)
	b.SetAckReq(f.AckReq)
	b.SetPSN(f.PSN)
	return nil
}

// BTHLayer is a base transport header as a gopacket layer. Its input is the whole UDP payload: the
// layer also removes the pad bytes and the ICRC from the end, so that Payload contains only
// extension headers and message data.
type BTHLayer struct {
	layers.BaseLayer
	BTHFields
	Pad  []byte // PadCnt bytes, a slice of the input
	ICRC uint32 // ICRC as received; on the wire its least significant byte is first
}

var (
	_ gopacket.Layer             = (*BTHLayer)(nil)
	_ gopacket.DecodingLayer     = (*BTHLayer)(nil)
	_ gopacket.SerializableLayer = (*BTHLayer)(nil)
)

// LayerType returns LayerTypeBTH.
func (l *BTHLayer) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (l *BTHLayer) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType returns the type of the first extension header, or that of a payload if the opcode
// has none or is unknown.
func (l *BTHLayer) NextLayerType() gopacket.LayerType {
	return l.Opcode.info().nextAfter(HeaderNone).LayerType()
}

// DecodeFromBytes splits a UDP payload into BTH, Payload, pad bytes and ICRC. If it is too short
// for the parts that opcode and PadCnt require, it returns a *TruncatedError naming the first
// incomplete part; a complete BTH is decoded nevertheless.
func (l *BTHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*l = BTHLayer{}
	b, err := ParseBTH(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	l.Contents, l.BTHFields = b, b.Fields()
	if err := l.checkLength(len(data)); err != nil {
		df.SetTruncated()
		return err
	}
	icrc := len(data) - ICRCSize
	pad := icrc - int(l.PadCnt)
	l.Payload, l.Pad = data[BTHSize:pad:pad], data[pad:icrc:icrc]
	l.ICRC = binary.LittleEndian.Uint32(data[icrc:])
	return nil
}

func (l *BTHLayer) checkLength(n int) error {
	n -= BTHSize
	for _, h := range l.Opcode.info().Ext {
		if n < h.Size() {
			return &TruncatedError{Header: h.String(), Need: h.Size(), Have: n}
		}
		n -= h.Size()
	}
	if need := int(l.PadCnt) + ICRCSize; n < need {
		return &TruncatedError{Header: "pad and ICRC", Need: need, Have: n}
	}
	return nil
}

// SerializeTo writes the header before, and pad bytes and ICRC after, the contents of b, which are
// extension headers and message data. With FixLengths it computes the pad count; otherwise it uses
// PadCnt. Pad bytes are those of Pad if that has as many, else zero. The ICRC is written as given:
// it depends on the layers below, so SealFrame computes it when all layers are written.
func (l *BTHLayer) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	f := l.BTHFields
	have, ext := len(b.Bytes()), ExtLen(f.Opcode)
	if have < ext {
		return &TruncatedError{Header: "extension headers of " + f.Opcode.String(), Need: ext, Have: have}
	}
	if opts.FixLengths {
		f.PadCnt = uint8(-(have - ext) & bthPadMask)
	}
	if err := f.check(); err != nil {
		return err
	}
	tail, err := b.AppendBytes(int(f.PadCnt) + ICRCSize)
	if err != nil {
		return err
	}
	clear(tail)
	if len(l.Pad) == int(f.PadCnt) {
		copy(tail, l.Pad)
	}
	binary.LittleEndian.PutUint32(tail[f.PadCnt:], l.ICRC)
	dst, err := b.PrependBytes(BTHSize)
	if err != nil {
		return err
	}
	return f.Encode(dst) // not by prepend, whose interface parameter would move f to the heap
}
