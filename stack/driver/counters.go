package driver

import (
	"nictwin/models/nic/nicspec"
)

// Counters are the values of the COUNTER registers, by index.
type Counters []uint64

// Port returns a counter of a port.
func (c Counters) Port(port int, k nicspec.PortCounter) uint64 { return c[k.Index(port)] }

// Device returns a counter of the device.
func (c Counters) Device(k nicspec.DevCounter) uint64 { return c[k.Index()] }

// ReadCounters reads every counter that the NIC has.
func (d *Driver) ReadCounters(done func(Counters)) {
	values := make(Counters, nicspec.RegCounterCount)
	for i := range nicspec.CountersOf(d.opts.Build.Ports) {
		d.ReadReg(nicspec.RegCounter(i), 8, func(v uint64) { values[i] = v })
	}
	d.Then(func() { done(values) })
}

// ReadRuleHits reads the hit counters of the first n rules.
func (d *Driver) ReadRuleHits(n int, done func(hits []uint64)) error {
	if n != 0 {
		if err := checkIndex("steering rule", n-1, d.opts.Build.NumRules); err != nil {
			return err
		}
	}
	hits := make([]uint64, n)
	for i := range hits {
		d.ReadReg(nicspec.RegRuleHits(i), 8, func(v uint64) { hits[i] = v })
	}
	d.Then(func() { done(hits) })
	return nil
}
