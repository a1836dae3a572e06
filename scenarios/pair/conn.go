package pair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// conn carries messages between the two processes over a stream socket. A receive first polls for a while, because
// waking a sleeping process takes longer than an exchange, and then sleeps. After polling in vain, it polls half as
// long the next time.
type conn struct {
	ctx   context.Context
	fd    int
	peer  string
	limit time.Duration // longest time without a byte from the peer

	in      []byte // received bytes; the bytes from index next on are not parsed yet
	next    int
	spin    time.Duration
	waiting time.Duration // time spent in receives; for the report only
}

const (
	spinLeast = 2 * time.Microsecond
	spinMost  = 200 * time.Microsecond
	spinPolls = 8       // polls between two readings of the clock
	buffer    = 4 << 20 // size requested from the kernel
	room      = 64 << 10
)

func newConn(ctx context.Context, fd int, peer string, limit time.Duration) (*conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("socket to %s: %w", peer, err)
	}
	for _, opt := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, buffer) // on failure the default size applies
	}
	return &conn{ctx: ctx, fd: fd, peer: peer, limit: limit, spin: spinMost}, nil
}

func (c *conn) close() error { return unix.Close(c.fd) }

// errNothing reports a poll without a result.
var errNothing = errors.New("nothing there")

// ErrSilent is the cause of a LostError about a peer that sent nothing for the limit.
var ErrSilent = errors.New("silent")

// fill receives what has arrived, without waiting.
func (c *conn) fill() error {
	if c.next > 0 && c.next == len(c.in) {
		c.in, c.next = c.in[:0], 0
	}
	if cap(c.in)-len(c.in) < room {
		rest := len(c.in) - c.next
		if rest > 2*maxFrame {
			return broken("more than %d bytes that were not asked for", 2*maxFrame)
		}
		if cap(c.in) < 2*(rest+room) {
			grown := make([]byte, rest, 4*(rest+room))
			copy(grown, c.in[c.next:])
			c.in = grown
		} else {
			c.in = c.in[:copy(c.in, c.in[c.next:])]
		}
		c.next = 0
	}
	n, err := unix.Read(c.fd, c.in[len(c.in):cap(c.in)])
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return errNothing
	case err == unix.ECONNRESET || err == nil && n == 0:
		return io.EOF
	case err != nil:
		return fmt.Errorf("receiving: %w", err)
	}
	c.in = c.in[:len(c.in)+n]
	return nil
}

// wait receives something; it fails if the peer is silent for the limit.
func (c *conn) wait() error {
	begin := time.Now()
	defer func() { c.waiting += time.Since(begin) }()
	for {
		for range spinPolls {
			if err := c.fill(); err != errNothing {
				c.spin = min(2*c.spin, spinMost)
				return err
			}
		}
		if time.Since(begin) > c.spin {
			break
		}
	}
	c.spin = max(c.spin/2, spinLeast)
	return c.sleep(unix.POLLIN)
}

// sleep waits until the socket can be read, and then reads it; it also returns when another of the given poll events
// occurs.
func (c *conn) sleep(events int16) error {
	// The limit is divided into several waits, so that a time in which this process was stopped uses up at most one of
	// them.
	const naps = 8
	for range naps {
		p := [1]unix.PollFd{{Fd: int32(c.fd), Events: events}}
		if _, err := unix.Poll(p[:], int((c.limit/naps).Milliseconds())+1); err != nil && err != unix.EINTR {
			return fmt.Errorf("waiting: %w", err)
		}
		err := c.fill()
		if err != errNothing || p[0].Revents&unix.POLLOUT != 0 {
			return err
		}
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	return fmt.Errorf("%w for %v", ErrSilent, c.limit)
}

// send sends all of b. While the peer does not read, its own messages are read, so that two full buffers cannot block
// both sides.
func (c *conn) send(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(c.fd, b)
		switch err {
		case nil:
			b = b[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			if err := c.sleep(unix.POLLIN | unix.POLLOUT); err != nil && err != errNothing {
				return err
			}
		case unix.EPIPE, unix.ECONNRESET:
			// A closed connection is no error here: the peer's last message, which the next receive returns, says more.
			return nil
		default:
			return fmt.Errorf("sending: %w", err)
		}
	}
	return nil
}

// message returns the next message; its payload is valid until the next call.
func (c *conn) message() (kind, []byte, error) {
	if err := c.need(headBytes); err != nil {
		return 0, nil, err
	}
	k, n, err := parseHead(c.in[c.next:])
	if err != nil {
		return k, nil, err
	}
	if err := c.need(headBytes + n); err != nil {
		return k, nil, err
	}
	b := c.in[c.next+headBytes : c.next+headBytes+n]
	c.next += headBytes + n
	return k, b, nil
}

func (c *conn) need(n int) error {
	for len(c.in)-c.next < n {
		if err := c.wait(); err != nil {
			return err
		}
	}
	return nil
}

// expect returns the payload of the next message, which must be of the given kind. An ERROR message becomes a PeerError
// with the peer's text.
func (c *conn) expect(want kind) ([]byte, error) {
	k, b, err := c.message()
	switch {
	case err != nil:
		return nil, err
	case k == kindError:
		return nil, &PeerError{Peer: c.peer, Text: string(b[:min(len(b), maxText)])}
	case k != want:
		return nil, broken("%v: want %v", k, want)
	}
	return b, nil
}

// sendMessage sends a message with this payload.
func (c *conn) sendMessage(k kind, payload []byte) error {
	b := append(make([]byte, headBytes, headBytes+len(payload)), payload...)
	if err := putHead(b, 0, k); err != nil {
		return err
	}
	return c.send(b)
}

// PeerError reports why the other process ended, in the words of its ERROR message.
type PeerError struct{ Peer, Text string }

func (e *PeerError) Error() string { return fmt.Sprintf("%s: %s", e.Peer, e.Text) }

// LostError reports a peer that died, hangs, or breaks the protocol.
type LostError struct {
	Peer    string
	Quantum uint64
	Setup   bool   // the peer was lost before the first quantum
	Words   string // how the peer ended, and its last output
	Err     error
}

func (e *LostError) Error() string {
	when := fmt.Sprintf("in quantum %d", e.Quantum)
	if e.Setup {
		when = "before the first quantum"
	}
	what := e.Err.Error()
	if errors.Is(e.Err, io.EOF) {
		what = "ended"
	}
	text := fmt.Sprintf("%s %s: %s", e.Peer, when, what)
	if e.Words != "" {
		text += ": " + e.Words
	}
	return text
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

var (
	_ error = (*PeerError)(nil)
	_ error = (*LostError)(nil)
)
