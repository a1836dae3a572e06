package buffers

import (
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
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

// Enter takes a descriptor that was read: its buffers may be written.
func (bs *Buffers) Enter(s *Slot, raw []byte, now int64) {
	s.State, s.Shares, s.since = rings.There, false, now
	s.Desc = nicspec.DecodeRxDesc(raw)
	for part := range s.Parts {
		if addr, size := s.Buffer(part); size > 0 {
			bs.markShared(s, addr, size)
			bs.writable.Add(addr, size, s.owner(part))
		}
	}
}

// Keep keeps a write that several buffers may be meant by.
func (bs *Buffers) Keep(addr uint64, now int64, b []byte) {
	w := bs.writes.Get()
	w.addr, w.cycle, w.data = addr, now, append(w.data[:0], b...)
	w.taken.Clear()
	bs.shared = append(bs.shared, w)
}

// Pending reports whether there are writes that no frame has accounted for yet,
// to buffers that overlap.
func (bs *Buffers) Pending() bool { return len(bs.shared) > 0 }

// Left calls f for each of these, with how many of its bytes are left.
func (bs *Buffers) Left(f func(addr uint64, n int)) {
	for _, w := range bs.shared {
		f(w.addr, len(w.data)-w.taken.Size())
	}
}

// markShared finds the buffers that overlap with one of a descriptor that is
// about to be entered.
func (bs *Buffers) markShared(s *Slot, addr uint64, size int) {
	hi := memory.End(addr, size)
	for page := addr &^ (tlp.PageBytes - 1); page < hi; page += tlp.PageBytes {
		for node := bs.writable.First(page); node != nil; node = bs.writable.Next(node) {
			if node.Owner.Kind == memory.Buffer && addr < node.Hi && hi > node.Lo {
				bs.queues[node.Owner.Queue].Slot(node.Owner.Index).Shares = true
				s.Shares = true
			}
		}
		if page+tlp.PageBytes < page {
			return
		}
	}
}

// ClaimShared gives a buffer of a descriptor that is done the bytes that it has to
// hold and lacks; its frame's last beat was in a cycle.
func (bs *Buffers) ClaimShared(s *Slot, part int, want []byte, last int64) {
	base, _ := s.Buffer(part)
	since := max(s.since, last)
	for at := range want {
		if sh := s.Parts[part]; sh != nil && !sh.Have.Free(at, at+1) {
			continue
		}
		if w := bs.offered(base+uint64(at), since, want[at]); w != nil {
			i := int(base + uint64(at) - w.addr)
			w.taken.Add(i, i+1)
			s.Store(bs, part, at, w.data[i:i+1])
		}
	}
}

// offered is the earliest write that has a value at an address, or, without one,
// the earliest.
func (bs *Buffers) offered(addr uint64, since int64, value byte) (other *sharedWrite) {
	for _, w := range bs.shared {
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

// Unclaimed ends the writes that are all taken, and calls stray for those of
// which no descriptor in use can still take a part.
func (bs *Buffers) Unclaimed(stray func(addr uint64, n int)) {
	kept := bs.shared[:0]
	for _, w := range bs.shared {
		open := false
		for at := w.taken.Gap(len(w.data)); at < len(w.data); at = w.taken.Next(at) {
			n := min(w.taken.Room(at), len(w.data)-at)
			if k := bs.claimable(w, at, n); k < n {
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
			bs.writes.Put(w)
		}
	}
	bs.shared = kept
}

// claimable is how many of n bytes of a write some descriptor in use may take.
func (bs *Buffers) claimable(w *sharedWrite, at, n int) (k int) {
	for k < n {
		addr, to := w.addr+uint64(at+k), uint64(0)
		for node := bs.writable.First(addr); node != nil; node = bs.writable.Next(node) {
			if node.Owner.Kind == memory.Buffer && addr >= node.Lo && addr < node.Hi &&
				bs.queues[node.Owner.Queue].Slot(node.Owner.Index).since <= w.cycle {
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
