package rtlbridge

import (
	"fmt"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// RestlessError reports that a device does not become idle although no work is left: its busy signal does
// not fall, or a transaction does not end. The cause is the device, not the bridge.
type RestlessError struct {
	Device   string
	Cycle    uint64   // device cycle reached
	Patience uint64   // cycles that the device was given to become idle
	Open     []string // what is still active
}

func (e *RestlessError) Error() string {
	return fmt.Sprintf("%s is still active at cycle %d, %d cycles after the last work: %s", e.Device, e.Cycle,
		e.Patience, strings.Join(e.Open, "; "))
}

// sampleBusy takes over the busy signal's samples of a quantum.
func (c *Comp) sampleBusy(r *protocol.Ran, pin *protocol.Observed) {
	c.busy = pin.Value != 0
	if !c.busy && r.Cycles != 0 {
		c.reportIdle(pin.LastNonzero, r.Start+uint64(r.Cycles)-1)
	}
}

// reportIdle reports an idle interval, less its first part if that was reported at the end of an earlier quantum.
func (c *Comp) reportIdle(first, last uint64) {
	if first = max(first, c.restFrom); first > last {
		return
	}
	c.restFrom = last + 1
	for _, f := range c.rests {
		f(first, last)
	}
}

// finished reports whether no input will come and the device is idle.
func (c *Comp) finished() bool {
	now := c.Done != nil && c.Done()
	if now && !c.done {
		c.since = c.next
	}
	c.done = now
	return c.done && len(c.open()) == 0
}

// outOfPatience reports whether the device has used up its time to become idle.
func (c *Comp) outOfPatience() bool {
	return c.done && (c.next-c.since)*uint64(c.spec.Quantum) > c.spec.Patience
}

// open lists what is still active.
func (c *Comp) open() (list []string) {
	if c.busy {
		h := c.conn.Hello()
		list = append(list, fmt.Sprintf("its signal %s is not 0", h.Observe[h.Busy].Name))
	}
	if !c.quiet {
		list = append(list, "a transaction on its streams has not ended")
	}
	for _, p := range c.ports {
		if !p.idle() {
			list = append(list, fmt.Sprintf("port %s: %d messages wait for the device, %d are on its pins", p.Port,
				p.waiting.n, p.flying.n))
		}
	}
	return list
}
