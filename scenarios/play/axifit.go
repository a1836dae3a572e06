package play

import (
	"maps"
	"math/bits"
	"slices"

	"nictwin/models/sim/field"
)

// axiPort holds the widths of an AXI port that is played by check `memory` or by `serve`.
type axiPort struct {
	bus, addr int // data bytes, address bits
	most      int // maximum length of a burst, in beats
}

// Fields that an AXI port needs in order to be played: the fields of AXI4-Lite, those that bursts add, and IDs.
var (
	axiNeeds  = []string{"awaddr", "wdata", "wstrb", "bresp", "araddr", "rdata", "rresp"}
	axiBursts = []string{"awlen", "awsize", "awburst", "wlast", "arlen", "arsize", "arburst", "rlast"}
	axiIDs    = []string{"awid", "bid", "arid", "rid"}
)

// channel returns the channel of an AXI field.
func channel(name string) string {
	for _, ch := range []string{"aw", "ar", "w", "b", "r"} {
		if len(name) > len(ch) && name[:len(ch)] == ch {
			return ch
		}
	}
	return ""
}

// fitAXI checks the AXI ports at which command `play` answers: those of the setting `serve`, and of the check named
// `memory`.
func (d *Device) fitAXI(f *faults) {
	for _, port := range slices.Sorted(maps.Keys(d.Spec.Serve)) {
		d.fitPort(f, "serve."+field.Path(port), port)
		d.onlyPlayed(f, port)
	}
	x := d.Spec.Memory
	if x == nil {
		return
	}
	d.mem = d.mem[:0]
	for i, port := range x.all() {
		p, ok := d.fitPort(f, x.at(i), port)
		d.onlyPlayed(f, port)
		if !ok {
			continue
		}
		f.add(x.Most <= p.most, "memory.most",
			"%d: awlen and arlen of port %s count up to %d beats: want at most as many", x.Most, port, p.most)
		d.mem = append(d.mem, p)
		for _, ch := range []string{".b", ".r"} {
			if k, ok := d.index(port + ch); ok {
				d.finite[k] = true
			}
		}
	}
	if len(d.mem) == len(x.all()) {
		d.fitRange(f)
	}
}

// fitRange checks the address range of the check named `memory` against the address widths of its ports.
func (d *Device) fitRange(f *faults) {
	x, ports := d.Spec.Memory, d.Spec.Memory.all()
	beat, narrow := uint64(1), 0
	for i, p := range d.mem {
		beat = max(beat, uint64(p.bus))
		if p.addr < d.mem[narrow].addr {
			narrow = i
		}
	}
	if n := d.mem[narrow].addr; n < 64 {
		all := uint64(1) << n
		f.add(x.Base < all, "memory.base",
			"%#x: port %s has addresses of %d bits: want at most %#x", x.Base, ports[narrow], n, all-beat)
		f.add(x.Base >= all || x.Bytes <= all-x.Base, "memory.bytes",
			"%d: port %s has addresses of %d bits: want at most %d", x.Bytes, ports[narrow], n, all-x.Base)
	}
	f.add(x.Bytes%beat == 0, "memory.bytes", "%d: want a multiple of %d, the bytes of a beat", x.Bytes, beat)
	part := x.part()
	f.add(part >= beat, "memory.bytes", "%d: want at least %d, a beat for each port", x.Bytes, beat*uint64(len(ports)))
	align := beat
	if len(ports) > 1 {
		align = min(max(part, beat), page) // no burst may cross into the addresses of another port
	}
	f.add(x.Base%align == 0, "memory.base", "%#x: want a multiple of %d", x.Base, align)
}

// onlyPlayed refuses transactions that the manifest draws for the channels of an AXI port that the player plays.
func (d *Device) onlyPlayed(f *faults, port string) {
	for _, ch := range []string{".aw", ".w", ".b", ".ar", ".r"} {
		x, ok := d.Spec.Inputs[port+ch]
		drawn := x.Count != nil && *x.Count > 0 || len(x.Fields)+len(x.Edges) > 0
		drawn = drawn || x.Bytes.given() || x.Gap.given() || x.Every.given()
		f.add(!ok || !drawn, "inputs."+field.Path(port+ch),
			"memory and serve make the transactions of port %s: want stall alone, or leave it out", port)
	}
}

// width returns the number of bits of a field of an AXI port; 0 if the port has no such field.
func (d *Device) width(port, name string) int {
	i, ok := d.index(port + "." + channel(name))
	if !ok {
		return 0
	}
	x, _, ok := d.streams[i].Find(name)
	if !ok {
		return 0
	}
	return x.Bits
}

// fitPort checks the fields of a port and their widths.
func (d *Device) fitPort(f *faults, at field.Path, port string) (p axiPort, ok bool) {
	w := func(name string) int { return d.width(port, name) }
	has := func(name string) bool { return w(name) > 0 }
	ok = true
	want := func(good bool, format string, a ...any) {
		ok = f.add(good, at, "port %s: "+format, append([]any{port}, a...)...) && ok
	}
	for _, name := range axiNeeds {
		want(has(name), "it has no %s, without which it cannot be played", name)
	}
	for _, group := range [][]string{axiBursts, axiIDs} {
		i := slices.IndexFunc(group, has)
		k := slices.IndexFunc(group, func(name string) bool { return !has(name) })
		want(i < 0 || k < 0, "it has %s and no %s: want all of %v, or none", group[max(i, 0)], group[max(k, 0)], group)
	}
	if !ok {
		return p, false
	}
	p = axiPort{bus: w("wdata") / 8, addr: min(w("awaddr"), w("araddr")), most: maxBeats}
	want(w("wdata")%8 == 0 && bits.OnesCount(uint(p.bus)) == 1 && p.bus <= 128,
		"wdata has %d bits: want 8 to 1024, a power of two", w("wdata"))
	want(w("rdata") == w("wdata"), "rdata has %d bits and wdata %d: want as many", w("rdata"), w("wdata"))
	want(8*w("wstrb") == w("wdata"), "wstrb has %d bits: want one for each byte of wdata", w("wstrb"))
	want(w("awaddr") <= 64 && w("araddr") <= 64, "addresses of %d and %d bits: want at most 64", w("awaddr"),
		w("araddr"))
	if has("awid") {
		want(w("awid") <= 64 && w("arid") <= 64, "IDs of %d and %d bits: want at most 64", w("awid"), w("arid"))
		want(w("awid") == w("bid") && w("arid") == w("rid") && w("awid") == w("arid"),
			"IDs of %d, %d, %d and %d bits: want as many of awid, bid, arid and rid", w("awid"), w("bid"), w("arid"),
			w("rid"))
	}
	if !has("awlen") {
		return p, ok
	}
	for _, ch := range []string{"aw", "ar"} {
		want(w(ch+"len") <= 8, "%slen has %d bits: want at most 8", ch, w(ch+"len"))
		want(w(ch+"size") == 3, "%ssize has %d bits: want 3", ch, w(ch+"size"))
		want(w(ch+"burst") == 2, "%sburst has %d bits: want 2", ch, w(ch+"burst"))
	}
	p.most = 1 << min(w("awlen"), w("arlen"))
	return p, ok
}
