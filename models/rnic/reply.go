package rnic

import (
	"encoding/binary"
	"errors"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/sim/fifo"
)

var errNoFrame = errors.New("received something that is no frame")

// reply is the answer to a request, until its last packet has left. The replies of a queue pair leave in the order of
// their requests.
type reply struct {
	packets fifo.Queue[*txPacket]
	all     bool   // the last packet has been added
	gated   bool   // no packet may leave yet: the packet table is being filled
	next    *reply // next reply in qpair.replies
}

func (c *Comp) newReply(op *rxOp) *reply {
	r := take(&c.pools.replies)
	r.all, r.gated = false, false
	op.q.replies.Push(r)
	c.table.open++
	return r
}

// release sends the packets of a queue pair's replies that may leave now.
func (c *Comp) release(q *qpair) {
	for q.replies.Len() > 0 {
		r := q.replies.Front()
		for !r.gated && r.packets.Len() > 0 && (*r.packets.Front()).waits == 0 {
			if x := *r.packets.Front(); x.job != nil && q.pace != nil && !q.pace.windowed {
				if !c.due(q, c.now()) {
					return
				}
				q.pace.sent(c.now(), len(x.f.Data), q.PMTU, true)
				q.pace.replies = false
			}
			c.leave(r.packets.Pop())
		}
		if r.packets.Len() > 0 || !r.all {
			return
		}
		q.replies.Pop()
		c.table.open--
		c.pools.replies = append(c.pools.replies, r)
	}
}

// acknowledge sends a reply of one packet without payload.
func (c *Comp) acknowledge(op *rxOp) {
	q, r := op.q, op.reply
	if op.e.Reply.Kind == core.AtomicReply {
		q.ReadDone()
	}
	x := c.newPacket(q, c.now())
	x.addr, x.answer = &q.Address, true
	q.PlanReply(&op.e.Reply, 0, &c.rx.p)
	c.frame(x, &c.rx.p, 0)
	r.packets.Push(x)
	r.all = true
	c.release(q)
}

// table is the packet table: entries for READ data that was requested and has not left, one per
// PCIe packet.
type table struct {
	free    int
	open    int                  // number of replies in flight
	waiting fifo.Queue[*readJob] // READs that wait for entries of the packet table
	active  fifo.Queue[*readJob] // READs that have packets to request; the READs take turns
	owner   *readJob             // READ that owns the whole table; nil: none
}

// readJob is a READ being answered. A READ that fits the table takes its entries without waiting,
// so that it overlaps with those before and after it. A longer one waits until the table is empty
// and then owns all of it: it fills the table, drains it, and only then fills it again.
type readJob struct {
	op        *rxOp
	q         *qpair
	plan      core.Reply
	reply     *reply
	next      int  // number of packets requested so far
	packets   int  // number of all packets
	unfilled  int  // packets whose data was requested and has not arrived
	undrained int  // packets whose data was requested and that have not left
	entries   int  // table entries that the READ needs
	lookedUp  bool // the lookups for the next packet of the READ are done
	ownsTable bool
	queued    bool // the READ is in table.active
}

// startRead begins to answer a READ.
func (c *Comp) startRead(op *rxOp) {
	j := take(&c.pools.jobs)
	*j = readJob{op: op, q: op.q, plan: op.e.Reply, reply: op.reply}
	j.packets = op.q.ReplyPackets(&j.plan)
	last := j.plan.Len - (j.packets-1)*op.q.PMTU // bytes of the last packet
	j.entries = (j.packets-1)*c.entries(j.plan.Bus, op.q.PMTU) + c.entries(j.plan.Bus, last)
	j.ownsTable = j.entries > c.spec.Table
	op.unsent++ // dataArrived reverts this when all data has arrived
	j.q.refs++
	c.table.waiting.Push(j)
	c.admit()
}

// entries returns how many entries of the packet table n bytes occupy.
func (c *Comp) entries(bus uint64, n int) int {
	mps := c.spec.Limits[endpoint(bus)].MPS
	return (n + mps - 1) / mps
}

// admit assigns table entries to waiting READs, in order.
func (c *Comp) admit() {
	t := &c.table
	for t.waiting.Len() > 0 && t.owner == nil {
		j := *t.waiting.Front()
		switch {
		case j.ownsTable && t.free == c.spec.Table:
			t.owner, j.reply.gated = j, true
		case !j.ownsTable && j.entries <= t.free:
			t.free -= j.entries
		default:
			return
		}
		c.requestInTurn(t.waiting.Pop())
	}
}

// requestInTurn lets a READ job request its data when its turn comes.
func (c *Comp) requestInTurn(j *readJob) {
	if !j.queued {
		j.queued = true
		c.table.active.Push(j)
		c.arm(c.now())
	}
}

// fillJobs requests the data of READs, a packet of each in turn, while no DMA read waits.
func (c *Comp) fillJobs() {
	t := &c.table
	for t.active.Len() > 0 && c.dma.waiting.Len() == 0 && c.dma.free.Len() > 0 && c.dma.out.Len() < c.spec.OutDepth {
		j := t.active.Pop()
		j.queued = false
		off, n := j.q.PlanReply(&j.plan, j.next, &c.rx.p)
		entries := c.entries(j.plan.Bus+uint64(off), n)
		if j.ownsTable {
			if t.free < entries {
				continue // readLeft requests again when the data in the table has left
			}
			t.free -= entries
		}
		if !c.lookUpRead(j, off, n) {
			if j.ownsTable {
				t.free += entries
			}
			continue
		}
		c.requestPacket(j, off, n, entries)
		if j.next < j.packets {
			c.requestInTurn(j)
		}
		c.request()
	}
}

// requestPacket requests the data of one packet.
func (c *Comp) requestPacket(j *readJob, off, n, entries int) {
	x := c.newPacket(j.q, c.now())
	x.addr, x.answer, x.job, x.entries, x.waits = &j.q.Address, true, j, entries, 1
	c.frame(x, &c.rx.p, n)
	j.next++
	j.unfilled++
	j.undrained++
	j.reply.packets.Push(x)
	j.reply.all = j.next == j.packets
	c.read(j.plan.Bus+uint64(off), x.f.Data[x.at:x.at+n], x)
}

// dataArrived records that the data of a packet has arrived.
func (c *Comp) dataArrived(x *txPacket) {
	x.waits = 0
	j := x.job
	j.unfilled--
	if j.ownsTable && j.unfilled == 0 && (j.next == j.packets || c.table.free < c.entries(j.plan.Bus, j.q.PMTU)) {
		j.reply.gated = false // the packet table is full, or has the whole READ: its packets may leave
	}
	q, op, last := j.q, j.op, j.next == j.packets && j.unfilled == 0
	c.release(q)
	if last && op != nil {
		j.op = nil
		op.Consumed(0)
	}
}

// packetLeft records that a packet of a reply has left.
func (c *Comp) packetLeft(x *txPacket) {
	j := x.job
	if j == nil {
		return
	}
	t := &c.table
	t.free += x.entries
	if j.undrained--; j.undrained == 0 {
		c.readLeft(j)
	}
	c.admit()
}

// readLeft is called when all requested data of a READ has left. It ends the READ, or lets one that
// owns the table fill it again.
func (c *Comp) readLeft(j *readJob) {
	t := &c.table
	switch {
	case j.next == j.packets:
		if t.owner == j {
			t.owner = nil
		}
		if !j.plan.Again {
			j.q.ReadDone()
		}
		j.q.refs--
		c.pools.jobs = append(c.pools.jobs, j)
	case j.ownsTable:
		j.reply.gated = true
		c.requestInTurn(j)
	}
}

// atomicUnit carries out atomics one after the other.
type atomicUnit struct {
	line fifo.Queue[*rxOp]
}

func (u *atomicUnit) add(c *Comp, op *rxOp) {
	u.line.Push(op)
	if u.line.Len() == 1 {
		u.next(c)
	}
}

func (u *atomicUnit) next(c *Comp) {
	op := *u.line.Front()
	c.read(op.e.Reply.Bus, op.word[:], op)
}

// dmaReadDone implements reader: the original value was read. Once the new one is on its way to
// memory, requests behind the atomic may proceed.
func (op *rxOp) dmaReadDone(c *Comp, ok bool) {
	u, q := &c.atomics, op.q
	u.line.Pop()
	if ok {
		now := q.Apply(&op.e.Reply, binary.LittleEndian.Uint64(op.word[:]))
		binary.LittleEndian.PutUint64(op.word[:], now)
		op.unsent += c.write(op.e.Reply.Bus, op.word[:], op)
	} else {
		op.e.Reply.Kind, op.e.Reply.Syndrome = core.AckReply, uint8(wire.NAKRemoteOperational)
		c.e.Reset()
		q.Fail(0, &c.e)
		c.writeCompletions(q, &c.e)
	}
	op.Consumed(0)
	if u.line.Len() > 0 {
		u.next(c)
	}
	q.atomics--
	c.unbar(q)
}
