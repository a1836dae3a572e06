package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// IETHSize is the length of an invalidate extended transport header in bytes.
const IETHSize = 4

// IETH is a view of an invalidate extended transport header: at least IETHSize bytes.
type IETH []byte

// ParseIETH views the first IETHSize bytes of b, or returns a *TruncatedError.
func ParseIETH(b []byte) (IETH, error) { return view(b, IETHSize, "IETH") }

// RKey returns the remote key to invalidate.
func (b IETH) RKey() uint32 { return binary.BigEndian.Uint32(b) }

// Fields decodes all fields of the header.
func (b IETH) Fields() IETHFields {
	return IETHFields{RKey: b.RKey()}
}

// IETHFields are the fields of an invalidate extended transport header (IBTA 9.3).
type IETHFields struct {
	RKey uint32 // remote key to invalidate
}

// Encode writes the header to the first IETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter.
func (f *IETHFields) Encode(dst []byte) error {
	b, err := ParseIETH(dst)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b, f.RKey)
	return nil
}

// IETHLayer is an invalidate extended transport header as a gopacket layer.
type IETHLayer struct {
	extLayer
	IETHFields
}

var (
	_ gopacket.Layer             = (*IETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*IETHLayer)(nil)
	_ gopacket.SerializableLayer = (*IETHLayer)(nil)
)

// LayerType returns LayerTypeIETH.
func (l *IETHLayer) LayerType() gopacket.LayerType { return LayerTypeIETH }

// CanDecode returns LayerTypeIETH.
func (l *IETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeIETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *IETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderIETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *IETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderIETH, df); err != nil {
		return err
	}
	l.IETHFields = IETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *IETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, IETHSize, &l.IETHFields)
}
