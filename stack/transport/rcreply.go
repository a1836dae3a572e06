package transport

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
)

// reply is the answer to a READ or atomic; replies are sent in the order of the requests.
type reply struct {
	psn, n   uint32
	sent     uint32 // number of packets that have left
	va       uint64 // READ: address of the first byte of the answer
	key      uint32
	length   uint32
	after    uint64 // READ: the answer is sent once all copies with lower numbers have ended
	msn      uint32
	atomic   bool
	ready    bool // atomic: value is known
	repeated bool // the reply repeats an answer, to a duplicate request
	value    uint64
}

// nextAck builds an acknowledgement if one is due and may precede the waiting replies.
func (c *rc) nextAck(o *Out) bool {
	if c.sackDue {
		c.sackDue = false
		if c.early.count > 0 {
			c.ackDue = c.ackDue && c.replies.Len() > 0
			c.encodeSack(o)
			return true
		}
		c.ackDue = true
	}
	c.ackDue = c.ackDue || c.windowDue()
	if c.replies.Len() > 0 {
		return c.ackDue && c.ackUpToReply(o)
	}
	s := c.nak
	if s == 0 {
		if !c.ackDue {
			return false
		}
		s = c.ack()
	}
	c.countNAK()
	c.nak, c.ackDue, c.ackedTo = 0, false, c.expected
	psn := c.expected
	if s.Kind() == wire.SyndromeACK {
		psn = seq.Add(psn, seq.Mask)
	}
	c.encodeAck(o, psn, s, c.msn)
	return true
}

func (c *rc) countNAK() {
	switch {
	case c.nak == wire.NAKSequence:
		c.stats.SequenceNAKs++
	case c.nak.Kind() == wire.SyndromeRNR:
		c.stats.RNRs++
	}
}

// ackUpToReply acknowledges all requests before the first one whose reply waits, unless they have been acknowledged
// already.
func (c *rc) ackUpToReply(o *Out) bool {
	for i := range c.replies.Len() {
		r := c.replies.At(i)
		if r.repeated {
			continue
		}
		if r.sent > 0 || seq.Diff(r.psn, c.ackedTo) <= 0 {
			return false
		}
		c.ackedTo = r.psn
		c.encodeAck(o, seq.Add(r.psn, seq.Mask), c.ack(), seq.Add(r.msn, seq.Mask))
		return true
	}
	return false
}

// ack returns the syndrome of an ACK.
func (c *rc) ack() wire.Syndrome {
	if !c.spec.Credits || c.shared {
		return wire.ACKNoCredits
	}
	return creditSyndrome(c.rq.Len())
}

// echoFlag returns the flag that reports marked packets to the peer.
func (c *rc) echoFlag() bthFlags {
	if c.echoes && c.spec.EchoECN {
		c.echoes = false
		return flagBECN
	}
	return 0
}

func (c *rc) encodeAck(o *Out, psn uint32, s wire.Syndrome, msn uint32) {
	c.stats.Acks++
	putAETH(c.begin(o, &c.ah, wire.RCAck, c.attr.DestQP, psn, c.echoFlag(), wire.AETHSize, 0, 0), s, msn)
	if s.Kind() == wire.SyndromeACK {
		psn = seq.Add(psn, 1)
	}
	c.advertise(o, psn)
}

func putAETH(dst []byte, s wire.Syndrome, msn uint32) {
	h := wire.AETHFields{Syndrome: s, MSN: msn}
	_ = h.Encode(dst) // cannot fail: dst is long enough, and an MSN has 24 bits
}

// encodeSack builds a selective acknowledgement that lists the kept packets.
func (c *rc) encodeSack(o *Out) {
	c.stats.Acks++
	c.stats.SequenceNAKs++
	words := c.early.words(c.expected)
	ext := c.begin(o, &c.ah, OpSelectiveAck, c.attr.DestQP, seq.Add(c.expected, seq.Mask), c.echoFlag(),
		wire.AETHSize+words*sackWordSize, 0, 0)
	putAETH(ext, c.ack(), c.msn)
	c.advertise(o, c.expected)
	for i := range words {
		binary.BigEndian.PutUint64(ext[wire.AETHSize+i*sackWordSize:],
			c.early.here.Word(c.early.at(seq.Add(c.expected, uint32(64*i)))))
	}
}

// nextReply builds the next packet of a READ response, or the answer to an atomic.
func (c *rc) nextReply(now Ps, o *Out) bool {
	if c.replies.Len() == 0 {
		return false
	}
	r := c.replies.Front()
	switch {
	case r.atomic && !r.ready, !r.atomic && !c.placed.Before(r.after):
		return false
	case r.atomic:
		ext := c.begin(o, &c.ah, wire.RCAtomicAck, c.attr.DestQP, r.psn, c.echoFlag(),
			wire.AETHSize+wire.AtomicAckETHSize, 0, 0)
		putAETH(ext, c.ack(), r.msn)
		c.advertise(o, seq.Add(r.psn, 1))
		binary.BigEndian.PutUint64(ext[wire.AETHSize:], r.value)
	case !c.encodeRead(now, o, r):
		return false
	}
	c.stats.Sent++
	if r.repeated {
		c.stats.Resent++
	} else {
		c.ackedTo = seq.Add(o.PSN, 1)
	}
	if r.sent++; r.sent == r.n {
		if r.repeated {
			c.repeats--
		} else if c.ackedTo == c.expected { // the answer acknowledges all requests before it
			c.ackDue = false
		}
		c.replies.Pop()
	}
	return true
}

// encodeRead builds the next packet of a READ response, if the pacer admits it.
func (c *rc) encodeRead(now Ps, o *Out, r *reply) bool {
	mtu := uint32(c.attr.MTU)
	off := r.sent * mtu
	n := min(r.length-off, mtu)
	op, first, last := wire.RCReadRespMid, r.sent == 0, r.sent == r.n-1
	switch {
	case first && last:
		op = wire.RCReadRespOnly
	case first:
		op = wire.RCReadRespFirst
	case last:
		op = wire.RCReadRespLast
	}
	if !c.admit(now, frameBytes(&c.ah, wire.ExtLen(op), int(n)), 0) {
		return false
	}
	ext := c.begin(o, &c.ah, op, c.attr.DestQP, seq.Add(r.psn, r.sent), 0, wire.ExtLen(op), int(n), 0)
	if first || last {
		putAETH(ext, c.ack(), r.msn)
		c.advertise(o, seq.Add(o.PSN, 1))
	}
	if n > 0 {
		o.Spans, o.Remote = append(o.Spans, Span{Addr: r.va + uint64(off), Len: n, Key: r.key}), true
	}
	return true
}
