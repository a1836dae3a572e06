package boards

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
)

// box is a component with its most relevant properties.
type box struct {
	title string
	says  []string
}

// row is a chain of components, drawn from left to right.
type row struct {
	name  string
	boxes []box
}

// drawing is a card: the main path, from the cable inwards, and the branches behind its switch.
type drawing struct {
	name     string
	front    row
	branches []row
}

// drawCard draws a card as boxes. If its server has one memory for all cards, the drawing ends at the card's root.
func drawCard(c *board.CardSpec, shared bool) drawing {
	d := drawing{name: c.Name, front: row{"", []box{ethernet(c), slot(c)}}}
	switch sw := c.Switch; {
	case sw != nil:
		d.front.boxes = append(d.front.boxes,
			box{"NIC-side link", link(&c.PCIe)},
			box{"switch", across(sw)})
		d.branches = []row{{"Arm", downlink(&sw.Arm, c.Endpoint.ArmBytes, false)},
			{"host", downlink(&sw.Host, c.Endpoint.HostBytes, shared)}}
		if c.Second != nil {
			d.branches = append(d.branches, row{"second device", []box{{"NIC-side link", link(&c.PCIe)},
				{"NIC", []string{"rnic " + c.Second.Device.Model, "no Ethernet ports", "loopback"}}}})
		}
	case c.Direct != nil:
		d.branches = []row{{"host", downlink(c.Direct, c.Endpoint.HostBytes, shared)}}
	default:
		d.front.boxes = append(d.front.boxes, box{"link", link(&c.PCIe)})
		d.branches = []row{{"Arm and host", []box{
			{"root", []string{ns(c.Endpoint.Latency)}},
			{"memory", []string{bytes(c.Endpoint.ArmBytes) + " Arm, " + bytes(c.Endpoint.HostBytes) + " host",
				"at once"}},
		}}}
	}
	return d
}

// across returns the properties of a switch, and of the paths from either side's cores to the other side's memory.
func across(sw *board.SwitchSpec) []string {
	says := []string{ns(sw.Latency), "NIC link " + string(sw.NICLink)}
	if o := sw.ArmOutbound; o != nil {
		says = append(says, fmt.Sprintf("Arm to host, %d tags", o.Tags))
	}
	if m := sw.HostMMIO; m != nil {
		says = append(says, fmt.Sprintf("host to Arm, %s each", ns(m.Service)))
	}
	return says
}

func ethernet(c *board.CardSpec) box {
	says := append([]string{plural(max(c.Ports, 1), "port")}, link(&c.Eth)...)
	if b := c.Bond; b != nil {
		says = append(says, fmt.Sprintf("bond of %d cables", b.Cables))
	}
	return box{"Ethernet", says}
}

func slot(c *board.CardSpec) box {
	kind := map[board.DeviceKind]string{
		board.DeviceAny: "as the command line says", board.DeviceModel: "Go model", board.DeviceRTL: "RTL " +
			c.Device.DUT,
		board.DeviceAddress: c.Device.Address, board.DeviceRNIC: "rnic " + c.Device.Model,
	}[c.Device.Kind]
	b := box{"NIC", []string{strings.TrimSpace(kind)}}
	if c.EthBits != 0 {
		b.says = append(b.says, fmt.Sprintf("%d-bit ports", c.EthBits))
	}
	if c.Period != 0 {
		const mhz = 1_000_000
		b.says = append(b.says, fmt.Sprintf("%d ps (%d MHz)", c.Period, mhz/int64(c.Period)))
	}
	l := c.Endpoint.Limits
	return box{b.title, append(b.says, fmt.Sprintf("MPS %d, MRRS %d", l.MPS, l.MRRS))}
}

func downlink(d *board.Downlink, size uint64, shared bool) []box {
	var list []box
	if d.PCIe != nil {
		list = append(list, box{"PCIe", pcie(d.PCIe)})
	} else {
		list = append(list, box{"fabric", link(d.Fabric)})
	}
	root := box{"root", []string{ns(d.ReadLatency)}}
	if shared {
		root.says = append(root.says, "memory of the server", fmt.Sprintf("at socket %d", d.Socket))
		return append(list, root)
	}
	return append(append(list, root), parts(&d.MemorySpec, size)...)
}

// parts returns the components behind a root complex: cache, DRAM, cores.
func parts(d *board.MemorySpec, size uint64) (list []box) {
	if d.Cache != nil {
		list = append(list, box{"cache", cache(d.Cache)})
	}
	if d.Host != nil {
		return slices.Concat(machineParts(d.Host, size), gpus(d), loads(d))
	}
	at := []string{bytes(size)}
	if d.DRAM != nil {
		list = append(list, box{"DRAM", memory(d.DRAM)})
	} else {
		at = append(at, "at once")
	}
	return slices.Concat(append(list, box{"memory", at}), gpus(d), loads(d))
}

// loads returns the background loads of a DRAM.
func loads(d *board.MemorySpec) (list []box) {
	for i := range d.Loads {
		l := &d.Loads[i]
		const permille = 1000
		at := "at socket " + fmt.Sprint(l.Socket)
		if d.Host == nil {
			at = "of the DRAM"
		}
		end := "on"
		if l.Until != 0 {
			end = "to " + ns(l.Until)
		}
		list = append(list, box{fmt.Sprintf("load %d", i), []string{
			rate(l.Rate) + " " + at, fmt.Sprintf("%d B, %.4g%% writes", l.Bytes, float64(l.Writes)*100/permille),
			bytes(l.Span) + " from " + bytes(l.Offset), "from " + ns(l.From) + " " + end,
		}})
	}
	return list
}

func gpus(d *board.MemorySpec) (list []box) {
	for i := range d.GPUs {
		g := &d.GPUs[i]
		list = append(list, box{fmt.Sprintf("GPU %d", i), []string{
			bytes(g.Bytes), fmt.Sprintf("at %#x", g.Base), rate(g.Link.Rate) + ", " + ns(g.Link.Latency), ns(g.Latency),
		}})
	}
	return list
}

// machineParts returns the components behind the root complex of a machine whose cores are simulated.
func machineParts(h *host.Spec, size uint64) []box {
	list := []box{{"IIO", []string{bytes(uint64(h.IIO.Bytes))}}}
	if h.LLC != nil {
		list = append(list, box{"cache", cache(h.LLC)})
	}
	const mhz = 1_000_000
	list = append(list, box{"DRAM", memory(&h.DRAM)}, box{"memory", []string{bytes(size)}}, box{"cores", []string{
		plural(h.Sockets, "socket") + ", " + plural(h.CPU.Cores, "core"),
		fmt.Sprintf("%d MHz", mhz/int64(h.CPU.Period)),
		bytes(uint64(h.Private.SizeBytes)) + " private", bytes(uint64(h.TLB.PageBytes)) + " pages",
	}})
	if d := h.DSA; d != nil {
		list = append(list, box{"copy engine", []string{plural(d.Engines, "engine") + " a socket", rate(d.Rate) + ", " +
			ns(d.Latency), fmt.Sprintf("%d wait", d.Queue), "pieces of " + bytes(uint64(d.Chunk))}})
	}
	return list
}

func pcie(s *pcielink.Spec) []string {
	return []string{
		fmt.Sprintf("%d.0 ×%d, %s", s.Generation, s.Width, rate(s.Rate())), ns(s.Latency),
		fmt.Sprintf("MPS %d", min(s.Ends[0].MPS, s.Ends[1].MPS)),
	}
}

func cache(s *armcache.Spec) []string {
	return []string{
		fmt.Sprintf("%s, %d ways", bytes(uint64(s.SizeBytes)), s.Ways),
		fmt.Sprintf("%d for devices", bits.OnesCount64(s.DeviceWays)),
		fmt.Sprintf("%v, %v", s.Replacement, s.Index), rate(s.Rate) + ", " + ns(s.HitLatency),
	}
}

func memory(s *dram.Spec) []string {
	const mbps = 1000
	gbps := func(n int64) string { return fmt.Sprintf("%.4g", float64(cmp.Or(n, s.Peak))/mbps) }
	return []string{
		plural(s.Channels, "channel") + fmt.Sprintf(" of %d banks", s.Banks), gbps(s.Peak) + " Gbps peak, " +
			ns(s.Latency),
		gbps(s.Mixed) + " mixed, " + gbps(s.Write) + " write", "banks " + s.BankTiming,
	}
}

func link(s *simcore.LinkSpec) []string { return []string{rate(s.Rate), ns(s.Latency)} }

func rate(r simcore.Rate) string {
	if r == (simcore.Rate{}) {
		return "any rate"
	}
	const bitsPerNs = 8 * 1000
	return fmt.Sprintf("%.4g Gbps", float64(r.Bytes)*bitsPerNs/float64(r.Ps))
}

func ns(t simcore.Ps) string {
	if t >= simcore.Millisecond {
		return fmt.Sprintf("%g ms", float64(t)/float64(simcore.Millisecond))
	}
	return fmt.Sprintf("%g ns", float64(t)/float64(simcore.Nanosecond))
}

func bytes(n uint64) string {
	const step = 1024
	units := []string{"B", "KB", "MB", "GB", "TB", "PB"}
	x, i := float64(n), 0
	for ; x >= step && i < len(units)-1; i++ {
		x /= step
	}
	return fmt.Sprintf("%.4g %s", x, units[i])
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// title describes a board in one line.
func title(s *board.RackSpec) string {
	var machines []string
	if n := len(s.Servers); n > 0 {
		machines = append(machines, plural(n, "server"))
	}
	if f := s.Fleet; f != nil {
		machines = append(machines, plural(f.Machines, strings.ToLower(f.MachineName())+" machine"))
	}
	t := s.Name + ": " + strings.Join(machines, ", ")
	switch s.Network.Kind {
	case board.NetworkOpen:
		return t + ", open Ethernet ports"
	case board.NetworkBackToBack:
		t += ", back to back by cables of " + ns(s.Network.Latency)
	case board.NetworkSwitch:
		t += ", on a switch by cables of " + ns(s.Network.Latency)
	}
	if l := s.Network.Loss; l != nil {
		t += fmt.Sprintf(" that lose %.4g%% of the frames", l.Share*100)
	}
	if s.Network.Faults != nil {
		t += " with faults"
	}
	return t
}

// machine is a server as drawn; identical client machines are drawn as one.
type machine struct {
	name  string
	cards []drawing
}

func machines(s *board.RackSpec) (all []machine) {
	for i := range s.Servers {
		m := machine{name: s.Servers[i].Name}
		shared := s.Servers[i].Memory
		for k := range s.Servers[i].Cards {
			m.cards = append(m.cards, drawCard(&s.Servers[i].Cards[k], shared != nil))
		}
		if shared != nil {
			m.cards = append(m.cards,
				drawing{name: "memory of all cards", front: row{"", parts(&shared.MemorySpec, shared.Bytes)}})
		}
		all = append(all, m)
	}
	if f := s.Fleet; f != nil {
		name := f.MachineName() + "[0]"
		if f.Machines > 1 {
			name += fmt.Sprintf(" to %s[%d]", f.MachineName(), f.Machines-1)
		}
		all = append(all, machine{name, []drawing{drawCard(&f.Card, false)}})
	}
	if sw := s.Network.Switch; sw != nil {
		all = append(all, machine{"Switch", []drawing{{name: "Ethernet", front: row{"", []box{ethernetSwitch(s)}}}}})
	}
	return all
}

// ethernetSwitch draws the network's switch.
func ethernetSwitch(s *board.RackSpec) box {
	sw, ports := s.Network.Switch, s.Network.Switch.Ports
	if ports == 0 {
		for _, v := range s.All() {
			for i := range v.Cards {
				ports += v.Cards[i].Cables()
			}
		}
	}
	return box{"switch", []string{plural(ports, "port"), string(sw.Mode), ns(sw.Latency),
		bytes(uint64(sw.BufferBytes)) + " buffer"}}
}
