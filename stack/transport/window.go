package transport

import (
	"math/bits"

	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// window is the state of a connection's receive window (package comment, "Receive window").
type window struct {
	// Requester.
	known bool   // limit applies: the latest answer advertised a window or, before the first one, this end has a window
	limit uint32 // the peer has room for requests before this PSN
	asked uint32 // one past the newest PSN whose packet requested an answer
	probe bool   // nothing was in flight for the whole timeout: one packet may leave beyond limit

	// Responder.
	advertised bool
	granted    uint32 // PSN before which this end has advertised room
}

// firstWindow is the number of packets that a requester sends before the peer has advertised its window (assumption:
// small enough for many new connections at the same core of the peer).
const firstWindow = 4

// openRequester sets the window that holds until the peer's first answer. If this end advertises no window (share 0),
// the peer is assumed to advertise none either.
func (w *window) openRequester(share int, psn uint32) {
	w.known, w.limit, w.asked, w.probe = share > 0, seq.Add(psn, uint32(min(share, firstWindow))), psn, false
}

// asks records that the packet before PSN end requests an answer.
func (w *window) asks(end uint32) {
	if seq.Diff(end, w.asked) > 0 {
		w.asked = end
	}
}

// update takes the code of an answer that acknowledges all PSNs before base. A window never shrinks: what was
// advertised before stays valid.
func (w *window) update(base uint32, code uint8) {
	if code == 0 {
		w.known = false
		return
	}
	if limit := seq.Add(base, windowOf(code)); !w.known || seq.Diff(limit, w.limit) > 0 {
		w.known, w.limit = true, limit
	}
}

// takeWindow takes the window that an acknowledgement advertises, also if it acknowledges no further packet: it may
// serve only to announce that the peer has room again.
func (c *rc) takeWindow(p *Packet) {
	base := p.BTH.PSN
	if p.AETH.Syndrome.Kind() == wire.SyndromeACK {
		base = seq.Add(base, 1)
	}
	if base != c.una && !c.outstanding(p.BTH.PSN) {
		return
	}
	c.window.update(base, p.BTH.Resv7)
	if c.una == c.top { // no answer is expected: the deadline is a probe's
		c.deadline = Never
	}
}

// codeOf returns the code of the largest window that a code can express and that is not larger than n packets: 1 for
// none, 2 to 16 for 1 to 15, and from there on eight codes for each doubling. Code 0 is left for "no window", which
// peers of other makes send, whose reserved bits are zero.
func codeOf(n int) uint8 {
	const exact, most = 16, 14 << 14
	n = min(max(n, 0), most)
	if n < exact {
		return uint8(1 + n)
	}
	e := bits.Len(uint(n)) - 4
	return uint8(1 + 8*(e+1) + n>>e&7)
}

// windowOf returns the window in packets that a code other than 0 stands for.
func windowOf(code uint8) uint32 {
	k := uint32(code) - 1
	if k < 8 {
		return k
	}
	return (8 + k%8) << (k/8 - 1)
}

// advertise puts this end's window into an answer that acknowledges all PSNs before base, and records it.
func (c *rc) advertise(o *Out, base uint32) {
	share, free, _ := c.env.Buffers()
	if share == 0 {
		return
	}
	c.window.advertised = true
	code := codeOf(seq.Diff(seq.Add(c.expected, uint32(max(free, 0))), base))
	if limit := seq.Add(base, windowOf(code)); seq.Diff(limit, c.window.granted) > 0 {
		c.window.granted = limit
	}
	const resv7 = 8 // byte of the BTH with AckReq, which is 0 here, and the seven reserved bits
	o.Head[c.ah.size+resv7] |= code
}

// windowDue reports whether an acknowledgement should leave unasked: the peer may have used up its window, and this end
// has room again.
func (c *rc) windowDue() bool {
	share, free, _ := c.env.Buffers()
	if !c.window.advertised || share == 0 || !c.receives() {
		return false
	}
	step := leastOf(share)
	return seq.Diff(c.window.granted, c.expected) < step &&
		seq.Diff(seq.Add(c.expected, uint32(max(free, 0))), c.window.granted) >= step
}

// leastOf returns the least part of a window that is worth a packet of its own.
func leastOf(window int) int {
	const part = 4
	return max(1, window/part)
}

// ownWindow returns the largest number of PSNs in flight, and of answers held, for which this end has room.
func (c *rc) ownWindow() int {
	share, _, _ := c.env.Buffers()
	if share == 0 {
		return c.spec.Window
	}
	return min(c.spec.Window, share)
}

// heldAnswers returns the number of answers to this end's requests whose buffers are still in use.
func (c *rc) heldAnswers() int {
	share, _, free := c.env.Buffers()
	if share == 0 {
		return 0
	}
	return share - free
}

// cut begins a piece of a READ at PSN nxt, unless the previous piece is in flight. The piece covers as many PSNs as
// there is room for answers, but not less than half of this end's window, because each piece takes a round trip.
func (c *rc) cut(r *request) {
	if c.nxt != r.first && c.nxt != c.una {
		return
	}
	own := c.ownWindow()
	room := own - c.heldAnswers() - seq.Diff(c.nxt, c.una)
	r.from, r.piece = c.nxt, uint32(max(room, own/2, 1))
}

// inWindow reports whether the packet at nxt, which covers n PSNs, fits into both ends' windows. Each piece of a READ
// counts as a READ and waits for the answer to the piece before it. If this end has no room for a packet's answer
// (ownWindow), the packet waits only if room will become free: with an answer that was requested, or with one that is
// being copied. So if this end's share of the buffers has shrunk below what is in flight, one more packet leaves, which
// requests an answer.
func (c *rc) inWindow(now Ps, r *request, n uint32) bool {
	flying, held := seq.Diff(c.nxt, c.una), c.heldAnswers()
	switch asked := seq.Diff(c.window.asked, c.una) > 0; {
	case flying > 0 && r.Op == verbs.WRRead && c.nxt != r.first, flying+int(n) > c.spec.Window,
		held+flying+int(n) > c.ownWindow() && (held > 0 || asked):
		return false
	case !c.window.known || c.window.probe || seq.Diff(c.window.limit, c.nxt) > 0:
		return true
	case flying > 0 && !asked: // the peer's first windows are less than was in flight
		return true
	case flying == 0 && c.deadline == Never:
		c.deadline = now + c.attr.persist() // for a probe, should the peer's next window be lost
	}
	return false
}

// ackEvery returns after how many packets of a message an acknowledgement is requested. It is at most a fraction of the
// window (leastOf), so that the next window arrives before this one is used up.
func (c *rc) ackEvery() uint32 {
	n := c.ownWindow()
	if c.window.known {
		n = min(n, seq.Diff(c.window.limit, c.una))
	}
	return uint32(min(c.spec.AckEvery, leastOf(n)))
}

// isFull reports whether no further packet may leave once the PSNs before end are in flight.
func (c *rc) isFull(end uint32) bool {
	return c.heldAnswers()+seq.Diff(end, c.una) >= c.ownWindow() ||
		c.window.known && seq.Diff(c.window.limit, end) <= 0
}
