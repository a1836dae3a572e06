package memtest

import "nictwin/models/memory/mem"

// history is what happened to each byte, in the order of issue.
type history map[uint64][]event

// event is a value that a byte was given, or that its line was cleaned or
// invalidated, by the access issued as number at.
type event struct {
	op    mem.Op
	value byte
	at    int
}

// add notes what an access does to the bytes that it touches: of Clean and
// Invalidate all bytes of its lines.
func (h history) add(x *issued) {
	switch x.op.Op {
	case mem.Write:
		for i, v := range x.Data {
			h.note(x.addr+uint64(i), event{mem.Write, v, x.at})
		}
	case mem.Clean, mem.Invalidate:
		if x.n == 0 {
			return
		}
		from := x.addr &^ (mem.LineBytes - 1)
		to := (x.addr + uint64(x.n) - 1) | (mem.LineBytes - 1)
		for addr := range h {
			if addr >= from && addr <= to {
				h.note(addr, event{x.op.Op, 0, x.at})
			}
		}
	}
}

func (h history) note(addr uint64, e event) { h[addr] = append(h[addr], e) }

// may is the values that a byte may have for a read from its issue to its end.
func (h history) may(addr uint64, issued, ended int) map[byte]bool {
	may := map[byte]bool{0: true}  // what the byte may be
	back := map[byte]bool{0: true} // what memory behind caches may have
	for _, e := range h[addr] {
		if e.at > ended {
			break
		}
		sure := e.at < issued
		switch e.op {
		case mem.Write:
			if sure {
				clear(may)
			}
			may[e.value], back[e.value] = true, true
		case mem.Clean:
			if sure {
				back = copied(may)
			}
		case mem.Invalidate:
			for v := range back {
				may[v] = true
			}
		}
	}
	return may
}

func copied(m map[byte]bool) map[byte]bool {
	c := make(map[byte]bool, len(m))
	for k := range m {
		c[k] = true
	}
	return c
}
