package wire

import (
	"errors"
	"fmt"

	"github.com/google/gopacket"
)

// CNPSize is the length in bytes of a CNP's body, which follows the BTH.
const CNPSize = 16

// CNP is a view of the body of a congestion notification packet: at least CNPSize reserved bytes.
type CNP []byte

// ParseCNP views the first CNPSize bytes of b, or returns a *TruncatedError.
func ParseCNP(b []byte) (CNP, error) { return view(b, CNPSize, "CNP") }

// Fields decodes the body.
func (b CNP) Fields() CNPFields { return CNPFields{Resv: [CNPSize]byte(b)} }

// CNPFields is the body of a congestion notification packet (A17).
type CNPFields struct {
	Resv [CNPSize]byte // zero when sent
}

// Encode writes the body to the first CNPSize bytes of dst, or returns a
// *TruncatedError.
func (f *CNPFields) Encode(dst []byte) error {
	b, err := ParseCNP(dst)
	if err != nil {
		return err
	}
	copy(b, f.Resv[:])
	return nil
}

// NewCNP returns the BTH of a congestion notification for queue pair destQP,
// to be followed by a zero CNPFields.
func NewCNP(destQP uint32, pkey uint16) BTHFields {
	return BTHFields{Opcode: CNPOpcode, PKey: pkey, BECN: true, DestQP: destQP}
}

// CheckCNP returns an error for each deviation of a CNP from A17, joined, or nil.
func CheckCNP(bth *BTHFields, cnp *CNPFields) error {
	var errs []error
	for _, c := range []struct {
		ok    bool
		field string
		got   any
		want  string
	}{
		{bth.Opcode == CNPOpcode, "BTH.Opcode", bth.Opcode, "CNP"},
		{bth.BECN, "BTH.BECN", bth.BECN, "true"},
		{!bth.SE, "BTH.SE", bth.SE, "false"},
		{!bth.MigReq, "BTH.MigReq", bth.MigReq, "false"},
		{bth.PadCnt == 0, "BTH.PadCnt", bth.PadCnt, "0"},
		{!bth.AckReq, "BTH.AckReq", bth.AckReq, "false"},
		{bth.PSN == 0, "BTH.PSN", bth.PSN, "0"},
		{cnp.Resv == [CNPSize]byte{}, "CNP.Resv", cnp.Resv, "zeros"},
	} {
		if !c.ok {
			errs = append(errs, fmt.Errorf("wire: CNP with %s %v, want %s", c.field, c.got, c.want))
		}
	}
	return errors.Join(errs...)
}

// CNPLayer is the body of a congestion notification packet as a gopacket
// layer.
type CNPLayer struct {
	extLayer
	CNPFields
}

var (
	_ gopacket.Layer             = (*CNPLayer)(nil)
	_ gopacket.DecodingLayer     = (*CNPLayer)(nil)
	_ gopacket.SerializableLayer = (*CNPLayer)(nil)
)

// LayerType returns LayerTypeCNP.
func (l *CNPLayer) LayerType() gopacket.LayerType { return LayerTypeCNP }

// CanDecode returns LayerTypeCNP.
func (l *CNPLayer) CanDecode() gopacket.LayerClass { return LayerTypeCNP }

// NextLayerType returns the type of a payload: a valid CNP has none.
func (l *CNPLayer) NextLayerType() gopacket.LayerType { return l.next(HeaderCNP) }

// DecodeFromBytes decodes the body at the start of data; the remainder is the layer's payload. It returns
// a *TruncatedError if data is shorter than the body.
func (l *CNPLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.split(data, HeaderCNP, df); err != nil {
		return err
	}
	l.CNPFields = CNP(l.Contents).Fields()
	return nil
}

// SerializeTo prepends the body to the contents of b.
func (l *CNPLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, CNPSize, &l.CNPFields)
}
