package probe

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/probe/classes"
)

// Cables observes the frames on a rack's cables, by one hook for each link.
type Cables struct {
	ways []*way
	taps map[*simcore.Link]*tap
}

// way is a direction of a cable.
type way struct {
	cable      string
	from       sim.Port
	fromServer bool // port `from` belongs to a server, not to a switch
	link       *simcore.Link

	entered, left []func(frame []byte)
}

// tap is the hook of a link; ways lists the directions that begin on it.
type tap struct{ ways []*way }

// NewCables lists the cables of a rack. It hooks a link once somebody wants to see its frames.
func NewCables(r *board.Rack) *Cables {
	c := &Cables{taps: map[*simcore.Link]*tap{}}
	for i := range r.Cables {
		x := &r.Cables[i]
		for d, link := range x.Entry {
			_, network := x.Ports[d].Component().(*etherlink.Switch)
			c.ways = append(c.ways, &way{cable: x.Name, from: x.Ports[d], fromServer: !network, link: link})
		}
	}
	return c
}

// hook makes sure that the link of a direction is hooked.
func (c *Cables) hook(w *way) {
	t := c.taps[w.link]
	if t == nil {
		t = new(tap)
		c.taps[w.link] = t
		w.link.AcceptHook(t)
	}
	for _, x := range t.ways {
		if x == w {
			return
		}
	}
	t.ways = append(t.ways, w)
}

// onEntry calls f for frames that a port sends, which may still wait for the cable.
func (c *Cables) onEntry(w *way, f func(frame []byte)) {
	c.hook(w)
	w.entered = append(w.entered, f)
}

// onDelivery calls f for frames when the first link of a direction delivers them. What a port hands to the link may
// wait in front of it, and says nothing of the link's rate.
func (c *Cables) onDelivery(w *way, f func(frame []byte)) {
	c.hook(w)
	w.left = append(w.left, f)
}

// Func implements sim.Hook.
func (t *tap) Func(ctx sim.HookCtx) {
	f, ok := ctx.Item.(*msg.Frame)
	if !ok {
		return
	}
	for _, w := range t.ways {
		if f.Src != w.from {
			continue
		}
		list := w.left
		if ctx.Pos == sim.HookPosConnStartSend {
			list = w.entered
		}
		for _, see := range list {
			see(f.Data)
		}
	}
}

// count counts the bytes of frames that cross each direction from now on, without check sequence, preamble and gap, and
// divides them among classes. Frames that the cable's faults drop count, too.
func (c *Cables) count() (list []Counter, links []*classes.Link) {
	places := classes.NewPlaces()
	for _, w := range c.ways {
		bytes := new(uint64)
		n := Counter{Picture: Links, Where: w.cable, What: "Ethernet from " + w.from.Name(), Unit: Bytes,
			Read: func() uint64 { return *bytes }}
		cable := places.Cable(n.Where, n.What, w.fromServer, n.Read)
		c.onDelivery(w, func(b []byte) { *bytes += uint64(len(b)) })
		c.onDelivery(w, cable.Frame)
		list, links = append(list, n), append(links, cable.Link)
	}
	return list, links
}
