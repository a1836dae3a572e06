package play

import (
	"slices"

	"nictwin/models/field"
	"nictwin/models/ref"
	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// fitCheck completes identity and route, and looks whether the streams fit each other.
func (d *Device) fitCheck(f *faults) {
	s := d.Spec
	if len(s.In) == 0 {
		s.In = d.usual(manifest.DirIn)
	}
	if len(s.Out) == 0 {
		s.Out = d.usual(manifest.DirOut)
	}
	f.add(len(s.In) > 0, "in", "the device has no input that check %s could be of", d.check)
	f.add(len(s.Out) > 0, "out", "the device has no output that check %s could be of", d.check)
	f.add(d.check == Route || len(s.Out) < 2, "out", "%v: check identity has one output: want one, or check route", s.Out)
	for _, in := range s.In {
		i, _ := d.conn.StreamIndex(in)
		if d.check == Route {
			_, _, ok := d.streams[i].Find(s.By)
			f.add(ok, "by", "stream %s has no field %q: it has %v", in, s.By, names(d.streams[i]))
			d.boundRoute(in)
		}
		for name := range s.Drops.When {
			_, _, ok := d.streams[i].Find(name)
			f.add(ok, "drops.when."+field.Path(name), "stream %s has no such field: it has %v", in, names(d.streams[i]))
		}
		for _, out := range s.Out {
			o, _ := d.conn.StreamIndex(out)
			f.add(d.streams[i].Kind == d.streams[o].Kind, "out", "stream %s carries packets or stream %s does: what goes in does not fit what comes out", in, out)
		}
	}
	for from, to := range s.Rename {
		for _, out := range s.Out {
			o, _ := d.conn.StreamIndex(out)
			_, _, ok := d.streams[o].Find(to)
			f.add(ok, "rename."+field.Path(from), "stream %s has no field %q: it has %v", out, to, names(d.streams[o]))
		}
	}
}

// usual are the streams of a direction that carry packets, or, without packets, records.
func (d *Device) usual(dir string) []string {
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

// boundRoute has the field that says where to go name outputs that there are.
func (d *Device) boundRoute(in string) {
	x := d.Spec.Inputs[in]
	if v := x.Fields[d.Spec.By]; v.given() {
		return
	}
	fields := map[string]Values{d.Spec.By: {Ranges: [][2]uint64{{0, uint64(len(d.Spec.Out) - 1)}}}}
	for name, v := range x.Fields {
		fields[name] = v
	}
	if d.Spec.Inputs == nil {
		d.Spec.Inputs = map[string]InputSpec{}
	}
	x.Fields = fields
	d.Spec.Inputs[in] = x
}

// declared returns what the manifest says beside its check.
func (d *Device) declared() ref.Declared {
	s := d.Spec
	x := ref.Declared{
		Order: s.Order, Latency: map[string]ref.Latency{}, Out: s.Out, Drops: ref.Drops{Whole: s.Drops.Whole, Above: s.Drops.Above},
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

// forward is the reference of identity and route: what comes in goes out.
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
					return // to nobody: it must not come out anywhere
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

// dropped reports whether a transaction's fields say that it must not come out.
func (s *Spec) dropped(m *ref.Msg) bool {
	for name, v := range s.Drops.When {
		if !v.has(m.U(name)) {
			return false
		}
	}
	return len(s.Drops.When) > 0
}

// expected are the fields that an input's transaction has at an output.
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
