package root

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/fifo"
)

// noticeQueue holds the NIC's completions and messages until memory has taken the writes before
// them. Software that is notified of one of them then finds everything that the NIC wrote before it
// (PCIe 2.4.1).
type noticeQueue struct {
	waiting fifo.Queue[notice]
	hdr     tlp.Header
}

// notice is a TLP that waits until `stores` write accesses are in memory: as many as had been issued when it arrived.
type notice struct {
	p      *msg.TLP
	stores uint64
}

// notifyInOrder hands the current TLP to software once the writes before it are in memory.
func (r *Root) notifyInOrder(p *msg.TLP) {
	if r.writes.landed != r.writes.issued || r.notices.waiting.Len() > 0 {
		r.notices.waiting.Push(notice{p, r.writes.issued})
		return
	}
	r.notify(&r.hdr, p)
}

// deliverNotices hands over the TLPs whose earlier writes are all in memory. It is called whenever
// a write access completes.
func (r *Root) deliverNotices() {
	q := &r.notices
	for q.waiting.Len() > 0 && q.waiting.Front().stores <= r.writes.landed {
		p := q.waiting.Pop().p
		q.hdr, _ = p.Header() // cannot fail: the header was decoded on arrival
		r.notify(&q.hdr, p)
	}
}

// notify hands a completion or a message to software.
func (r *Root) notify(h *tlp.Header, p *msg.TLP) {
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
