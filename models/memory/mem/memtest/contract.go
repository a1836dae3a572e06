package memtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/memory/mem"
	_ "nictwin/models/sim/fixedseed"
)

// Bench is a Target under test. None of its bytes may have been written yet.
type Bench struct {
	Target mem.Target

	// Base and Size give a range that lies wholly inside memory. Ends is set if memory ends where the range does.
	Base, Size uint64
	Ends       bool

	// Nowhere lists addresses outside memory.
	Nowhere []uint64

	// Window is the size of the range that most accesses fall into, so that they overlap; 0: two or
	// three lines.
	Window int

	// Peek returns the bytes that software sees at this moment.
	Peek func(addr uint64, b []byte) error

	// Step advances time a little, and reports whether anything is pending. Nil: the Target
	// completes accesses at once.
	Step func() (more bool, err error)
}

// RunContract checks the targets that build returns against the protocol.
func RunContract(t *testing.T, name string, build func() (*Bench, error)) {
	t.Run(name, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			b, err := build()
			require.NoError(t, err)
			require.NoError(t, newPlay(b).run(drawOps(t, b)))
		})
	})
}

// FuzzContract does for a fuzz target what RunContract does for a test.
func FuzzContract(f *testing.F, build func() (*Bench, error)) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		b, err := build()
		require.NoError(t, err)
		require.NoError(t, newPlay(b).run(drawOps(t, b)))
	}))
}

// op is an access, to be issued after some steps of time.
type op struct {
	mem.Op
	by    mem.Agent
	addr  uint64
	n     int
	wait  int
	sound bool // the access lies inside memory
}

// Bounds on the random values.
const (
	leastWindow = 96
	mostBytes   = 160
)

func drawOps(t *rapid.T, b *Bench) []op {
	window := max(b.Window, leastWindow)
	at := b.Base + rapid.Uint64Range(0, b.Size-uint64(window)).Draw(t, "window")
	list := make([]op, rapid.IntRange(1, 60).Draw(t, "accesses"))
	for i := range list {
		o := op{Op: drawOp(t), by: mem.Agent(rapid.IntRange(0, int(mem.Agents)-1).Draw(t, "by")), sound: true}
		o.n = rapid.IntRange(0, min(window/2, mostBytes)).Draw(t, "n")
		o.addr = at + uint64(rapid.IntRange(0, window-o.n).Draw(t, "at"))
		o.wait = max(0, rapid.IntRange(-4, 4).Draw(t, "wait"))
		switch where := rapid.IntRange(0, 15).Draw(t, "where"); {
		case where == 0 && len(b.Nowhere) > 0:
			o.addr, o.n, o.sound = rapid.SampledFrom(b.Nowhere).Draw(t, "nowhere"), max(o.n, 1), false
		case where == 1 && b.Ends:
			o.addr, o.n, o.sound = b.Base+b.Size-uint64(o.n), o.n+1, false
		case where == 2:
			o.addr = b.Base + b.Size - uint64(o.n)
		}
		list[i] = o
	}
	return list
}

// drawOp draws an operation, mostly reads and writes.
func drawOp(t *rapid.T) mem.Op {
	return [...]mem.Op{mem.Read, mem.Write, mem.Read, mem.Write, mem.Read, mem.Write, mem.Clean,
		mem.Invalidate}[rapid.IntRange(0, 7).Draw(t, "op")]
}

// play issues accesses and checks their results. Its clock counts the accesses issued.
type play struct {
	b     *Bench
	now   int
	bytes history
	all   []*issued
	err   error // first violation of the protocol
}

// issued is an issued access and its outcome.
type issued struct {
	mem.Access
	op
	at    int // number of the access in order of issue
	done  int // number of calls of Done
	ended int // number of accesses that were issued before this one was done
	got   []byte
	err   error
}

func (x *issued) String() string {
	return fmt.Sprintf("access %d, a %v of %d B at %#x", x.at, x.op.Op, x.n, x.addr)
}

func newPlay(b *Bench) *play { return &play{b: b, bytes: history{}} }

func (p *play) wrong(format string, a ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, a...)
	}
}

// run issues accesses, and returns the first violation.
func (p *play) run(ops []op) error {
	for i := range ops {
		for range ops[i].wait {
			p.step()
		}
		p.issue(ops[i])
	}
	p.settle()
	for _, x := range p.all {
		p.check(x)
	}
	for _, addr := range slices.Sorted(maps.Keys(p.bytes)) { // written bytes must still be there at the end
		x := p.issue(op{Op: mem.Read, addr: addr, n: 1, sound: true})
		p.settle()
		p.check(x)
	}
	return p.err
}

// step advances time a little and reports whether anything is still pending.
func (p *play) step() bool {
	if p.b.Step == nil {
		return false
	}
	more, err := p.b.Step()
	if err != nil {
		p.wrong("time stops: %w", err)
	}
	return more && p.err == nil
}

// settle steps until nothing is pending.
func (p *play) settle() {
	const patience = 1 << 20
	for n := 0; p.step(); n++ {
		if n == patience {
			p.wrong("after %d steps there is still something left to happen", n)
		}
	}
}

func (p *play) issue(o op) *issued {
	p.now++
	x := &issued{op: o, at: p.now}
	x.Access = mem.Access{Op: o.Op, By: o.by, Addr: o.addr, Done: func(a *mem.Access) { p.done(x, a) }}
	if o.Moves() {
		x.Data = make([]byte, o.n)
	} else {
		x.Span = o.n
	}
	for i := range x.Data {
		x.Data[i] = byte(p.now*16+i) | 1
	}
	if err := p.b.Target.Check(o.Op, o.addr, o.n); o.sound && err != nil {
		p.wrong("%v lies inside memory, but its Check fails: %w", x, err)
	} else if !o.sound {
		p.refused(x, "Check", err)
	}
	if o.sound {
		p.bytes.add(x)
	}
	p.all = append(p.all, x)
	p.b.Target.Access(&x.Access)
	return x
}

// done handles the end of an access.
func (p *play) done(x *issued, a *mem.Access) {
	if a != &x.Access {
		p.wrong("Done of %v is called with another access", x)
	}
	if x.done++; x.done > 1 {
		p.wrong("%v is done %d times, want once", x, x.done)
		return
	}
	x.ended, x.err, x.got = p.now, a.Err, append([]byte(nil), a.Data...)
	if x.op.Op == mem.Write && x.sound {
		p.checkVisible(x)
	}
}

// checkVisible checks that the effects of a finished write, and of all writes before it, are visible.
func (p *play) checkVisible(x *issued) {
	var b [1]byte
	for _, addr := range slices.Sorted(maps.Keys(p.bytes)) {
		if err := p.b.Peek(addr, b[:]); err != nil {
			p.wrong("peek at %#x: %w", addr, err)
		} else if !p.bytes.may(addr, x.at+1, p.now)[b[0]] {
			p.wrong("%v is done, and %#x stands at %#x: a write up to this one is not seen there", x, b[0], addr)
		}
	}
}

// check checks the result of an access.
func (p *play) check(x *issued) {
	switch {
	case x.done == 0:
		p.wrong("%v is not done", x)
	case !x.sound:
		p.refused(x, "its error", x.err)
	case x.err != nil:
		p.wrong("%v lies inside memory, but failed: %w", x, x.err)
	case x.op.Op == mem.Read:
		for i, v := range x.got {
			if !p.bytes.may(x.addr+uint64(i), x.at, x.ended)[v] {
				p.wrong("%v, done after access %d: byte %d is %#x, which it was not in that time", x, x.ended, i, v)
			}
		}
	}
}

// refused checks the error of an access outside memory.
func (p *play) refused(x *issued, what string, err error) {
	var r *mem.RangeError
	if !errors.Is(err, mem.ErrNoMemory) || !errors.As(err, &r) {
		p.wrong("%v lies outside memory, and %s is %v: want a *mem.RangeError", x, what, err)
	} else if r.Addr != x.addr || r.Len != x.n || r.Op != x.op.Op {
		p.wrong("%v: %s speaks of another access: %w", x, what, r)
	}
}
