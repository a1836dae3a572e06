package hostnet

import (
	"fmt"
	"hash/crc32"

	"nictwin/stack/apps"
	"nictwin/stack/hostnet"
	hostapps "nictwin/stack/hostnet/apps"
	"nictwin/stack/verbs"
)

// line is a flow in progress: its applications' ends, wrapped, and what they took.
type line struct {
	*flow
	run   *Run
	begun bool
	from  Ps  // time at which the workload began
	total int // requests that the flow has: those of the spec or, after its end, those that were asked
	asked int

	taken  []bool // by request: the server took it
	at     [2]int // numbers of the flow on the nodes of client and server
	client []apps.Completion
	server []apps.Completion
	bytes  uint64

	sink *hostapps.VXLANSink // of datagrams

	// table returns what the server's application keeps in memory; nil: nothing.
	table func() (addr uint64, bytes int)
}

// over reports whether the client asks nothing now, nor later.
func (l *line) over() bool { return l.asked >= l.total }

// next returns the time of the next request; Never: none follows without a begin.
func (l *line) next() Ps {
	if !l.begun || l.over() {
		return hostnet.Never
	}
	return l.from + Ps(l.asked)*l.spec.Every
}

// done reports whether everything has arrived that was or will be sent.
func (l *line) done() bool {
	return l.begun && l.over() && len(l.server) == l.total && (l.answerBytes() == 0 || len(l.client) == l.total)
}

// report tells the observer of a message.
func (l *line) report(event func(apps.Observer, *apps.Message), answer bool, number, bytes int) {
	if o := l.run.observer; o != nil {
		l.run.message = apps.Message{Flow: l.index, Answer: answer, Number: number, Bytes: bytes}
		event(o, &l.run.message)
	}
}

// posted counts a request that the client sends.
func (l *line) posted(bytes int) {
	l.report(apps.Observer.Posted, false, l.asked, bytes)
	l.asked++
}

// took counts a request that the server's application has taken, unless it came before.
func (l *line) took(number, bytes int) {
	if l.taken[number] {
		return
	}
	l.taken[number] = true
	l.server = append(l.server, l.completion(len(l.server), number, bytes))
	l.bytes += uint64(bytes)
	l.report(apps.Observer.HandedOver, false, number, bytes)
	if n := l.answerBytes(); n > 0 {
		l.report(apps.Observer.Posted, true, number, n)
	}
}

// answered counts an answer that the client's application has taken.
func (l *line) answered(number int, b []byte) {
	c := l.completion(len(l.client), number, len(b))
	if l.spec.Kind != apps.KV { // which put a get sees depends on timing, and so does its answer
		c.Imm = crc32.ChecksumIEEE(b)
	}
	l.client = append(l.client, c)
	l.bytes += uint64(len(b))
	l.report(apps.Observer.HandedOver, true, number, len(b))
}

// completion returns the record of a message, as if a receive request had completed.
func (l *line) completion(id, number, bytes int) apps.Completion {
	return apps.Completion{ID: uint64(id), Recv: true, Opcode: verbs.WCRecv, Bytes: uint32(bytes), Message: number}
}

// asking is a client that asks while its workload lasts.
type asking struct {
	hostnet.Client
	l *line
}

// Next implements hostnet.Client.
func (c *asking) Next(now Ps, id uint32) (int, bool) {
	if c.l.next() > now {
		return 0, false
	}
	n, ok := c.Client.Next(now, id)
	if ok {
		c.l.posted(n)
	}
	return n, ok
}

// Wake implements hostnet.Client.
func (c *asking) Wake() Ps { return c.l.next() }

// Idle implements hostnet.Client. A client that has not begun has nothing in flight.
func (c *asking) Idle() bool { return !c.l.begun || c.l.over() }

// Answered implements hostnet.Client.
func (c *asking) Answered(now, queued Ps, id uint32, b []byte) error {
	err := c.Client.Answered(now, queued, id, b)
	if err == nil {
		c.l.answered(int(id), b)
	}
	return err
}

// serving is a server whose requests are one packet each.
type serving struct {
	hostnet.Server
	l *line
}

// Take implements hostnet.Server.
func (s *serving) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	number, bytes := int(a.Message), a.Bytes
	s.Server.Take(f, a)
	if s.l.known(f, number) {
		s.l.took(number, bytes)
	}
}

// known rejects requests that the client has not sent.
func (l *line) known(f *hostnet.Flow, number int) bool {
	if number < len(l.taken) {
		return true
	}
	f.Fail(fmt.Errorf("message %d arrived: want 0 to %d, the last one", number, len(l.taken)-1))
	return false
}

// sending is a source that sends while its workload lasts.
type sending struct {
	hostnet.Source
	l *line
}

// Next implements hostnet.Source.
func (s *sending) Next(now Ps, b []byte) (int, bool) {
	if s.l.next() > now {
		return 0, false
	}
	n, ok := s.Source.Next(now, b)
	if ok {
		s.l.posted(n)
	}
	return n, ok
}

// Wake implements hostnet.Source.
func (s *sending) Wake() Ps { return s.l.next() }

// Idle implements hostnet.Source.
func (s *sending) Idle() bool { return !s.l.begun || s.l.over() }

// taking is a sink whose datagrams are counted.
type taking struct {
	*hostapps.VXLANSink
	l *line
}

// Take implements hostnet.Sink.
func (s *taking) Take(f *hostnet.Flow, head []byte, n int) error {
	err := s.VXLANSink.Take(f, head, n)
	if number := int(s.Latest()); err == nil && s.l.known(f, number) {
		s.l.took(number, n)
	}
	return err
}

var (
	_ hostnet.Client = (*asking)(nil)
	_ hostnet.Server = (*serving)(nil)
	_ hostnet.Source = (*sending)(nil)
	_ hostnet.Sink   = (*taking)(nil)
)
