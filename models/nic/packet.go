package nic

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// setWrite makes p a memory write of a copy of b, with the given attributes [P11].
func (c *Comp) setWrite(p *tlp.Packet, addr uint64, b []byte, attr tlp.Attr) {
	if addr&(tlp.DWBytes-1) == 0 && len(b)%tlp.DWBytes == 0 {
		copy(p.Own(len(b)), b)
		b = p.Data
	}
	if err := p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic, Attr: attr}, addr, b); err != nil {
		panic("nic: a split write cannot be encoded: " + err.Error())
	}
}

func (c *Comp) setHeader(p *tlp.Packet, h *tlp.Header) {
	if err := p.SetHeader(h); err != nil {
		panic("nic: a generated header cannot be encoded: " + err.Error())
	}
}

// reloadSettings rereads the registers that requests depend on: sizes, attributes and the
// completion timeout.
func (c *Comp) reloadSettings() {
	c.limits, c.attr, c.timeout = c.regs.Limits(), c.regs.DataAttr(), c.regs.CplTimeout()
}
