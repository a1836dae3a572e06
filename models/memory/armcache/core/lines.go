package core

import "nictwin/models/memory/mem"

// blockLines is how many consecutive lines of memory share a block: those of the usual TLP. A line alone takes the
// room of them all.
const blockLines = 4

// State of a line.
const (
	held    = 1 << iota // it is here; all else is 0 if it is not
	dirty               // newer than memory
	pending             // the rest of it is being fetched
	byCore              // it belongs to a core, not to a device
	partial             // some of its bytes are not here
)

// block is lines that are neighbours in memory. Their sets may lie anywhere: a transfer goes through the memory of the
// processor that simulates in one piece.
type block struct {
	data [blockLines][mem.LineBytes]byte

	used   [blockLines]uint64 // when each was used last, in steps
	number uint64             // of its first line, divided by blockLines
	index  uint32             // its place in the pool
	here   int32              // lines that are here
	state  [blockLines]uint8
	way    [blockLines]uint8 // of its set that each is in

	have [blockLines]uint64 // which bytes are here, of lines that are partial
	_    [40]byte           // whole lines of the processor's own cache
}

// line is a place in a block; without a block it is none.
type line struct {
	*block
	at uint64
}

func (l line) is(bit uint8) bool  { return l.state[l.at%blockLines]&bit != 0 }
func (l line) set(bit uint8)      { l.state[l.at%blockLines] |= bit }
func (l line) clear(bit uint8)    { l.state[l.at%blockLines] &^= bit }
func (l line) bytes() []byte      { return l.data[l.at%blockLines][:] }
func (l line) present() *uint64   { return &l.have[l.at%blockLines] }
func (l line) lastUsed() *uint64  { return &l.used[l.at%blockLines] }
func (l line) lineNumber() uint64 { return l.number*blockLines + l.at }

// lacks reports whether some of the bytes of a mask are not here.
func (l line) lacks(want uint64) bool { return l.is(partial) && *l.present()&want != want }

func (l line) owner() mem.Agent {
	if l.is(byCore) {
		return mem.Core
	}
	return mem.Device
}

// place names a line of a pool in the row of a set: its number in the pool, plus one, and whether it is pending. 0:
// none.
type place uint32

const (
	placePending = 1
	placeShift   = 1
)

// poolBlocks is how many blocks are made at a time.
const poolBlocks = 128

// pool is the blocks that have a line, and those that are free. The one that became free last is used first: what
// comes and goes, as a ring does that is invalidated, stays in the processor's own cache.
type pool struct {
	chunks []*[poolBlocks]block
	free   []*block
}

// get is a block without lines.
func (p *pool) get() *block {
	if len(p.free) == 0 {
		chunk := new([poolBlocks]block)
		for i := range chunk {
			b := &chunk[poolBlocks-1-i]
			b.index = uint32(len(p.chunks)*poolBlocks + poolBlocks - 1 - i)
			p.free = append(p.free, b)
		}
		p.chunks = append(p.chunks, chunk)
	}
	last := len(p.free) - 1
	b := p.free[last]
	p.free = p.free[:last]
	return b
}

func (p *pool) place(l line) place {
	return place(l.index*blockLines+uint32(l.at)+1) << placeShift
}

// line is the line of a place that is not 0.
func (p *pool) line(at place) line {
	n := uint32(at>>placeShift) - 1
	i := n / blockLines
	return line{&p.chunks[i/poolBlocks][i%poolBlocks], uint64(n % blockLines)}
}

// runBlocks is the blocks of a run: 64 KB of memory.
const runBlocks = 1 << 10 / blockLines

// directory finds blocks by their number. Real caches compare the tags of a set; here the lines of a transfer, which
// are in as many sets, are found side by side.
type directory struct {
	runs   map[uint64]*[runBlocks]*block
	latest *[runBlocks]*block // that was looked at, and its number
	number uint64
}

// of is the run of a block, nil if none of its blocks ever had a line.
func (d *directory) of(number uint64) *[runBlocks]*block {
	number /= runBlocks
	if d.latest == nil || d.number != number {
		r := d.runs[number]
		if r == nil {
			return nil
		}
		d.latest, d.number = r, number
	}
	return d.latest
}

// find is the block of a number, nil if it has no line.
func (d *directory) find(number uint64) *block {
	r := d.of(number)
	if r == nil {
		return nil
	}
	return r[number%runBlocks]
}

// put notes a block, which is not there yet.
func (d *directory) put(b *block) {
	r := d.of(b.number)
	if r == nil {
		r = new([runBlocks]*block)
		d.runs[b.number/runBlocks] = r
	}
	r[b.number%runBlocks] = b
}

// forget notes that a block has no line any more.
func (d *directory) forget(b *block) { d.runs[b.number/runBlocks][b.number%runBlocks] = nil }
