package dma

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// ChunkBytes is the largest chunk; chunks end at multiples of it in the source.
const ChunkBytes = 4096

// Channel carries out the copies of one channel [D7]. Reads run ahead of the writes of the same
// copy and of earlier copies, while there are free chunks. Writes and ends of copies keep the order
// of the copies.
type Channel struct {
	jobs   []job // ring
	first  int
	count  int
	asked  int     // number of oldest jobs whose sources were requested completely
	chunks []chunk // ring, in order of request
	head   int
	used   int
	off    int // bytes of the head chunk already returned by Write
}

// job is a copy in flight.
type job struct {
	plan         Plan
	id           int32
	status       nicspec.Status
	asked        int  // source bytes requested
	wrote        int  // bytes returned by Write
	left         int  // bytes of writes that have left the device
	open         int  // chunks whose reads have not ended
	messageTaken bool // the copy's message was returned by Message
	sent         bool // the copy's message has left
}

// chunk is a part of a source, from the request of its read to its last write.
type chunk struct {
	job     *job
	dst     uint64
	n       int
	arrived bool
	buf     []byte
}

// NewChannel returns a channel with room for so many copies in flight (`jobs`) and chunks; each number is 1 or more.
func NewChannel(jobs, chunks int) *Channel {
	c := &Channel{jobs: make([]job, jobs), chunks: make([]chunk, chunks)}
	for i := range c.chunks {
		c.chunks[i].buf = make([]byte, ChunkBytes)
	}
	return c
}

// Busy reports whether a copy is in flight.
func (c *Channel) Busy() bool { return c.count > 0 }

// Room reports whether another copy can be started.
func (c *Channel) Room() bool { return c.count < len(c.jobs) }

func (c *Channel) job(i int) *job {
	if i += c.first; i >= len(c.jobs) {
		i -= len(c.jobs)
	}
	return &c.jobs[i]
}

// Start begins a copy; id identifies it in Ended. There must be Room.
func (c *Channel) Start(id int32, p *Plan) {
	*c.job(c.count) = job{plan: *p, id: id}
	c.count++
}

// NextRead returns the next chunk of a source to be read, and the buffer for its bytes. k
// identifies the chunk until ReadEnded. ok is false if there is nothing to read or no free chunk.
func (c *Channel) NextRead() (k int, addr uint64, dst []byte, ok bool) {
	if c.used == len(c.chunks) {
		return 0, 0, nil, false
	}
	for ; c.asked < c.count; c.asked++ {
		j := c.job(c.asked)
		if j.status != nicspec.StatusOk || j.asked == j.plan.Len {
			continue
		}
		addr = j.plan.Src + uint64(j.asked)
		n := min(j.plan.Len-j.asked, ChunkBytes-int(addr%ChunkBytes))
		k = (c.head + c.used) % len(c.chunks)
		x := &c.chunks[k]
		x.job, x.dst, x.n, x.arrived = j, j.plan.Dst+uint64(j.asked), n, false
		c.used++
		j.asked += n
		j.open++
		return k, addr, x.buf[:n], true
	}
	return 0, 0, nil, false
}

// WholeLines reports whether no request for a chunk may end inside a line [D2].
func (c *Channel) WholeLines(k int) bool { return c.chunks[k].job.plan.WholeLines() }

// align returns how the transfers of a copy are split. MPS and MRRS are multiples of a line, so
// aligned requests end at lines.
func (p *Plan) align() tlp.Align {
	if p.WholeLines() {
		return tlp.Aligned
	}
	return tlp.Unaligned
}

// Fail records that the read of a chunk fails, though completions of it may still come: no further
// read of its copy may start [D3].
func (c *Channel) Fail(k int, s nicspec.Status) {
	if j := c.chunks[k].job; j.status == nicspec.StatusOk {
		j.status = s
	}
}

// Flush ends unfinished copies with StatusFlushed: they start no further read, write or message
// [L2].
func (c *Channel) Flush() {
	for i := range c.count {
		j := c.job(i)
		if j.status == nicspec.StatusOk && (j.wrote < j.plan.Len || j.plan.Lines != 0 && !j.messageTaken) {
			j.status = nicspec.StatusFlushed
		}
	}
}

// Failed reports whether the copy of a chunk has failed.
func (c *Channel) Failed(k int) bool { return c.chunks[k].job.status != nicspec.StatusOk }

// ReadEnded records that the read of a chunk has ended, and with which status. It must be called
// once for every chunk.
func (c *Channel) ReadEnded(k int, s nicspec.Status) {
	c.Fail(k, s)
	x := &c.chunks[k]
	x.arrived = true
	x.job.open--
}

// Write returns the next write, of at most mps bytes. Its bytes are valid until the channel is
// called again. Call WriteLeft when it has left.
func (c *Channel) Write(mps int) (addr uint64, b []byte, ok bool) {
	if c.used == 0 {
		return 0, nil, false
	}
	x := &c.chunks[c.head]
	if !x.arrived || x.job != c.job(0) || x.job.status != nicspec.StatusOk {
		return 0, nil, false
	}
	split := tlp.SplitWrite(x.dst+uint64(c.off), x.n-c.off, mps, x.job.plan.align())
	piece, _ := split.Next()
	b = x.buf[c.off : c.off+piece.Len]
	x.job.wrote += piece.Len
	if c.off += piece.Len; c.off == x.n {
		c.next()
	}
	return piece.Addr, b, true
}

// next frees the head chunk.
func (c *Channel) next() {
	c.chunks[c.head].job = nil
	if c.head++; c.head == len(c.chunks) {
		c.head = 0
	}
	c.used--
	c.off = 0
}

// WriteLeft records that n bytes returned by Write have left.
func (c *Channel) WriteLeft(n int) { c.job(0).left += n }

// Message returns the plan whose message must be sent [D4, D5], or nil. Call MessageLeft when it
// has left.
func (c *Channel) Message() *Plan {
	if c.count == 0 {
		return nil
	}
	j := c.job(0)
	if j.messageTaken || j.plan.Lines == 0 || j.status != nicspec.StatusOk || j.left != j.plan.Len {
		return nil
	}
	j.messageTaken = true
	return &j.plan
}

// MessageLeft records that the message of the oldest copy has left the device.
func (c *Channel) MessageLeft() { c.job(0).sent = true }

// Ended removes the oldest copy if it is over, and returns how it ended [D6].
func (c *Channel) Ended() (id int32, s nicspec.Status, ok bool) {
	if c.count == 0 {
		return 0, 0, false
	}
	j := c.job(0)
	if j.status == nicspec.StatusOk && (j.left != j.plan.Len || j.plan.Lines != 0 && !j.sent) {
		return 0, 0, false
	}
	if j.open != 0 || j.left != j.wrote {
		return 0, 0, false
	}
	for c.used > 0 && c.chunks[c.head].job == j {
		c.next()
	}
	if c.first++; c.first == len(c.jobs) {
		c.first = 0
	}
	c.count--
	c.asked = max(c.asked-1, 0)
	return j.id, j.status, true
}
