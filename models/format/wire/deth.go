package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// DETHSize is the length of a datagram extended transport header in bytes.
const DETHSize = 8

// DETH is a view of a datagram extended transport header: at least DETHSize bytes.
type DETH []byte

// ParseDETH views the first DETHSize bytes of b, or returns a *TruncatedError.
func ParseDETH(b []byte) (DETH, error) { return view(b, DETHSize, "DETH") }

// QKey returns the queue key.
func (b DETH) QKey() uint32 { return binary.BigEndian.Uint32(b) }

// Resv returns the reserved byte.
func (b DETH) Resv() uint8 { return b[4] }

// SrcQP returns the 24-bit queue pair number of the sender.
func (b DETH) SrcQP() uint32 { return uint24(b[5:]) }

// Fields decodes all fields of the header.
func (b DETH) Fields() DETHFields {
	return DETHFields{QKey: b.QKey(), Resv: b.Resv(), SrcQP: b.SrcQP()}
}

// DETHFields are the fields of a datagram extended transport header (IBTA 9.3).
type DETHFields struct {
	QKey  uint32 // queue key
	Resv  uint8  // reserved byte
	SrcQP uint32 // 24 bits, queue pair of the sender
}

// Encode writes the header to the first DETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter and a *RangeError when a field
// does not fit; dst is then unchanged.
func (f *DETHFields) Encode(dst []byte) error {
	b, err := ParseDETH(dst)
	if err != nil {
		return err
	}
	if err := check24("DETH", "SrcQP", f.SrcQP); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b, f.QKey)
	b[4] = f.Resv
	putUint24(b[5:], f.SrcQP)
	return nil
}

// DETHLayer is a datagram extended transport header as a gopacket layer.
type DETHLayer struct {
	extLayer
	DETHFields
}

var (
	_ gopacket.Layer             = (*DETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*DETHLayer)(nil)
	_ gopacket.SerializableLayer = (*DETHLayer)(nil)
)

// LayerType returns LayerTypeDETH.
func (l *DETHLayer) LayerType() gopacket.LayerType { return LayerTypeDETH }

// CanDecode returns LayerTypeDETH.
func (l *DETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeDETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *DETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderDETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *DETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderDETH, df); err != nil {
		return err
	}
	l.DETHFields = DETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *DETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, DETHSize, &l.DETHFields)
}
