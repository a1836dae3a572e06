package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/stream"
	"nictwin/models/sim/fifo"
)

// ethOut is the outgoing Ethernet stream of a port.
type ethOut struct {
	stream.Stall
	x    stream.Crossing
	cur  int32             // slot of the frame that is offered or crosses, while busy
	busy bool              // a frame is offered or crosses
	fifo fifo.Queue[int32] // slots whose frames wait for the stream

	pause ethPause
}

// send passes a frame that has left the device to the link.
func (c *Comp) send(p int, f *msg.Frame) {
	f.Seq = c.regs.Port(nicspec.CntTxFrames, p) + c.regs.Port(nicspec.CntTxPause, p) - 1
	if c.eth[p].SendAt(f, c.time()) != nil {
		panic("nic: the Ethernet link refused a frame after CanSend")
	}
}
