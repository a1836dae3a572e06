package probe

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/format/msg"
)

// byteHook counts the bytes of the frames that a port has sent, when a link delivers them. What the port hands to the
// link may wait in front of it, and says nothing of the link's rate.
type byteHook struct {
	from  sim.Port
	bytes uint64
}

// Func implements sim.Hook.
func (x *byteHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnDeliver {
		return
	}
	if f, ok := ctx.Item.(*msg.Frame); ok && f.Src == x.from {
		x.bytes += uint64(len(f.Data))
	}
}

// ethernet counts the bytes of frames that cross each cable of a rack from now on, without check sequence, preamble and
// gap. Frames that the cable's faults drop count, too.
func ethernet(r *board.Rack) (list []Counter) {
	for i := range r.Cables {
		c := &r.Cables[i]
		for d, link := range c.Entry {
			x := &byteHook{from: c.Ports[d]}
			link.AcceptHook(x)
			list = append(list, Counter{Picture: Links, Where: c.Name, What: "Ethernet from " + c.Ports[d].Name(), Unit: Bytes,
				Read: func() uint64 { return x.bytes }})
		}
	}
	return list
}
