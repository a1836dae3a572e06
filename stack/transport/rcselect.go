package transport

import (
	"math/bits"

	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// selective is the scoreboard of a requester with selective repeat. For each PSN of the window it records whether the
// packet has arrived, whether it counts as lost, and its position in the order of transmission when it was last sent.
type selective struct {
	window   int
	got      seq.Bitmap
	lost     seq.Bitmap
	order    []uint32
	clock    uint32 // position of the next packet in the order of transmission
	losses   int    // number of bits set in `lost`
	received uint32 // the peer has received all requests before this PSN
	// PSNs that the peer holds because they came early. It may still drop them for lack of a receive request.
	kept    seq.Bitmap
	recover uint32 // PSNs from here on were sent only once, in order
	// largest position, in the order of transmission, of a packet that has arrived
	last uint32
	// position, in the order of transmission, of the latest answered request; the peer answers in order
	answer uint32
}

func newSelective(window int) *selective {
	return &selective{window: window, got: seq.NewBitmap(window), lost: seq.NewBitmap(window),
		kept: seq.NewBitmap(window), order: make([]uint32, window)}
}

func (s *selective) reset() {
	clear(s.got)
	clear(s.lost)
	clear(s.kept)
	s.losses, s.received = 0, 0
}

func (s *selective) index(p uint32) int { return int(p) & (s.window - 1) }

// sent records that PSNs p to p+n-1 were sent.
func (s *selective) sent(p, n uint32) {
	for i := range n {
		k := s.index(seq.Add(p, i))
		s.order[k] = s.clock
		s.clock++
		if s.lost.Has(k) {
			s.lost.Clear(k)
			s.losses--
		}
	}
}

// arrived records that PSN p, or the answer with that PSN, has arrived.
func (s *selective) arrived(p uint32, answer bool) {
	k := s.index(p)
	s.got.Set(k)
	s.seen(k)
	if answer {
		s.answer = later(s.answer, s.order[k])
	}
}

// setKept records that the peer keeps PSN p.
func (s *selective) setKept(p uint32) {
	k := s.index(p)
	s.kept.Set(k)
	s.seen(k)
}

func (s *selective) seen(k int) {
	if s.lost.Has(k) {
		s.lost.Clear(k)
		s.losses--
	}
	s.last = later(s.last, s.order[k])
}

// requestArrived reports whether the peer has received the READ or atomic with PSN p, so that only its answer can be
// missing.
func (s *selective) requestArrived(p uint32) bool {
	return seq.Diff(s.received, p) > 0 || s.kept.Has(s.index(p))
}

func later(a, b uint32) uint32 {
	if int32(b-a) > 0 {
		return b
	}
	return a
}

// markBelow is ackBelow for selective repeat.
func (c *rc) markBelow(now Ps, e uint32, echo, answered bool) {
	s := c.sel
	if seq.Diff(e, c.una) <= 0 {
		return
	}
	if seq.Diff(e, s.received) > 0 || seq.Diff(s.received, c.una) < 0 {
		s.received = e
	}
	c.markRange(c.una, e, answered)
	c.advance(now, echo)
}

// markRange records that SENDs and WRITEs from PSN p to before e have arrived.
func (c *rc) markRange(p, e uint32, answered bool) {
	for n := c.oldest; seq.Diff(e, p) > 0; n++ {
		r := c.request(n)
		end := seq.Add(r.first, r.n)
		if seq.Diff(end, p) <= 0 {
			continue
		}
		for ; seq.Diff(end, p) > 0 && seq.Diff(e, p) > 0; p = seq.Add(p, 1) {
			if !r.returns() && !c.sel.got.Has(c.sel.index(p)) {
				c.sel.arrived(p, answered)
			}
		}
	}
}

// advance moves una past the PSNs that have arrived, then looks for losses.
func (c *rc) advance(now Ps, echo bool) {
	s, before := c.sel, c.una
	for c.una != c.top && s.got.Has(s.index(c.una)) {
		s.got.Clear(s.index(c.una))
		s.kept.Clear(s.index(c.una))
		c.una = seq.Add(c.una, 1)
		if r := c.request(c.oldest); c.una == seq.Add(r.first, r.n) {
			c.endOldest(r)
		}
	}
	if seq.Diff(s.recover, c.una) < 0 {
		s.recover = c.una
	}
	if c.una != before {
		c.noteProgress(now, seq.Diff(c.una, before), echo)
	}
	if c.state != verbs.QPSErr {
		c.findLost(now)
	}
}

// findLost marks packets as lost for which one sent more than ReorderPackets later has arrived.
func (c *rc) findLost(now Ps) {
	s, found := c.sel, false
	slack := uint32(c.spec.ReorderPackets)
	n := c.oldest
	for p := c.una; p != c.top; p = seq.Add(p, 1) {
		k := s.index(p)
		if seq.Diff(p, s.recover) >= 0 && int32(s.last-s.order[k]) <= int32(slack) {
			break // p was sent too recently, and so were all PSNs behind it
		}
		if s.got.Has(k) || s.lost.Has(k) {
			continue
		}
		r := c.request(n)
		for seq.Diff(p, seq.Add(r.first, r.n)) >= 0 {
			n++
			r = c.request(n)
		}
		if s.kept.Has(k) && !r.returns() {
			continue
		}
		latest := s.last
		if r.returns() && s.requestArrived(r.from) { // the peer has the request: only the answer can be lost
			latest = s.answer
		}
		if int32(latest-s.order[k]) > int32(slack) {
			c.lose(p)
			found = true
		}
	}
	if found {
		c.pacer.Lost(now, false)
	}
}

// lose marks a PSN as lost.
func (c *rc) lose(p uint32) {
	k := c.sel.index(p)
	c.sel.kept.Clear(k)
	if !c.sel.lost.Has(k) && !c.sel.got.Has(k) {
		c.sel.lost.Set(k)
		c.sel.losses++
	}
}

// loseOldest marks the oldest packet as lost, and forgets which ones the peer holds: its next answer lists them again.
func (c *rc) loseOldest() {
	clear(c.sel.kept)
	if c.una != c.top {
		c.lose(c.una)
	}
}

// resendLost retransmits the oldest lost packet.
func (c *rc) resendLost(now Ps, o *Out) bool {
	s, p := c.sel, c.una
	for !s.lost.Has(s.index(p)) { // there is a lost packet: field `losses` is not 0
		k := s.index(p)
		if w := s.lost.Word(k); w != 0 {
			p = seq.Add(p, uint32(bits.TrailingZeros64(w)))
		} else {
			p = seq.Add(p, 64)
		}
	}
	number := c.oldest
	r := c.request(number)
	for seq.Diff(p, seq.Add(r.first, r.n)) >= 0 {
		number++
		r = c.request(number)
	}
	p, n := c.lostRun(r, p)
	if !c.admit(now, c.wireBytes(r, p), 0) {
		return false
	}
	c.encode(o, r, p, n, true)
	c.sent(now, p, n, true)
	s.recover = c.top
	return true
}

// lostRun returns the PSNs to request for the lost PSN p: only the missing ones or, if the READ request itself may be
// lost, its whole piece.
func (c *rc) lostRun(r *request, p uint32) (first, n uint32) {
	if r.Op != verbs.WRRead {
		return p, 1
	}
	first = r.from
	if !c.sel.requestArrived(first) {
		return first, c.span(r, first)
	}
	limit := c.span(r, p)
	for n = 1; n < limit && c.sel.lost.Has(c.sel.index(seq.Add(p, n))); n++ {
	}
	return p, n
}

// takeSelected handles an answer, in any order.
func (c *rc) takeSelected(now Ps, p *Packet) {
	s, psn := c.sel, p.BTH.PSN
	if s.got.Has(s.index(psn)) {
		c.stats.Duplicates++
		c.env.Drop(p.Handle)
		return
	}
	if psn != c.una {
		c.stats.Early++
	}
	number := c.oldest
	r := c.request(number)
	for seq.Diff(psn, seq.Add(r.first, r.n)) >= 0 {
		number++
		r = c.request(number)
	}
	if !c.storeResponse(r, p) {
		return
	}
	s.arrived(psn, true)
	first := r.from
	if next := seq.Add(first, c.span(r, first)); seq.Diff(next, s.received) > 0 {
		s.received = next
	}
	if seq.Diff(first, c.una) > 0 {
		c.markRange(c.una, first, true)
	}
	c.advance(now, p.BTH.BECN || p.Marked)
}

// takeSack handles a selective acknowledgement.
func (c *rc) takeSack(now Ps, p *Packet) {
	c.env.Drop(p.Handle)
	s, e := c.sel, seq.Add(p.BTH.PSN, 1)
	if seq.Diff(e, c.una) < 0 || seq.Diff(e, c.top) > 0 {
		c.stats.Ignored++
		return
	}
	c.credit.update(p.AETH)
	c.window.update(e, p.BTH.Resv7)
	for i := range p.words {
		for w := p.sack[i]; w != 0; w &= w - 1 {
			psn := seq.Add(e, uint32(64*i+bits.TrailingZeros64(w)))
			if c.outstanding(psn) {
				s.setKept(psn)
			}
		}
	}
	if e == c.una {
		c.advance(now, p.BTH.BECN)
		return
	}
	c.markBelow(now, e, p.BTH.BECN, false)
}
