package core

import (
	"nictwin/models/rnic/rnicspec"
)

// Region is a memory region.
type Region struct {
	Key     uint32
	Access  rnicspec.Access
	PageLog uint8
	VA, Bus uint64
	Bytes   uint64
}

// Device holds the state that the queue pairs of a NIC share.
type Device struct {
	Duplicates, RNRs, Retries uint64 // duplicate requests received, RNR NAKs sent, go-backs of requesters

	regions map[uint32]*Region
	closing map[uint32]*Region // regions that are no longer used and not removed
	qps     map[uint32]*QP
	srqs    map[uint32]*SRQ
}

// NewDevice returns a device without queue pairs and regions.
func NewDevice() *Device {
	return &Device{regions: map[uint32]*Region{}, closing: map[uint32]*Region{}, qps: map[uint32]*QP{},
		srqs: map[uint32]*SRQ{}}
}

// Register adds a region; it reports false if the key is in use.
func (d *Device) Register(r Region) bool {
	if d.regions[r.Key] != nil || d.closing[r.Key] != nil {
		return false
	}
	d.regions[r.Key] = &r
	return true
}

// Close makes a region unusable and returns it. Its key stays in use until Deregister removes it. nil: no region has
// that key.
func (d *Device) Close(key uint32) *Region {
	if r := d.regions[key]; r != nil {
		d.closing[key] = r
		delete(d.regions, key)
	}
	return d.closing[key]
}

// Deregister removes a region, if one has that key.
func (d *Device) Deregister(key uint32) {
	delete(d.regions, key)
	delete(d.closing, key)
}

// QP returns the queue pair with a number, or nil.
func (d *Device) QP(qpn uint32) *QP { return d.qps[qpn] }

// Idle reports whether no queue pair has a work entry in flight, so that no timer runs.
func (d *Device) Idle() bool {
	for _, q := range d.qps {
		if !q.Idle() {
			return false
		}
	}
	return true
}

// Oldest returns the lowest-numbered queue pair with unacknowledged packets, or nil.
func (d *Device) Oldest() (first *QP) {
	for _, q := range d.qps {
		if q.Outstanding() && (first == nil || q.Num < first.Num) {
			first = q
		}
	}
	return first
}

// Progress counts, over all queue pairs, the packets received in order and the acknowledgements
// that showed progress.
func (d *Device) Progress() (n uint64) {
	for _, q := range d.qps {
		n += q.req.steps + uint64(q.resp.psn)
	}
	return n
}

// Remove removes a queue pair.
func (d *Device) Remove(qpn uint32) {
	if q := d.qps[qpn]; q != nil && q.srq != nil {
		q.srq.users--
	}
	delete(d.qps, qpn)
}

// Resolve translates va in a region to a bus address, if the region contains the n bytes and allows
// the access. Zero bytes need no region.
func (d *Device) Resolve(key uint32, va uint64, n int, need rnicspec.Access) (bus uint64, ok bool) {
	if n == 0 {
		return 0, true
	}
	r := d.regions[key]
	if r == nil || r.Access&need != need || va < r.VA || uint64(n) > r.Bytes || va-r.VA > r.Bytes-uint64(n) {
		return 0, false
	}
	return r.Bus + (va - r.VA), true
}

// Page returns the number of the page of a region that contains an address, for translation caches.
// ok is false if the region does not exist.
func (d *Device) Page(key uint32, va uint64) (page uint64, log uint8, ok bool) {
	r := d.regions[key]
	if r == nil {
		return 0, 0, false
	}
	return uint64(key)<<32 | va>>r.PageLog&0xffff_ffff, r.PageLog, true
}
