package driver

import (
	"nictwin/models/nicspec"
)

// ring is what receive and transmit queues share: a ring in memory, its
// completion ring, and the doorbell.
type ring struct {
	d     *Driver
	queue int
	log   int
	slot  int    // bytes of a ring entry
	base  uint64 // of the ring
	cq    uint64 // of the completion ring
	bell  uint32 // doorbell register
	pi    uint16 // posted
	rung  uint16 // posted and told
	cqi   uint16 // completion entries seen
	cqe   [nicspec.CqeBytes]byte
	see   func(cqe []byte) // one completion entry, in ring order
}

func (r *ring) init(d *Driver, queue, log, slot int, bell uint32) error {
	size := uint64(1) << log
	*r = ring{
		d: d, queue: queue, log: log, slot: slot, bell: bell, see: r.see,
		base: d.Alloc(nicspec.EndpointArm, size*uint64(slot), 64),
		cq:   d.Alloc(nicspec.EndpointArm, size*nicspec.CqeBytes, 64),
	}
	_, err := d.mem.Watch(r.cq, int(size)*nicspec.CqeBytes, func(uint64, int) { r.poll() })
	return err
}

// Completions is the range of bus addresses of the completion ring.
func (r *ring) Completions() (from, to uint64) {
	return r.cq, r.cq + nicspec.CqeBytes<<r.log
}

func (r *ring) mask() uint16 { return uint16(1)<<r.log - 1 }

// put writes an entry into the next slot.
func (r *ring) put(entry []byte) {
	r.d.check(r.d.mem.Write(r.base+uint64(r.pi&r.mask())*uint64(r.slot), entry))
	r.pi++
}

// ring tells the device of what was put.
func (r *ring) ring() {
	if r.rung != r.pi {
		r.rung = r.pi
		r.d.check(r.d.regs.Write32(r.bell, uint32(r.pi)))
	}
}

// poll takes the completion entries that are there, by their phase [Q8].
func (r *ring) poll() {
	for r.d.err == nil {
		at := r.cq + uint64(r.cqi&r.mask())*nicspec.CqeBytes
		r.d.check(r.d.mem.Read(at, r.cqe[:]))
		phase := (r.cqi>>r.log)&1 == 0
		if nicspec.RxCqe(r.cqe[:]).Phase() != phase || nicspec.RxCqe(r.cqe[:]).Type() == 0 {
			return
		}
		r.cqi++
		r.see(r.cqe[:])
	}
}
