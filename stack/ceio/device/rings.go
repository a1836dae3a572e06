package device

import (
	"nictwin/stack/ceio/manager"
	"nictwin/stack/driver"
)

// slots are adjacent buffers, with or without header buffers, which are adjacent by themselves.
type slots struct {
	pay, hdr       uint64
	bytes, hdrSize uint64 // of a buffer; hdrSize 0: frames are whole
	n              uint64
}

func (s *slots) at(i uint64) driver.Buffer {
	i %= s.n
	b := driver.Buffer{Pay: s.pay + i*s.bytes}
	if s.hdrSize > 0 {
		b.Hdr = s.hdr + i*s.hdrSize
	}
	return b
}

// index returns the number of the slot with a payload address.
func (s *slots) index(pay uint64) uint64 { return (pay - s.pay) / s.bytes }

// alloc allocates n slots of so many bytes at an endpoint. The header buffers are behind the payload buffers, at an
// offset in lines.
func (f *Flow) alloc(endpoint, n, bytes int) (slots, error) {
	s := slots{bytes: uint64(bytes), hdrSize: uint64(f.c.HdrBytes), n: uint64(n)}
	var err error
	if s.pay, err = f.d.c.Driver.AllocBuffers(endpoint, s.len(), 4096); err != nil {
		return s, err
	}
	s.hdr = s.pay + s.headers()
	return s, nil
}

// headers returns the offset of the header buffers.
func (s *slots) headers() uint64 {
	const line = 64
	return (s.n*s.bytes + line - 1) &^ (line - 1)
}

// len returns the length of all buffers.
func (s *slots) len() uint64 { return s.headers() + s.n*s.hdrSize }

// landing are host buffers for slow packets. The first ones are filled again before later ones, so that the cache holds
// them, however many there are; they become free in any order.
type landing struct {
	slots
	used []bool
}

// fit returns the first n adjacent free buffers or, if there are not so many, the longest run of them.
func (l *landing) fit(n int) (first, room int) {
	run := 0
	for i, used := range l.used {
		if used {
			run = 0
			continue
		}
		if run++; run > room {
			first, room = i+1-run, run
		}
		if room == n {
			break
		}
	}
	return first, room
}

// take returns the first n adjacent free buffers, which are in use from then on. There must be as many.
func (l *landing) take(n int) driver.Buffer {
	first, _ := l.fit(n)
	for i := range n {
		l.used[first+i] = true
	}
	return l.at(uint64(first))
}

// fastRing is a receive queue with buffers in host memory. Whole frames land in the buffers that were freed last,
// posted one for each credit: what the NIC writes to is no larger than the credits, and stays in the cache. With
// controller `arm`, packets that may come beyond the credits have buffers, too, when the credits are nearly used up.
// Buffers of credits that were taken away stay posted until packets land in them.
// Buffers of split frames are posted in the order of their addresses, so that the payload of consecutive packets is
// adjacent, unless the NIC would be short of descriptors.
type fastRing struct {
	*driver.RxQueue
	slots
	lazy  bool            // posts by ensure and postTo alone
	free  []uint64        // buffers that are not posted, the one freed last at the end; if lazy
	order *driver.InOrder // nil: posted in any order
}

// begin makes all buffers free, the first one on top.
func (r *fastRing) begin() {
	for i := r.n; i > 0; i-- {
		r.free = append(r.free, i-1)
	}
}

// freed takes back the buffer of a packet that has been processed.
func (r *fastRing) freed(i uint64) error {
	switch {
	case r.lazy:
		r.free = append(r.free, i)
		return nil
	case r.order == nil:
		return r.post(i)
	}
	return r.order.Free(i)
}

func (r *fastRing) post(i uint64) error { return r.Post(r.at(i)) }

// announced returns the descriptors that the NIC knows of and that software has not seen used.
func (r *fastRing) announced() int { return r.Posted() - r.Waiting() }

// ensure announces the buffers that are free, out of order if need be, if fewer than n descriptors are.
func (r *fastRing) ensure(n int) error {
	if r.announced() >= n {
		return nil
	}
	if r.order != nil {
		if err := r.order.Overtake(n - r.Posted()); err != nil {
			return err
		}
	}
	if err := r.postTo(n); err != nil {
		return err
	}
	return announce(r.RxQueue)
}

// postTo posts free buffers until n are posted, the one freed last first.
func (r *fastRing) postTo(n int) error {
	for last := len(r.free) - 1; last >= 0 && r.Posted() < n; last-- {
		i := r.free[last]
		r.free = r.free[:last]
		if err := r.post(i); err != nil {
			return err
		}
	}
	return nil
}

// announce rings the doorbell for what has been posted.
func announce(q *driver.RxQueue) error {
	if q.Waiting() == 0 {
		return nil
	}
	return q.Ring()
}

// ensure announces the descriptors of the fast ring that the NIC must know of. With controller `arm`, those of split
// frames are all announced.
func (f *Flow) ensure() error {
	n := f.d.m.NeedsDescriptors(f.c.Flow)
	if !f.fast.lazy && f.d.c.Spec.Controller == manager.ControlArm {
		n = f.fast.Size()
	}
	return f.fast.ensure(n)
}

// polledArm tells controller `arm` that all packets have been seen.
func (f *Flow) polledArm(all bool) {
	if all && f.d.c.Spec.Controller == manager.ControlArm {
		f.d.m.AllSeen(f.c.Flow)
	}
	f.ensureArm()
}

// ensureArm announces further descriptors for packets that may come beyond the credits, with controller `arm`.
func (f *Flow) ensureArm() {
	if f.fast.lazy && f.d.c.Spec.Controller == manager.ControlArm {
		n := f.d.m.NeedsDescriptors(f.c.Flow)
		f.d.check(f.fast.postTo(n))
		f.announce(f.fast.RxQueue, n)
	}
}

// announce rings the doorbell of a ring that needs n descriptors for a batch of buffers.
func (f *Flow) announce(q *driver.RxQueue, n int) {
	if q.Waiting() >= max(1, min(f.c.Repost, n/4)) {
		f.d.check(q.Ring())
	}
}
