package core

import "nictwin/models/memory/mem"

// blockLines is the number of consecutive memory lines that share a block: those of the usual TLP.
// A single line takes the room of all four.
const blockLines = 4

// State bits of a line.
const (
	held    = 1 << iota // cached; without it all other bits are 0
	dirty               // newer than memory
	pending             // the rest is being fetched
	byCore              // it belongs to a core, not to a device
	partial             // some of its bytes are missing
)

// block holds lines that are neighbours in memory, whatever their sets. So a transfer touches one
// contiguous piece of the simulating processor's memory.
type block struct {
	data [blockLines][mem.LineBytes]byte

	used   [blockLines]uint64 // step of the last use of each
	number uint64             // of its first line, divided by blockLines
	index  uint32             // position in the pool
	here   int32              // number of cached lines
	state  [blockLines]uint8
	way    [blockLines]uint8 // way of its set that each is in

	have [blockLines]uint64 // which bytes are here, for partial lines
	_    [40]byte           // pads to whole cache lines of the simulating processor
}

// line is a position in a block; a nil block means no line.
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

// lacks reports whether some bytes of a mask are missing.
func (l line) lacks(want uint64) bool { return l.is(partial) && *l.present()&want != want }

func (l line) owner() mem.Agent {
	if l.is(byCore) {
		return mem.Core
	}
	return mem.Device
}

// place is an entry in the row of a set: the number of a line in the pool, plus one, and whether it
// is pending. 0: empty way.
type place uint32

const (
	placePending = 1
	placeShift   = 1
)

// poolBlocks is the number of blocks made at a time.
const poolBlocks = 128

// pool holds the blocks in use and the free ones. The block freed last is used first: lines that
// come and go, such as those of a ring that is invalidated, stay in the simulating processor's own
// cache.
type pool struct {
	chunks []*[poolBlocks]block
	free   []*block
}

// get returns a block without lines.
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

// line returns the line of a place that is not 0.
func (p *pool) line(at place) line {
	n := uint32(at>>placeShift) - 1
	i := n / blockLines
	return line{&p.chunks[i/poolBlocks][i%poolBlocks], uint64(n % blockLines)}
}

// runBlocks is the number of blocks in a run: 64 KB of memory.
const runBlocks = 1 << 10 / blockLines

// directory finds blocks by their number. Real caches compare the tags of a set; here the lines of
// a transfer, which lie in as many sets, are found side by side.
type directory struct {
	runs   map[uint64]*[runBlocks]*block
	latest *[runBlocks]*block // run looked up last, and its number
	number uint64
}

// of returns the run of a block, nil if none of its blocks ever had a line.
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

// find returns the block with a number, nil if it has no line.
func (d *directory) find(number uint64) *block {
	r := d.of(number)
	if r == nil {
		return nil
	}
	return r[number%runBlocks]
}

// put adds a block that is not in the directory.
func (d *directory) put(b *block) {
	r := d.of(b.number)
	if r == nil {
		r = new([runBlocks]*block)
		d.runs[b.number/runBlocks] = r
	}
	r[b.number%runBlocks] = b
}

// forget removes a block that has no lines left.
func (d *directory) forget(b *block) { d.runs[b.number/runBlocks][b.number%runBlocks] = nil }
