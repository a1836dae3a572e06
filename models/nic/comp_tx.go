package nic

import (
	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// none is no slot.
const none = -1

// txPath is the transmit side.
type txPath struct {
	ports  []ethOut
	queues []txQueue
	want   bitset // queues that may want work entries
	start  bitset // queues whose next work entry is there
	slots  []txSlot
	free   ring[int32]
	room   int         // bytes of the gather buffer not in use
	gather ring[int32] // slots with requests to issue, as started
	finish ring[int32] // slots whose frame is complete, by due
	active int         // slots in use
}

type txQueue struct {
	win  window
	refs int // reads, slots and completion entries under way

	// Entries at work, oldest first, linked by txSlot.next. Those before emit
	// have been handed to port.
	head, tail, emit int32
	port             int

	failed   bool // an Event is to be written once the entries before win.end ended
	failedAt uint16
	status   nicspec.Status
}

// txSlot is a work entry at work.
type txSlot struct {
	plan   TxPlan
	status nicspec.Status
	ready  bool // finished: status and frame are final
	queue  int32
	next   int32
	index  uint16
	due    int64
	frame  *ether.Frame // gathered here; nil if nothing is to leave
	reads  [nicspec.WqeSlots]Read
	open   int // pieces not there yet
}

// txCqe is a completion entry to be written.
type txCqe struct {
	addr  uint64
	queue int32
	cqe   [nicspec.CqeBytes]byte
}

// ethOut is the Ethernet stream out of a port.
type ethOut struct {
	stall
	x    crossing
	cur  int32 // slot, while busy
	busy bool
	fifo ring[int32]
}

func (t *txPath) busy() bool { return t.active != 0 || !t.start.empty() }

// wqesCame takes work entries, or the failure to read them [T2].
func (c *Comp) wqesCame(rd *Read) {
	i := int(rd.Owner)
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	tq.refs--
	switch {
	case rd.Gen != tq.win.gen || tq.win.beyond(rd.First):
		return
	case rd.Status == nicspec.StatusOk:
		tq.win.arrived(rd.First, uint16(len(rd.Dst)/nicspec.WqeBytes))
		c.offer(i)
		return
	}
	tq.win.cutAt(rd.First)
	if q.State == nicspec.QueueStateOff && !tq.failed {
		return
	}
	if q.State == nicspec.QueueStateRun {
		q.Fail(rd.Status)
		c.regs.Step(nicspec.CntQueueErr)
	}
	q.Err = rd.Status
	tq.failed, tq.failedAt, tq.status = true, rd.First, rd.Status
	c.event(i)
}

// offer notes whether a queue has an entry that can be started.
func (c *Comp) offer(i int) {
	if c.tx.queues[i].win.ready() {
		c.tx.start.set(i)
	} else {
		c.tx.start.clear(i)
	}
}

// event writes a failed queue's Event when the entries before it have ended.
func (c *Comp) event(i int) {
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	if !tq.failed || q.CI != tq.win.end {
		return
	}
	tq.failed = false
	e := txCqe{addr: q.CqeAddr(q.CQI), queue: int32(i)}
	BuildEvent(uint16(i), tq.failedAt, tq.status, q.Phase(q.CQI), &e.cqe)
	q.CQI++
	tq.refs++
	c.out.cqes.push(e)
}

// drainTx is the disabling of a queue [T11]: what was fetched ends as usual,
// unless CTRL.tx_enable keeps it from starting.
func (c *Comp) drainTx(i int) {
	if !c.regs.TxEnable() {
		w := &c.tx.queues[i].win
		w.cutAt(w.use)
		c.offer(i)
		c.event(i)
	}
}

// startEntries starts one work entry: it is checked, and its pieces are asked
// for.
func (c *Comp) startEntries() {
	t := &c.tx
	if t.start.empty() || t.free.n == 0 || !c.regs.TxEnable() {
		return
	}
	before := t.start.last
	i := t.start.next()
	tq := &t.queues[i]
	id := *t.free.front()
	s := &t.slots[id]
	DecodeWqe((*[nicspec.WqeBytes]byte)(tq.win.peek()), c.regs.keys, TxLimits{Ports: c.spec.Ports}, &s.plan)
	if s.plan.Send && s.plan.Length > t.room {
		t.start.last = before
		return
	}
	t.free.pop()
	s.queue, s.index, s.next = int32(i), tq.win.use, none
	s.status, s.ready, s.open, s.frame = s.plan.Status, false, 0, nil
	tq.win.take()
	c.offer(i)
	t.want.set(i)
	tq.append(t.slots, id)
	t.active++
	c.moved = true
	if s.plan.Send {
		t.room -= s.plan.Length
		s.begin(id, c.frames)
	}
	if s.open == 0 {
		c.gathered(id)
		return
	}
	s.due = c.now + int64(c.spec.Timing.TxPlan)
	t.gather.push(id)
}

// begin takes a buffer for the frame, and sets up the reads of its pieces.
func (s *txSlot) begin(id int32, pool *ether.Pool) {
	p := &s.plan
	s.frame = pool.Get(p.Length)
	copy(s.frame.Data, p.Inline[:p.InlineLen])
	for i := range p.NumPieces {
		piece := &p.Pieces[i]
		s.reads[i].Client, s.reads[i].Owner = readPiece, id
		s.reads[i].Begin(piece.Bus, s.frame.Data[piece.Off:piece.Off+piece.Len])
	}
	s.open = p.NumPieces
}

// wanting returns the first of the entry's transfers that wants a request. An
// entry that has failed wants none.
func (s *txSlot) wanting() *Read {
	if s.status != nicspec.StatusOk {
		return nil
	}
	for i := range s.plan.NumPieces {
		if s.reads[i].Wants() {
			return &s.reads[i]
		}
	}
	return nil
}

// pieceCame notes the end of a piece's transfer. When one fails, the others
// of the entry that have not begun are given up.
func (c *Comp) pieceCame(rd *Read) {
	s := &c.tx.slots[rd.Owner]
	s.open--
	if rd.Status != nicspec.StatusOk && s.status == nicspec.StatusOk {
		s.status = rd.Status
		for i := range s.plan.NumPieces {
			if o := &s.reads[i]; o != rd && o.Wants() {
				o.Status = rd.Status
				if o.open == 0 {
					s.open--
				}
			}
		}
	}
	if s.open == 0 {
		c.gathered(rd.Owner)
	}
}

// gathered sends an entry, all of whose bytes are there, through the offloads.
func (c *Comp) gathered(id int32) {
	c.tx.slots[id].due = c.now + int64(c.spec.Timing.TxPipe)
	c.tx.finish.push(id)
}

// finishEntries ends the work on entries' frames.
func (c *Comp) finishEntries() {
	t := &c.tx
	for t.finish.n > 0 && c.until(t.slots[*t.finish.front()].due) {
		s := &t.slots[t.finish.pop()]
		c.moved = true
		if s.frame != nil && s.status == nicspec.StatusOk {
			var data []byte
			if data, s.status = FinishTx(&s.plan, s.frame.Data); s.status == nicspec.StatusOk {
				s.frame.Data, s.frame.TrafficBytes = data, len(data)
				s.frame.Port, s.frame.Queue = s.plan.Port, int(s.queue)
			}
		}
		if s.frame != nil && s.status != nicspec.StatusOk {
			c.frames.Put(s.frame)
			s.frame = nil
		}
		s.ready = true
		c.advance(int(s.queue))
	}
}

func (q *txQueue) append(slots []txSlot, id int32) {
	if q.tail == none {
		q.head = id
	} else {
		slots[q.tail].next = id
	}
	q.tail = id
	if q.emit == none {
		q.emit = id
	}
	q.refs++
}

// advance hands a queue's frames to their ports and ends its entries, both in
// ring order [T1, T10]. Frames of one queue queue up behind each other at one
// port only, so that they leave in order.
func (c *Comp) advance(i int) {
	tq := &c.tx.queues[i]
	for tq.emit != none {
		id := tq.emit
		s := &c.tx.slots[id]
		first := id == tq.head
		if !s.ready || !first && (s.frame == nil || s.plan.Port != tq.port) {
			return
		}
		tq.emit = s.next
		if s.frame == nil {
			c.entryEnded(tq, s, 0)
			continue
		}
		tq.port = s.plan.Port
		c.tx.ports[tq.port].fifo.push(id)
	}
}

// entryEnded is [T10] for the oldest entry of a queue; sent is the length of
// its frame, 0 if none left.
func (c *Comp) entryEnded(tq *txQueue, s *txSlot, sent int) {
	i := int(s.queue)
	q := c.regs.Txq(i)
	c.regs.Step(nicspec.CntTxWqe)
	if s.status != nicspec.StatusOk {
		c.regs.Step(nicspec.CntTxErr)
	}
	q.CI++
	if s.plan.Complete || s.status != nicspec.StatusOk {
		e := txCqe{addr: q.CqeAddr(q.CQI), queue: s.queue}
		BuildTxCqe(uint16(i), s.index, s.status, s.plan.ID, sent, q.Phase(q.CQI), &e.cqe)
		q.CQI++
		tq.refs++
		c.out.cqes.push(e)
	}
	if s.plan.Send {
		c.tx.room += s.plan.Length
	}
	c.tx.free.push(tq.head)
	if tq.head = s.next; tq.head == none {
		tq.tail = none
	}
	tq.refs--
	c.tx.active--
	c.event(i)
}

// startFrames lets the next frame start on each port that is free.
func (c *Comp) startFrames() {
	for p := range c.tx.ports {
		l := &c.tx.ports[p]
		if l.busy || l.fifo.n == 0 || !c.until(l.x.free) || !c.eth[p].CanSend() {
			continue
		}
		l.cur, l.busy = l.fifo.pop(), true
		c.moved = true
		l.x.start(&l.stall, c.now, beatsOf(len(c.tx.slots[l.cur].frame.Data), c.spec.EthBits))
		c.finishFrame(p)
	}
}

// finishFrame ends the frame that crosses out of a port, if it is time.
func (c *Comp) finishFrame(p int) {
	l := &c.tx.ports[p]
	if !l.busy || !c.until(l.x.last) {
		return
	}
	l.busy = false
	c.moved = true
	s := &c.tx.slots[l.cur]
	f, n := s.frame, len(s.frame.Data)
	s.frame = nil
	c.observe(boundary.Crossing{Kind: boundary.FrameOut, Port: p, First: l.x.first, Last: l.x.last, Frame: f})
	c.regs.StepPort(nicspec.CntTxFrames, p, 1)
	c.regs.StepPort(nicspec.CntTxBytes, p, uint64(n))
	f.Seq = c.regs.Port(nicspec.CntTxFrames, p) - 1
	if c.eth[p].SendAt(f, c.time()) != nil {
		panic("nic: the Ethernet link refused a frame after CanSend")
	}
	i := int(s.queue)
	c.entryEnded(&c.tx.queues[i], s, n)
	c.advance(i)
}

// finishOutputs ends what crosses out of the device in this cycle.
func (c *Comp) finishOutputs() {
	for p := range c.tx.ports {
		c.finishFrame(p)
	}
	c.finishTLP()
}

func (c *Comp) time() simcore.Ps { return simcore.Ps(c.now) * c.period }
