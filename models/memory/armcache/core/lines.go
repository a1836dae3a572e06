package core

import "nictwin/models/memory/mem"

// blockLines is the number of consecutive memory lines that share a block: the four of a usual TLP.
// A block takes the memory of all four even if only one is cached.
const blockLines = 4

// State bits of a line.
const (
	held    = 1 << iota // cached; if clear, all other bits are 0
	dirty               // newer than memory
	pending             // being fetched
	byCore              // belongs to a core, else to a device
	partial             // some bytes are missing; see block.have
)

// block holds cached lines that are neighbours in memory, whatever their sets, so that a transfer
// touches contiguous memory of the simulating machine.
type block struct {
	data [blockLines][mem.LineBytes]byte

	used   [blockLines]uint64 // LRU time of the last use of each line
	number uint64             // number of the block's first line, divided by blockLines
	index  uint32             // position in the pool
	cached int32              // number of the block's lines that are cached
	state  [blockLines]uint8
	way    [blockLines]uint8 // way of each line

	have [blockLines]uint64 // mask of the bytes present in each line that is partial
	_    [40]byte           // pads to whole cache lines of the simulating machine
}

// line refers to one line of a block. In the result of a search, a nil block means that no line was found.
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

// lacks reports whether some of the bytes in a mask are missing.
func (l line) lacks(want uint64) bool { return l.is(partial) && *l.present()&want != want }

func (l line) owner() mem.Agent {
	if l.is(byCore) {
		return mem.Core
	}
	return mem.Device
}

// place is the content of a way: the position of a line in the pool plus one, and a bit for
// pending. 0 is an empty way.
type place uint32

const (
	placePending = 1
	placeShift   = 1
)

// poolBlocks is the number of blocks that are allocated at a time.
const poolBlocks = 128

// pool holds the blocks in use and a stack of free ones. The block freed last is reused first:
// blocks of short-lived lines, such as those of a ring that is invalidated, then stay in the
// simulating machine's own cache.
type pool struct {
	chunks []*[poolBlocks]block
	free   []*block
}

// get returns a free block.
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

// line returns the line that a place refers to; the place must not be 0.
func (p *pool) line(at place) line {
	n := uint32(at>>placeShift) - 1
	i := n / blockLines
	return line{&p.chunks[i/poolBlocks][i%poolBlocks], uint64(n % blockLines)}
}

// runBlocks is the number of blocks in a run of the directory: 64 KB of memory.
const runBlocks = 1 << 10 / blockLines

// directory finds the block of a line by its address. A real cache compares the tags of a set.
// Here, the lines of a transfer lie in different sets, but side by side in the directory.
type directory struct {
	runs   map[uint64]*[runBlocks]*block
	latest *[runBlocks]*block // run that was looked up last, and the number of that run
	number uint64
}

// of returns the run (runBlocks adjacent blocks) that contains the block with a number; nil if none of
// its blocks ever had a line.
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

// find returns the block with a number, or nil.
func (d *directory) find(number uint64) *block {
	r := d.of(number)
	if r == nil {
		return nil
	}
	return r[number%runBlocks]
}

// put adds a block to the directory.
func (d *directory) put(b *block) {
	r := d.of(b.number)
	if r == nil {
		r = new([runBlocks]*block)
		d.runs[b.number/runBlocks] = r
	}
	r[b.number%runBlocks] = b
}

// forget removes a block, which has no lines any more.
func (d *directory) forget(b *block) { d.runs[b.number/runBlocks][b.number%runBlocks] = nil }
