package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// AtomicETHSize is the length of an atomic extended transport header in bytes.
const AtomicETHSize = 28

// AtomicETH is a view of an atomic extended transport header: at least AtomicETHSize bytes.
type AtomicETH []byte

// ParseAtomicETH views the first AtomicETHSize bytes of b, or returns a *TruncatedError.
func ParseAtomicETH(b []byte) (AtomicETH, error) { return view(b, AtomicETHSize, "AtomicETH") }

// VA returns the virtual address at the responder.
func (b AtomicETH) VA() uint64 { return binary.BigEndian.Uint64(b) }

// RKey returns the remote key.
func (b AtomicETH) RKey() uint32 { return binary.BigEndian.Uint32(b[8:]) }

// SwapAdd returns the value to swap in, or to add.
func (b AtomicETH) SwapAdd() uint64 { return binary.BigEndian.Uint64(b[12:]) }

// Compare returns the value to compare with.
func (b AtomicETH) Compare() uint64 { return binary.BigEndian.Uint64(b[20:]) }

// Fields decodes all fields of the header.
func (b AtomicETH) Fields() AtomicETHFields {
	return AtomicETHFields{VA: b.VA(), RKey: b.RKey(), SwapAdd: b.SwapAdd(), Compare: b.Compare()}
}

// AtomicETHFields are the fields of an atomic extended transport header (IBTA 9.3).
type AtomicETHFields struct {
	VA      uint64 // virtual address at the responder, multiple of 8
	RKey    uint32 // remote key
	SwapAdd uint64 // value to swap in, or to add
	Compare uint64 // value to compare with, CMP_SWAP only
}

// Encode writes the header to the first AtomicETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter.
func (f *AtomicETHFields) Encode(dst []byte) error {
	b, err := ParseAtomicETH(dst)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(b, f.VA)
	binary.BigEndian.PutUint32(b[8:], f.RKey)
	binary.BigEndian.PutUint64(b[12:], f.SwapAdd)
	binary.BigEndian.PutUint64(b[20:], f.Compare)
	return nil
}

// AtomicETHLayer is an atomic extended transport header as a gopacket layer.
type AtomicETHLayer struct {
	extLayer
	AtomicETHFields
}

var (
	_ gopacket.Layer             = (*AtomicETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*AtomicETHLayer)(nil)
	_ gopacket.SerializableLayer = (*AtomicETHLayer)(nil)
)

// LayerType returns LayerTypeAtomicETH.
func (l *AtomicETHLayer) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// CanDecode returns LayerTypeAtomicETH.
func (l *AtomicETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeAtomicETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *AtomicETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderAtomicETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *AtomicETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderAtomicETH, df); err != nil {
		return err
	}
	l.AtomicETHFields = AtomicETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *AtomicETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, AtomicETHSize, &l.AtomicETHFields)
}
