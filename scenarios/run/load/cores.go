package load

import (
	"fmt"
	"math/bits"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/stats"
)

// Software of a load declares no cycles of its own: its time is that of its accesses.
const pollCycles = 1

// chunk is the number of lines that a walker accesses at a time, and that a core warms up at a time.
const chunk = 16

// buffer is a part of memory that the software of a core accesses line by line.
type buffer struct {
	core  *cpu.Core
	base  uint64
	lines uint64
	loop  *cpu.Loop
	err   error
}

// add starts a loop on the core; an error of its step ends it.
func (b *buffer) add(name string, step func() (bool, error)) (err error) {
	b.loop, err = b.core.Add(cpu.LoopSpec{Name: name, Poll: pollCycles}, func(*cpu.Core) bool {
		found, err := step()
		if err != nil {
			b.err = err
			b.loop.Stop()
			return false
		}
		return found
	})
	return err
}

// warm reads every cache line once, as fast as the core can. `line` returns the n-th line to read.
func (b *buffer) warm(line func(n uint64) uint64) error {
	n := uint64(0)
	return b.add("warm-up of a load", func() (bool, error) {
		if n >= b.lines {
			b.loop.Stop()
			b.loop = nil
			return false, nil
		}
		for to := min(n+chunk, b.lines); n < to; n++ {
			if err := b.core.Prefetch(b.base+line(n)*lineBytes, lineBytes); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// inOrder returns the line that a walker reaches after n others.
func inOrder(n uint64) uint64 { return n }

// warmed reports whether warm has ended.
func (b *buffer) warmed() bool { return b.loop == nil && b.core.Idle() || b.err != nil }

// stop ends the loop.
func (b *buffer) stop() {
	if b.loop != nil {
		b.loop.Stop()
		b.loop = nil
	}
}

// window is the time in which a load runs; `to` is 0: until the load is stopped.
type window struct{ from, to simcore.Ps }

func (w *window) over(now simcore.Ps) bool { return w.to != 0 && now >= w.to }

// walker reads and writes a buffer line by line, at a rate. As many of its loads are in flight as the core can have.
type walker struct {
	buffer
	window
	rate   simcore.Rate
	stores int // stores in a thousand accesses
	due    simcore.Ps
	part   int64 // fraction of a picosecond by which due was rounded down, in units of 1/rate.Bytes
	n      uint64
	at     uint64
}

func (w *walker) begin() error {
	w.due = w.from
	return w.add("walker of a load", w.step)
}

// step accesses a chunk, if it is due. A chunk that was late moves the later ones.
func (w *walker) step() (bool, error) {
	now := w.core.Now()
	if w.over(now) {
		w.loop.Stop()
		return false, nil
	}
	if now < w.due {
		w.loop.WakeAt(w.due)
		return false, nil
	}
	var zeros [lineBytes]byte
	for range chunk {
		addr := w.base + w.at*lineBytes
		w.at = (w.at + 1) % w.lines
		w.n++
		if n := w.n * uint64(w.stores); n/permille != (n-uint64(w.stores))/permille {
			if err := w.core.Store(addr, zeros[:]); err != nil {
				return false, err
			}
		} else if err := w.core.Prefetch(addr, lineBytes); err != nil {
			return false, err
		}
	}
	t := int64(chunk*lineBytes)*int64(w.rate.Ps) + w.part
	w.part = t % w.rate.Bytes
	w.due = max(w.due, now) + simcore.Ps(t/w.rate.Bytes)
	return true, nil
}

// chaser loads one line after the other, each when the one before has come, and takes the time of each. It visits all
// lines of its buffer before it visits one again, so that a smaller private cache never has the next one.
type chaser struct {
	buffer
	window
	bits int // bits of a line's number
	n    uint64
	seed uint64
	dist stats.Dist
}

// newChaser returns the chaser of a buffer. It uses the first lines, as many as the largest power of two that fits.
func newChaser(b buffer, seed uint64) *chaser {
	c := &chaser{buffer: b, bits: bits.Len64(b.lines) - 1, seed: seed}
	c.lines = 1 << c.bits
	return c
}

func (c *chaser) begin() error {
	return c.add("chaser of a load", c.step)
}

func (c *chaser) step() (bool, error) {
	now := c.core.Now()
	if c.over(now) {
		c.loop.Stop()
		return false, nil
	}
	if now < c.from {
		c.loop.WakeAt(c.from)
		return false, nil
	}
	var b [8]byte
	err := c.core.Load(c.base+c.line(c.n)*lineBytes, b[:])
	c.n++
	c.core.Call(func() { c.dist.Add(c.core.Now() - now) })
	return true, err
}

// line returns the cache line that the n-th load reads: a permutation of the lines, pass after pass.
func (c *chaser) line(n uint64) uint64 {
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	mask := uint64(1)<<c.bits - 1
	x := (n*odd1 + c.seed) & mask
	x ^= x >> ((c.bits + 1) / 2)
	return x * odd2 & mask
}

// taker keeps a core of stack or applications busy during its window, as software does that the operating system runs
// there instead. It begins when the core has ended what it was doing.
type taker struct {
	window
	core *cpu.Core
	loop *cpu.Loop
}

func (t *taker) begin() (err error) {
	t.loop, err = t.core.Add(cpu.LoopSpec{Name: "taker of a core", Poll: pollCycles},
		func(*cpu.Core) bool { return t.step() })
	return err
}

func (t *taker) step() bool {
	now := t.core.Now()
	if now < t.from {
		t.loop.WakeAt(t.from)
		return false
	}
	if !t.over(now) {
		t.core.Spend(t.to - now)
	}
	t.stop()
	return true
}

// stop ends the loop, if it has begun.
func (t *taker) stop() {
	if t.loop != nil {
		t.loop.Stop()
	}
}

// fail returns the error of a loop, with its load.
func (b *buffer) fail(load int) error {
	if b.err == nil {
		return nil
	}
	return fmt.Errorf("load[%d]: %w", load, b.err)
}
