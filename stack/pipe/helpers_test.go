package pipe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	_ "nictwin/models/sim/fixedseed"
)

const (
	ringAt    = 0x1000
	counterAt = 0x800
	recordAt  = 0x880
	memBytes  = 0x4000
)

// plain is memory accessed without delay.
type plain struct{ b [memBytes]byte }

func (m *plain) Load(addr uint64, b []byte) error {
	if addr+uint64(len(b)) > memBytes {
		return fmt.Errorf("no memory at %#x", addr)
	}
	copy(b, m.b[addr:])
	return nil
}

func (m *plain) Store(addr uint64, b []byte) error {
	if addr+uint64(len(b)) > memBytes {
		return fmt.Errorf("no memory at %#x", addr)
	}
	copy(m.b[addr:], b)
	return nil
}

func (m *plain) Write(addr uint64, b []byte, done func(error)) { done(m.Store(addr, b)) }
func (m *plain) Read(addr uint64, b []byte, done func(error))  { done(m.Load(addr, b)) }

// hostile is a Mover that moves lines in pieces, in any order and at any time, and reports the ends in any order.
type hostile struct {
	mem   *plain
	moves []*move
	pick  func(n int) int
}

// move is a write or read in flight.
type move struct {
	write bool
	addr  uint64
	b     []byte
	lent  []byte // copy of `b` when the write began: `b` must not change before `done` is called
	at    []int  // by 64 B line: number of bytes moved so far
	done  func(error)
}

func (h *hostile) begin(write bool, addr uint64, b []byte, done func(error)) {
	h.moves = append(h.moves, &move{write, addr, b, slices.Clone(b), make([]int, (len(b)+LineBytes-1)/LineBytes), done})
}

func (h *hostile) Write(addr uint64, b []byte, done func(error)) { h.begin(true, addr, b, done) }
func (h *hostile) Read(addr uint64, b []byte, done func(error))  { h.begin(false, addr, b, done) }

// step moves some bytes of a line in flight, or ends a move.
func (h *hostile) step() {
	if len(h.moves) == 0 {
		return
	}
	k := h.pick(len(h.moves))
	m := h.moves[k]
	var open []int
	for i, n := range m.at {
		if n < m.lineLen(i) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		h.moves = append(h.moves[:k], h.moves[k+1:]...)
		var err error
		if m.write && !bytes.Equal(m.lent, m.b) {
			err = fmt.Errorf("the bytes of a write to %#x changed before it had ended", m.addr)
		}
		m.done(err)
		return
	}
	i := open[h.pick(len(open))]
	n := 8 * (1 + h.pick((m.lineLen(i)-m.at[i])/8)) // memory moves in units of 8 B
	from := i*LineBytes + m.at[i]
	there, here := h.mem.b[m.addr+uint64(from):][:n], m.b[from:from+n]
	if m.write {
		copy(there, here)
	} else {
		copy(here, there)
	}
	m.at[i] += n
}

func (m *move) lineLen(i int) int { return min(LineBytes, len(m.b)-i*LineBytes) }

func (h *hostile) settle() {
	for len(h.moves) > 0 {
		h.step()
	}
}

// element returns n lines that hold the element's number in every 8 bytes.
func element(id uint64, lines int) []byte {
	b := make([]byte, lines*LineBytes)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], id<<16|uint64(i/8))
	}
	for i := tagAt; i < len(b); i += LineBytes {
		b[i] = 0
	}
	return b
}

// copies is a copy engine between two memories, which moves bytes through a hostile mover.
type copies struct {
	a, b    *plain // addresses in b have bit 16 set
	pending []func()
	pick    func(n int) int
}

const otherSide = 1 << 16

func (c *copies) mem(addr uint64) (*plain, uint64) {
	if addr&otherSide != 0 {
		return c.b, addr &^ otherSide
	}
	return c.a, addr
}

func (c *copies) Copy(to, from uint64, n int, done func(error)) {
	c.pending = append(c.pending, func() {
		dst, d := c.mem(to)
		src, s := c.mem(from)
		done(errors.Join(dst.Store(d, src.b[s:s+uint64(n)])))
	})
}

func (c *copies) step() {
	if len(c.pending) > 0 {
		k := c.pick(len(c.pending))
		f := c.pending[k]
		c.pending = append(c.pending[:k], c.pending[k+1:]...)
		f()
	}
}
