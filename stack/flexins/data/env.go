package data

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

var _ transport.Env = (*qp)(nil)

// Check implements transport.Env.
func (q *qp) Check(key uint32, addr uint64, n uint32, need verbs.Access) bool {
	return q.core.card.cfg.Regions.Remote(q.config.PD, key, addr, uint64(n), need)
}

// CheckLocal implements transport.Env.
func (q *qp) CheckLocal(to transport.Span) bool {
	if q.served != nil && to.Key == armKey {
		return true
	}
	return q.core.card.cfg.Regions.Local(q.config.PD, &verbs.SGE{Addr: to.Addr, Length: to.Len, LKey: to.Key},
		verbs.AccessLocalWrite)
}

// memory returns the span of host or engine memory that s names, with the NIC's memory key; ok is false if the region
// has been deregistered.
func (q *qp) memory(s transport.Span) (x driver.Span, ok bool) {
	k := q.core.card.keys[s.Key]
	if q.served != nil && s.Key == armKey {
		k = q.served.e.Key
	}
	if k == nil || s.Addr < k.Bus || uint64(s.Len) > k.Len || s.Addr-k.Bus > k.Len-uint64(s.Len) {
		return x, false
	}
	return driver.Span{Key: k, Off: s.Addr - k.Bus, Len: s.Len}, true
}

// Place implements transport.Env. With fences, completions leave behind the copies before them (copies.Copy).
func (q *qp) Place(h transport.Handle, parts []transport.Part, t transport.Token) (ordered bool) {
	c := q.core
	p := &c.packets.all[h]
	p.dropped = true
	if p.landing != nil && len(parts) == 0 {
		p.accepted = true
		c.finish(h, p)
		return true
	}
	if len(parts) > 1 {
		q.parts[t] = split{left: len(parts)}
	}
	ordered = c.fences && q.served == nil // an engine is called, and would not find the bytes
	p.copies += len(parts)                // count all copies before the first one can end
	for i := range parts {
		part := &parts[i]
		dst, ok := q.memory(part.To)
		if !ok {
			c.copies.add(job{packet: int32(h) + 1, q: q, token: t, then: q.failCopy(t)})
			ordered = false
			continue
		}
		n := int(part.To.Len)
		invalidate := c.spec.Receive == InCache && !p.kept && len(parts) == 1 && n == p.bytes &&
			n%nicspec.LineBytes == 0
		p.invalidated = p.invalidated || invalidate
		c.copies.add(job{dst: dst, src: c.span(p.at+uint64(part.Off), n), invalidate: invalidate,
			packet: int32(h) + 1, q: q, token: t})
	}
	return ordered
}

// failCopy returns a callback that reports a copy as failed, because its region was deregistered after it had been
// checked.
func (q *qp) failCopy(t transport.Token) func(error) {
	return func(error) {
		n := q.parts[t]
		if n.left == 0 {
			n.left = 1
		}
		n.failed = true
		q.parts[t] = n
	}
}

// Store implements transport.Env.
func (q *qp) Store(to transport.Span, value uint64, t transport.Token) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], value)
	q.stage(b[:], []transport.Part{{To: to}}, t)
}

// PlaceGRH implements transport.Env.
func (q *qp) PlaceGRH(_ transport.Handle, parts []transport.Part, t transport.Token) {
	var b [transport.GRHBytes]byte
	const ipv4, ipv6, l3 = 20, 40, 14
	if q.core.frame.From.IP.Is4() {
		copy(b[ipv6-ipv4:], q.core.header[l3:l3+ipv4])
	} else {
		copy(b[:], q.core.header[l3:l3+ipv6])
	}
	q.stage(b[:], parts, t)
}

// stage copies bytes to parts of host memory by way of a staging line.
func (q *qp) stage(b []byte, parts []transport.Part, t transport.Token) {
	c := q.core
	if len(parts) > 1 {
		q.parts[t] = split{left: len(parts)}
	}
	mine := append([]transport.Part(nil), parts...)
	b = append([]byte(nil), b...)
	q.copies++ // count the copy as in flight while it waits for a staging line
	c.copies.withLine(func(at uint64) {
		q.copies--
		c.fail(c.cpu.Store(at, b))
		for i := range mine {
			part := &mine[i]
			j := job{q: q, token: t}
			if i == len(mine)-1 {
				j.line = at // freed with the last part, since copies end in order
			}
			var ok bool
			if j.dst, ok = q.memory(part.To); ok {
				j.src = c.span(at+uint64(part.Off), int(part.To.Len))
			} else {
				j.then = q.failCopy(t)
			}
			c.copies.add(j)
		}
	})
}

// Keep implements transport.Env: it copies the packet from the cache to reorder memory and returns its buffer to the
// NIC (SN 3.3). Without room for it the packet stays in its buffer.
func (q *qp) Keep(h transport.Handle) {
	c := q.core
	p := &c.packets.all[h]
	if p.n == 0 || p.landing != nil {
		return
	}
	at, ok := c.reorder.take()
	if !ok {
		return
	}
	c.stats.Kept++
	c.fail(c.cpu.Clean(p.buf.Pay, p.bytes))
	c.fail(c.cpu.Copy(at, p.at, p.n))
	buf, whole, holder, answer := p.buf, p.bytes, p.holder, p.answer
	p.kept, p.at, p.slot, p.holder = true, at, at, nil
	was, others := c.packets.take()
	others.buf, others.bytes, others.dropped, others.holder, others.answer = buf, whole, true, holder, answer
	c.finish(was, others)
}

// Drop implements transport.Env.
func (q *qp) Drop(h transport.Handle) { q.core.drop(h) }

// CRC implements transport.Env. It loads the bytes, because the NIC's CRC-32C does not cover exactly the block.
func (q *qp) CRC(h transport.Handle, n int) uint32 {
	c := q.core
	p := &c.packets.all[h]
	if cap(c.block) < n {
		c.block = make([]byte, c.spec.PayloadBytes)
	}
	b := c.block[:min(n, p.n)]
	c.fail(c.cpu.Load(p.at, b))
	c.cpu.ComputeAs(cpu.Checksum, int64(len(b))*c.spec.CRCCycles/64)
	return wire.CRC32C(b)
}

// Invalidate implements transport.Env.
func (q *qp) Invalidate(key uint32) bool {
	return q.core.card.cfg.Regions.Invalidate(q.config.PD, key)
}

// Complete implements transport.Env.
func (q *qp) Complete(w *transport.Completion) {
	if q.served != nil {
		q.served.completed(w)
		return
	}
	x := pipe.Completion{
		ID: w.ID, Status: w.Status, Opcode: w.Opcode, Solicited: w.Solicited, Bytes: w.ByteLen, Imm: w.Imm,
		QPN: q.config.QPN, SrcQP: w.SrcQP, Recv: w.Recv,
	}
	switch {
	case w.HasImm:
		x.Flags = verbs.WCWithImm
	case w.HasInv:
		x.Flags, x.Imm = verbs.WCWithInv, w.InvKey
	}
	if w.Recv && q.config.Type == verbs.QPTUD && w.Status == verbs.WCSuccess {
		x.Flags |= verbs.WCGRH
	}
	to := q.send
	if w.Recv {
		to = q.recv
	}
	to.push(&x)
}

// Async implements transport.Env.
func (q *qp) Async(e transport.Event) {
	if f := q.core.card.async; f != nil {
		f(Async{Event: e, QPN: q.config.QPN})
	}
}
