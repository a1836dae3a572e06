package root

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
)

// writePool counts the writes in flight and keeps free lists.
type writePool struct {
	open       int    // writes of the NIC in flight: memory has not taken all their bytes
	issued     uint64 // number of accesses issued so far
	landed     uint64 // number of accesses in memory: all up to the latest one done, as accesses take effect in order
	idle       []*write
	idleStores []*store
}

// write is a write of the NIC in flight. It keeps its TLP until memory has taken all bytes.
type write struct {
	p    *msg.TLP
	left int // accesses that are not done, plus one while the accesses are being issued
}

// store is the memory access for one run of enabled bytes of a write.
type store struct {
	mem.Access
	of     *write
	number uint64
}

// store writes the enabled bytes of a memory write to memory, one access per run of them.
func (r *Root) store(h *tlp.Header, p *msg.TLP) {
	var w *write
	if n := len(r.writes.idle); n > 0 {
		w, r.writes.idle = r.writes.idle[n-1], r.writes.idle[:n-1]
	} else {
		w = new(write)
	}
	w.p, w.left = p, 1
	r.writes.open++
	runs := h.Runs(p.Data)
	for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
		s := r.newStore()
		r.writes.issued++
		s.of, s.number, s.Addr, s.Data, s.Err = w, r.writes.issued, addr, b, nil
		w.left++
		r.memory.Access(&s.Access)
	}
	r.partWritten(w)
}

func (r *Root) newStore() *store {
	if n := len(r.writes.idleStores); n > 0 {
		s := r.writes.idleStores[n-1]
		r.writes.idleStores = r.writes.idleStores[:n-1]
		return s
	}
	s := new(store)
	s.Op, s.Done = mem.Write, func(*mem.Access) {
		w := s.of
		s.of, s.Data = nil, nil
		r.writes.landed = max(r.writes.landed, s.number)
		r.writes.idleStores = append(r.writes.idleStores, s)
		r.partWritten(w)
		r.deliverNotices()
	}
	return s
}

// partWritten ends one access of a write; the last one returns the TLP to the pool.
func (r *Root) partWritten(w *write) {
	if w.left--; w.left > 0 {
		return
	}
	r.tlps.Put(w.p)
	w.p = nil
	r.writes.open--
	r.writes.idle = append(r.writes.idle, w)
}
