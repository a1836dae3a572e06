package nic

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
)

// The clients of the reader, and their use of the owner's fields of core.Read.
const (
	readDesc   = iota // Owner: receive queue, First: index of the first descriptor, Gen: generation of its window
	readWqe           // Owner: transmit queue, First: index of the first block, Gen: generation of its window
	readPiece         // Owner: slot of the entry
	readCopy          // Owner: copy channel, First: chunk
	numReaders = iota
)

// feedRead makes p the next read request and reports whether there was one. Descriptors, work
// entries, pieces of frames and copies take turns.
func (c *Comp) feedRead(p *tlp.Packet) bool {
	if !c.reader.CanIssue(c.now) {
		if held := c.reader.Held(); held != core.Never {
			c.wakeBy(held)
		}
		return false
	}
	for left, at := c.readClients(), c.out.readTurn; left != 0; left &^= 1 << at {
		at = after(left, at)
		if rd := c.wanted(at); rd != nil {
			c.out.readTurn = at
			h := c.reader.Issue(rd, c.limits.MRRS)
			if rd.Client == readPiece || rd.Client == readCopy {
				h.Attr = c.attr
			}
			p.Data = nil
			c.setHeader(p, &h)
			c.out.what, c.out.ref = outRead, int32(h.Tag)
			return true
		}
	}
	return false
}

// readClients returns the set of clients that may have a request to issue. Copies are in it only
// while one is in flight, although their channels may stay marked longer: feedRead would otherwise
// free held tags or schedule the NIC for nothing.
func (c *Comp) readClients() uint {
	return bit(readDesc, !c.rx.want.Empty()) | bit(readWqe, !c.tx.want.Empty()) |
		bit(readPiece, c.tx.gather.Len() != 0) | bit(readCopy, c.tx.copying != 0 && c.tx.copyAt.asks != 0)
}

func (c *Comp) wanted(reader int) *core.Read {
	switch reader {
	case readDesc:
		return c.wantedDesc()
	case readWqe:
		return c.wantedWqe()
	case readCopy:
		return c.wantedCopy()
	}
	return c.wantedPiece()
}

// wantedDesc returns a new read of descriptors for the next queue that has some to fetch, or nil.
func (c *Comp) wantedDesc() *core.Read {
	for !c.rx.want.Empty() {
		i := c.rx.want.Next()
		q, rq := c.regs.Rxq(i), &c.rx.queues[i]
		if rd := c.fetchRead(readDesc, i, q, &rq.win, q.DescAddr(rq.win.Next)); rd != nil {
			rq.refs++
			return rd
		}
		c.rx.want.Clear(i)
	}
	return nil
}

// wantedWqe returns a new read of work entries for the next queue that has some to fetch, or nil.
func (c *Comp) wantedWqe() *core.Read {
	for !c.tx.want.Empty() && c.regs.TxEnable() {
		i := c.tx.want.Next()
		q, tq := c.regs.Txq(i), &c.tx.queues[i]
		if c.park(i) {
			continue
		}
		if rd := c.fetchRead(readWqe, i, q, &tq.win, q.WqeAddr(tq.win.Next)); rd != nil {
			tq.refs++
			return rd
		}
		c.tx.want.Clear(i)
	}
	return nil
}

// fetchRead begins the read of the next entries of a queue, which are at addr. It returns nil if
// the queue's window wants no entries now.
func (c *Comp) fetchRead(client uint8, queue int, q *core.Queue, w *ring.Window, addr uint64) *core.Read {
	if q.State != nicspec.QueueStateRun {
		return nil
	}
	n := w.Wants(q.PI, addr, c.limits.MRRS)
	if n == 0 {
		return nil
	}
	rd := c.getRead()
	rd.Client, rd.Owner, rd.First, rd.Gen = client, int32(queue), w.Next, w.Gen
	rd.Begin(addr, w.Slot(w.Next, n))
	w.Next += n
	return rd
}

func (c *Comp) getRead() *core.Read {
	if n := len(c.readPool); n > 0 {
		rd := c.readPool[n-1]
		c.readPool = c.readPool[:n-1]
		return rd
	}
	return new(core.Read)
}

// wantedPiece returns the next read of a piece with a request to issue, that of the oldest entry
// first, or nil.
func (c *Comp) wantedPiece() *core.Read {
	for c.tx.gather.Len() > 0 {
		s := &c.tx.slots[*c.tx.gather.Front()]
		if !c.reached(s.due) {
			return nil
		}
		if rd := s.nextRead(); rd != nil {
			return rd
		}
		c.tx.gather.Pop()
	}
	return nil
}

// readEnded handles the end of a request of a read. If the read is Done, it goes to its client.
func (c *Comp) readEnded(rd *core.Read) {
	if rd.Client == readCopy && rd.Status != nicspec.StatusOk {
		c.chunkFailed(rd)
	}
	if !rd.Done() {
		return
	}
	switch rd.Client {
	case readDesc:
		c.descsArrived(rd)
		c.readPool = append(c.readPool, rd)
	case readWqe:
		c.blocksArrived(rd)
		c.readPool = append(c.readPool, rd)
	case readCopy:
		c.chunkRead(rd)
	default:
		c.pieceRead(rd)
	}
}
