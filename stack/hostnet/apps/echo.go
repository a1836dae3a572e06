package apps

import (
	"fmt"

	"nictwin/stack/hostnet"
)

// EchoClient sends requests of one packet and checks that they, or their first bytes, come back unchanged.
type EchoClient struct {
	schedule
	seed  uint64
	bytes int
	want  []byte

	AnswerBytes int // of each answer, the first ones of its request; 0: all of them

	// OnAnswer, if set, is called for each answer with the times at which the request was queued and answered.
	OnAnswer func(queued, answered Ps)
}

// NewEchoClient returns a client with requests of the given payload.
func NewEchoClient(seed uint64, bytes int, l Load) (*EchoClient, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("echo: requests of %d bytes: want 1 or more", bytes)
	}
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("echo: %w", err)
	}
	return &EchoClient{schedule: schedule{Load: l}, seed: seed, bytes: bytes, want: make([]byte, bytes)}, nil
}

// Next implements hostnet.Client.
func (c *EchoClient) Next(now Ps, _ uint32) (int, bool) { return c.bytes, c.due(now) }

// Fill implements hostnet.Client.
func (c *EchoClient) Fill(id uint32, offset int, b []byte) { pattern(c.seed, id, offset, b) }

// Answered implements hostnet.Client.
func (c *EchoClient) Answered(now, queued Ps, id uint32, b []byte) error {
	want := c.want[:answerBytes(c.bytes, c.AnswerBytes)]
	pattern(c.seed, id, 0, want)
	if c.OnAnswer != nil {
		c.OnAnswer(queued, now)
	}
	return compare("echo", 0, b, want)
}

// answerBytes returns the length of the answer to a request, given the length wanted; 0: that of the request.
func answerBytes(request, wanted int) int {
	if wanted == 0 {
		return request
	}
	return min(request, wanted)
}

// EchoServer loads the payload of each request, checks it, and sends it, or its first bytes, back from its buffer.
type EchoServer struct {
	seed      uint64
	got, want []byte

	AnswerBytes int // as of EchoClient
}

// NewEchoServer returns a server for a client with the same seed, with requests of at most the given payload.
func NewEchoServer(seed uint64, bytes int) *EchoServer {
	return &EchoServer{seed: seed, got: make([]byte, bytes), want: make([]byte, bytes)}
}

// Open implements hostnet.Server.
func (s *EchoServer) Open(*hostnet.Flow) error { return nil }

// Take implements hostnet.Server.
func (s *EchoServer) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	if a.Length != a.Bytes || a.Length < 1 || a.Length > len(s.got) {
		f.Fail(fmt.Errorf("echo: a request of %d bytes, %d of them in its first packet: want 1 to %d in one packet",
			a.Bytes, a.Length, len(s.got)))
		f.Release(a.Packet)
		return
	}
	got, want := s.got[:a.Length], s.want[:a.Length]
	err := f.Core().Load(a.Payload, got)
	pattern(s.seed, a.Message, 0, want)
	if err == nil {
		err = compare("echo request", 0, got, want)
	}
	if err != nil {
		f.Fail(err)
	}
	f.AnswerFrom(a.Message, a.Payload, answerBytes(a.Length, s.AnswerBytes), a.Packet)
}

// Work implements hostnet.Server.
func (s *EchoServer) Work(*hostnet.Flow) bool { return false }

// Idle implements hostnet.Server.
func (s *EchoServer) Idle() bool { return true }

var (
	_ hostnet.Client = (*EchoClient)(nil)
	_ hostnet.Server = (*EchoServer)(nil)
)
