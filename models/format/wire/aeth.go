package wire

import (
	"github.com/google/gopacket"
)

// AETHSize is the length of an acknowledge extended transport header in bytes.
const AETHSize = 4

// AETH is a view of an acknowledge extended transport header: at least AETHSize bytes.
type AETH []byte

// ParseAETH views the first AETHSize bytes of b, or returns a *TruncatedError.
func ParseAETH(b []byte) (AETH, error) { return view(b, AETHSize, "AETH") }

// Syndrome returns the type of acknowledgement and its value.
func (b AETH) Syndrome() Syndrome { return Syndrome(b[0]) }

// MSN returns the 24-bit message sequence number.
func (b AETH) MSN() uint32 { return uint24(b[1:]) }

// Fields decodes all fields of the header.
func (b AETH) Fields() AETHFields {
	return AETHFields{Syndrome: b.Syndrome(), MSN: b.MSN()}
}

// AETHFields are the fields of an acknowledge extended transport header (IBTA 9.3).
type AETHFields struct {
	Syndrome Syndrome // ACK, RNR NAK or NAK
	MSN      uint32   // 24 bits, messages completed by the responder
}

// Encode writes the header to the first AETHSize bytes of dst. It returns a
// *TruncatedError when dst is shorter and a *RangeError when a field
// does not fit; dst is then unchanged.
func (f *AETHFields) Encode(dst []byte) error {
	b, err := ParseAETH(dst)
	if err != nil {
		return err
	}
	if err := check24("AETH", "MSN", f.MSN); err != nil {
		return err
	}
	b[0] = uint8(f.Syndrome)
	putUint24(b[1:], f.MSN)
	return nil
}

// AETHLayer is an acknowledge extended transport header as a gopacket layer.
type AETHLayer struct {
	extLayer
	AETHFields
}

var (
	_ gopacket.Layer             = (*AETHLayer)(nil)
	_ gopacket.DecodingLayer     = (*AETHLayer)(nil)
	_ gopacket.SerializableLayer = (*AETHLayer)(nil)
)

// LayerType returns LayerTypeAETH.
func (l *AETHLayer) LayerType() gopacket.LayerType { return LayerTypeAETH }

// CanDecode returns LayerTypeAETH.
func (l *AETHLayer) CanDecode() gopacket.LayerClass { return LayerTypeAETH }

// NextLayerType returns the type of the next header, which the opcode in the packet's BTH determines. Without a BTH, or
// after the last header, it is that of a payload.
func (l *AETHLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderAETH) }

// DecodeFromBytes decodes the header at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the header.
func (l *AETHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderAETH, df); err != nil {
		return err
	}
	l.AETHFields = AETH(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the header to the contents of b.
func (l *AETHLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, AETHSize, &l.AETHFields)
}
