package run

import "nictwin/models/board"

// Costs of a case in milliseconds of a processor, measured once: they need to be right to a factor only, for those who
// choose what to play first or foresee when all will be done.
const (
	costBoard   = 40  // to put it together, set it up and let it come to rest
	costRTL     = 600 // of each NIC in RTL: its reset, what its driver sets up
	costMessage = 1   // on the model, with the stack
	costPacket  = 1   // likewise, of 4 KB
	slowerRTL   = 2   // messages on RTL
	slowerStall = 8   // NICs in RTL whose streams stall: none of their cycles is skipped
)

// Cost is about how long the case takes to play.
func (c *Case) Cost(o *Options) int64 {
	const packet = 4096
	w := &c.Workload
	messages, bytes := int64(w.Messages()*w.Ways()), int64(0)
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
