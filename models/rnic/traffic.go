package rnic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
)

// Traffic counts the TLPs on the PCIe port. As in the off-path study, TLPs with a payload are data,
// those without are requests. Software's register accesses and their completions are counted
// separately.
type Traffic struct {
	In, Out   Direction
	Registers uint64 // TLPs of software's register accesses, in both directions
}

// Direction counts the TLPs in one direction.
type Direction struct {
	Data     [2]uint64 // TLPs with a payload, by the endpoint at the other end
	Requests [2]uint64 // read requests, by endpoint
	Bytes    [2]uint64 // bytes of payload, by endpoint
}

// Traffic returns the counts of TLPs on the PCIe port so far.
func (c *Comp) Traffic() Traffic { return c.traffic }

func (t *Traffic) addTLP(p *msg.TLP, in bool) {
	h := p.Parsed()
	d, ep := &t.Out, 0
	switch {
	case h.Kind.IsMemory() && !in:
		ep = endpoint(h.Address)
	case h.Kind.IsCompletion() && in:
		d, ep = &t.In, min(int(h.CompleterID>>8), 1)
	default:
		t.Registers++
		return
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
