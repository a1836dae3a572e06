package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// AtomicAckETHSize is the length of an atomic acknowledge extended transport header in bytes.
const AtomicAckETHSize = 8

// AtomicAckETH is a view of an atomic acknowledge extended transport header: at least AtomicAckETHSize bytes.
type AtomicAckETH []byte

// ParseAtomicAckETH views the first AtomicAckETHSize bytes of b, or returns a *TruncatedError.
func ParseAtomicAckETH(b []byte) (AtomicAckETH, error) {
	return view(b, AtomicAckETHSize, "AtomicAckETH")
}

// Orig returns the value in memory before the operation.
func (b AtomicAckETH) Orig() uint64 { return binary.BigEndian.Uint64(b) }

// Fields decodes all fields of the header.
func (b AtomicAckETH) Fields() AtomicAckETHFields {
	return AtomicAckETHFields{Orig: b.Orig()}
}

// AtomicAckETHFields are the fields of an atomic acknowledge extended transport header (IBTA 9.3).
type AtomicAckETHFields struct {
	Orig uint64 // the value before the operation
}

// Encode writes the header to the first AtomicAckETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter.
func (f *AtomicAckETHFields) Encode(dst []byte) error {
	b, err := ParseAtomicAckETH(dst)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(b, f.Orig)
	return nil
}

// AtomicAckETHLayer is an atomic acknowledge extended transport header as a gopacket layer.
type AtomicAckETHLayer struct {
	extLayer
	AtomicAckETHFields
}

var (
	_ gopacket.Layer             = (*AtomicAckETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*AtomicAckETHLayer)(nil)
	_ gopacket.SerializableLayer = (*AtomicAckETHLayer)(nil)
)

// LayerType returns LayerTypeAtomicAckETH.
func (l *AtomicAckETHLayer) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// CanDecode returns LayerTypeAtomicAckETH.
func (l *AtomicAckETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeAtomicAckETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *AtomicAckETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderAtomicAckETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *AtomicAckETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderAtomicAckETH, df); err != nil {
		return err
	}
	l.AtomicAckETHFields = AtomicAckETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *AtomicAckETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, AtomicAckETHSize, &l.AtomicAckETHFields)
}
