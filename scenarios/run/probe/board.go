package probe

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
)

// Board lists the counters of a board: bytes by link and direction, DRAM and cache, and the busy time of cores. Parts
// that a board does not have are left out.
func Board(r *board.Rack) (list []Counter) {
	for _, p := range places(r) {
		list = append(list, links(p.at, p.card)...)
		list = append(list, memory(p.at, p.card)...)
	}
	return list
}

// links lists the PCIe links of a card.
func links(at string, c *board.Card) (list []Counter) {
	add := func(link *pcielink.Link, end int, what string) {
		list = append(list, Counter{Links, at, what, Bytes, func() uint64 { return wireBytes(link, end) }})
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

// memory lists the memories and cores of a card and its server.
func memory(at string, c *board.Card) (list []Counter) {
	for _, x := range []struct {
		endpoint int
		name     string
	}{{nicspec.EndpointHost, "host"}, {nicspec.EndpointArm, "Arm"}} {
		if h := c.Memory.Host(x.endpoint); h != nil {
			list = append(list, server(at, x.name, h)...)
			continue
		}
		if d := c.Memory.DRAM(x.endpoint); d != nil {
			list = append(list, drams(at, x.name, d)...)
		}
		if l := c.Memory.Cache(x.endpoint); l != nil {
			list = append(list, caches(at, x.name, l)...)
		}
	}
	return list
}

// server lists the counters of a machine with cores, each socket apart if there are several.
func server(at, name string, h *host.Server) (list []Counter) {
	socket := func(i int) string {
		if len(h.DRAM) > 1 {
			return fmt.Sprintf("%s socket %d", name, i)
		}
		return name
	}
	for i, d := range h.DRAM {
		list = append(list, drams(at, socket(i), d)...)
	}
	for i, l := range h.LLC {
		if l != nil {
			list = append(list, caches(at, socket(i), l)...)
		}
	}
	for i, c := range h.Used() {
		list = append(list, Counter{Cores, at, fmt.Sprintf("%s core %d", name, i), Time,
			func() uint64 { return uint64(c.BusyTime()) }})
	}
	return list
}

// drams lists the counters of a DRAM, background loads apart from everything else.
func drams(at, name string, d *dram.DRAM) (list []Counter) {
	add := func(what string, read func(n *dram.Counters) uint64) {
		list = append(list, Counter{Memory, at, name + " DRAM " + what, Bytes, func() uint64 {
			n := d.Counters()
			return read(&n)
		}})
	}
	add("read", func(n *dram.Counters) uint64 { return n.ReadBytes - n.LoadRead })
	add("written", func(n *dram.Counters) uint64 { return n.WrittenBytes - n.LoadWritten })
	add("read by loads", func(n *dram.Counters) uint64 { return n.LoadRead })
	add("written by loads", func(n *dram.Counters) uint64 { return n.LoadWritten })
	return list
}

// caches lists the counters of a last-level cache, by the agent that reads and writes: devices or cores.
func caches(at, name string, l *armcache.Cache) (list []Counter) {
	for agent := range mem.Agents {
		by := fmt.Sprintf("%s LLC %v ", name, mem.Agent(agent))
		list = append(list,
			Counter{Memory, at, by + "read", Bytes, func() uint64 { return l.Counters()[agent].ReadBytes }},
			Counter{Memory, at, by + "written", Bytes, func() uint64 { return l.Counters()[agent].WriteBytes }})
	}
	return list
}
