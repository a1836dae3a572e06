package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// RETHSize is the length of an RDMA extended transport header in bytes.
const RETHSize = 16

// RETH is a view of an RDMA extended transport header: at least RETHSize bytes.
type RETH []byte

// ParseRETH views the first RETHSize bytes of b, or returns a *TruncatedError.
func ParseRETH(b []byte) (RETH, error) { return view(b, RETHSize, "RETH") }

// VA returns the virtual address at the responder.
func (b RETH) VA() uint64 { return binary.BigEndian.Uint64(b) }

// RKey returns the remote key.
func (b RETH) RKey() uint32 { return binary.BigEndian.Uint32(b[8:]) }

// DMALen returns the length of the whole message in bytes.
func (b RETH) DMALen() uint32 { return binary.BigEndian.Uint32(b[12:]) }

// Fields decodes all fields of the header.
func (b RETH) Fields() RETHFields {
	return RETHFields{VA: b.VA(), RKey: b.RKey(), DMALen: b.DMALen()}
}

// RETHFields are the fields of an RDMA extended transport header (IBTA 9.3).
type RETHFields struct {
	VA     uint64 // virtual address at the responder
	RKey   uint32 // remote key
	DMALen uint32 // bytes, of the whole message
}

// Encode writes the header to the first RETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter.
func (f *RETHFields) Encode(dst []byte) error {
	b, err := ParseRETH(dst)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(b, f.VA)
	binary.BigEndian.PutUint32(b[8:], f.RKey)
	binary.BigEndian.PutUint32(b[12:], f.DMALen)
	return nil
}

// RETHLayer is an RDMA extended transport header as a gopacket layer.
type RETHLayer struct {
	extLayer
	RETHFields
}

var (
	_ gopacket.Layer             = (*RETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*RETHLayer)(nil)
	_ gopacket.SerializableLayer = (*RETHLayer)(nil)
)

// LayerType returns LayerTypeRETH.
func (l *RETHLayer) LayerType() gopacket.LayerType { return LayerTypeRETH }

// CanDecode returns LayerTypeRETH.
func (l *RETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeRETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *RETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderRETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *RETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderRETH, df); err != nil {
		return err
	}
	l.RETHFields = RETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *RETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, RETHSize, &l.RETHFields)
}
