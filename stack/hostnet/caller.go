package hostnet

import (
	"fmt"
	"math/bits"

	"nictwin/stack/rpc"
)

// Client is an application that sends requests and checks answers. Requests are numbered from 0 on.
type Client interface {
	// Next returns the length of the next request. It returns false if the application has to wait or has ended.
	Next(now Ps, id uint32) (bytes int, ok bool)

	// Wake returns the time at which Next may have a request even if no answer comes before then; Never: no such time.
	Wake() Ps

	// Fill writes the payload of a request from an offset on. A packet that is sent again is filled again, with the
	// same bytes.
	Fill(id uint32, offset int, b []byte)

	// Answered takes the answer to a request, once, and the time at which the request was first queued. An error ends
	// the node.
	Answered(now, queued Ps, id uint32, b []byte) error

	// Idle reports whether Next will have no further request.
	Idle() bool
}

// caller is the sending end of a flow of requests.
type caller struct {
	f        *Flow
	app      Client
	sender   *rpc.Sender
	requests []request // by number modulo their count
	next     uint32    // number of the next request
	open     int       // requests without an answer
	queued   uint64    // messages queued so far
	retryAt  Ps
	stats    CallerStats
}

// request is a request without an answer.
type request struct {
	open    bool
	id      uint32
	bytes   int
	queued  Ps     // when the request was first queued
	asked   Ps     // when the request was last queued
	message uint64 // messages queued before the request
}

// CallerStats counts what a client did.
type CallerStats struct {
	rpc.SenderStats
	Requests uint64
	Answers  uint64 // to different requests
	Asked    uint64 // requests that were sent again as new messages, because no answer came
	Repeated uint64 // answers that had come before
	Bytes    uint64 // payload of requests that were answered, and of the answers
}

func newCaller(f *Flow, s *rpc.Sender) *caller {
	return &caller{f: f, app: f.cfg.Client, sender: s, requests: make([]request, Places(f.cfg.Outstanding)),
		retryAt: Never}
}

func (c *caller) headerBytes() int { return rpc.AckBytes }

func (c *caller) at(id uint32) *request { return &c.requests[id%uint32(len(c.requests))] }

// take handles an acknowledgement, with or without an answer.
func (c *caller) take(p *Packet, d datagram) {
	f := c.f
	h, err := rpc.Decode(f.head[d.payload : d.payload+min(rpc.AckBytes, d.bytes)])
	if err != nil || h.Kind != rpc.Ack || int(h.Bytes) != d.bytes-rpc.AckBytes {
		f.drop(p)
		return
	}
	f.check(c.sender.Acked(f.now, &h))
	if h.Bytes > 0 {
		c.answered(p, &h, d.payload+rpc.AckBytes)
	}
	f.path.Done(p)
}

// answered hands over an answer, which begins at an offset of the packet.
func (c *caller) answered(p *Packet, h *rpc.Header, offset int) {
	f, r := c.f, c.at(h.Message)
	if int32(h.Message-c.next) >= 0 {
		f.Fail(fmt.Errorf("an answer to request %d: want one below %d, the next one", h.Message, c.next))
		return
	}
	if !r.open || r.id != h.Message {
		c.stats.Repeated++
		return
	}
	b := f.frame[f.ends.HeaderBytes():][:h.Bytes]
	f.load(p, offset, b)
	r.open = false
	if c.open--; c.open == 0 {
		c.retryAt = Never
	}
	c.stats.Answers++
	c.stats.Bytes += uint64(r.bytes) + uint64(h.Bytes)
	if err := c.app.Answered(f.now, r.queued, h.Message, b); err != nil {
		f.Fail(fmt.Errorf("answer to request %d: %w", h.Message, err))
	}
}

// step queues requests and sends packets.
func (c *caller) step(now Ps) bool {
	f := c.f
	if !f.node.started {
		return false
	}
	c.sender.Expire(now)
	if now >= c.retryAt {
		c.askAgain(now)
	}
	c.ask(now)
	sent := 0
	for sent < f.node.cfg.Spec.Burst && f.core.hasRoom(1) {
		p, ok := c.sender.Next(now)
		if !ok {
			break
		}
		c.send(&p)
		sent++
	}
	return sent > 0
}

// Places returns the length of a table of requests by number, so many of them under way: a power of two, so that
// numbers that begin again at 0 find the same places.
func Places(outstanding int) int { return 1 << bits.Len(uint(outstanding-1)) }

// room reports whether a further request may be under way.
func (c *caller) room() bool {
	return c.open < c.f.cfg.Outstanding && c.sender.Room() && !c.at(c.next).open
}

// ask queues new requests.
func (c *caller) ask(now Ps) {
	for c.room() {
		n, ok := c.app.Next(now, c.next)
		if !ok {
			return
		}
		*c.at(c.next) = request{open: true, id: c.next, bytes: n, queued: now}
		c.queue(now, c.at(c.next))
		c.next++
		c.open++
		c.stats.Requests++
	}
}

func (c *caller) queue(now Ps, r *request) {
	c.f.check(c.sender.Queue(r.id, r.bytes))
	r.asked, r.message = now, c.queued
	c.queued++
	c.retryAt = min(c.retryAt, now+Ps(c.f.node.cfg.Spec.AnswerTimeout))
}

// askAgain queues requests again that were acknowledged and have not been answered for the timeout.
func (c *caller) askAgain(now Ps) {
	timeout, ended := Ps(c.f.node.cfg.Spec.AnswerTimeout), c.sender.Stats().Messages
	c.retryAt = Never
	for i := range c.requests {
		r := &c.requests[i]
		if !r.open {
			continue
		}
		if now-r.asked >= timeout && r.message < ended && c.sender.Room() {
			c.stats.Asked++
			c.queue(now, r)
			continue
		}
		c.retryAt = min(c.retryAt, max(r.asked, now-timeout+1)+timeout)
	}
	if c.open > 0 {
		const pause = 16 // the table is scanned at most so often in a timeout
		c.retryAt = max(c.retryAt, now+timeout/pause)
	}
}

// send sends a packet.
func (c *caller) send(p *rpc.Packet) {
	f := c.f
	f.core.cpu.Compute(f.node.cfg.Spec.TransmitCycles)
	headers := f.ends.HeaderBytes()
	at := headers + p.Encode(f.frame[headers:])
	end := at + p.Length
	c.app.Fill(p.Message, p.Offset, f.frame[at:end])
	setLengths(f.frame[:headers], end-headers)
	f.core.tx.send(f, f.frame[:end], 0, 0, nil)
}

func (c *caller) deadline() Ps {
	if !c.f.node.started {
		return Never
	}
	at := min(c.sender.Deadline(), c.retryAt)
	if c.room() {
		at = min(at, c.app.Wake())
	}
	return at
}

func (c *caller) idle() bool {
	return c.open == 0 && c.sender.Idle() && (c.app.Idle() || !c.f.node.started)
}

func (c *caller) timer() string {
	switch {
	case c.sender.Deadline() != Never:
		return "the retransmission timer"
	case c.open > 0:
		return "the timer for answers"
	}
	return ""
}

func (c *caller) progress() uint64 { return c.stats.Answers + c.sender.Stats().Messages }

func (c *caller) slotBytes(headers int) int { return headers + rpc.DataBytes + c.f.cfg.RPC.Segment }
