package play

import (
	"maps"
	"slices"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// fitCheck completes the checks `identity` and `route`: it fills in the streams that the manifest leaves out, and
// checks that inputs match outputs.
func (d *Device) fitCheck(f *faults) {
	s := d.Spec
	if len(s.In) == 0 {
		s.In = d.defaultStreams(manifest.DirIn)
	}
	if len(s.Out) == 0 {
		s.Out = d.defaultStreams(manifest.DirOut)
	}
	f.add(len(s.In) > 0, "in", "the device has no input that check %s could be of", d.check)
	f.add(len(s.Out) > 0, "out", "the device has no output that check %s could be of", d.check)
	f.add(d.check == Route || len(s.Out) < 2, "out", "%v: check identity has one output: want one, or check route",
		s.Out)
	for _, in := range s.In {
		i, _ := d.index(in)
		d.fitInput(f, i)
		for _, out := range s.Out {
			o, _ := d.index(out)
			if d.streams[i].Kind == d.streams[o].Kind {
				d.fitPair(f, d.streams[i], d.streams[o])
				continue
			}
			f.add(false, "out",
				"stream %s carries packets or stream %s does: what goes in does not fit what comes out", in, out)
		}
	}
	for from, to := range s.Rename {
		for _, out := range s.Out {
			o, _ := d.index(out)
			_, _, ok := d.streams[o].Find(to)
			f.add(ok, "rename."+field.Path(from), "stream %s has no field %q: it has %v", out, to, names(d.streams[o]))
		}
	}
	for _, out := range s.Out {
		if o, ok := d.index(out); ok {
			d.finite[o] = true
		}
	}
}

// maxNumber is the maximum width, in bits, of fields that are compared as numbers.
const maxNumber = 64

// fitInput checks the fields of an input that the check `route` and the setting `drops` name.
func (d *Device) fitInput(f *faults, i int) {
	s, x := d.Spec, d.streams[i]
	if d.check == Route {
		w, _, ok := x.Find(s.By)
		if f.add(ok, "by", "stream %s has no field %q: it has %v", x.Name, s.By, names(x)) {
			f.add(w.Bits <= maxNumber, "by",
				"field %s of stream %s has %d bits: want at most %d", s.By, x.Name, w.Bits, maxNumber)
			d.boundRoute(x.Name, w.Bits)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Drops.When)) {
		w, _, ok := x.Find(name)
		f.add(ok, "drops.when."+field.Path(name), "stream %s has no such field: it has %v", x.Name, names(x))
		f.add(!ok || w.Bits <= maxNumber, "drops.when."+field.Path(name),
			"the field has %d bits: want at most %d", bitsOf(w), maxNumber)
	}
}

func bitsOf(f *ref.Field) int {
	if f == nil {
		return 0
	}
	return f.Bits
}

// fitPair checks that an input and an output have the fields by which their transactions are compared.
func (d *Device) fitPair(f *faults, in, out *ref.Stream) {
	compared, ordered := 0, false
	for i := range in.Fields {
		from := &in.Fields[i]
		to, at := from.Name, field.Path("check")
		if renamed, ok := d.Spec.Rename[from.Name]; ok {
			to, at = renamed, "rename."+field.Path(from.Name)
		}
		w, _, ok := out.Find(to)
		if !ok {
			continue
		}
		compared++
		if slices.Contains(d.Spec.Ignore, to) {
			continue
		}
		ordered = ordered || to == d.Spec.Order[out.Name]
		f.add(w.Bits >= from.Bits, at,
			"%s has %d bits at stream %s and %s %d at stream %s, which cannot give all of its values: name %s in "+
				"ignore",
			from.Name, from.Bits, in.Name, to, w.Bits, out.Name, to)
	}
	f.add(compared > 0 || in.Kind == ref.Packets || len(in.Fields) == 0 || len(out.Fields) == 0, "check",
		"%s: stream %s has no field of stream %s: name pairs in rename", d.check, out.Name, in.Name)
	order, given := d.Spec.Order[out.Name]
	_, _, there := out.Find(order)
	f.add(ordered || !given || !there, "order."+field.Path(out.Name),
		"field %s comes from no field of stream %s", order, in.Name)
}

// fitOutputs checks the manifest's declarations about outputs, which require a check that expects transactions there.
func (d *Device) fitOutputs(f *faults) {
	expects := d.check != Rules && d.check != Memory
	for _, n := range slices.Sorted(maps.Keys(d.Spec.Order)) {
		o, _ := d.index(n)
		_, _, ok := d.streams[o].Find(d.Spec.Order[n])
		f.add(ok, "order."+field.Path(n), "stream %s has no field %q: it has %v", n, d.Spec.Order[n],
			names(d.streams[o]))
		f.add(expects, "order."+field.Path(n),
			"check %s expects no transactions: want check identity, route or reference", d.check)
	}
	for _, n := range slices.Sorted(maps.Keys(d.Spec.Latency)) {
		f.add(expects, "latency."+field.Path(n),
			"check %s expects no transactions: want check identity, route or reference", d.check)
	}
	f.add(expects || !d.Spec.Drops.given(), "drops",
		"check %s expects no transactions: want check identity, route or reference", d.check)
	f.add(expects || len(d.Spec.In)+len(d.Spec.Out) == 0, "check",
		"%s has no in and out: want check identity or route", d.check)
}

// defaultStreams returns the streams of a direction that carry packets or, without any, those that carry records.
func (d *Device) defaultStreams(dir string) []string {
	for _, kinds := range [][]string{{protocol.KindAxis, protocol.KindTLP}, {protocol.KindRecord}} {
		var list []string
		for i := range d.Manifest.Streams {
			if x := &d.Manifest.Streams[i]; x.Dir == dir && slices.Contains(kinds, x.Kind) {
				list = append(list, x.Name)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// boundRoute makes an input's routing field be drawn only from the numbers of outputs, if the manifest gives it no
// values. width is the field's width in bits.
func (d *Device) boundRoute(in string, width int) {
	x := d.Spec.Inputs[in]
	if v := x.Fields[d.Spec.By]; v.given() {
		return
	}
	most := min(uint64(len(d.Spec.Out)-1), ofBits(width).most())
	fields := map[string]Values{d.Spec.By: {Ranges: [][2]uint64{{0, most}}}}
	for name, v := range x.Fields {
		fields[name] = v
	}
	if d.Spec.Inputs == nil {
		d.Spec.Inputs = map[string]InputSpec{}
	}
	x.Fields = fields
	d.Spec.Inputs[in] = x
}

// declared returns the declarations of the manifest, such as order and latency, that apply whatever the check.
func (d *Device) declared() ref.Declared {
	s := d.Spec
	x := ref.Declared{
		Order: s.Order, Latency: map[string]ref.Latency{}, Out: s.Out,
		Drops:   ref.Drops{Whole: s.Drops.Whole, Above: s.Drops.Above},
		Counted: s.Drops.Counted, Serve: map[string]uint64{},
	}
	for out, v := range s.Latency {
		x.Latency[out] = ref.Latency{Min: v.least(), Max: v.most()}
	}
	for port, v := range s.Serve {
		x.Serve[port] = v.Delay
	}
	for i := range d.traffic {
		x.Carried = append(x.Carried, d.streams[i].Name)
	}
	return x
}

// forward is the reference of the checks `identity` and `route`: every input transaction must come out, unless it may
// be dropped.
func (d *Device) forward(p *ref.Player) {
	s := d.Spec
	for _, out := range s.Out {
		p.Nothing(out)
	}
	for _, in := range s.In {
		p.On(in, func(m *ref.Msg) {
			if s.dropped(m) {
				return
			}
			out := s.Out[0]
			if d.check == Route {
				to := m.U(s.By)
				if to >= uint64(len(s.Out)) {
					return // the number names no output, so the transaction must not come out anywhere
				}
				out = s.Out[to]
			}
			f := d.expected(m, p.Stream(out))
			if _, ordered := s.Order[out]; ordered {
				p.Expect(out, f, m.Data)
				return
			}
			p.ExpectFrom(m.Of.Name, out, f, m.Data)
		})
	}
}

// dropped reports whether a transaction's fields mark it as one that must not come out.
func (s *Spec) dropped(m *ref.Msg) bool {
	for name, v := range s.Drops.When {
		if !v.has(m.U(name)) {
			return false
		}
	}
	return len(s.Drops.When) > 0
}

// expected returns the fields that an output transaction must have, given the input's.
func (d *Device) expected(m *ref.Msg, out *ref.Stream) ref.Fields {
	f := ref.Fields{}
	for i := range m.Of.Fields {
		from := m.Of.Fields[i].Name
		to, ok := d.Spec.Rename[from]
		if !ok {
			to = from
		}
		if _, _, has := out.Find(to); has && !slices.Contains(d.Spec.Ignore, to) {
			f[to] = m.B(from)
		}
	}
	return f
}
