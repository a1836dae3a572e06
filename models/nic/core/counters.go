package core

import "nictwin/models/nic/nicspec"

// Counters holds the device's counters [G5], by their index in the COUNTER registers, and the hits
// of each rule.
type Counters struct {
	c    [nicspec.RegCounterCount]uint64
	hits [nicspec.RegRuleHitsCount]uint64
}

// At returns the counter at an index of the COUNTER registers.
func (c *Counters) At(index int) uint64 { return c.c[index] }

// Port returns a counter of a port.
func (c *Counters) Port(n nicspec.PortCounter, port int) uint64 { return c.c[n.Index(port)] }

// Dev returns a counter of the device.
func (c *Counters) Dev(n nicspec.DevCounter) uint64 { return c.c[n.Index()] }

// Hits returns RULE_HITS of a rule.
func (c *Counters) Hits(rule int) uint64 { return c.hits[rule] }

// StepPort adds to a counter of a port.
func (c *Counters) StepPort(n nicspec.PortCounter, port int, by uint64) { c.c[n.Index(port)] += by }

// Step adds one to a counter of the device.
func (c *Counters) Step(n nicspec.DevCounter) { c.c[n.Index()]++ }

// Add adds to a counter of the device.
func (c *Counters) Add(n nicspec.DevCounter, by uint64) { c.c[n.Index()] += by }

// Hit steps RULE_HITS.
func (c *Counters) Hit(rule int) { c.hits[rule]++ }

// Dropped returns the sum of a port's drop counters [C1].
func (c *Counters) Dropped(port int) uint64 {
	sum := uint64(0)
	for _, d := range nicspec.DropCounters {
		sum += c.Port(d, port)
	}
	return sum
}
