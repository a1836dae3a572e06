package nic

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// wantedCopy returns the read of a chunk that has a request to issue, or nil. Channels take turns.
func (c *Comp) wantedCopy() *core.Read {
	t := &c.tx
	for left, at := t.copyAt.asks, t.copyAt.read; left != 0; left &^= 1 << at {
		at = after(left, at)
		if rd := c.wantedChunk(at); rd != nil {
			t.copyAt.read = at
			return rd
		}
		t.copyAt.asks &^= 1 << at
	}
	return nil
}

// wantedChunk returns the read of a channel that has a request to issue, or nil: the read begun
// earlier, or that of the next chunk.
func (c *Comp) wantedChunk(channel int) *core.Read {
	h := &c.tx.copies[channel]
	if h.cur != none && h.reads[h.cur].Wants() {
		return &h.reads[h.cur]
	}
	k, addr, dst, ok := h.NextRead()
	if h.cur = k; !ok {
		h.cur = none
		return nil
	}
	rd := &h.reads[k]
	rd.Client, rd.Owner, rd.First = readCopy, int32(channel), uint16(k)
	if rd.Align = tlp.Unaligned; h.WholeLines(k) {
		rd.Align = tlp.Aligned
	}
	rd.Begin(addr, dst)
	return rd
}

// chunkRead records that the read of a chunk has ended.
func (c *Comp) chunkRead(rd *core.Read) {
	c.tx.copies[rd.Owner].ReadEnded(int(rd.First), rd.Status)
	c.advanceCopies(int(rd.Owner))
}

// chunkFailed fails the copy of a chunk. If a chunk of the same copy is being requested, its
// remaining requests are not issued [D3].
func (c *Comp) chunkFailed(rd *core.Read) {
	h := &c.tx.copies[rd.Owner]
	h.Fail(int(rd.First), rd.Status)
	c.abandonChunk(h, rd.Status)
}

// abandonChunk stops requesting the current chunk of a channel if its copy has failed.
func (c *Comp) abandonChunk(h *copyChan, s nicspec.Status) {
	if h.cur == none || !h.reads[h.cur].Wants() || !h.Failed(h.cur) {
		return
	}
	if h.reads[h.cur].GiveUp(s) {
		h.ReadEnded(h.cur, s)
	}
	h.cur = none
}

// advanceCopies marks a channel as active and ends its finished copies. It must be called after
// every event that may let the channel read or write again, except two: startCopy and feedChannel mark
// the channel themselves, after the start of a copy and after a write that makes room for a chunk.
func (c *Comp) advanceCopies(channel int) {
	c.tx.copyAt.markActive(channel)
	h := &c.tx.copies[channel]
	for {
		id, status, ok := h.Ended()
		if !ok {
			return
		}
		s := &c.tx.slots[id]
		s.status, s.ready = status, true
		c.tx.copying--
		c.advance(int(s.queue))
	}
}

// feedCopy makes p the next write or message of a copy and reports whether there was one. Channels
// take turns.
func (c *Comp) feedCopy(p *tlp.Packet) bool {
	t := &c.tx
	for left, at := t.copyAt.writes, t.copyAt.write; left != 0; left &^= 1 << at {
		at = after(left, at)
		if c.feedChannel(at, p) {
			t.copyAt.write = at
			return true
		}
		t.copyAt.writes &^= 1 << at
	}
	return false
}

func (c *Comp) feedChannel(channel int, p *tlp.Packet) bool {
	h := &c.tx.copies[channel]
	if addr, b, ok := h.Write(c.limits.MPS); ok {
		c.tx.copyAt.asks |= 1 << channel // the write makes room for another chunk
		c.setWrite(p, addr, b, c.attr)
		c.out.what, c.out.ref, c.out.bytes = outCopy, int32(channel), len(b)
		return true
	}
	plan := h.Message()
	if plan == nil {
		return false
	}
	if err := dma.SetMessage(p, plan); err != nil {
		panic("nic: an invalidate message cannot be encoded: " + err.Error())
	}
	c.out.what, c.out.ref = outMessage, int32(channel)
	return true
}

// copyLeft records that a write of a copy has left [D6].
func (c *Comp) copyLeft(channel, n int) {
	c.regs.Add(nicspec.CntCopyBytes, uint64(n))
	c.tx.copies[channel].WriteLeft(n)
	c.advanceCopies(channel)
}
