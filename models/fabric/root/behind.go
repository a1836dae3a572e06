package root

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/fifo"
)

// behindQueue is completions and messages of the NIC that wait, in order, for
// writes that came before them: whoever is told of one of them finds in memory
// what the NIC wrote earlier (PCIe 2.4.1).
type behindQueue struct {
	waiting fifo.Queue[behind]
	hdr     tlp.Header
}

// behind is a TLP, and how many accesses for writes were issued before it.
type behind struct {
	p      *msg.TLP
	stores uint64
}

// tellBehind tells software of the TLP at hand, now or when the writes before
// it are in memory.
func (r *Root) tellBehind(p *msg.TLP) {
	if r.writes.landed != r.writes.issued || r.behind.waiting.Len() > 0 {
		r.behind.waiting.Push(behind{p, r.writes.issued})
		return
	}
	r.tell(&r.hdr, p)
}

// landed is called when memory is done with another write.
func (r *Root) landed() {
	q := &r.behind
	for q.waiting.Len() > 0 && q.waiting.Front().stores <= r.writes.landed {
		p := q.waiting.Pop().p
		q.hdr, _ = p.Header() // it was read when it came
		r.tell(&q.hdr, p)
	}
}

// tell tells software of a completion or a message.
func (r *Root) tell(h *tlp.Header, p *msg.TLP) {
	switch h.Kind {
	case tlp.Cpl, tlp.CplD:
		r.complete(h, p.Data)
	case tlp.Msg, tlp.MsgD:
		if r.invalidates {
			r.invalidate(h, p.Data)
		}
		if r.OnMessage != nil {
			r.OnMessage(h, p.Data)
		}
	}
	r.tlps.Put(p)
}
