package dram

import "nictwin/models/memory/mem"

// Background returns the DRAM as the memory of a background load. Its accesses take time on the channels and count in
// Counters, which tell their bytes apart, but they move no bytes and wake no watch, so that a load changes the time of
// other accesses and nothing else. They do not count in Idle, so that a run can come to rest beside a load that never
// ends.
func (d *DRAM) Background() mem.Target { return background{d} }

type background struct{ d *DRAM }

// Check implements mem.Target.
func (b background) Check(op mem.Op, addr uint64, n int) error { return b.d.Check(op, addr, n) }

// Access implements mem.Target.
func (b background) Access(a *mem.Access) {
	if err := a.Verify(b); err != nil {
		a.Finish(err)
		return
	}
	b.d.leave(b.d.begin(a, true)) // there is no access to the bytes to wait for
	b.d.finish()
	b.d.reportRoom()
}
