package probe

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/format/msg"
)

// byteHook counts the bytes of the frames that a port sends.
type byteHook struct {
	from  sim.Port
	bytes uint64
}

// Func implements sim.Hook.
func (x *byteHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnStartSend {
		return
	}
	if f, ok := ctx.Item.(*msg.Frame); ok && f.Src == x.from {
		x.bytes += uint64(len(f.Data))
	}
}

// Ethernet counts the bytes of frames that enter each cable of a rack from now on, without check sequence, preamble and
// gap.
func Ethernet(r *board.Rack) (list []Counter) {
	for i := range r.Cables {
		c := &r.Cables[i]
		for d, link := range c.Entry {
			x := &byteHook{from: c.Ports[d]}
			link.AcceptHook(x)
			list = append(list, Counter{Links, c.Name, "Ethernet from " + c.Ports[d].Name(), Bytes,
				func() uint64 { return x.bytes }})
		}
	}
	return list
}
