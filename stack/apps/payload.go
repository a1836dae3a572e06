package apps

import (
	"slices"

	"nictwin/models/sim/field"
)

// Payload is when applications touch the bytes of messages.
type Payload string

// The ways. With Reused, message m has the bytes of message m modulo the depth, so that what a place holds is the same
// however often it was written: what came wrong and was written over by something right is not seen.
const (
	Fresh Payload = "fresh" // each message has bytes of its own, which the sender writes and the receiver reads
	// buffers are written before the traffic and read after it, as measuring programs such as perftest have it
	Reused Payload = "reused"
)

// source is the message whose bytes message m has.
func (s *Spec) source(m int) int {
	if s.Payload == Reused {
		return m % s.Depth
	}
	return m
}

// places is how many messages of a flow have memory of their own in the server.
func (s *Spec) places() int {
	if s.Payload == Reused {
		return min(s.Depth, s.Count)
	}
	return s.Count
}

// room is the bytes of the memory that message m shares with others of the same place.
func (s *Spec) room(m int) int {
	if s.Payload == Reused {
		return s.largest()
	}
	return s.size(m)
}

// validatePayload holds a workload with buffers used again to what can be looked at in the end.
func (s *Spec) validatePayload(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Payload == Fresh {
		return
	}
	if s.Payload != Reused {
		bad(false, "payload", "%q: want %s or %s", s.Payload, Fresh, Reused)
		return
	}
	bad(slices.Contains([]Kind{Send, Write, WriteImm, Read}, s.Kind), "payload",
		"%s: %s answers by what came: want %s, or kind send, write, write_imm or read", s.Payload, s.Kind, Fresh)
	bad(s.Transport == RC, "payload", "%s: over %s bytes tell which message came: want %s, or transport %s", s.Payload,
		s.Transport, Fresh, RC)
	bad(s.Pieces == 1, "payload", "%s: want %s, or %v 1", s.Payload, Fresh, field.Path("pieces"))
	for _, x := range []struct {
		set  bool
		name field.Path
	}{{s.Inline, "inline"}, {s.Invalidate, "invalidate"}, {s.LowLatency, "low_latency"},
		{s.SharedReceive, "shared_receive"}} {
		bad(!x.set, "payload", "%s: want %s, or %v false", s.Payload, Fresh, x.name)
	}
	bad(s.Misuse == nil, "payload", "%s: want %s, or no %v", s.Payload, Fresh, field.Path("misuse"))
}

// prefill writes the buffers of a client that sends them again and again.
func (c *client) prefill() error {
	for m := range c.out.slots {
		b := c.want(c.spec.largest())
		pattern(b, c.spec.Seed, c.flow, request, m)
		if err := c.side.Memory.Write(c.out.at(m, 0), b); err != nil {
			return err
		}
	}
	return nil
}

// counted takes a message whose bytes nobody reads now.
func (e *end) counted(n int) {
	e.messages++
	e.bytes += uint64(n)
}

// lookAgain reads the places of an area in the end, each of which has the bytes of the last message that it took; n
// messages came.
func (e *end) lookAgain(a *area, n int) {
	if e.stopped { // the next message may have been on its way into a place
		return
	}
	for m := max(n-a.slots, 0); m < n; m++ {
		got, want := e.got(e.spec.size(m)), e.want(e.spec.size(m))
		if !e.check("load", a.load(e.side.Core, m, 0, a.piece, got)) {
			return
		}
		pattern(want, e.spec.Seed, e.flow, request, e.spec.source(m))
		e.same(got, want, m, func(off int) uint64 { return a.where(m, off, a.piece) })
	}
}

// finishReused looks at the server's buffers in the end; asked is how many requests of the client ended well.
func (s *server) finishReused(asked int) {
	switch s.spec.Kind {
	case Send:
		s.lookAgain(&s.recvs.area, s.next)
	case Write:
		for m := range asked {
			s.counted(s.spec.size(m))
		}
		s.lookAgain(&s.near, asked)
	case WriteImm:
		s.lookAgain(&s.near, s.next)
	}
}
