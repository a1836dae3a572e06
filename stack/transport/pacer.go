package transport

import (
	"math"

	"nictwin/models/format/wire"
)

// Pacer is a connection's interface to congestion control. Acknowledged bytes are counted in whole packets: each PSN
// counts as one path MTU, whatever its packet carries, and a READ request as the PSNs of its responses.
type Pacer interface {
	// Admit returns now or an earlier time if a packet may leave now, and counts it as sent; otherwise it returns the
	// time to ask again. The packet has n bytes; fresh is the number of bytes that its acknowledgement will cover, 0
	// for a retransmission or for packets without acknowledgement (READ responses, UC, UD).
	Admit(now Ps, n, fresh int) Ps
	// Window returns the most bytes that RC may have in flight, counted as in Acked. One packet is always allowed.
	Window() int64
	// Acked reports bytes that arrived at the peer; echo says that the peer saw one of these packets marked, or that
	// the response to them was.
	Acked(now Ps, n int, echo bool)
	// CNP reports a congestion notification from the peer.
	CNP(now Ps)
	// Marked reports an arrived packet with a congestion mark, and returns whether to send the peer a CNP.
	Marked(now Ps) bool
	// Lost reports that packets must be retransmitted; timeout says that no answer came for the whole timeout.
	Lost(now Ps, timeout bool)
	// Deadline returns the time at which to call Expire if nothing else happens before.
	Deadline() Ps
	// Expire handles timers that have run out, and returns whether to send the peer a CNP.
	Expire(now Ps) bool
}

// Unpaced is a Pacer without congestion control: it never delays a packet or sends a CNP.
type Unpaced struct{}

var _ Pacer = Unpaced{}

// Admit lets every packet leave.
func (Unpaced) Admit(now Ps, _, _ int) Ps { return now }

// Window returns the maximum: there is no limit.
func (Unpaced) Window() int64 { return math.MaxInt64 }

// Acked does nothing.
func (Unpaced) Acked(Ps, int, bool) {}

// CNP does nothing.
func (Unpaced) CNP(Ps) {}

// Marked returns false: it sends no CNP.
func (Unpaced) Marked(Ps) bool { return false }

// Lost does nothing.
func (Unpaced) Lost(Ps, bool) {}

// Deadline returns Never.
func (Unpaced) Deadline() Ps { return Never }

// Expire returns false: there are no timers.
func (Unpaced) Expire(Ps) bool { return false }

// admit asks the pacer whether a packet may leave, and records when to ask again.
func (b *base) admit(now Ps, n, fresh int) bool {
	if at := b.pacer.Admit(now, n, fresh); at > now {
		b.paceAt = at
		return false
	}
	return true
}

// marked reports a packet with a congestion mark to the pacer.
func (b *base) marked(now Ps) { b.cnpDue = b.pacer.Marked(now) || b.cnpDue }

// nextCNP builds the congestion notification packet that is due, if any (Annex A17).
func (b *base) nextCNP(o *Out) bool {
	if !b.cnpDue {
		return false
	}
	b.cnpDue = false
	b.stats.CNPs++
	ext := b.begin(o, &b.ah, wire.CNPOpcode, b.attr.DestQP, 0, flagBECN, wire.CNPSize, 0, 0)
	clear(ext)
	o.Head[len(o.Head)-wire.CNPSize-wire.BTHSize+1] = 0 // MigReq is reserved in CNPs, too
	return true
}

// Deadline returns when to ask the pacer again.
func (b *base) Deadline() Ps {
	d := b.pacer.Deadline()
	if b.paceAt != 0 {
		d = min(d, b.paceAt)
	}
	return d
}

// Expire handles the pacer's timers.
func (b *base) Expire(now Ps) { b.cnpDue = b.pacer.Expire(now) || b.cnpDue }

// frameBytes returns the length of a frame with `ext` bytes of headers after the BTH, without its FCS.
func frameBytes(ah *AH, ext, payload int) int {
	pad := -(ext + payload) & 3
	return ah.size + wire.BTHSize + ext + payload + pad + wire.ICRCSize
}
