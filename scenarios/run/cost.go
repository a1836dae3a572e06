package run

import "nictwin/models/board"

// Costs of a case in milliseconds of processor time, measured once. They need to be right only to a factor: callers
// use them to choose what to play first and to estimate when all cases are done.
const (
	costBoard   = 40  // build the board, set it up and let it settle
	costRTL     = 600 // for each RTL NIC: reset and the driver's set-up
	costMessage = 1   // on the model, with the stack
	costPacket  = 1   // likewise, per 4 KB
	slowerRTL   = 2   // messages on RTL
	slowerStall = 8   // RTL NICs whose streams stall cannot skip cycles
)

// Cost estimates how long the case takes to play, in milliseconds.
func (c *Case) Cost(o *Options) int64 {
	const packet = 4096
	w := &c.Workload
	messages, bytes := int64(w.Messages()*w.MessagesPerRequest()), int64(0)
	for _, n := range w.Sizes {
		bytes += int64(n)
	}
	traffic := costMessage*messages + costPacket*messages*bytes/int64(len(w.Sizes))/packet
	fixed := int64(costBoard)
	for _, v := range o.override(c.rack()).Servers {
		if v.Cards[0].Device.Kind != board.DeviceRTL {
			continue
		}
		nic := int64(costRTL)
		if c.Faults.Stall > 0 {
			nic *= slowerStall
		}
		fixed += nic
		traffic *= slowerRTL
	}
	return fixed + traffic
}
