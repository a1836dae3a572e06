package wire

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Port is the UDP destination port of RoCEv2 (A17).
const Port = 4791

// Layer types, in gopacket's range for applications.
const (
	LayerTypeBTH gopacket.LayerType = 1791 + iota
	LayerTypeRETH
	LayerTypeAETH
	LayerTypeDETH
	LayerTypeImmDt
	LayerTypeIETH
	LayerTypeAtomicETH
	LayerTypeAtomicAckETH
	LayerTypeCNP
)

func init() {
	gopacket.RegisterLayerType(int(LayerTypeBTH),
		gopacket.LayerTypeMetadata{Name: "BTH", Decoder: gopacket.DecodeFunc(decodeRoCE)})
	for h := HeaderRETH; h < numHeaders; h++ {
		gopacket.RegisterLayerType(int(h.LayerType()),
			gopacket.LayerTypeMetadata{Name: h.String(),
				Decoder: gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error {
					if _, err := decodeExt(h, data, nil, p); err != nil {
						return err
					}
					return p.NextDecoder(gopacket.LayerTypePayload)
				})})
	}
	layers.RegisterUDPPortLayerType(Port, LayerTypeBTH)
}

// LayerType returns the gopacket layer type of the header; for HeaderNone it is that of a payload.
func (h Header) LayerType() gopacket.LayerType {
	if h == HeaderNone || h >= numHeaders {
		return gopacket.LayerTypePayload
	}
	return LayerTypeBTH + gopacket.LayerType(h)
}

// RoCE holds one layer of each kind. They are linked, so that each knows which header comes next
// according to the BTH's opcode. Make it with NewRoCE and give DecodingLayers to a
// gopacket.DecodingLayerParser; decoding then allocates nothing.
type RoCE struct {
	BTH          BTHLayer
	RETH         RETHLayer
	AETH         AETHLayer
	DETH         DETHLayer
	ImmDt        ImmDtLayer
	IETH         IETHLayer
	AtomicETH    AtomicETHLayer
	AtomicAckETH AtomicAckETHLayer
	CNP          CNPLayer
}

// NewRoCE returns the linked layers.
func NewRoCE() *RoCE {
	r := &RoCE{}
	for _, u := range []**BTHLayer{&r.RETH.Under, &r.AETH.Under, &r.DETH.Under, &r.ImmDt.Under, &r.IETH.Under,
		&r.AtomicETH.Under, &r.AtomicAckETH.Under, &r.CNP.Under} {
		*u = &r.BTH
	}
	return r
}

// DecodingLayers returns all layers, BTH first, then in the order of Header.
func (r *RoCE) DecodingLayers() []gopacket.DecodingLayer {
	return []gopacket.DecodingLayer{&r.BTH, &r.RETH, &r.AETH, &r.DETH, &r.ImmDt, &r.IETH,
		&r.AtomicETH, &r.AtomicAckETH, &r.CNP}
}

// extLayer is the common part of the layers after the BTH.
type extLayer struct {
	layers.BaseLayer
	// Under is the BTH below, whose opcode determines the next layer. If it is nil, the next layer
	// is the payload.
	Under *BTHLayer
}

func (l *extLayer) split(data []byte, h Header, df gopacket.DecodeFeedback) error {
	n := h.Size()
	if len(data) < n {
		l.BaseLayer = layers.BaseLayer{}
		df.SetTruncated()
		return &TruncatedError{Header: h.String(), Need: n, Have: len(data)}
	}
	l.BaseLayer = layers.BaseLayer{Contents: data[:n:n], Payload: data[n:]}
	return nil
}

func (l *extLayer) next(h Header) gopacket.LayerType {
	if l.Under == nil {
		return gopacket.LayerTypePayload
	}
	return l.Under.Opcode.info().nextAfter(h).LayerType()
}

// fields is implemented by the Fields type of every header.
type fields interface{ Encode(dst []byte) error }

func prepend(b gopacket.SerializeBuffer, size int, f fields) error {
	dst, err := b.PrependBytes(size)
	if err != nil {
		return err
	}
	return f.Encode(dst)
}

type extDecoder interface {
	gopacket.Layer
	gopacket.DecodingLayer
}

func newExt(h Header, under *BTHLayer) extDecoder {
	x := extLayer{Under: under}
	switch h {
	case HeaderRETH:
		return &RETHLayer{extLayer: x}
	case HeaderAETH:
		return &AETHLayer{extLayer: x}
	case HeaderDETH:
		return &DETHLayer{extLayer: x}
	case HeaderImmDt:
		return &ImmDtLayer{extLayer: x}
	case HeaderIETH:
		return &IETHLayer{extLayer: x}
	case HeaderAtomicETH:
		return &AtomicETHLayer{extLayer: x}
	case HeaderAtomicAckETH:
		return &AtomicAckETHLayer{extLayer: x}
	case HeaderCNP:
		return &CNPLayer{extLayer: x}
	}
	panic("wire: no layer for header " + h.String())
}

func decodeExt(h Header, data []byte, under *BTHLayer, p gopacket.PacketBuilder) (rest []byte, err error) {
	l := newExt(h, under)
	if err := l.DecodeFromBytes(data, p); err != nil {
		return nil, err
	}
	p.AddLayer(l)
	return l.LayerPayload(), nil
}

// decodeRoCE adds the BTH and all headers of its opcode to a packet. gopacket gives the decoders of
// later layers no access to the opcode.
func decodeRoCE(data []byte, p gopacket.PacketBuilder) error {
	bth := &BTHLayer{}
	err := bth.DecodeFromBytes(data, p)
	if bth.Contents != nil {
		p.AddLayer(bth)
	}
	if err != nil {
		return err
	}
	rest := bth.Payload
	for _, h := range bth.Opcode.info().Ext {
		if h == HeaderNone {
			break
		}
		if rest, err = decodeExt(h, rest, bth, p); err != nil {
			return err
		}
	}
	return p.NextDecoder(gopacket.LayerTypePayload)
}
