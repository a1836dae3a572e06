package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/models/nicspec"

	"nictwin/golden/verdict"
	"nictwin/models/tlp"
)

// sharedWrite is a write to a place in the buffers of several descriptors, or in
// both of one. Whose it was is decided by their completion entries: each demands
// certain bytes at certain addresses, once [R10]. A descriptor takes, byte by
// byte, the earliest write that fits; what is later fits all descriptors still to
// come that this would have fitted, so that no choice is lost.
type sharedWrite struct {
	addr  uint64
	cycle int64
	data  []byte
	taken memory.Set // by descriptors that are done
}

func (w *sharedWrite) offers(addr uint64, since int64) bool {
	at := addr - w.addr
	return w.cycle >= since && addr >= w.addr && at < uint64(len(w.data)) && w.taken.Free(int(at), int(at)+1)
}

// markShared finds the buffers that overlap with one of a descriptor that is
// about to be entered.
func (r *Referee) markShared(s *rxSlot, addr uint64, size int) {
	hi := memory.End(addr, size)
	for page := addr &^ (tlp.PageBytes - 1); page < hi; page += tlp.PageBytes {
		for node := r.ent.Writable.First(page); node != nil; node = r.ent.Writable.Next(node) {
			if node.Owner.Kind == memory.Buffer && addr < node.Hi && hi > node.Lo {
				r.rx.queue(node.Owner.Queue).slot(node.Owner.Index).shares = true
				s.shares = true
			}
		}
		if page+tlp.PageBytes < page {
			return
		}
	}
}

// sharedWrite keeps a write that several buffers may be meant by.
func (r *Referee) sharedWrite(addr uint64, b []byte) {
	w := r.rx.writes.Get()
	w.addr, w.cycle, w.data = addr, r.now, append(w.data[:0], b...)
	w.taken.Clear()
	r.rx.shared = append(r.rx.shared, w)
	none := (*memory.Range[attribution.Entry])(nil)
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind != memory.Buffer || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		q := r.rx.queue(node.Owner.Queue)
		if r.awaits(q, node.Owner.Index) {
			r.log.Saw(q.domain())
			return
		}
		if none == nil {
			none = node
		}
	}
	r.failNoFrame(r.rx.queue(none.Owner.Queue), none.Owner.Index, int(none.Owner.Part), int(addr-none.Lo), len(b))
}

// claimShared gives a part of a descriptor that is done the n bytes of its frame
// that it lacks.
func (r *Referee) claimShared(s *rxSlot, f *rxFrame, part, from, n int) {
	base, _ := s.buffer(part)
	since := max(s.since, f.last)
	for at := 0; at < n; at++ {
		if sh := s.parts[part]; sh != nil && !sh.have.Free(at, at+1) {
			continue
		}
		if w := r.offered(base+uint64(at), since, f.data[from+at]); w != nil {
			i := int(base + uint64(at) - w.addr)
			w.taken.Add(i, i+1)
			s.store(r, part, at, w.data[i:i+1])
		}
	}
}

// offered is the earliest write that has a value at an address, or, without one,
// the earliest.
func (r *Referee) offered(addr uint64, since int64, value byte) (other *sharedWrite) {
	for _, w := range r.rx.shared {
		if !w.offers(addr, since) {
			continue
		}
		if w.data[addr-w.addr] == value {
			return w
		}
		if other == nil {
			other = w
		}
	}
	return other
}

// unclaimed ends the writes that are all taken, and calls stray for those of
// which no descriptor in use can still take a part.
func (r *Referee) unclaimed(stray func(addr uint64, n int)) {
	kept := r.rx.shared[:0]
	for _, w := range r.rx.shared {
		open := false
		for at := w.taken.Gap(len(w.data)); at < len(w.data); at = w.taken.Next(at) {
			n := min(w.taken.Room(at), len(w.data)-at)
			if k := r.claimable(w, at, n); k < n {
				stray(w.addr+uint64(at+k), n-k)
				open = false
				break
			}
			open = true
			at += n
		}
		if open {
			kept = append(kept, w)
		} else {
			r.rx.writes.Put(w)
		}
	}
	r.rx.shared = kept
}

// claimable is how many of n bytes of a write some descriptor in use may take.
func (r *Referee) claimable(w *sharedWrite, at, n int) (k int) {
	for k < n {
		addr, to := w.addr+uint64(at+k), uint64(0)
		for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
			if node.Owner.Kind == memory.Buffer && addr >= node.Lo && addr < node.Hi &&
				r.rx.queue(node.Owner.Queue).slot(node.Owner.Index).since <= w.cycle {
				to = max(to, node.Hi)
			}
		}
		if to == 0 {
			return k
		}
		k += int(min(to-addr, uint64(n-k)))
	}
	return k
}

// writtenBeyond reports what was written to buffers that overlap and that no
// frame accounts for, once the descriptors that might have had it are done.
func (r *Referee) writtenBeyond(q *rxq, s *rxSlot) {
	if !s.shares || len(r.rx.shared) == 0 {
		return
	}
	index := s.index
	r.unclaimed(func(addr uint64, n int) {
		r.log.FailOf(verdict.Subject{Index: int(index)}, q.domain(), "R10", "write", "the bytes of the frame, each once",
			fmt.Sprintf("also %d B at %#x, in buffers that overlap", n, addr))
	})
}

// store is put without its checks.
func (s *rxSlot) store(r *Referee, part, off int, b []byte) bool {
	sh := s.parts[part]
	if sh == nil {
		sh = r.rx.shadows.Get()
		s.parts[part] = sh
	}
	if !sh.have.Add(off, off+len(b)) {
		return false
	}
	sh.grow(off, off+len(b))
	copy(sh.data[off:], b)
	return true
}

// awaits reports whether a frame may go to a descriptor.
func (r *Referee) awaits(q *rxq, index uint16) bool {
	return int(index-q.ctx.CI) < q.pending+r.rx.unsure
}

func (r *Referee) failNoFrame(q *rxq, index uint16, part, off, n int) {
	r.log.Fail(q.domain(), "R10", "write", "none: no frame is left for this descriptor",
		fmt.Sprintf("%d B at %s", n, slotText(q.id, index, part, off)), r.hdr.String())
}

// grow makes room for the bytes up to hi; those before lo that were never
// written read 0.
func (sh *shadow) grow(lo, hi int) {
	n := len(sh.data)
	if hi <= n {
		return
	}
	if hi > cap(sh.data) {
		sh.data = append(make([]byte, 0, max(hi, nicspec.FrameMax)), sh.data...)
	}
	sh.data = sh.data[:hi]
	if lo > n {
		clear(sh.data[n:lo])
	}
}
