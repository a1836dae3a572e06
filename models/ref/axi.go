package ref

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// The channels of an AXI port named s are the streams s.aw, s.w, s.b, s.ar and s.r; references of the form "AXI A3.4"
// are sections of the AMBA AXI and ACE Protocol Specification, issue H.

// Burst is one AXI burst: its address channel's fields and, for a write, its data. An AXI4-Lite access is a burst
// of one beat that is as wide as the bus.
type Burst struct {
	ID   uint64
	Addr uint64
	Len  int // number of beats
	Size int // bytes per beat
	Kind int // Fixed, Incr or Wrap

	data, strobe [][]byte // data and strobes of a write, by beat, each as wide as the bus
	began, ended uint64   // first and last cycle
	beats        int      // beats transferred so far
	asked        bool     // the burst's address was transferred
}

// Kinds of burst, as encoded in awburst and arburst.
const (
	Fixed = 0
	Incr  = 1
	Wrap  = 2
)

// BeatAddr returns the address of beat number n; AXI A3.4.1.
func (b *Burst) BeatAddr(n int) uint64 {
	size := uint64(b.Size)
	aligned := b.Addr &^ (size - 1)
	switch {
	case n == 0 || b.Kind == Fixed:
		return b.Addr
	case b.Kind == Wrap:
		whole := size * uint64(b.Len)
		low := b.Addr &^ (whole - 1)
		return low + (aligned-low+uint64(n)*size)%whole
	}
	return aligned + uint64(n)*size
}

// lanes returns the byte lanes of beat number n, from the first to the one after the last, on a data bus whose width
// in bytes is `bus` (AXI A3.4.3).
func (b *Burst) lanes(n, bus int) (from, to int) {
	at := b.BeatAddr(n)
	from = int(at % uint64(bus))
	return from, int(at&^uint64(b.Size-1)%uint64(bus)) + b.Size
}

func (b *Burst) String() string {
	return fmt.Sprintf("id %#x, address %#x, %d beats of %d bytes, burst %d", b.ID, b.Addr, b.Len, b.Size, b.Kind)
}

// axi describes the widths of an AXI port.
type axi struct {
	name string
	bus  int // data width in bytes
	lite bool
	ids  int // width of an ID in bits; 0: none
	addr int // width of an address in bits
}

func (p *Player) axi(port string) *axi {
	w, aw := p.Stream(port+".w"), p.Stream(port+".aw")
	f, _ := w.find("wdata")
	a := &axi{name: port, bus: f.Bits / 8}
	for _, ch := range []string{".aw", ".w", ".b", ".ar", ".r"} {
		p.use(port + ch).axi = true
	}
	x, _ := aw.find("awaddr")
	a.addr = x.Bits
	_, _, burst := aw.Find("awlen")
	a.lite = !burst
	if id, _, ok := aw.Find("awid"); ok {
		a.ids = id.Bits
	}
	return a
}

// burst decodes a transaction of an address channel; ch is "aw" or "ar".
func (a *axi) burst(m *Msg, ch string) *Burst {
	b := &Burst{Addr: m.U(ch + "addr"), Len: 1, Size: a.bus, Kind: Incr, began: m.Last, asked: true}
	if !a.lite {
		b.Len, b.Size, b.Kind = int(m.U(ch+"len"))+1, 1<<m.U(ch+"size"), int(m.U(ch+"burst"))
	}
	if a.ids > 0 {
		b.ID = m.U(ch + "id")
	}
	return b
}

// giveAddress offers a burst's address to the device.
func (p *Player) giveAddress(a *axi, ch string, b *Burst) {
	f := Fields{ch + "addr": b.Addr}
	if !a.lite {
		f[ch+"len"], f[ch+"size"], f[ch+"burst"] = b.Len-1, bits.TrailingZeros(uint(b.Size)), b.Kind
	}
	if a.ids > 0 {
		f[ch+"id"] = b.ID
	}
	p.Give(a.name+"."+ch, 0, f, nil)
}

// giveData offers a write's data to the device.
func (p *Player) giveData(a *axi, b *Burst) {
	for n := range b.Len {
		f := Fields{"wdata": b.data[n], "wstrb": b.strobe[n]}
		if !a.lite {
			f["wlast"] = n == b.Len-1
		}
		p.Give(a.name+".w", 0, f, nil)
	}
}

// AXIRange configures the bursts that a reference draws for a port.
type AXIRange struct {
	Base, Bytes uint64 // address range of the bursts
	Bursts      int    // number of bursts
	Most        int    // largest number of beats of a burst; 0: the largest that AXI allows
	Whole       bool   // every beat is as wide as the bus
	NoWrap      bool
}

// drawBurst draws a burst that AXI allows and that lies in the range: it crosses no 4 KB boundary (A3.4.1).
func (a *axi) drawBurst(r *rand.Rand, o *AXIRange) *Burst {
	b := &Burst{Len: 1, Size: a.bus, Kind: Incr}
	if a.ids > 0 {
		b.ID = r.Uint64N(1 << min(a.ids, 3)) // few IDs, so that they repeat
	}
	if !a.lite {
		if !o.Whole {
			b.Size = 1 << r.IntN(bits.Len(uint(a.bus)))
		}
		b.Len = []int{1, 2, 1 + r.IntN(4), 1 + r.IntN(16), 16, 1 + r.IntN(256), 256}[r.IntN(7)]
		if !o.NoWrap && r.IntN(4) == 0 {
			b.Kind, b.Len = Wrap, 2<<r.IntN(4)
		}
		if o.Most > 0 {
			b.Len = min(b.Len, o.Most)
		}
	}
	if b.Kind == Wrap && (b.Len < 2 || b.Len&(b.Len-1) != 0) {
		b.Kind = Incr
	}
	b.Addr = o.Base + r.Uint64N(o.Bytes)
	if r.IntN(3) == 0 { // often end at a 4 KB boundary, or near it
		b.Addr = b.Addr&^4095 + 4096 - min(4096, uint64(b.Len*b.Size)) + r.Uint64N(uint64(b.Size))
	}
	if b.Addr < o.Base || b.Addr >= o.Base+o.Bytes {
		b.Addr = o.Base
	}
	if b.Kind == Wrap || a.lite || r.IntN(2) == 0 {
		b.Addr &^= uint64(b.Size - 1)
	}
	if b.Kind == Wrap && !b.wrapsIn(o) {
		b.Kind = Incr
	}
	if b.Kind != Wrap {
		room := min(4096-b.Addr%4096, o.Base+o.Bytes-b.Addr) + b.Addr%uint64(b.Size)
		b.Len = max(1, min(b.Len, int(room/uint64(b.Size))))
	}
	return b
}

// wrapsIn reports whether all addresses of a wrapping burst lie in a range.
func (b *Burst) wrapsIn(o *AXIRange) bool {
	whole := uint64(b.Len * b.Size)
	low := b.Addr &^ (whole - 1)
	return low >= o.Base && low+whole <= o.Base+o.Bytes
}

// drawData draws the data of a write: random bytes, with all strobes set in two bursts of three.
func (a *axi) drawData(r *rand.Rand, b *Burst) {
	dense := r.IntN(3) > 0
	for n := range b.Len {
		data, strobe := make([]byte, a.bus), make([]byte, (a.bus+7)/8)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		from, to := b.lanes(n, a.bus)
		for i := from; i < to; i++ {
			if dense || r.IntN(2) == 0 {
				strobe[i/8] |= 1 << (i % 8)
			}
		}
		b.data, b.strobe = append(b.data, data), append(b.strobe, strobe)
	}
}

// Access is a read or a write on an AXI4-Lite port.
type Access struct {
	Write  bool
	Addr   uint64
	Data   uint64 // data of a write
	Strobe uint64
}

// Response codes of AXI; A3.4.4.
const (
	Okay   = 0
	SlvErr = 2
	DecErr = 3
)

// Registers plays n accesses on an AXI4-Lite port, each after the answer to the one before, so that side effects
// have an order. draw returns the next access. expected is called when the device has answered, and returns the
// right response and, for a read, the right data.
func (p *Player) Registers(port string, n int, draw func() Access, expected func(x Access) (data uint64, resp int)) {
	a := p.axi(port)
	checkFunc(draw != nil && expected != nil, "Registers", port)
	var todo []Access
	for range n {
		p.enter("Registers", port, draw)
		if x := draw(); p.Job() {
			todo = append(todo, x)
		}
	}
	next := func() {
		if len(todo) == 0 {
			return
		}
		if x := todo[0]; x.Write {
			p.giveAddress(a, "aw", &Burst{Addr: x.Addr})
			p.Give(port+".w", 0, Fields{"wdata": x.Data, "wstrb": x.Strobe}, nil)
		} else {
			p.giveAddress(a, "ar", &Burst{Addr: x.Addr})
		}
	}
	answered := func(m *Msg, write bool) {
		if len(todo) == 0 || todo[0].Write != write {
			p.Wrong(m, "answer", "none", m.String())
			return
		}
		x := todo[0]
		p.compares(m)
		p.enter("Registers", port, expected)
		data, resp := expected(x)
		want := Fields{"bresp": resp}
		if !write {
			if want = (Fields{"rresp": resp}); resp == Okay {
				want["rdata"] = data
			}
		}
		if name, exp, got, same := m.Of.differ(want, m.Side); !same {
			p.Wrong(m, name, fmt.Sprintf("%s of %+v", exp, x), got)
		}
		todo = todo[1:]
		next()
	}
	p.On(port+".b", func(m *Msg) { answered(m, true) })
	p.On(port+".r", func(m *Msg) { answered(m, false) })
	p.Done(func() bool { return len(todo) == 0 })
	next()
}
