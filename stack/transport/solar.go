package transport

import (
	"nictwin/models/format/wire"
	"nictwin/models/sim/fifo"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// solar is one end of a storage connection. Each packet is an independent block, with its own acknowledgement and
// retransmission.
type solar struct {
	base

	// Client.
	una, top uint32  // PSNs in use: una <= p < top
	blocks   []block // blocks in flight, by PSN
	next     uint32  // index of the next block of the current request
	lost     fifo.Queue[uint32]
	timers   fifo.Queue[timer]

	// Server.
	expected uint32     // first PSN not seen yet
	seen     seq.Bitmap // packets from PSN `expected` on that were seen
	writing  seq.Bitmap // by PSN: a WRITE is not in memory yet
	acks     []answer   // by PSN: the acknowledgement to send when the WRITE is in memory
	fetches  fifo.Queue[fetch]
	answers  fifo.Queue[answer]
}

// block is a block of a request in flight.
type block struct {
	busy     bool
	resend   bool // the block is in the queue of lost blocks
	number   uint64
	index    uint32
	tries    uint8
	deadline Ps
}

// timer is the time at which a block is retransmitted unless it was answered.
type timer struct {
	psn uint32
	at  Ps
}

// answer is an acknowledgement to send.
type answer struct {
	psn uint32
	h   solarHeader
}

// fetch is a block of a READ to send.
type fetch answer

var _ Conn = (*solar)(nil)

func newSolar(b base) *solar {
	n := b.spec.Window
	return &solar{base: b, blocks: make([]block, n), seen: seq.NewBitmap(n), writing: seq.NewBitmap(n),
		acks: make([]answer, n)}
}

func (c *solar) index(psn uint32) int { return int(psn) & (c.spec.Window - 1) }

// Modify changes the state.
func (c *solar) Modify(_ Ps, to verbs.State, a *Attr) error {
	from := c.state
	if err := c.change(to, a); err != nil {
		return err
	}
	switch {
	case to == verbs.QPSReset:
		c.reset()
		b := c.base
		*c = *newSolar(b)
		c.sending = b.ended
	case to == verbs.QPSErr:
		c.enterError()
	case to == verbs.QPSRTR:
		c.expected = c.attr.RecvPSN
	case from == verbs.QPSRTR:
		c.una, c.top = c.attr.SendPSN, c.attr.SendPSN
	case to == verbs.QPSSQD:
		c.drained = false
		c.drain(c.idle())
	}
	return nil
}

// PostRecv refuses every request: Solar blocks carry their addresses.
func (c *solar) PostRecv(*Recv) error { return ErrOpcode }

// Post queues a request for blocks.
func (c *solar) Post(now Ps, s *Send) error {
	if s.Flags&verbs.SendFence != 0 {
		return ErrFence
	}
	if err := c.base.Post(now, s); err != nil {
		return err
	}
	if c.sq.Len() > 0 && c.state != verbs.QPSErr {
		r := *c.sq.At(c.sq.Len() - 1)
		r.n = packets(r.length, c.attr.MTU)
		r.blocks = r.n
	}
	return nil
}

// Input handles a received packet.
func (c *solar) Input(now Ps, p *Packet) {
	op := p.BTH.Opcode
	if op == wire.CNPOpcode {
		c.pacer.CNP(now)
		c.env.Drop(p.Handle)
		return
	}
	if !c.receives() || !c.wellFormed(p) || op < OpSolarWrite || op > OpSolarAck || p.solar.version != solarVersion ||
		op != OpSolarAck && !p.solar.whole {
		c.ignore(p)
		return
	}
	if p.Marked {
		c.marked(now)
	}
	switch op {
	case OpSolarAck:
		c.takeAck(now, p)
	case OpSolarData:
		c.takeData(now, p)
	default:
		c.takeRequest(p)
	}
}

// find returns the block in flight that a packet answers, or nil.
func (c *solar) find(p *Packet) (*block, *request) {
	psn := p.BTH.PSN
	if seq.Diff(psn, c.una) < 0 || seq.Diff(psn, c.top) >= 0 || !c.blocks[c.index(psn)].busy {
		return nil, nil
	}
	b := &c.blocks[c.index(psn)]
	if p.solar.request != uint32(b.number) || uint32(p.solar.block) != b.index&0xffff {
		return nil, nil
	}
	return b, c.request(b.number)
}

// takeAck handles the acknowledgement of a block.
func (c *solar) takeAck(now Ps, p *Packet) {
	c.env.Drop(p.Handle)
	b, r := c.find(p)
	if b == nil {
		c.stats.Duplicates++
		return
	}
	if s := p.solar.syndrome; s.Kind() != wire.SyndromeACK {
		r.status = refusal(s)
	} else if r.returns() {
		c.stats.Ignored++ // READs are answered by data, not by an ACK
		return
	}
	number := b.number
	c.endBlock(now, b)
	c.blockEnded(number)
}

// takeData handles the block that answers a READ: it stores the block if its CRC is right.
func (c *solar) takeData(now Ps, p *Packet) {
	b, r := c.find(p)
	if b == nil || !r.returns() {
		c.stats.Duplicates++
		c.env.Drop(p.Handle)
		return
	}
	off, n := c.part(r, b.index)
	if p.Payload != n || n > 0 && c.env.CRC(p.Handle, n) != p.solar.crc {
		c.ignore(p) // the block is corrupted: it is requested again after the timeout
		return
	}
	number := b.number
	c.endBlock(now, b)
	if n == 0 {
		c.env.Drop(p.Handle)
		c.blockEnded(number)
		return
	}
	c.scatter(r.spans, off, n)
	c.env.Place(p.Handle, c.parts, blockToken(number, p.BTH.PSN))
}

// part returns the bytes of a request that belong to a block.
func (c *solar) part(r *request, index uint32) (off uint32, n int) {
	off = index * uint32(c.attr.MTU)
	return off, int(min(r.length-off, uint32(c.attr.MTU)))
}

// endBlock records that a block was answered.
func (c *solar) endBlock(now Ps, b *block) {
	b.busy = false
	for c.una != c.top && !c.blocks[c.index(c.una)].busy {
		c.una = seq.Add(c.una, 1)
	}
	c.pacer.Acked(now, int(c.attr.MTU), false)
}

// blockEnded records that a block has ended, and completes its request after the last one.
func (c *solar) blockEnded(number uint64) {
	r := c.request(number)
	if r == nil || r.done {
		return
	}
	if r.blocks--; r.blocks > 0 {
		return
	}
	r.done = true
	c.finish(r)
	c.drain(c.idle())
}

// finish completes a request, whether or not earlier ones have ended.
func (c *solar) finish(r *request) {
	if r.status != verbs.WCSuccess || r.Flags&verbs.SendSignaled != 0 {
		c.wc = Completion{ID: r.ID, Status: r.status, Opcode: r.Op.Completion()}
		if r.Op == verbs.WRRead && r.status == verbs.WCSuccess {
			c.wc.ByteLen = r.length
		}
		c.env.Complete(&c.wc)
	}
	for c.sq.Len() > 0 && (*c.sq.Front()).done {
		c.spare = append(c.spare, c.sq.Pop())
		c.ended++
	}
}

// idle reports whether every request begun has ended.
func (c *solar) idle() bool { return c.una == c.top && c.next == 0 && c.sending == c.ended }

// enterError ends all requests.
func (c *solar) enterError() {
	for i := range c.blocks {
		c.blocks[i] = block{}
	}
	c.una = c.top
	for i := range c.sq.Len() {
		if r := *c.sq.At(i); !r.done {
			r.done = true
			if r.status == verbs.WCSuccess {
				r.status = verbs.WCFlushErr
			}
			c.wc = Completion{ID: r.ID, Status: r.status}
			c.env.Complete(&c.wc)
		}
	}
	for c.sq.Len() > 0 {
		c.spare = append(c.spare, c.sq.Pop())
		c.ended++
	}
}

// blockTokenShift is the bit position of the request number in the token of a block. The PSN is below it.
const blockTokenShift = 25

// blockToken returns the token for copying a block of a READ response. Blocks of one request may be copied at the same
// time.
func blockToken(number uint64, psn uint32) Token {
	return Token(number+1)<<blockTokenShift | Token(psn)<<1
}

// Placed handles the end of a copy.
func (c *solar) Placed(_ Ps, t Token, status verbs.Status) {
	if t&1 == 0 {
		n := uint64(t>>blockTokenShift) - 1
		if r := c.request(n); r != nil && status != verbs.WCSuccess {
			r.status = status
		}
		c.blockEnded(n)
		return
	}
	c.endWrite(uint32(t>>1)-1, status)
}

// Sent does nothing on Solar, where acknowledgements end requests.
func (c *solar) Sent(Ps, Token) {}
