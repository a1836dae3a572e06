package pcielink

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// Count counts TLPs and their bytes.
type Count struct {
	TLPs    uint64 `json:"tlps"`
	Data    uint64 `json:"data_tlps"` // TLPs with payload
	Payload uint64 `json:"payload_bytes"`
	Wire    uint64 `json:"wire_bytes"` // payload, header and framing
}

// Add counts one TLP.
func (c *Count) Add(wire, payload int) {
	c.TLPs++
	c.Wire += uint64(wire)
	c.Payload += uint64(payload)
	if payload > 0 {
		c.Data++
	}
}

// Plus returns the sum of c and o.
func (c Count) Plus(o Count) Count {
	return Count{c.TLPs + o.TLPs, c.Data + o.Data, c.Payload + o.Payload, c.Wire + o.Wire}
}

// Counters holds the counters of one direction.
type Counters struct {
	In        [3]Count // TLPs taken from the sender, by tlp.Class
	Out       [3]Count // retrieved by the receiver, by tlp.Class
	DLLPs     uint64   // DLLPs put on the wire in this direction
	DLLPBytes uint64
}

// Counters returns the counters of the direction that starts at end 0 or 1.
func (l *Link) Counters(end int) Counters { return l.lanes[end].count }

// Credits returns the credits that the transmitter at an end has left for a class; finite is false if the receiver
// advertised infinite ones.
func (l *Link) Credits(end int, c tlp.Class) (headers, data int, finite bool) {
	a := &l.lanes[end].credits
	return a.class[c].headers, a.class[c].data, a.finite(c)
}

// Held returns the number of TLPs that were taken from the sender at an end and have not been
// retrieved.
func (l *Link) Held(end int) Count { return l.lanes[end].Held() }

// Idle reports whether nothing is held in either direction.
func (l *Link) Idle() bool { return l.lanes[0].idle() && l.lanes[1].idle() }

func (d *lane) idle() bool {
	in, out := &d.count.In, &d.count.Out
	for c := range tlp.Completion + 1 {
		if in[c].TLPs != out[c].TLPs {
			return false
		}
	}
	return true
}

// Held counts the TLPs in the lane's queues, independently of the counters In and Out.
func (d *lane) Held() (sum Count) {
	add := func(p *msg.TLP) { sum.Add(p.TrafficBytes, len(p.Data)) }
	d.tx.Each(add)
	d.rx.Each(add)
	for i := range d.flight.Len() {
		add(*d.flight.At(i))
	}
	each(d.dst, add)
	return sum
}

// each calls f for every TLP in a port's receive buffer.
func each(port *simcore.Port, f func(*msg.TLP)) {
	if port == nil {
		return
	}
	for i := range port.Len() {
		if p, ok := port.At(i).(*msg.TLP); ok {
			f(p)
		}
	}
}
