package rnicverbs

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/driver"
)

// QPConfig is the configuration of a queue pair.
type QPConfig struct {
	Type             rnicspec.QPType
	SendLog, RecvLog uint8 // rings of 2^Log entries
	Send, Recv       *CQ
	QKey             uint32 // UD: the queue pair's Q_Key
	Port             uint8  // UD and raw packets: Ethernet port

	SRQ *SRQ       // receive entries come from it, and RecvLog is 0; nil: none
	Bus driver.Bus // of the core that posts requests; nil: that of the driver
}

// QP is a queue pair. The driver writes its own IDs into work and receive entries; Poll puts the caller's into
// completion entries.
type QP struct {
	d    *Device
	n    uint32
	typ  rnicspec.QPType
	send ring
	recv ring
	cfg  QPConfig
}

// ring is a send or receive ring, with a copy of its contents.
type ring struct {
	d           *Device
	bus         driver.Bus
	addr        uint64
	log         uint8
	entry       int
	shadow      []byte
	ids         []uint64 // the callers' IDs, by slot
	pi, ci      uint32   // producer and consumer index
	announced   uint32   // producer index that the NIC was last told by a doorbell or push
	writes      int      // writes of entries to memory in flight
	doorbell    uint32   // register offset of the doorbell
	pushAt      uint32   // register offset of the push window
	ringPending bool     // ring the doorbell once no write is in flight
	pushing     bool     // push the last entry instead of ringing the doorbell
	writeEnded  func(error)
	word        [4]byte
}

func (d *Device) newRing(bus driver.Bus, entry int, log uint8) (ring, error) {
	if log > rnicspec.MaxLogRing {
		return ring{}, fmt.Errorf("rnicverbs: ring of 2^%d entries: want 2^%d at most", log, rnicspec.MaxLogRing)
	}
	at, err := d.arena.Alloc(uint64(entry)<<log, rnicspec.WQEBytes)
	if err == nil {
		d.arena.Mark(at, uint64(entry)<<log, driver.UseElements)
	}
	return ring{d: d, bus: d.BusOr(bus), addr: at, log: log, entry: entry, shadow: make([]byte, entry<<log),
		ids: make([]uint64, 1<<log)}, err
}

// NewQP creates a queue pair.
func (d *Device) NewQP(c QPConfig) (*QP, error) {
	q, err := d.ReserveQP(c)
	if err != nil {
		return nil, err
	}
	d.Do(q.creation(), nil)
	return q, nil
}

// Create creates a reserved queue pair in the NIC, with its port and, if it has one, its Q_Key.
func (q *QP) Create(port uint8, qkey uint32, done func(error)) {
	q.cfg.Port, q.cfg.QKey = port, qkey
	q.d.Try(q.creation(), func(_ uint32, err error) { done(err) })
}

func (q *QP) creation() *rnicspec.CreateQP {
	srq := uint32(0)
	if q.cfg.SRQ != nil {
		srq = q.cfg.SRQ.n
	}
	return &rnicspec.CreateQP{
		QPN: q.n, Type: q.typ, SendLog: q.cfg.SendLog, RecvLog: q.cfg.RecvLog, SendCQ: q.cfg.Send.n,
		RecvCQ:   q.cfg.Recv.n,
		SendAddr: q.send.addr, RecvAddr: q.recv.addr, QKey: q.cfg.QKey, Port: q.cfg.Port, SRQ: srq,
	}
}

// ReserveQP reserves a number and rings for a queue pair without creating it in the NIC.
func (d *Device) ReserveQP(c QPConfig) (*QP, error) {
	if c.Send == nil || c.Recv == nil || c.Type >= rnicspec.NumQPTypes {
		return nil, fmt.Errorf("rnicverbs: queue pair of type %v: want a type and two completion queues", c.Type)
	}
	q := &QP{d: d, typ: c.Type, cfg: c}
	if n := len(d.free); n > 0 {
		q.n, d.free = d.free[n-1], d.free[:n-1]
	} else if d.qpn++; d.qpn < rnicspec.MaxQPs { // number 0 is not used
		q.n = d.qpn
	} else {
		return nil, fmt.Errorf("rnicverbs: all %d queue pairs are in use", rnicspec.MaxQPs-1)
	}
	var err error
	if q.send, err = d.newRing(c.Bus, rnicspec.WQEBytes, c.SendLog); err != nil {
		return nil, err
	}
	if q.recv, err = d.newRing(c.Bus, rnicspec.RecvBytes, c.RecvLog); err != nil {
		return nil, err
	}
	page := rnicspec.QPPage(q.n)
	q.send.doorbell, q.send.pushAt, q.recv.doorbell = page+rnicspec.PageSend, page+rnicspec.PagePush,
		page+rnicspec.PageRecv
	q.send.writeEnded, q.recv.writeEnded = q.send.written, q.recv.written
	c.Send.serve(q.n, q)
	c.Recv.serve(q.n, q)
	return q, nil
}

// Num returns the queue pair's number.
func (q *QP) Num() uint32 { return q.n }

// Connect moves the queue pair to the state named by m.
func (q *QP) Connect(m rnicspec.ModifyQP) {
	m.QPN = q.n
	q.d.Do(&m, nil)
}

// State queries the queue pair's state.
func (q *QP) State(f func(rnicspec.QPState)) {
	q.d.Do(&rnicspec.QueryQP{QPN: q.n}, func(v uint32) { f(rnicspec.QPState(v)) })
}

// Destroy destroys the queue pair. Everything posted must have ended.
func (q *QP) Destroy() {
	q.d.Do(&rnicspec.DestroyQP{QPN: q.n}, func(uint32) { q.Release() })
}

// DestroyIdle destroys the queue pair. If the NIC is still working on it, done gets a *RefusedError and the queue pair
// remains. Call Release once its completion entries have been polled.
func (q *QP) DestroyIdle(done func(error)) {
	q.d.Try(&rnicspec.DestroyQP{QPN: q.n}, func(_ uint32, err error) { done(err) })
}

// Release frees the number and rings of a queue pair that does not exist in the NIC.
func (q *QP) Release() {
	q.cfg.Send.serve(q.n, nil)
	q.cfg.Recv.serve(q.n, nil)
	q.d.free = append(q.d.free, q.n)
	for _, at := range []uint64{q.send.addr, q.recv.addr} {
		if err := q.d.arena.Free(at); err != nil {
			q.d.fail(err)
		}
	}
}

// Room returns the number of work entries that may be posted.
func (q *QP) Room() int { return q.send.room() }

// RecvRoom returns the number of receive entries that may be posted.
func (q *QP) RecvRoom() int { return q.recv.room() }

func (r *ring) room() int { return 1<<r.log - int(r.pi-r.ci) }

// Post writes a work entry to the ring; Ring announces it. An entry without a completion entry keeps its slot until a
// later entry has one.
func (q *QP) Post(w *rnicspec.WQE) error {
	b, err := q.send.slot(w.ID)
	if err != nil {
		return err
	}
	id := w.ID
	w.ID = uint64(q.send.pi)
	w.Encode(q.typ, b)
	w.ID = id
	q.send.store(b)
	return nil
}

// Ring rings the doorbell for all work entries posted.
func (q *QP) Ring() error { return q.send.ring() }

// Push posts a work entry by writing it to the NIC itself, and announces earlier ones. For a single entry the NIC reads
// nothing from memory.
func (q *QP) Push(w *rnicspec.WQE) error {
	announcedAll := q.send.announced == q.send.pi && q.send.writes == 0
	q.send.pushing = announcedAll
	if err := q.Post(w); err != nil {
		q.send.pushing = false
		return err
	}
	return q.send.ring()
}

// Recv writes a receive entry to the ring; RingRecv announces it.
func (q *QP) Recv(w *rnicspec.RecvWQE) error {
	b, err := q.recv.slot(w.ID)
	if err != nil {
		return err
	}
	id := w.ID
	w.ID = uint64(q.recv.pi)
	w.Encode(b)
	w.ID = id
	q.recv.store(b)
	return nil
}

// RingRecv rings the doorbell for all receive entries posted.
func (q *QP) RingRecv() error { return q.recv.ring() }

// ended frees the slots of a completed entry and of those before it, and sets the caller's ID in the completion entry.
func (q *QP) ended(c *rnicspec.CQE) {
	r := &q.send
	if c.Opcode == rnicspec.Recv || c.Opcode == rnicspec.RecvWrite {
		if q.cfg.SRQ != nil {
			q.cfg.SRQ.ended(c)
			return
		}
		r = &q.recv
	}
	index := uint32(c.ID)
	if index-r.ci >= 1<<r.log { // the NIC reports an entry that was never posted
		r.d.fail(fmt.Errorf("rnicverbs: completion entry of queue pair %d for entry %d: want %d to %d", q.n, index,
			r.ci, r.pi-1))
		return
	}
	c.ID = r.ids[index&(1<<r.log-1)]
	r.ci = index + 1
}

// slot returns the driver's copy of the ring slot for the next entry, and keeps id, which the caller gave the entry.
func (r *ring) slot(id uint64) ([]byte, error) {
	if r.d.err != nil {
		return nil, ErrStopped
	}
	if r.pi-r.ci == 1<<r.log {
		return nil, ErrFull
	}
	i := int(r.pi & (1<<r.log - 1))
	r.ids[i] = id
	return r.shadow[i*r.entry:][:r.entry], nil
}

// store starts writing the next entry to memory.
func (r *ring) store(b []byte) {
	at := r.addr + uint64(r.pi&(1<<r.log-1))*uint64(r.entry)
	r.pi++
	r.writes++
	r.bus.Write(at, b, r.writeEnded)
}

func (r *ring) written(err error) {
	if err != nil {
		r.d.fail(err)
	}
	if r.writes--; r.writes == 0 && r.ringPending {
		if err := r.ring(); err != nil {
			r.d.fail(err)
		}
		r.d.next() // a command may have waited for the doorbell
	}
}

// ring rings the doorbell, now or once all entries are in memory.
func (r *ring) ring() error {
	if r.d.err != nil {
		return ErrStopped
	}
	if r.ringPending = r.writes > 0; r.ringPending || r.announced == r.pi {
		return nil
	}
	pushing := r.pushing && r.announced+1 == r.pi
	r.announced, r.pushing = r.pi, false
	if pushing {
		i := int((r.pi - 1) & (1<<r.log - 1))
		return r.bus.WriteReg(r.pushAt, r.shadow[i*r.entry:][:r.entry])
	}
	binary.LittleEndian.PutUint32(r.word[:], r.pi&0xffff)
	return r.bus.WriteReg(r.doorbell, r.word[:])
}
