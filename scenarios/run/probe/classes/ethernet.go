package classes

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
)

// cable divides the bytes of the frames of one direction of a cable.
type cable struct {
	*Link
	seen seen // of all cables whose frames leave the same kind of place: a server or a switch
}

// frame counts a frame when the link delivers it.
func (c *cable) frame(b []byte) {
	p, ok := parse(b)
	switch n := len(b); {
	case !ok || p.to > len(b):
		c.Count(OtherFrames, n)
	case p.ack:
		c.Count(Acks, n)
	default:
		payload := p.to - p.from
		c.Count(c.class(&p), payload)
		c.Count(Headers, n-payload)
	}
}

// class returns the class of a packet's payload.
func (c *cable) class(p *packet) Class {
	if c.seen.before(p) {
		return Again
	}
	return Payload
}

// Wire is a direction of a cable: what port From sends over Link, whose bytes Total counts.
type Wire struct {
	Where, What string
	Link        interface{ AcceptHook(sim.Hook) }
	From        sim.Port
	Total       func() uint64
	FromServer  bool // From belongs to a server, not to a switch
}

type frameHook struct {
	cable
	from sim.Port
}

// Func implements sim.Hook.
func (h *frameHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnDeliver {
		return
	}
	if f, ok := ctx.Item.(*msg.Frame); ok && f.Src == h.from {
		h.frame(f.Data)
	}
}

// Ethernet divides the bytes of frames on cables from now on.
func Ethernet(wires []Wire) (list []*Link) {
	places := [2]seen{{}, {}} // leaving a switch, leaving a server
	for i := range wires {
		w := &wires[i]
		place := places[0]
		if w.FromServer {
			place = places[1]
		}
		l := &Link{Where: w.Where, What: w.What, total: w.Total}
		w.Link.AcceptHook(&frameHook{cable{l, place}, w.From})
		list = append(list, l)
	}
	return list
}
