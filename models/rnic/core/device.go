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

// Device is what the queue pairs of a NIC share.
type Device struct {
	Duplicates, RNRs, Retries uint64 // requests repeated to us, RNR NAKs sent, go-backs

	regions map[uint32]*Region
	qps     map[uint32]*QP
}

// NewDevice returns a device without queue pairs and regions.
func NewDevice() *Device {
	return &Device{regions: map[uint32]*Region{}, qps: map[uint32]*QP{}}
}

// Register adds a region; it reports false if the key is in use.
func (d *Device) Register(r Region) bool {
	if d.regions[r.Key] != nil {
		return false
	}
	d.regions[r.Key] = &r
	return true
}

// Deregister ends a region; it reports false if there is none with that key.
func (d *Device) Deregister(key uint32) bool {
	_, ok := d.regions[key]
	delete(d.regions, key)
	return ok
}

// QP is the queue pair of a number, or nil.
func (d *Device) QP(qpn uint32) *QP { return d.qps[qpn] }

// Idle reports whether no work entry of any queue pair is under way: none has a timer.
func (d *Device) Idle() bool {
	for _, q := range d.qps {
		if !q.Idle() {
			return false
		}
	}
	return true
}

// Oldest returns the queue pair of the lowest number with work entries whose packets are not acknowledged, or nil.
func (d *Device) Oldest() (first *QP) {
	for _, q := range d.qps {
		if q.Outstanding() && (first == nil || q.Num < first.Num) {
			first = q
		}
	}
	return first
}

// Progress adds up what all queue pairs have taken in order and had acknowledged.
func (d *Device) Progress() (n uint64) {
	for _, q := range d.qps {
		n += q.req.steps + uint64(q.resp.psn)
	}
	return n
}

// Remove ends a queue pair.
func (d *Device) Remove(qpn uint32) { delete(d.qps, qpn) }

// Resolve is the bus address of n bytes at va in a region that allows what is needed. No bytes need no region.
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

// Page names the page of a region that an address lies in, for caches of translations; ok is false if there is no
// region.
func (d *Device) Page(key uint32, va uint64) (page uint64, log uint8, ok bool) {
	r := d.regions[key]
	if r == nil {
		return 0, 0, false
	}
	return uint64(key)<<32 | va>>r.PageLog&0xffff_ffff, r.PageLog, true
}
