package rnic

import (
	"nictwin/models/msg"
	"nictwin/models/tlp"
)

// Traffic counts what crossed the PCIe port. Data are TLPs with a payload, as the off-path study counts them; requests are
// those without.
type Traffic struct {
	In, Out Direction
}

// Direction is one of the two.
type Direction struct {
	Data     [2]uint64 // TLPs with a payload, by the endpoint at the other end
	Requests [2]uint64 // reads
	Bytes    [2]uint64 // of payload
}

// Traffic returns what crossed the PCIe port so far.
func (c *Comp) Traffic() Traffic { return c.traffic }

func (t *Traffic) addTLP(p *msg.TLP, in bool) {
	h := p.Parsed()
	d, ep := &t.Out, 0
	if in {
		d = &t.In
	}
	switch {
	case h.Kind.IsMemory() && !in:
		ep = endpoint(h.Address)
	case h.Kind.IsCompletion() && in:
		ep = min(int(h.CompleterID>>8), 1)
	default:
		ep = min(int(h.RequesterID>>8), 1)
	}
	if h.Kind == tlp.MRd {
		d.Requests[ep]++
		return
	}
	if n := h.PayloadBytes(); n > 0 {
		d.Data[ep]++
		d.Bytes[ep] += uint64(n)
	}
}
