package buffers

import (
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// sharedWrite is a write to addresses that lie in the buffers of several descriptors, or in both buffers of one.
// Completion entries decide whose it was: each demands one write of every byte of its frame, at the byte's address in
// the buffers [R10]. A descriptor claims, byte by byte, the earliest unclaimed write of the demanded value. The later
// writes fit every later descriptor that the claimed one would have fitted, so no assignment is lost.
type sharedWrite struct {
	addr  uint64
	cycle int64
	data  []byte
	taken memory.Set // claimed by descriptors that are done
}

func (w *sharedWrite) offers(addr uint64, since int64) bool {
	at := addr - w.addr
	return w.cycle >= since && addr >= w.addr && at < uint64(len(w.data)) && w.taken.Free(int(at), int(at)+1)
}

// Enter records that a descriptor was read: its buffers may be written.
func (bs *Buffers) Enter(s *Slot, raw []byte, now int64) {
	s.State, s.Shares, s.since = rings.Fetched, false, now
	s.Desc = nicspec.DecodeRxDesc(raw)
	for part := range s.Parts {
		if addr, size := s.Buffer(part); size > 0 {
			bs.markShared(s, addr, size)
			bs.writable.Add(addr, size, s.owner(part))
		}
	}
}

// Keep stores a write that may be meant for several buffers.
func (bs *Buffers) Keep(addr uint64, now int64, b []byte) {
	w := bs.writes.Get()
	w.addr, w.cycle, w.data = addr, now, append(w.data[:0], b...)
	w.taken.Clear()
	bs.shared = append(bs.shared, w)
}

// Pending reports whether shared writes have unclaimed bytes.
func (bs *Buffers) Pending() bool { return len(bs.shared) > 0 }

// Left calls f for each write with unclaimed bytes, and passes their number.
func (bs *Buffers) Left(f func(addr uint64, n int)) {
	for _, w := range bs.shared {
		f(w.addr, len(w.data)-w.taken.Size())
	}
}

// markShared marks the buffers that overlap with a buffer of a descriptor about to be entered.
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

// ClaimShared completes a buffer of a finished descriptor, which must hold the bytes `want`, from shared writes; `last`
// is the cycle of the last beat of its frame.
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

// offered returns the earliest unclaimed write, since a cycle, of this value to an address; else the earliest of
// any value; else nil.
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

// Unclaimed forgets the writes that are wholly claimed. It calls stray for each write that no
// descriptor in use can claim in full any more.
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

// claimable looks at n bytes of a write, beginning with byte number `at`. It returns how many of them, up to the first
// exception, a descriptor in use may still claim.
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
