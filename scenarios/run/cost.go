package run

import "nictwin/models/board"

// Costs of a case, measured once, in milliseconds of processor time. They only have to be of the right magnitude: they
// decide which case is played first and estimate when all will have ended.
const (
	costBoard   = 40  // ms: building a board of two servers, set-up, and waiting for idle devices
	costRTL     = 600 // ms: reset and driver set-up of each RTL NIC
	costMessage = 1   // ms: a message on the Go NIC, with the stack
	costPacket  = 1   // ms: every 4 KB of a message on the Go NIC
	slowerRTL   = 2   // factor by which messages on RTL take longer
	slowerStall = 8   // additional factor for RTL NICs with stalls, which cannot skip idle cycles
)

// Cost estimates how long the case takes to play, in milliseconds.
func (c *Case) Cost(o *Options) int64 {
	const packet = 4096
	traffic := int64(0)
	for _, w := range c.AllWorkloads() {
		messages, bytes := int64(w.Messages()*w.MessagesPerRequest()), int64(0)
		for _, n := range w.Sizes {
			bytes += int64(n)
		}
		traffic += costMessage*messages + costPacket*messages*bytes/int64(len(w.Sizes))/packet
	}
	servers, slower := o.override(c.rack()).Servers, int64(1)
	fixed := costBoard * int64(len(servers)) / 2
	for _, v := range servers {
		if v.Cards[0].Device.Kind != board.DeviceRTL {
			continue
		}
		nic := int64(costRTL)
		if c.Faults.Stall > 0 {
			nic *= slowerStall
		}
		fixed += nic
		slower = min(slower*slowerRTL, slowerRTL*slowerRTL) // a message passes two NICs
	}
	return fixed + slower*traffic
}
