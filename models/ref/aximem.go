package ref

import (
	"fmt"
	"slices"
)

// Bursts draws reads and writes for an AXI port on which the device is the subordinate, and checks that it behaves
// like a memory: each byte of a read has the value of the last write before it, or of a write in progress at the
// same time; AXI A5.3, A7. initial holds the memory's initial contents; nil: they are not known.
func (p *Player) Bursts(port string, o AXIRange, initial *Memory) {
	c := &axiMemory{axi: p.axi(port), p: p, bytes: map[uint64][]*axiWrite{}, reads: map[uint64][]*Burst{}}
	if initial != nil {
		c.initial = initial.Clone() // a copy, which the caller's later writes do not change
	}
	for range o.Bursts {
		b := c.drawBurst(p.rand, &o)
		p.longest = max(p.longest, b.Len)
		write := p.rand.IntN(2) == 0
		if write {
			c.drawData(p.rand, b)
		}
		switch {
		case !p.Job():
		case write:
			c.writes = append(c.writes, b)
			p.giveAddress(c.axi, "aw", b)
			p.giveData(c.axi, b)
		default:
			p.giveAddress(c.axi, "ar", b)
		}
	}
	p.On(port+".aw", func(m *Msg) { c.address(m) })
	p.On(port+".w", func(m *Msg) { c.beat(m) })
	p.On(port+".b", func(m *Msg) { c.answered(m) })
	p.On(port+".ar", func(m *Msg) {
		b := c.burst(m, "ar")
		c.reads[b.ID] = append(c.reads[b.ID], b)
		c.open++
	})
	p.On(port+".r", func(m *Msg) { c.read(m) })
	p.Done(func() bool { return c.open == 0 && c.done == len(c.writes) })
}

// axiMemory tracks the contents of the memory behind an AXI port.
type axiMemory struct {
	*axi
	p       *Player
	initial *Memory
	writes  []*Burst // all writes, in the order in which they are offered
	aw, w   int      // number of writes whose address, and whose data, the device has taken
	done    int      // number of writes that the device has answered
	reads   map[uint64][]*Burst
	open    int // number of reads in progress
	bytes   map[uint64][]*axiWrite
}

// axiWrite is the value that a write gives to one byte, at some time between its first beat and its answer.
type axiWrite struct {
	of    *Burst
	value byte
}

const never = ^uint64(0)

// starts records the cycle from which reads may return a write's bytes.
func (c *axiMemory) starts(b *Burst, cycle uint64) {
	if b.began == 0 && b.ended == 0 {
		b.began, b.ended = cycle, never
		for n := range b.Len {
			from, to := b.lanes(n, c.bus)
			base := b.BeatAddr(n) &^ uint64(c.bus-1)
			for i := from; i < to; i++ {
				if b.strobe[n][i/8]>>(i%8)&1 == 1 {
					at := base + uint64(i)
					c.bytes[at] = append(c.bytes[at], &axiWrite{b, b.data[n][i]})
				}
			}
		}
	}
}

func (c *axiMemory) address(m *Msg) {
	b := c.writes[c.aw]
	c.aw++
	b.asked = true
	c.starts(b, m.Last)
}

func (c *axiMemory) beat(m *Msg) {
	b := c.writes[c.w]
	c.starts(b, m.Last)
	if b.beats++; b.beats == b.Len {
		c.w++
	}
}

// answered handles a response to a write: it belongs to the oldest unanswered write with its ID.
func (c *axiMemory) answered(m *Msg) {
	c.p.compares(m)
	id := uint64(0)
	if c.ids > 0 {
		id = m.U("bid")
	}
	for i, b := range c.writes {
		if i >= c.aw || b.ID != id || b.ended != never {
			continue
		}
		if b.beats < b.Len {
			break
		}
		c.done++
		b.ended = m.Last
		c.p.Want(m, Fields{"bresp": Okay})
		return
	}
	c.p.Wrong(m, "answer", "none: no complete write of this ID waits for an answer (AXI A3.3.1)", m.String())
}

// read checks one beat of a read.
func (c *axiMemory) read(m *Msg) {
	c.p.compares(m)
	id := uint64(0)
	if c.ids > 0 {
		id = m.U("rid")
	}
	list := c.reads[id]
	if len(list) == 0 {
		c.p.Wrong(m, "beat", "none: no read of this ID is in progress", m.String())
		return
	}
	b := list[0]
	c.p.Want(m, Fields{"rresp": Okay})
	n := b.beats
	b.beats++
	last := b.beats == b.Len
	if !c.lite && (m.U("rlast") == 1) != last {
		c.p.Wrong(m, "rlast", fmt.Sprintf("%v at beat %d of %v", last, n, b), fmt.Sprint(!last))
		return
	}
	data := m.B("rdata")
	from, to := b.lanes(n, c.bus)
	base := b.BeatAddr(n) &^ uint64(c.bus-1)
	for i := from; i < to; i++ {
		c.judge(m, b, base+uint64(i), i, data[i])
	}
	if last {
		c.reads[id] = list[1:]
		c.open--
	}
}

// judge checks that a byte of a read has one of the values that the memory may return.
func (c *axiMemory) judge(m *Msg, b *Burst, at uint64, lane int, got byte) {
	list := c.bytes[at]
	var may []byte
	for _, w := range list {
		if w.of.began <= m.Last && !c.overwritten(list, w, b) {
			may = append(may, w.value)
		}
	}
	if !c.overwritten(list, nil, b) {
		if c.initial == nil {
			return
		}
		may = append(may, c.initial.Read(at, 1)[0])
	}
	if !slices.Contains(may, got) {
		c.p.Wrong(m, fmt.Sprintf("rdata byte %d, address %#x", lane, at),
			fmt.Sprintf("one of % x (read taken at cycle %d: %v)", may, b.began, b), fmt.Sprintf("%02x", got))
	}
}

// overwritten reports whether the value that w wrote was replaced before a read: another write began after w had
// ended, and ended before the read began. A nil w stands for the initial contents.
func (c *axiMemory) overwritten(list []*axiWrite, w *axiWrite, read *Burst) bool {
	return slices.ContainsFunc(list, func(x *axiWrite) bool {
		return x != w && x.of.ended < read.began && (w == nil || w.of.ended < x.of.began)
	})
}

// ServeAXI puts a memory behind an AXI port on which the device is the manager. It answers in order, each time
// after 0 to `delay` cycles, and checks the bursts against the rules of AXI.
func (p *Player) ServeAXI(port string, mem *Memory, delay uint64) {
	a := p.axi(port)
	var writes []*Burst
	var beats []*Msg
	late := func() uint64 { return p.rand.Uint64N(delay + 1) }
	whole := func() {
		for len(writes) > 0 && len(beats) >= writes[0].Len {
			b := writes[0]
			for n, m := range beats[:b.Len] {
				if !a.lite && (m.U("wlast") == 1) != (n == b.Len-1) {
					p.Wrong(m, "wlast", fmt.Sprintf("%v at beat %d of %v", n == b.Len-1, n, b),
						fmt.Sprint(n != b.Len-1))
					return
				}
				a.put(p, mem, b, n, m)
			}
			writes, beats = writes[1:], beats[b.Len:]
			f := Fields{"bresp": Okay}
			if a.ids > 0 {
				f["bid"] = b.ID
			}
			p.Answer(port+".b", late(), f, nil)
		}
	}
	p.subscribe(port+".aw", func(m *Msg) {
		b := a.burst(m, "aw")
		if a.legal(p, m, b) {
			writes = append(writes, b)
			whole()
		}
	})
	p.subscribe(port+".w", func(m *Msg) { beats = append(beats, m); whole() })
	p.subscribe(port+".ar", func(m *Msg) {
		b := a.burst(m, "ar")
		if !a.legal(p, m, b) {
			return
		}
		for n := range b.Len {
			data := make([]byte, a.bus)
			from, to := b.lanes(n, a.bus)
			copy(data[from:to], mem.Read(b.BeatAddr(n)&^uint64(a.bus-1)+uint64(from), to-from))
			f := Fields{"rdata": data, "rresp": Okay}
			if !a.lite {
				f["rlast"] = n == b.Len-1
			}
			if a.ids > 0 {
				f["rid"] = b.ID
			}
			p.Answer(port+".r", late(), f, nil)
		}
	})
	p.Done(func() bool { return len(writes) == 0 && len(beats) == 0 })
}

// put writes a beat to the memory, and checks that its strobes lie in its lanes.
func (a *axi) put(p *Player, mem *Memory, b *Burst, n int, m *Msg) {
	p.compares(m)
	data, strobe := m.B("wdata"), m.B("wstrb")
	from, to := b.lanes(n, a.bus)
	for i := range data {
		if set := strobe[i/8]>>(i%8)&1 == 1; set && (i < from || i >= to) {
			p.Wrong(m, "wstrb", fmt.Sprintf("only lanes %d to %d, of beat %d of %v (AXI A3.4.3)", from, to-1, n, b),
				fmt.Sprintf("% x", strobe))
			return
		}
	}
	mem.WriteStrobed(b.BeatAddr(n)&^uint64(a.bus-1), data, strobe)
}

// legal checks a burst against the rules of AXI A3.4.1.
func (a *axi) legal(p *Player, m *Msg, b *Burst) bool {
	p.compares(m)
	size := uint64(b.Size)
	end := b.Addr&^(size-1) + size*uint64(b.Len)
	what := ""
	switch {
	case b.Size > a.bus:
		what = fmt.Sprintf("beats of at most %d bytes", a.bus)
	case b.Kind > Wrap:
		what = "burst 0, 1 or 2"
	case b.Kind == Wrap && (b.Len != 2 && b.Len != 4 && b.Len != 8 && b.Len != 16 || b.Addr%size != 0):
		what = "a wrapping burst of 2, 4, 8 or 16 beats at an aligned address"
	case b.Kind == Fixed && b.Len > 16:
		what = "a fixed burst of at most 16 beats"
	case b.Kind == Incr && b.Addr/4096 != (end-1)/4096:
		what = "a burst that does not cross a page of 4 KB"
	default:
		return true
	}
	p.Wrong(m, "burst", what+" (AXI A3.4.1)", b.String())
	return false
}
