package wire

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// ImmDtSize is the length of an immediate data header in bytes.
const ImmDtSize = 4

// ImmDt is a view of an immediate data header: at least ImmDtSize bytes.
type ImmDt []byte

// ParseImmDt views the first ImmDtSize bytes of b, or returns a *TruncatedError.
func ParseImmDt(b []byte) (ImmDt, error) { return view(b, ImmDtSize, "ImmDt") }

// Imm returns the immediate data, the four bytes as a big-endian number.
func (b ImmDt) Imm() uint32 { return binary.BigEndian.Uint32(b) }

// Fields decodes all fields of the header.
func (b ImmDt) Fields() ImmDtFields {
	return ImmDtFields{Imm: b.Imm()}
}

// ImmDtFields are the fields of an immediate data header (IBTA 9.3).
type ImmDtFields struct {
	Imm uint32 // the four bytes as a big-endian number
}

// Encode writes the header to the first ImmDtSize bytes of dst. It returns a
// *TruncatedError when dst is shorter.
func (f *ImmDtFields) Encode(dst []byte) error {
	b, err := ParseImmDt(dst)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b, f.Imm)
	return nil
}

// ImmDtLayer is an immediate data header as a gopacket layer.
type ImmDtLayer struct {
	extLayer
	ImmDtFields
}

var (
	_ gopacket.Layer             = (*ImmDtLayer)(nil)
	_ gopacket.DecodingLayer     = (*ImmDtLayer)(nil)
	_ gopacket.SerializableLayer = (*ImmDtLayer)(nil)
)

// LayerType returns LayerTypeImmDt.
func (l *ImmDtLayer) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// CanDecode returns LayerTypeImmDt.
func (l *ImmDtLayer) CanDecode() gopacket.LayerClass { return LayerTypeImmDt }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *ImmDtLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderImmDt) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *ImmDtLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderImmDt, df); err != nil {
		return err
	}
	l.ImmDtFields = ImmDt(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *ImmDtLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, ImmDtSize, &l.ImmDtFields)
}
