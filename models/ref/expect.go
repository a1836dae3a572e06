package ref

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Drops declares which expected transactions an output may omit.
type Drops struct {
	// Whole permits any expected transaction to be missing as a whole; the others keep their order.
	Whole bool
	// Above restricts Whole to transactions under load: one may be missing only if at least so many bytes, its own
	// included, were in flight since the first beat of the transaction that made it expected. 0: no restriction.
	Above int
}

// Latency bounds the number of cycles from the transaction that made an output expected to that output's first
// beat. It applies to runs without stalls.
type Latency struct{ Min, Max uint64 }

// due holds the transactions that are expected of one output.
type due struct {
	of      *Stream
	order   string // field by whose value transactions keep their order; "": all do
	drops   Drops
	latency *Latency
	groups  []*group
	by      map[string]int
	// states holds the possible explanations of the transactions that came. Each gives, for every group, the index
	// of the item that is next. There is more than one only where several groups expected the same transaction.
	states [][]int
	came   int
}

// group holds expected transactions that keep their order among each other.
type group struct {
	name  string
	items []*item
}

type item struct {
	fields Fields
	data   []byte // nil: data are not compared
	born   uint64
	// load counts the bytes of expected transactions, this one included, that were in flight at any time since the
	// first beat of the transaction that made this one expected.
	load int
	came uint64 // cycle in which the transaction came; 0: not yet
}

// maxStates is the largest number of explanations that are kept.
const maxStates = 4096

func (p *Player) due(stream string) *due {
	s := p.use(stream)
	if s.of.In {
		mistake("stream %s is an input: want an output to expect from", stream)
	}
	if s.due == nil {
		s.due = &due{of: s.of, by: map[string]int{}, states: [][]int{{}}}
	}
	return s.due
}

// Order declares that an output keeps the order of transactions with the same value of a field. Others may overtake
// each other.
func (p *Player) Order(stream, name string) {
	d := p.due(stream)
	d.of.find(name)
	d.order = name
}

// Drops declares which expected transactions an output may omit.
func (p *Player) Drops(stream string, x Drops) {
	d := p.due(stream)
	if len(d.groups) > 0 && x.Above > 0 {
		mistake("stream %s: Drops with Above comes after Expect: want it before", stream)
	}
	d.drops = x
}

// Latency declares the latency of an output.
func (p *Player) Latency(stream string, x Latency) {
	if x.Min > x.Max {
		mistake("stream %s: a latency of %d to %d cycles: want the lower number first", stream, x.Min, x.Max)
	}
	p.due(stream).latency = &x
}

// Dropped returns the number of expected transactions that have not come; final once the run is over.
func (p *Player) Dropped(stream string) int {
	d := p.due(stream)
	n := -d.came
	for _, g := range d.groups {
		n += len(g.items)
	}
	return n
}

// Nothing declares that an output must give no transaction that is not expected.
func (p *Player) Nothing(stream string) {
	p.due(stream)
	p.use(stream).nothing = true
}

// Expect adds a transaction that an output must give: after everything expected of it before or, if Order was
// declared, after those with the same value. Fields that are not named are not compared, nor is the data if it is
// nil.
func (p *Player) Expect(stream string, f Fields, data []byte) {
	d := p.due(stream)
	source := ""
	if d.order != "" {
		v, ok := f[d.order]
		if !ok {
			mistake("stream %s: expected fields lack %s, by which it is ordered", stream, d.order)
		}
		x, _ := d.of.find(d.order)
		b := make([]byte, x.bytes())
		d.of.put(x, b, v)
		source = string(b)
	}
	p.expect(d, source, f, data)
}

// ExpectFrom is Expect for an output that keeps the order of transactions of the same source only. The output does
// not show the source.
func (p *Player) ExpectFrom(source, stream string, f Fields, data []byte) {
	d := p.due(stream)
	if d.order != "" {
		mistake("stream %s: it is ordered by field %s: want Expect, without a source", stream, d.order)
	}
	p.expect(d, source, f, data)
}

func (p *Player) expect(d *due, source string, f Fields, data []byte) {
	p.count()
	p.use(d.of.Name).expected++
	d.of.Pack(f) // reports unknown fields now, not when the transaction comes
	g, ok := d.by[source]
	if !ok {
		g = len(d.groups)
		d.by[source] = g
		d.groups = append(d.groups, &group{name: source})
		for i := range d.states {
			d.states[i] = append(slices.Clip(d.states[i]), 0)
		}
	}
	x := &item{fields: f, data: data, born: p.cycle, load: len(data)}
	d.groups[g].items = append(d.groups[g].items, x)
	if d.drops.Above > 0 {
		x.load += d.under(p, x)
	}
}

// under returns the bytes of the other expected transactions that were still to come at the first beat of the
// transaction that made x expected.
func (d *due) under(p *Player, x *item) (bytes int) {
	for i, y := range d.groups {
		for k := len(y.items) - 1; k >= 0; k-- {
			if z := y.items[k]; z == x {
				continue
			} else if k >= d.states[0][i] || z.came >= p.first {
				bytes += len(z.data)
			} else if z.came > 0 {
				break
			}
		}
	}
	return bytes
}

// droppable reports whether the output may omit an expected transaction.
func (d *due) droppable(x *item) bool { return d.drops.Whole && x.load >= d.drops.Above }

// same reports whether a transaction agrees with the expected one.
func (d *due) same(x *item, m *Msg) bool {
	if x.data != nil && !bytes.Equal(x.data, m.Data) {
		return false
	}
	_, _, _, same := d.of.differ(x.fields, m.Side)
	return same
}

// take compares a transaction that the device has sent with the expected ones.
func (d *due) take(p *Player, m *Msg) {
	var next [][]int
	seen := map[string]bool{}
	d.came++
	for _, s := range d.states {
		for g := range d.groups {
			at, ok := d.match(g, s[g], m)
			if !ok {
				continue
			}
			n := slices.Clone(s)
			n[g] = at + 1
			d.groups[g].items[at].came = m.Last
			if key := fmt.Sprint(n); !seen[key] {
				seen[key] = true
				next = append(next, n)
			}
		}
	}
	if len(next) == 0 {
		d.came--
		d.reportUnexplained(p, m)
		return
	}
	if len(next) > maxStates {
		mistake("stream %s: what came can be explained in more than %d ways: have transactions of different sources "+
			"differ", d.of.Name, maxStates)
	}
	d.states = next
	if d.latency != nil && p.plain && len(next) == 1 {
		d.checkLatency(p, m)
	}
}

// match finds the item that a transaction agrees with, among those of group g that may come next: the item at
// index `from`, or a later one if the output may omit all items before it.
func (d *due) match(g, from int, m *Msg) (at int, ok bool) {
	if d.order != "" {
		f, i := d.of.find(d.order)
		if d.groups[g].name != string(m.Side[i:i+f.bytes()]) {
			return 0, false
		}
	}
	for at, x := range d.groups[g].items[from:] {
		if d.same(x, m) {
			return from + at, true
		}
		if !d.droppable(x) {
			break
		}
	}
	return 0, false
}

// checkLatency checks the latency of the transaction that came last.
func (d *due) checkLatency(p *Player, m *Msg) {
	for i, g := range d.groups {
		if at := d.states[0][i]; at > 0 && d.same(g.items[at-1], m) && m.First >= g.items[at-1].born {
			took := m.First - g.items[at-1].born
			if took < d.latency.Min || took > d.latency.Max {
				p.Fail(Failure{Stream: d.of.Name, N: m.N, Cycle: m.First, Field: "latency",
					Expected: fmt.Sprintf("%d to %d cycles after cycle %d", d.latency.Min, d.latency.Max,
						g.items[at-1].born), Got: fmt.Sprint(took)})
			}
			return
		}
	}
}

// oldest returns the item that was expected first and has not come, or nil; with Order, of the group that m belongs
// to.
func (d *due) oldest(m *Msg) *item {
	var first *item
	for i, g := range d.groups {
		if d.order != "" && m != nil {
			f, at := d.of.find(d.order)
			if g.name != string(m.Side[at:at+f.bytes()]) {
				continue
			}
		}
		if at := d.states[0][i]; at < len(g.items) && (first == nil || g.items[at].born < first.born) {
			first = g.items[at]
		}
	}
	return first
}

// reportUnexplained reports a transaction that no expectation explains.
func (d *due) reportUnexplained(p *Player, m *Msg) {
	f := Failure{Stream: d.of.Name, N: m.N, Cycle: m.Last}
	x := d.oldest(m)
	if x == nil {
		f.Field, f.Expected, f.Got = "transaction", "none", d.of.Text(m.Side, m.Data)
		p.Fail(f)
		return
	}
	f.Cause = x.born
	at := 0
	for at < min(len(x.data), len(m.Data)) && x.data[at] == m.Data[at] {
		at++
	}
	f.Detail = "expected: " + d.text(x, at) + "\n  got:      " + d.of.text(m.Side, m.Data, at)
	if name, want, got, same := d.of.differ(x.fields, m.Side); !same {
		f.Field, f.Expected, f.Got = "field "+name, want, got
	} else {
		f.Field, f.Expected, f.Got = Differ(x.data, m.Data)
	}
	if n := len(d.groups); n > 1 && d.order == "" {
		f.Detail += fmt.Sprintf("\n  none of %d sources may give this next; the expected one above is the oldest", n)
	}
	p.Fail(f)
}

// Differ describes how two byte strings differ: by their first different byte, else by their lengths.
func Differ(want, got []byte) (what, expected, have string) {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("byte %d", i), fmt.Sprintf("%#02x", want[i]), fmt.Sprintf("%#02x", got[i])
		}
	}
	return "length", fmt.Sprintf("%d bytes", len(want)), fmt.Sprintf("%d bytes", len(got))
}

// text formats an expected transaction. Of its data, it shows the bytes around number `from`.
func (d *due) text(x *item, from int) string {
	var parts []string
	side := d.of.Pack(x.fields)
	at := 0
	for i := range d.of.Fields {
		f := &d.of.Fields[i]
		if _, ok := x.fields[f.Name]; ok {
			parts = append(parts, f.Name+"="+f.text(side[at:at+f.bytes()]))
		}
		at += f.bytes()
	}
	if x.data != nil {
		parts = append(parts, around(x.data, from))
	}
	return strings.Join(parts, " ")
}

// over reports whether, in some explanation, every transaction that must come has come.
func (d *due) over() bool {
	return slices.ContainsFunc(d.states, func(s []int) bool { return d.left(s) == nil })
}

// left returns the first transaction that must still come under an explanation, or nil.
func (d *due) left(s []int) *item {
	for i, g := range d.groups {
		for _, x := range g.items[s[i]:] {
			if !d.droppable(x) {
				return x
			}
		}
	}
	return nil
}

func (d *due) missing(p *Player, cycle uint64, silence string) {
	x := d.left(d.states[0])
	p.Fail(Failure{Stream: d.of.Name, N: uint64(d.came), Cycle: cycle, Cause: x.born, Field: "transaction",
		Expected: d.text(x, 0), Got: silence})
}
