package hostnet

import (
	"nictwin/models/server/cpu"
	"nictwin/stack/driver/corebus"
)

// core is a core of the host with its flows.
type core struct {
	node    *Node
	bus     *corebus.Bus
	cpu     *cpu.Core
	tx      *sender
	flows   []*Flow
	waiting bool // a flow found no room to send
}

// hasRoom reports whether n frames can be sent. If not, the core's flows are woken when frames have ended.
func (c *core) hasRoom(n int) bool {
	if c.tx.room() >= n {
		return true
	}
	c.waiting = true
	return false
}

func (c *core) wakeWaiting() {
	if !c.waiting {
		return
	}
	c.waiting = false
	for _, f := range c.flows {
		f.loop.Wake()
	}
}
