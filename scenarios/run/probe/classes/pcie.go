package classes

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
)

// lane counts the bytes in one direction of a PCIe link, by class.
type lane struct {
	*Link
	card  *card
	first bool // every TLP of the NIC crosses this link first
	bar   bool // this link leads to the NIC
}

// tlp counts a TLP that takes wire bytes of the link.
func (l *lane) tlp(p *msg.TLP, wire int) {
	h, moved := p.Parsed(), 0
	switch h.Kind {
	case tlp.MRd:
		l.read(h)
	case tlp.MWr:
		moved = l.write(h, p.Data)
	case tlp.CplD:
		moved = l.completion(h, p.Data)
	}
	l.Count(TLPHeaders, wire-moved)
}

// read remembers a read request. That of the NIC may read a part of a frame.
func (l *lane) read(h *tlp.Header) {
	c, key := l.card, request{h.RequesterID, h.Tag}
	off, n := h.Span()
	from := h.Address + uint64(off)
	if r := c.reads[key]; r != nil && r.from == from && !l.first {
		return // the request has crossed another link before
	}
	r := &read{from: from, to: from + uint64(n)}
	if l.first && h.RequesterID == nicspec.RequesterNic {
		r.part, r.again = c.take(from, n), c.again[h.Tag]
		delete(c.again, h.Tag)
	}
	c.reads[key] = r
}

// take removes the next n bytes, at the most, of a frame to be sent that the NIC reads at an address, and returns them.
func (c *card) take(from uint64, n int) piece {
	list := c.sends[from]
	if len(list) == 0 {
		return piece{}
	}
	p := list[0]
	if len(list) == 1 {
		delete(c.sends, from)
	} else {
		c.sends[from] = list[1:]
	}
	part := *p
	part.left = min(n, p.left)
	p.off, p.left = p.off+part.left, p.left-part.left
	if next := from + uint64(part.left); p.left > 0 {
		c.sends[next] = append(c.sends[next], p)
	}
	return part
}

// completion counts the bytes that answer a read, and returns their number.
func (l *lane) completion(h *tlp.Header, data []byte) int {
	c := l.card
	r := c.reads[request{h.RequesterID, h.Tag}]
	lead := int(h.LowerAddr) % tlp.DWBytes
	n := max(0, min(len(data)-lead, int(h.ByteCount)))
	if r == nil {
		l.Count(Other, n)
		return n
	}
	addr, b := r.to-uint64(h.ByteCount), data[lead:lead+n]
	if class, ok := c.register(addr); ok {
		l.Count(class, n)
		return n
	}
	class, use := c.memory.of(addr)
	if l.first && c.memory.Bus != nil && h.RequesterID == nicspec.RequesterNic {
		c.entries(use, addr, b)
	}
	switch f := r.part.frame; {
	case f != nil:
		off := r.part.off + int(addr-r.from)
		if off == 0 {
			f.learn(b, c.sent)
		}
		f.count(l.Link, off, n, class)
	case class == Payload && r.again:
		l.Count(Again, n)
	default:
		l.Count(class, n)
	}
	return n
}

// entries reads what the NIC reads of its rings.
func (c *card) entries(use driver.Use, addr uint64, b []byte) {
	switch use {
	case driver.UseSendRing:
		for ; len(b) >= nicspec.WqeBytes; b, addr = b[nicspec.WqeBytes:], addr+nicspec.WqeBytes {
			c.block(addr, b[:nicspec.WqeBytes])
		}
	case driver.UseRecvRing:
		c.descriptors(b)
	}
}

// write counts the bytes of a write, and returns their number.
func (l *lane) write(h *tlp.Header, data []byte) int {
	c := l.card
	if h.ZeroLength() {
		return 0
	}
	lead, n := h.Span()
	addr, b := h.Address+uint64(lead), data[lead:lead+n]
	if class, ok := c.register(addr); ok {
		l.Count(class, n)
		if class == Descriptors && c.memory.Bus != nil && l.bar && n == nicspec.WqeBytes {
			c.block(0, b)
		}
		return n
	}
	class, _ := c.memory.of(addr)
	part := c.received(l, h, addr, b)
	if part.frame != nil {
		part.count(l.Link, part.off, n, class)
	} else {
		l.Count(class, n)
	}
	return n
}

// received returns the part of a received frame that a write holds; without frame: none.
func (c *card) received(l *lane, h *tlp.Header, addr uint64, b []byte) (part piece) {
	if h.RequesterID != nicspec.RequesterNic || c.memory.Bus == nil {
		return part
	}
	if !l.first {
		if list := c.passed[addr]; len(list) > 0 {
			part = list[0]
			if c.passed[addr] = list[1:]; len(list) == 1 {
				delete(c.passed, addr)
			}
		}
		return part
	}
	p := c.lands[addr]
	if p == nil {
		return part
	}
	delete(c.lands, addr)
	f, n := p.frame, len(b)
	if p.off == 0 && !f.parsed {
		f.learn(b, c.got)
		if f.roce && f.pay != 0 {
			c.lands[f.pay] = &piece{f, f.known, max(0, f.to-f.known)}
		}
	}
	part = *p
	if p.off, p.left = p.off+n, p.left-n; p.left > 0 {
		c.lands[addr+uint64(n)] = p
	}
	if c.behind[endpoint(addr)] {
		c.passed[addr] = append(c.passed[addr], part)
	}
	return part
}

// tlpHook sees the TLPs that enter a link.
type tlpHook struct {
	lanes [2]*lane // by end
	far   sim.Port // end 1
	wire  func(*msg.TLP) int
}

// Func implements sim.Hook.
func (x *tlpHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnStartSend {
		return
	}
	p, ok := ctx.Item.(*msg.TLP)
	if !ok {
		return
	}
	end := 0
	if p.Src == x.far {
		end = 1
	}
	x.lanes[end].tlp(p, x.wire(p))
}

// Card divides the bytes on the PCIe links of a card from Link.Begin on. where names the card; m may be filled
// in later.
func Card(where string, c *board.Card, m *Memory) (list []*Link) {
	x := newCard(m)
	x.observe(c.NIC)
	if c.NICLink == nil {
		return x.pcie(where, "NIC", c.HostLink, c.NIC.PCIe(), true)
	}
	list = x.own(where, "NIC", c.NICLink, c.NIC.PCIe(), true)
	if c.Second != nil {
		list = append(list, x.own(where, "second device", c.SecondLink, c.Second.PCIe(), false)...)
	}
	if c.HostLink != nil {
		x.behind[nicspec.EndpointHost] = true
		list = append(list, x.pcie(where, "host", c.HostLink, c.Host.PCIe(), false)...)
	}
	if c.ArmLink != nil {
		x.behind[nicspec.EndpointArm] = true
		list = append(list, x.pcie(where, "Arm", c.ArmLink, c.Root.PCIe(), false)...)
	}
	return list
}

// ways names the directions of a link, by the end where each begins. End 0 is the card's, or the server's root.
func ways(far string, direct bool) [2]string {
	near := "card"
	if direct {
		near = "host"
	}
	return [2]string{"PCIe " + near + " to " + far, "PCIe " + far + " to " + near}
}

// pcie divides the bytes of a PCIe link. first: the NIC is at its end 1.
func (x *card) pcie(where, name string, link *pcielink.Link, far sim.Port, first bool) (list []*Link) {
	h := &tlpHook{far: far, wire: func(p *msg.TLP) int { return p.TrafficBytes }}
	for end, what := range ways(name, first) {
		l := &Link{Where: where, What: what, total: func() uint64 { return wireBytes(link, end) },
			dllps: func() uint64 { return link.Counters(end).DLLPBytes }}
		h.lanes[end] = &lane{l, x, first, first && end == 0}
		list = append(list, l)
	}
	link.AcceptHook(h)
	return list
}

// own divides the bytes of a link at a device of the card: header and payload of TLPs, as their headers have them.
func (x *card) own(where, name string, link *simcore.Link, far sim.Port, first bool) (list []*Link) {
	h := &tlpHook{far: far, wire: func(p *msg.TLP) int { return p.Parsed().SizeDW()*tlp.DWBytes + len(p.Data) }}
	sent := func(end int) uint64 {
		from, to := link.Sent(far)
		return [2]uint64{to, from}[end]
	}
	for end, what := range ways(name, false) {
		l := &Link{Where: where, What: what, Own: true, total: func() uint64 { return sent(end) }}
		h.lanes[end] = &lane{l, x, first, first && end == 0}
		list = append(list, l)
	}
	link.AcceptHook(h)
	return list
}

// observe makes an RDMA NIC (rnic) report the packets whose payload it reads.
func (x *card) observe(nic board.NIC) {
	n, ok := nic.(interface {
		ObservePayload(f func(tag uint8, first bool, frame []byte))
	})
	if !ok {
		return
	}
	n.ObservePayload(func(tag uint8, first bool, b []byte) {
		if first {
			p, roce := parse(b)
			x.latest = roce && x.sent.before(&p)
		}
		x.again[tag] = x.latest
	})
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
