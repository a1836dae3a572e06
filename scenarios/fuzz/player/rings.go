package player

import (
	"errors"
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
	"nictwin/stack/driver"
)

// ring is the common part of receive and transmit queues.
type ring struct {
	driver.RawQueue
	x     *player
	rung  uint16 // producer index that the latest doorbell announced
	event bool   // an Event entry was seen: the queue is in state Error

	fetched []bool // by slot: the NIC has read the slot's newest contents
	take    func(cqe []byte)
}

// open allocates the rings and follows the completion ring.
func (r *ring) open(ringAt, doneAt program.Place) error {
	r.Base, r.CQ = r.x.alloc(ringAt, r.Bytes()), r.x.alloc(doneAt, r.CQBytes())
	if err := r.x.watch(r.CQ, r.CQBytes(), func(uint64, int) { r.poll() }); err != nil {
		return fmt.Errorf("completion ring: %w", err)
	}
	return nil
}

// watch calls f after every write to a range. Programs may place rings and messages outside memory, where no write
// arrives.
func (x *player) watch(addr uint64, n int, f func(uint64, int)) error {
	_, err := x.b.Memory.Watch(addr, n, f)
	if errors.Is(err, mem.ErrNoMemory) {
		return nil
	}
	return err
}

// poll handles the completion entries that have arrived [Q8].
func (r *ring) poll() {
	var cqe [nicspec.CqeBytes]byte
	for range r.Size() {
		if r.x.b.Memory.Read(r.NextCqe(), cqe[:]) != nil || nicspec.RxCqe(cqe[:]).Type() == 0 || !r.Take(cqe[:]) {
			return
		}
		r.take(cqe[:])
	}
}

// ringBell rings the doorbell for everything posted.
func (r *ring) ringBell() error { return r.ringBellFor(r.PI) }

// ringBellFor rings the doorbell for the entries before an index.
func (r *ring) ringBellFor(pi uint16) error {
	r.rung = pi
	return r.x.b.Arm.Write32(r.Doorbell(), uint32(pi))
}

// enable commits an entry that enables the queue.
func (r *ring) enable(f interface{ Encode(dst []byte) }) error {
	entry := make([]byte, nicspec.RxqEntrySize) // a transmit queue's entry has the same size
	f.Encode(entry)
	_, err := r.x.command(nicspec.TableOpWrite, r.Table(), r.Number, entry)
	return err
}

// rxRing is an enabled receive queue.
type rxRing struct {
	ring
	cfg   *program.RxQueue
	frees int      // frames delivered, and so descriptors freed
	since int64    // a cycle before the queue was enabled
	descs []posted // posted descriptors, by index modulo the ring's size
}

// posted holds the layout of a descriptor's buffers.
type posted struct {
	hdr, pay   uint64
	hdrP, payP program.Place
}

func (x *player) openRx(c *program.RxQueue) error {
	if err := x.disable(program.Queue{Queue: c.Queue}); err != nil || c.Queue >= x.sizes.NumRxq {
		return err
	}
	r := &rxRing{ring: ring{RawQueue: driver.NewRawQueue(false, c.Queue, c.LogSize), x: x}, cfg: c,
		descs: make([]posted, 1<<c.LogSize)}
	r.take = r.entry
	if err := r.open(c.Ring, c.Done); err != nil {
		return err
	}
	f := nicspec.RxqEntryFields{
		Enable: 1, SplitMode: c.Split, LogSize: uint8(c.LogSize), SplitLen: c.SplitLen, HdrBufSize: c.HdrBytes,
		PayBufSize: c.PayBytes,
		RingBase:   r.Base, CqBase: r.CQ,
	}
	if x.sizes.Has(nicspec.PartCrc32c) {
		f.CrcMode = c.Crc
	}
	if x.sizes.Has(nicspec.PartEcn) {
		f.EcnMode = c.Ecn
	}
	if x.sizes.Has(nicspec.PartTrim) {
		f.Trim = c.Trim
	}
	if err := x.messages(false, c.Msix, &f.MsixAddr, &f.MsixData, &f.ModCount, &f.ModCycles); err != nil {
		return err
	}
	x.rx[c.Queue], r.since = r, x.watcher.now
	return r.enable(&f)
}

// messages configures a queue's MSI-X messages, if the build has them.
func (x *player) messages(tx bool, m *program.Msix, addr *uint64, data *uint32, count, cycles *uint16) error {
	if m == nil || !x.sizes.Has(nicspec.PartMsix) {
		return nil
	}
	*addr = x.alloc(m.At, 4)
	*data, *count, *cycles = m.Data, m.Count, m.Cycles
	return x.watch(*addr, 4, func(uint64, int) { x.watcher.message(tx, m) })
}

func (r *rxRing) entry(raw []byte) {
	cqe := nicspec.RxCqe(raw)
	if cqe.Type() == nicspec.CqeTypeEvent {
		r.event = true
		r.x.watcher.event(&r.ring, cqe.Status(), cqe.Index())
		return
	}
	r.frees++
	r.x.watcher.rxBeyond(r)
	r.x.watcher.delivered(r, cqe, &r.descs[r.Place(cqe.Index())])
}

// post posts descriptors to the queue.
func (x *player) post(p *program.Post) error {
	r := x.rx[p.Queue]
	if r == nil || r.event {
		return nil
	}
	n := min(p.Count, r.Size()-int(r.PI-uint16(r.frees)))
	for range n {
		r.filled(r.PI)
		d := posted{hdrP: p.Hdr, payP: p.Pay}
		if r.cfg.Split != nicspec.SplitModeNone {
			d.hdr = x.alloc(p.Hdr, int(r.cfg.HdrBytes))
		}
		d.pay = x.alloc(p.Pay, int(r.cfg.PayBytes))
		r.descs[r.Place(r.PI)] = d
		f := nicspec.RxDescFields{HdrAddr: d.hdr, PayAddr: d.pay}
		var raw [nicspec.RxDescBytes]byte
		f.Encode(raw[:])
		if err := x.write(r.NextSlot(), raw[:]); err != nil {
			return err
		}
	}
	if p.Hold || n <= 0 && r.rung == r.PI {
		return nil
	}
	x.watcher.rang(&r.ring, r.PI-uint16(r.frees), 0)
	return r.ringBell()
}

// disable disables a queue and waits until it is disabled.
func (x *player) disable(q program.Queue) error { return x.disableLate(q, 0) }

// lateCycles bounds the time, in cycles, until the writes of a table command, and the late writes after them, have
// crossed links of latency linkCycles.
const lateCycles = 450

// disableLate disables a queue and writes two words of TBL_DATA `late` times while the command is busy. It is certain
// to be busy only while a read of the ring is unanswered.
func (x *player) disableLate(q program.Queue, late int) error {
	r := x.ringOf(q)
	if r == nil {
		return nil
	}
	x.watcher.disabling(r)
	if x.waits.slow || x.held[r.Base] < x.b.Engine.Now()+x.b.Cycles(lateCycles-linkCycles+x.writeCycles) {
		late = 0
	}
	_, err := x.commandLate(nicspec.TableOpWrite, r.Table(), q.Queue, make([]byte, nicspec.RxqEntrySize), late)
	x.forget(q)
	return err
}

// ringOf returns the ring of an enabled queue, or nil.
func (x *player) ringOf(q program.Queue) *ring {
	if t := x.tx[q.Queue]; q.Tx && t != nil {
		return &t.ring
	}
	if t := x.rx[q.Queue]; !q.Tx && t != nil {
		return &t.ring
	}
	return nil
}

func (x *player) forget(q program.Queue) {
	if q.Tx {
		delete(x.tx, q.Queue)
	} else {
		delete(x.rx, q.Queue)
	}
}

// bell rings a doorbell that announces no posted entry.
func (x *player) bell(b *program.Bell) error {
	if b.Over > 0 {
		return x.overfull(b)
	}
	raw, why := driver.NewRawQueue(b.Tx, b.Queue.Queue, 0), "queue off"
	var from uint16
	if r := x.ringOf(b.Queue); r != nil {
		if b.Delta > 0 && b.Delta <= r.Size() {
			return nil // the doorbell would announce entries that were never posted
		}
		from, why = r.rung, r.bellKind(b.Delta)
	}
	x.watcher.bell(b.Tx, b.Queue.Queue, why)
	return x.b.Arm.Write32(raw.Doorbell(), uint32(b.Upper)<<16|uint32(from+uint16(b.Delta)))
}

// overfull announces more descriptors than the ring has free slots, but steps the index by at most the ring's size. It
// waits first until every frame has been delivered: only then is the number of free slots known [Q2].
func (x *player) overfull(b *program.Bell) error {
	r := x.rx[b.Queue.Queue]
	if r == nil || r.event {
		return nil
	}
	if err := x.quiet(); err != nil || r.event {
		return err
	}
	new := uint16(r.frees + r.Size() + b.Over)
	if int(new-r.rung) > r.Size() || b.Over > r.Size() {
		return nil // the index would seem to go back, which is an error of another kind
	}
	x.watcher.bell(false, b.Queue.Queue, "overfull")
	return x.b.Arm.Write32(r.Doorbell(), uint32(b.Upper)<<16|uint32(new))
}

func (r *ring) bellKind(delta int) string {
	switch {
	case r.event:
		return "queue in error"
	case delta == 0:
		return "same index"
	case delta < 0:
		return "back"
	}
	return "too far"
}
