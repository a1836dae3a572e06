package transport

import (
	"math"

	"nictwin/models/format/wire"
)

// Pacer is congestion control as a connection needs it. Acknowledged bytes are counted in whole packets: a PSN is as
// many as the path's MTU, whatever its packet carries, and a READ request is as many PSNs as it has answers.
type Pacer interface {
	// Admit returns now, or an earlier time, when a packet may leave now, and counts it as sent; else when to ask
	// again. The packet has n bytes; fresh are the bytes that its acknowledgement will be for, 0 if it is a
	// repetition, or if nothing acknowledges it (READ responses, UC, UD).
	Admit(now Ps, n, fresh int) Ps
	// Window returns how many bytes RC may have under way, as Acked counts them. One packet always may be.
	Window() int64
	// Acked reports bytes that arrived at the peer; echo, that the peer saw one of these packets marked, or that the
	// data which answers them was.
	Acked(now Ps, n int, echo bool)
	// CNP reports a congestion notification from the peer.
	CNP(now Ps)
	// Marked reports an arrived packet with the congestion mark, and returns whether to tell the peer by a CNP.
	Marked(now Ps) bool
	// Lost reports that packets have to be sent again; timeout, because no answer has come for the whole time.
	Lost(now Ps, timeout bool)
	// Deadline returns when Expire is to be called although nothing else has happened.
	Deadline() Ps
	// Expire acts on timers that have run out, and returns whether to tell the peer by a CNP.
	Expire(now Ps) bool
}

// Unpaced lets everything leave and says nothing to the peer.
type Unpaced struct{}

var _ Pacer = Unpaced{}

// Admit lets every packet leave.
func (Unpaced) Admit(now Ps, _, _ int) Ps { return now }

// Window has no limit.
func (Unpaced) Window() int64 { return math.MaxInt64 }

// Acked does nothing.
func (Unpaced) Acked(Ps, int, bool) {}

// CNP does nothing.
func (Unpaced) CNP(Ps) {}

// Marked asks for no CNP.
func (Unpaced) Marked(Ps) bool { return false }

// Lost does nothing.
func (Unpaced) Lost(Ps, bool) {}

// Deadline returns Never.
func (Unpaced) Deadline() Ps { return Never }

// Expire has nothing to do.
func (Unpaced) Expire(Ps) bool { return false }

// admit asks the pacer for a packet.
func (b *base) admit(now Ps, n, fresh int) bool {
	if at := b.pacer.Admit(now, n, fresh); at > now {
		b.paceAt = at
		return false
	}
	return true
}

// marked tells the pacer of a packet with the congestion mark.
func (b *base) marked(now Ps) { b.cnpDue = b.pacer.Marked(now) || b.cnpDue }

// nextCNP makes the congestion notification packet that is due (Annex A17).
func (b *base) nextCNP(o *Out) bool {
	if !b.cnpDue {
		return false
	}
	b.cnpDue = false
	b.stats.CNPs++
	ext := b.begin(o, &b.ah, wire.CNPOpcode, b.attr.DestQP, 0, flagBECN, wire.CNPSize, 0, 0)
	clear(ext)
	o.Head[len(o.Head)-wire.CNPSize-wire.BTHSize+1] = 0 // MigReq, too
	return true
}

// Deadline returns when the pacer is to be asked again.
func (b *base) Deadline() Ps {
	d := b.pacer.Deadline()
	if b.paceAt != 0 {
		d = min(d, b.paceAt)
	}
	return d
}

// Expire lets the pacer's timers run out.
func (b *base) Expire(now Ps) { b.cnpDue = b.pacer.Expire(now) || b.cnpDue }

// frameBytes returns the length of a frame with headers of ext bytes after the BTH, without its check sequence.
func frameBytes(ah *AH, ext, payload int) int {
	pad := -(ext + payload) & 3
	return ah.size + wire.BTHSize + ext + payload + pad + wire.ICRCSize
}
