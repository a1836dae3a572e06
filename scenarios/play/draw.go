package play

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/ref"
)

// item is one transaction for an input.
type item struct {
	stream int
	id     int    // number shared by coupled transactions; unused in a transaction that a reference gives
	at     uint64 // first cycle in which the transaction may be offered
	side   []byte
	data   []byte
	answer bool
	drawn  bool // the transaction was drawn before the run began, not given during the run
}

// timing holds the stalls of a run, and whether it has gaps.
type timing struct {
	stall []int // by stream: percentage of cycles in which it stalls
	burst []int
	gaps  bool
}

// plain reports whether the run has neither gaps nor stalls.
func (m *timing) plain() bool {
	return !m.gaps && !slices.ContainsFunc(m.stall, func(p int) bool { return p > 0 })
}

// ownStall returns the stall that the manifest declares for a stream.
func (d *Device) ownStall(s *ref.Stream) *Values {
	own := d.Spec.Output[s.Name].Stall
	if s.In {
		own = d.Spec.Inputs[s.Name].Stall
	}
	return &own
}

// drawTiming draws gaps and stalls. One run in eight has neither. Otherwise a single stream stalls, all streams stall
// alike, or each has its own stall. The stall that the manifest declares for a stream applies in every run.
func (d *Device) drawTiming(r *rand.Rand) timing {
	n := len(d.streams)
	m := timing{stall: make([]int, n), burst: make([]int, n), gaps: true}
	kind, all, one := r.IntN(8), int(d.Spec.Stall.draw(r)), r.IntN(n)
	for i, s := range d.streams {
		p := int(d.Spec.Stall.draw(r))
		own := d.ownStall(s)
		if own.given() {
			p = int(own.draw(r))
		}
		m.burst[i] = r.IntN(7)
		switch {
		case kind == 0 || !d.pauses(i) || kind <= 2 && i != one:
			p = 0
		case (kind == 3 || kind == 4) && !own.given():
			p = all
		}
		m.stall[i] = p
	}
	m.gaps = kind != 0 && r.IntN(2) == 0
	return m
}

// levelChanges is the number of times that a level (an input without handshake) changes in a run, if its manifest entry
// makes it change.
const levelChanges = 64

// count returns the number of transactions to draw for an input.
func (d *Device) count(i int) int {
	s := d.streams[i]
	x := d.Spec.Inputs[s.Name]
	switch {
	case x.Count != nil:
		return *x.Count
	case d.Spec.axiInput(s.Name):
		return 0
	case d.traffic[i] != nil:
		return d.traffic[i].Packets()
	case d.root[i] != i:
		return d.count(d.root[i])
	case s.Kind == ref.Level && !x.Every.given():
		return 1
	case s.Kind == ref.Level:
		return levelChanges
	}
	return d.Spec.Count
}

// draw draws the transactions of a run; the transactions of each stream are sorted in the order in which they are
// offered.
func (d *Device) draw(r *rand.Rand, p judge, gaps bool, most int) []item {
	var list []item
	id := 0
	for root := range d.streams {
		if !d.streams[root].In || d.root[root] != root {
			continue
		}
		var group []int
		for i := range d.streams {
			if d.root[i] == root {
				group = append(group, i)
			}
		}
		at := uint64(0)
		count := d.count(root)
		if name := d.streams[root].Name; p.Plays(name) && d.Spec.Inputs[name].Count == nil {
			count = 0
		}
		for n := range count {
			at += d.gap(r, root, n, gaps)
			list = append(list, d.drawGroup(r, p, group, n, most, item{id: id, at: at, drawn: true})...)
			id++
		}
	}
	return list
}

// gap draws the earliest cycle of a transaction.
func (d *Device) gap(r *rand.Rand, i, n int, gaps bool) uint64 {
	x := d.Spec.Inputs[d.streams[i].Name]
	v := &d.Spec.Gap
	if x.Gap.given() {
		v = &x.Gap
	}
	g := v.draw(r)
	switch {
	case d.streams[i].Kind == ref.Level && n > 0:
		return x.Every.draw(r)
	case d.streams[i].Kind == ref.Level || !gaps || r.IntN(4) > 0 && !x.Gap.given():
		return 0
	}
	return g
}

// drawGroup draws the n-th transaction of each stream of a coupled group. If most is not 0, packets are truncated to
// that many bytes after they were drawn, so that nothing else changes.
func (d *Device) drawGroup(r *rand.Rand, p judge, group []int, n, most int, x item) []item {
	list := make([]item, len(group))
	own := make([]bool, len(group))
	for k, i := range group {
		list[k] = x
		list[k].stream = i
		list[k].side, list[k].data, own[k] = p.Drawn(d.streams[i].Name)
	}
	bytes := map[string]int{}
	for k, i := range group {
		if s := d.streams[i]; s.Kind == ref.Packets {
			switch {
			case d.traffic[i] != nil:
				list[k].data = d.traffic[i].data(n, max(1, s.Unit))
			case !own[k]:
				list[k].data = d.data(r, i)
				if unit := max(1, s.Unit); most > 0 && len(list[k].data) > most {
					list[k].data = list[k].data[:max(unit, most/unit*unit)]
				}
			}
			bytes[s.Name] = len(list[k].data)
		}
	}
	for k, i := range group {
		if !own[k] {
			list[k].side = d.side(r, i, n, bytes)
		}
	}
	return list
}

// usualBytes is the range of packet lengths if the manifest gives none.
var usualBytes = Values{Ranges: [][2]uint64{{1, 1500}}}

// data draws the content of a packet: random or, every eighth time, all zeros or ones.
func (d *Device) data(r *rand.Rand, i int) []byte {
	s := d.streams[i]
	v := d.Spec.Inputs[s.Name].Bytes
	if !v.given() {
		v = usualBytes
	}
	n := int(v.draw(r))
	if s.Beat > 0 && r.IntN(8) == 0 { // whole beats, and one byte less or more
		n = min(max(n/s.Beat*s.Beat+r.IntN(3)-1, int(v.least())), int(v.most()))
	}
	unit := max(1, s.Unit)
	if n = (n + unit - 1) / unit * unit; n == 0 && !s.Empty {
		n = unit
	}
	b := make([]byte, n)
	fill(r, b)
	return b
}

// fill fills b with zeros, ones or random bytes.
func fill(r *rand.Rand, b []byte) {
	switch r.IntN(16) {
	case 0: // all zeros
	case 1:
		for i := range b {
			b[i] = 0xff
		}
	default:
		for i := 0; i < len(b); i += 8 {
			x := r.Uint64()
			for k := i; k < min(i+8, len(b)); k++ {
				b[k] = byte(x >> (8 * (k - i)))
			}
		}
	}
}

// side draws the fields of a transaction.
func (d *Device) side(r *rand.Rand, i, n int, bytes map[string]int) []byte {
	s := d.streams[i]
	x := d.Spec.Inputs[s.Name]
	f := ref.Fields{}
	for k := range s.Fields {
		w := &s.Fields[k]
		v := x.Fields[w.Name]
		switch {
		case v.BytesOf != "":
			f[w.Name] = uint64(bytes[v.BytesOf])
		case v.Count > 0 && w.Bits < 64:
			f[w.Name] = uint64(n) * v.Count & (1<<w.Bits - 1)
		case v.Count > 0:
			f[w.Name] = uint64(n) * v.Count
		case len(v.Ranges) > 0:
			f[w.Name] = v.draw(r)
		case w.Bits <= 64:
			f[w.Name] = ofBits(w.Bits).draw(r)
		default:
			f[w.Name] = drawWide(r, w.Bits)
		}
	}
	for _, e := range x.Edges {
		e.apply(r, s, &x, f)
	}
	return s.Pack(f)
}

// drawWide draws a value of a field of more than 64 bits.
func drawWide(r *rand.Rand, bits int) []byte {
	b := make([]byte, (bits+7)/8)
	fill(r, b)
	if rest := bits % 8; rest != 0 {
		b[len(b)-1] &= 1<<rest - 1
	}
	return b
}

// apply changes the start address in one of three transactions, so that start plus length is a multiple of the limit,
// or lies one step of the start address before or after it.
func (e *EdgeSpec) apply(r *rand.Rand, s *ref.Stream, x *InputSpec, f ref.Fields) {
	start, ok := f[e.Start].(uint64)
	length, isNumber := f[e.Length].(uint64)
	if !ok || !isNumber || r.IntN(3) > 0 {
		return
	}
	w, _, _ := s.Find(e.Start)
	end := (start+length)/e.At*e.At + e.At
	v := x.Fields[e.Start]
	now := end - length + (uint64(r.IntN(3))-1)*v.step(0)
	if w.Bits < 64 && now>>w.Bits != 0 || len(v.Ranges) > 0 && !v.has(now) {
		return
	}
	f[e.Start] = now
}
