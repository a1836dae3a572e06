package apps

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
)

// Payload says when applications read and write the bytes of messages.
type Payload string

// The payload modes. With Reused, message m has the bytes of message m modulo the depth, so a buffer
// has the same final contents however often it was written: a wrong message that a correct one
// overwrites goes unnoticed.
const (
	Fresh Payload = "fresh" // each message has its own bytes, written by the sender and read by the receiver
	// buffers are written before the traffic and read after it, as in measuring programs such as perftest
	Reused Payload = "reused"
)

// Place is a memory that buffers of messages lie in.
type Place string

// Places of buffers.
const (
	HostPlace Place = "host" // of the server
	ArmPlace  Place = "arm"  // of the server's card
	GPUPlace  Place = "gpu"  // of the server's first GPU

	allPlaces = "host, arm or gpu"
)

// Places says where either end of the flows has the buffers of its messages.
type Places struct {
	Client Place `yaml:"client"`
	Server Place `yaml:"server"`
}

// Of returns the place of an end's buffers.
func (p Places) Of(client bool) Place {
	if client {
		return p.Client
	}
	return p.Server
}

// DecodeWord gives both ends the same place (specfile.WordDecoder).
func (p *Places) DecodeWord(word string) error {
	at := Place(word)
	if !at.valid() {
		return fmt.Errorf("%q: want %s for both ends, or client and server", word, allPlaces)
	}
	*p = Places{at, at}
	return nil
}

// Word returns the places as one word (specfile.Worded).
func (p Places) Word() string {
	if p.Client == p.Server {
		return string(p.Client)
	}
	return string(p.Client) + "+" + string(p.Server)
}

func (p Place) valid() bool { return p == HostPlace || p == ArmPlace || p == GPUPlace }

// validatePlaces rejects unknown memories, and different ones for clients and servers if each server has both.
func (s *Spec) validatePlaces(bad func(ok bool, path field.Path, format string, a ...any)) {
	m := &s.Memory
	bad(m.Client.valid(), "memory.client", "%q: want %s", m.Client, allPlaces)
	bad(m.Server.valid(), "memory.server", "%q: want %s", m.Server, allPlaces)
	bad(!s.BothWays || m.Client == m.Server, "memory", ": client in %s, server in %s: with %v each server has ends of "+
		"both kinds in one memory: want the same for both", m.Client, m.Server, field.Path("both_ways"))
}

// patternOf returns the number of the message whose pattern message m carries.
func (s *Spec) patternOf(m int) int {
	if s.Payload == Reused {
		return m % s.Depth
	}
	return m
}

// buffers returns the number of messages of a flow that have their own memory in the server.
func (s *Spec) buffers() int {
	if s.Payload == Reused {
		return min(s.Depth, s.Count)
	}
	return s.Count
}

// bufferBytes returns the size of the buffer of message m, which with Reused holds later messages, too.
func (s *Spec) bufferBytes(m int) int {
	if s.Payload == Reused {
		return s.largest()
	}
	return s.size(m)
}

// validatePayload rejects options whose messages cannot be checked at the end, when buffers are
// reused.
func (s *Spec) validatePayload() error {
	if s.Payload == Fresh {
		return nil
	}
	if s.Payload != Reused {
		return field.Errorf("payload", "%q: want %s or %s", s.Payload, Fresh, Reused)
	}
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(s.Transport == RC, "payload", "%s: over %s the bytes identify the message: want %s, or transport %s", s.Payload,
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
	return errors.Join(errs...)
}

// prefill writes the buffers of a client that sends them repeatedly.
func (c *client) prefill() error {
	for m := range c.out.slots {
		b := c.want(c.spec.largest())
		pattern(b, c.spec.Seed, c.flow, request, m)
		if err := c.side.Memory.Write(c.out.pieceAddr(m, 0), b); err != nil {
			return err
		}
	}
	return nil
}

// countMessage counts a message of n bytes that is not checked on arrival.
func (e *end) countMessage(n int) {
	e.messages++
	e.bytes += uint64(n)
}

// verifyReused checks the buffers of an area at the end: each must hold the last message that it took. n is the number
// of messages that arrived.
func (e *end) verifyReused(a *area, n int) {
	if e.stopped { // the next message may have been partly written
		return
	}
	for m := max(n-a.slots, 0); m < n; m++ {
		got, want := e.got(e.spec.size(m)), e.want(e.spec.size(m))
		if !e.check("load", a.load(e.side.Core, m, 0, a.piece, got)) {
			return
		}
		pattern(want, e.spec.Seed, e.flow, request, e.spec.patternOf(m))
		e.equal(got, want, m, func(off int) uint64 { return a.byteAddr(m, off, a.piece) })
	}
}

// finishReused checks the server's buffers at the end; requests is the number of the client's requests
// that succeeded.
func (s *server) finishReused(requests int) {
	switch s.spec.Kind {
	case Send:
		s.verifyReused(&s.recvs.area, s.next)
	case Write:
		for m := range requests {
			s.countMessage(s.spec.size(m))
		}
		s.verifyReused(&s.exposed, requests)
	case WriteImm:
		s.verifyReused(&s.exposed, s.next)
	}
}
