package memtest

import "nictwin/models/memory/mem"

// history records the events of each byte, in order of issue.
type history map[uint64][]event

// event records that access number `at` wrote a byte, or cleaned or invalidated its line.
type event struct {
	op    mem.Op
	value byte
	at    int
}

// add records an access for the bytes that it touches: for Clean and Invalidate, all bytes of its
// lines.
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

// may returns the values that a read may return for a byte. issued and ended are the numbers of
// accesses issued before the read and before its end.
func (h history) may(addr uint64, issued, ended int) map[byte]bool {
	may := map[byte]bool{0: true}  // possible values as software sees the byte
	back := map[byte]bool{0: true} // possible values in the memory behind all caches
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
