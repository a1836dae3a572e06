package probe

import (
	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/tlp"
)

// board lists the counters of a board: bytes by link and direction, memories, caches, cores, credits and queues. Parts
// that a board does not have are left out.
func (w *Watch) board(r *board.Rack) (list []Counter) {
	for _, p := range places(r) {
		list = append(list, links(p.at, p.card)...)
		list = append(list, w.memory(&p)...)
		list = append(list, credits(&p)...)
		list = append(list, w.queues(&p)...)
		list = append(list, w.Stack[p.server]...)
	}
	list = append(list, network(r)...)
	return list
}

// links lists the PCIe links of a card.
func links(at string, c *board.Card) (list []Counter) {
	add := func(link *pcielink.Link, end int, what string) {
		list = append(list, Counter{Picture: Links, Where: at, What: what, Unit: Bytes,
			Read: func() uint64 { return wireBytes(link, end) }})
	}
	if c.Switch == nil && c.HostLink != nil { // end 0 is the server's root
		add(c.HostLink, 0, "PCIe host to NIC")
		add(c.HostLink, 1, "PCIe NIC to host")
		return list
	}
	for _, x := range []struct {
		link *pcielink.Link
		name string
	}{{c.HostLink, "host"}, {c.ArmLink, "Arm"}} {
		if x.link != nil { // end 0 is the card's switch
			add(x.link, 0, "PCIe card to "+x.name)
			add(x.link, 1, "PCIe "+x.name+" to card")
		}
	}
	return list
}

// wireBytes returns the bytes that entered a direction of a link, with headers and DLLPs.
func wireBytes(link *pcielink.Link, end int) uint64 {
	c := link.Counters(end)
	n := c.DLLPBytes
	for class := range tlp.Completion + 1 {
		n += c.In[class].Wire
	}
	return n
}
