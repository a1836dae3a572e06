package tlp

import (
	"encoding/binary"
	"fmt"
)

// Origin holds the fields shared by all requests of one requester.
type Origin struct {
	RequesterID uint16
	TC          uint8
	Attr        Attr
}

// SetMemWrite makes p a memory write of b to addr, and chooses the header's width, length and byte
// enables. An aligned b is not copied: Data is then b itself, which must not change until the
// packet is consumed. Otherwise the bytes are copied to p's own storage and padded with zeros to
// whole DWs. It fails if the write crosses a 4 KB boundary (see SplitWrite).
func (p *Packet) SetMemWrite(o Origin, addr uint64, b []byte) error {
	if err := checkPage("write", addr, len(b)); err != nil {
		return err
	}
	h := o.memory(MWr, addr, len(b))
	n := int(h.Length) * DWBytes
	if len(b) == n {
		p.Data = b
	} else {
		lead := int(addr & (DWBytes - 1))
		dst := p.Own(n)
		end := lead + copy(dst[lead:], b) // copy before clearing: b may be this storage
		clear(dst[:lead])
		clear(dst[end:])
	}
	return p.SetHeader(&h)
}

// SetMemRead makes p a memory read of n bytes at addr. It fails if the read
// crosses a 4 KB boundary (see SplitRead).
func (p *Packet) SetMemRead(o Origin, tag uint8, addr uint64, n int) error {
	if err := checkPage("read", addr, n); err != nil {
		return err
	}
	h := o.memory(MRd, addr, n)
	h.Tag = tag
	p.Data = nil
	return p.SetHeader(&h)
}

// memory returns the header of a memory request.
func (o Origin) memory(k Kind, addr uint64, n int) Header {
	h := Header{Kind: k, TC: o.TC, Attr: o.Attr, RequesterID: o.RequesterID}
	h.Address = addr &^ (DWBytes - 1)
	h.Addr64 = addr>>32 != 0
	h.Length, h.FirstBE, h.LastBE = Enables(addr, n)
	return h
}

func checkPage(what string, addr uint64, n int) error {
	if n < 0 || int(addr&(PageBytes-1))+n > PageBytes {
		return fmt.Errorf("tlp: %s of %d B at %#x crosses a 4 KB boundary, want it split", what, n, addr)
	}
	return nil
}

// SetMSIX makes p the memory write that signals an MSI-X vector: one DW,
// little-endian, at a DW address. It fails if addr is not a multiple of 4.
func (p *Packet) SetMSIX(o Origin, addr uint64, data uint32) error {
	if addr&(DWBytes-1) != 0 {
		return fmt.Errorf("tlp: MSI-X address is %#x, want a multiple of 4", addr)
	}
	binary.LittleEndian.PutUint32(p.Own(DWBytes), data)
	return p.SetMemWrite(o, addr, p.Data)
}

// Vendor is a vendor-defined message (PCIe 2.2.8.6).
type Vendor struct {
	Type     int // 0: an error if the receiver does not know the message; 1: dropped silently
	Routing  Routing
	TargetID uint16 // ID of the receiver if routed by ID, else 0
	VendorID uint16 // vendor that defines DW3 and the payload
	DW3      uint32 // header bytes 12-15
}

// SetVendor makes p a vendor-defined message with payload b, which is whole DWs or empty and is not
// copied. It fails if the type is not 0 or 1, if vendor-defined messages may not have the routing,
// or if the payload is not whole DWs or exceeds 4 KB.
func (p *Packet) SetVendor(o Origin, v Vendor, b []byte) error {
	h := Header{
		Kind: Msg, TC: o.TC, Attr: o.Attr, RequesterID: o.RequesterID, Code: CodeVendor0,
		Routing: v.Routing, TargetID: v.TargetID, VendorID: v.VendorID, VendorDW: v.DW3,
	}
	switch v.Type {
	case 0:
	case 1:
		h.Code = CodeVendor1
	default:
		return fmt.Errorf("tlp: vendor-defined message type is %d, want 0 or 1", v.Type)
	}
	if !vendorRouting(v.Routing) {
		return fmt.Errorf("tlp: vendor-defined message is routed %v, want root, id, broadcast or local", v.Routing)
	}
	if v.Routing != RouteByID && v.TargetID != 0 {
		return fmt.Errorf("tlp: vendor-defined message routed %v has target ID %#x, want 0", v.Routing, v.TargetID)
	}
	if len(b)%DWBytes != 0 || len(b) > PageBytes {
		return fmt.Errorf("tlp: message payload has %d B, want whole DWs, at most 4096 B", len(b))
	}
	p.Data = nil
	if len(b) > 0 {
		h.Kind, h.Length, p.Data = MsgD, uint16(len(b)/DWBytes), b
	}
	return p.SetHeader(&h)
}

func vendorRouting(r Routing) bool {
	return r == RouteToRoot || r == RouteByID || r == RouteBroadcast || r == RouteLocal
}

// NewMemWrite returns a new packet made by SetMemWrite.
func NewMemWrite(o Origin, addr uint64, b []byte) (*Packet, error) {
	p := new(Packet)
	if err := p.SetMemWrite(o, addr, b); err != nil {
		return nil, err
	}
	return p, nil
}

// NewMemRead returns a new packet made by SetMemRead.
func NewMemRead(o Origin, tag uint8, addr uint64, n int) (*Packet, error) {
	p := new(Packet)
	if err := p.SetMemRead(o, tag, addr, n); err != nil {
		return nil, err
	}
	return p, nil
}
