package probe

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/tlp"
	"nictwin/models/nic"
	"nictwin/models/rnic"
	"nictwin/models/sim/simcore"
)

// level returns a counter that reads a number of entries, such as the length of a queue.
func level(picture, where, what string, read func() int) Counter {
	return Counter{Picture: picture, Where: where, What: what, Unit: Entries, Level: true, Sparse: true,
		Read: func() uint64 { return uint64(max(read(), 0)) }}
}

// credits lists the credits of a card: those that TLPs hold on its links to devices, those that its PCIe links have
// left, and those of the NIC's accounts.
func credits(p *place) (list []Counter) {
	used := func(link *simcore.Link, nic sim.Port, name string) {
		if link == nil {
			return
		}
		far, _, ok := nic.(*simcore.Port).Far()
		list = append(list, level(Credits, p.at, name+" to card: credits used", func() int { return link.Used(nic) }))
		if ok && far != nil {
			list = append(list, level(Credits, p.at, "card to "+name+": credits used",
				func() int { return link.Used(far) }))
		}
	}
	used(p.card.NICLink, p.card.NIC.PCIe(), "NIC")
	if p.card.Second != nil {
		used(p.card.SecondLink, p.card.Second.PCIe(), "second device")
	}
	list = append(list, linkCredits(p.at, "host", p.card.HostLink)...)
	list = append(list, linkCredits(p.at, "Arm", p.card.ArmLink)...)
	if n, ok := p.card.NIC.(interface{ AccountCredits() int }); ok {
		list = append(list, level(Credits, p.at, "credits in accounts of the NIC", n.AccountCredits))
	}
	return list
}

// linkCredits lists the credits that the transmitters of a PCIe link have left, by class, where they are finite.
func linkCredits(at, name string, link *pcielink.Link) (list []Counter) {
	if link == nil {
		return nil
	}
	for end, from := range []string{"to " + name, "from " + name} {
		for c := range tlp.Completion + 1 {
			if _, _, finite := link.Credits(end, c); !finite {
				continue
			}
			what := fmt.Sprintf("PCIe %s, %v credits left: ", from, c)
			headers := func() int { h, _, _ := link.Credits(end, c); return h }
			data := func() int { _, d, _ := link.Credits(end, c); return d }
			list = append(list, level(Credits, at, what+"headers", headers), level(Credits, at, what+"data", data))
		}
	}
	return list
}

// queues lists the lengths of queues of a card, its NIC and its stack.
func (w *Watch) queues(p *place) (list []Counter) {
	if s := p.card.Switch; s != nil {
		for _, port := range []string{nicswitch.PortNIC, nicswitch.PortArm, nicswitch.PortHost} {
			list = append(list, level(Queues, p.at, "PCIe switch, TLPs to "+port, func() int { return s.Queued(port) }))
		}
	}
	switch n := p.card.NIC.(type) {
	case interface{ Levels() nic.Levels }:
		list = append(list, contractQueues(p.at, n.Levels)...)
	case interface{ Levels() rnic.Levels }:
		list = append(list, rnicQueues(p.at, n.Levels)...)
	}
	if depths := w.Depths[p.server]; depths != nil {
		for i, d := range depths() {
			list = append(list, level(Queues, p.at, d.Name, func() int { return depths()[i].Length }))
		}
	}
	return list
}

// inNIC returns a level of a NIC.
func inNIC[L any](at, what string, levels func() L, of func(l *L) int) Counter {
	return level(Queues, at, "NIC, "+what, func() int {
		l := levels()
		return of(&l)
	})
}

// contractQueues lists the queues inside a Go NIC of the contract. What RTL holds is not known outside of it.
func contractQueues(at string, levels func() nic.Levels) []Counter {
	list := []Counter{
		inNIC(at, "bytes in the receive buffer", levels, func(l *nic.Levels) int { return l.RxBytes }),
		inNIC(at, "received frames", levels, func(l *nic.Levels) int { return l.RxFrames }),
		inNIC(at, "receive descriptors not consumed", levels, func(l *nic.Levels) int { return l.Descriptors }),
		inNIC(at, "blocks of work entries not ended", levels, func(l *nic.Levels) int { return l.Blocks }),
		inNIC(at, "work entries under way", levels, func(l *nic.Levels) int { return l.TxSlots }),
		inNIC(at, "frames to send", levels, func(l *nic.Levels) int { return l.TxFrames }),
	}
	list[0].Unit = Bytes
	return list
}

// rnicQueues lists the queues inside an rnic.
func rnicQueues(at string, levels func() rnic.Levels) []Counter {
	list := []Counter{
		inNIC(at, "bytes in the receive buffer", levels, func(l *rnic.Levels) int { return l.RxBytes }),
		inNIC(at, "packets to send", levels, func(l *rnic.Levels) int { return l.Packets }),
		inNIC(at, "send entries not ended", levels, func(l *rnic.Levels) int { return l.Sends }),
		inNIC(at, "receive entries not consumed", levels, func(l *rnic.Levels) int { return l.Receives }),
	}
	list[0].Unit = Bytes
	return list
}

// network lists the queues of the Ethernet switch, and the credits that frames hold on cables.
func network(r *board.Rack) (list []Counter) {
	for i := range r.Cables {
		c := &r.Cables[i]
		for d, link := range c.Entry {
			list = append(list, level(Credits, c.Name, "from "+c.Ports[d].Name()+": credits used",
				func() int { return link.Used(c.Ports[d]) }))
		}
	}
	if s := r.Switch; s != nil {
		for port := range r.Cables {
			x := level(Queues, r.Name, fmt.Sprintf("Ethernet switch, bytes to port %d", port), func() (n int) {
				for class := range core.Classes {
					n += s.Queued(port, class)
				}
				return n
			})
			x.Unit = Bytes
			list = append(list, x)
		}
	}
	return list
}
