package nicspec

import (
	"fmt"
	"iter"
)

// PortCounter is the number of a counter inside its port's block.
type PortCounter uint8

// DevCounter is the index of one of the device's own counters.
type DevCounter uint16

// Index returns the counter's index in the COUNTER registers for a port; it panics if no build has
// such a port.
func (c PortCounter) Index(port int) int {
	if uint(port) >= CounterPortsMax {
		panic(fmt.Sprintf("nicspec: counter of port %d, but ports are 0..%d", port, CounterPortsMax-1))
	}
	return CounterPortStride*port + int(c)
}

// Index returns the counter's index in the COUNTER registers.
func (c DevCounter) Index() int { return int(c) }

// CounterInfo describes one counter. Index is relative to the port's block when PerPort, else absolute.
type CounterInfo struct {
	Name    string
	Index   int
	PerPort bool
	Drop    bool    // a drop counter: each dropped frame steps exactly one
	Part    Cap1Reg // optional part that steps the counter; 0: the NIC without optional parts
	Doc     string
}

// CounterAt returns the counter at an index of the COUNTER registers and its port, -1 for the
// device's own. It returns nil if the index is not used.
func CounterAt(index int) (c *CounterInfo, port int) {
	if index < 0 {
		return nil, -1
	}
	number, port := index, -1
	if index < CounterDeviceBase {
		number, port = index%CounterPortStride, index/CounterPortStride
	}
	for i := range Counters {
		if c := &Counters[i]; c.Index == number && c.PerPort == (port >= 0) {
			return c, port
		}
	}
	return nil, -1
}

// CountersOf yields the indices of the COUNTER registers of a NIC with so many ports: each port
// counter for all ports, then the device's own.
func CountersOf(ports int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range Counters {
			of := 1
			if Counters[i].PerPort {
				of = ports
			}
			for port := range of {
				if !yield(Counters[i].Index + port*CounterPortStride) {
					return
				}
			}
		}
	}
}

// CounterName returns the name of an index of the COUNTER registers: "RX_FRAMES[0]" for a port's,
// "TX_WQE" for the device's, "COUNTER[200]" for an unused one.
func CounterName(index int) string {
	c, port := CounterAt(index)
	switch {
	case c == nil:
		return fmt.Sprintf("COUNTER[%d]", index)
	case port >= 0:
		return fmt.Sprintf("%s[%d]", c.Name, port)
	}
	return c.Name
}

// IsDrop reports whether the counter counts dropped frames.
func (c PortCounter) IsDrop() bool {
	for _, d := range DropCounters {
		if d == c {
			return true
		}
	}
	return false
}

// String returns the counter's name, without a port.
func (c PortCounter) String() string {
	for i := range Counters {
		if Counters[i].PerPort && Counters[i].Index == int(c) {
			return Counters[i].Name
		}
	}
	return fmt.Sprintf("PortCounter(%d)", int(c))
}

// String returns the counter's name.
func (c DevCounter) String() string { return CounterName(int(c)) }
