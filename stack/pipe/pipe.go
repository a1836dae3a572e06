package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/sim/fifo"
)

// Producer writes elements into a consumer's memory.
type Producer struct {
	slots
	place   Place
	written uint32 // all writes of lines before this one have ended
	writes  fifo.Queue[*write]
	idle    []*write
	begin   func(at uint32, b []byte) // Producer.write; bound once, so that writing allocates nothing
}

// write is a write in flight.
type write struct {
	p     *Producer
	to    uint32 // the line after the last line of the write
	ended bool
	done  func(error)
}

// NewProducer returns the producing end of a pipe.
func NewProducer(s Spec, at Place, m Mover) (*Producer, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	if err := at.validate(); err != nil {
		return nil, err
	}
	p := &Producer{slots: newSlots(s, at.Counter, m), place: at}
	p.asked, p.begin = p.counterRead, p.write
	return p, nil
}

// oldest returns the oldest line that must not be overwritten yet.
func (p *Producer) oldest() uint32 {
	return p.head - max(p.head-p.freed, p.head-p.written)
}

// Room implements Sender.
func (p *Producer) Room() int { return p.spec.lines() - int(p.head-p.oldest()) }

// Push implements Sender.
func (p *Producer) Push(e []byte) error {
	err := p.put(e, p.oldest())
	if err == nil && int(p.head-p.sent) >= p.spec.Batch {
		return p.Flush()
	}
	if errors.Is(err, ErrFull) && p.head != p.sent {
		if err := p.Flush(); err != nil { // the consumer frees lines only after they were sent
			return err
		}
	}
	return err
}

// Flush implements Sender with one DMA, or two at the end of the ring.
func (p *Producer) Flush() error {
	from := p.sent
	p.sent = p.head
	p.pieces(from, p.head, p.begin)
	return p.err
}

// write starts writing lines that are contiguous in the ring.
func (p *Producer) write(line uint32, b []byte) {
	var w *write
	if n := len(p.idle); n > 0 {
		w, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		w = &write{p: p}
		w.done = w.finished
	}
	w.to, w.ended = line+uint32(len(b)/LineBytes), false
	p.writes.Push(w)
	p.mover.Write(p.place.Ring+uint64(line&uint32(p.spec.lines()-1))*LineBytes, b, w.done)
}

// finished handles the end of a write; writes may end in any order.
func (w *write) finished(err error) {
	p := w.p
	if err != nil {
		p.fail(fmt.Errorf("pipe: writing up to line %d: %w", w.to, err))
	}
	w.ended = true
	for p.writes.Len() > 0 && (*p.writes.Front()).ended {
		first := p.writes.Pop()
		p.written = first.to
		p.idle = append(p.idle, first)
	}
}

// Consumer takes elements from its memory.
type Consumer struct {
	spec  Spec
	place Place
	mem   Memory
	taken uint32 // number of lines taken

	prefetcher Prefetcher // the memory, if it can prefetch; nil: it cannot
	waited     bool       // the latest Poll found no element
	reader
	word [counterBytes]byte
}

// reader assembles an element from its lines.
type reader struct {
	buf  [MaxLines * LineBytes]byte
	have int // lines received so far
	want int // lines of the element; 0: unknown, as its first line has not arrived
	err  error
}

// NewConsumer returns the consuming end of a pipe.
func NewConsumer(s Spec, at Place, m Memory) (*Consumer, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	if err := at.validate(); err != nil {
		return nil, err
	}
	c := &Consumer{spec: s, place: at, mem: m}
	c.prefetcher, _ = m.(Prefetcher)
	return c, nil
}

// Poll implements Receiver.
func (c *Consumer) Poll() ([]byte, error) {
	for c.err == nil {
		line := c.taken + uint32(c.have)
		b := c.slot()
		if err := c.mem.Load(c.place.Ring+uint64(line&uint32(c.spec.lines()-1))*LineBytes, b); err != nil {
			c.err = fmt.Errorf("pipe: line %d: %w", line, err)
			break
		}
		if b[tagAt]&lapFlag != c.spec.lap(line) {
			c.waited = true
			return nil, nil
		}
		if !c.take(line, c.spec.lines()) {
			continue
		}
		e := c.element()
		c.taken += uint32(len(e) / LineBytes)
		c.prefetchBehind(len(e) / LineBytes)
		binary.LittleEndian.PutUint64(c.word[:], uint64(c.taken))
		if err := c.mem.Store(c.place.Counter, c.word[:]); err != nil {
			c.err = fmt.Errorf("pipe: counter: %w", err)
		}
		return e, c.err
	}
	return nil, c.err
}

// ahead is the number of lines that a consumer loads in advance.
const ahead = 4

// prefetchBehind begins to load lines behind an element of n lines that was just taken: elements come in groups. Behind
// the first one after a wait these are the next lines, since what was loaded of them before they were written is no
// longer valid. Behind others, as many lines as were taken remain to be loaded.
func (c *Consumer) prefetchBehind(n int) {
	from := c.taken + ahead - uint32(min(n, ahead))
	if c.waited {
		from, c.waited = c.taken, false
	}
	c.prefetch(from, c.taken+ahead)
}

// prefetch begins to load the lines from one number up to another.
func (c *Consumer) prefetch(from, end uint32) {
	for c.prefetcher != nil && from != end && c.err == nil {
		i := from & uint32(c.spec.lines()-1)
		n := min(end-from, uint32(c.spec.lines())-i)
		if err := c.prefetcher.Prefetch(c.place.Ring+uint64(i)*LineBytes, int(n)*LineBytes); err != nil {
			c.err = fmt.Errorf("pipe: line %d: %w", from, err)
		}
		from += n
	}
}

// Prefetch implements Receiver.
func (c *Consumer) Prefetch() { c.prefetch(c.taken, c.taken+ahead) }

// Taken returns the number of lines taken.
func (c *Consumer) Taken() uint32 { return c.taken }

// slot returns the buffer for the next line of the element.
func (r *reader) slot() []byte { return r.buf[r.have*LineBytes:][:LineBytes] }

// take adds line number `line`, whose bytes are in the buffer that slot returns, and reports whether the element is
// complete. An element of more than `most` lines is an error.
func (r *reader) take(line uint32, most int) bool {
	tag := r.slot()[tagAt]
	left := int(tag &^ lapFlag)
	switch {
	case r.want == 0 && (left < 1 || left > most):
		r.err = &LineError{line, tag, fmt.Sprintf("an element of 1 to %d lines", min(most, MaxLines))}
		return false
	case r.want == 0:
		r.want = left
	case left != r.want-r.have:
		r.err = &LineError{line, tag, fmt.Sprintf("%d lines left of %d", r.want-r.have, r.want)}
		return false
	}
	r.have++
	return r.have == r.want
}

// element returns the complete element with its tags cleared.
func (r *reader) element() []byte {
	e := r.buf[:r.want*LineBytes]
	for i := tagAt; i < len(e); i += LineBytes {
		e[i] = 0
	}
	r.have, r.want = 0, 0
	return e
}

var (
	_ Sender   = (*Producer)(nil)
	_ Receiver = (*Consumer)(nil)
)
