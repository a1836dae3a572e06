package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/field"
	"nictwin/models/ref"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/play/own"
)

// Device is a build of a device that runs.
type Device struct {
	Manifest *manifest.Manifest
	Build    string // its hash
	Spec     *Spec

	built     *build.Device
	launching rtlbridge.LaunchOptions
	conn      *rtlbridge.Conn
	streams   []*ref.Stream // in the order of the bridge
	own       ref.Reference
	program   *own.Program // the reference in a process of its own; nil: none
	check     string
	root      []int // of each stream: the one whose transactions it is coupled to, or itself
	window    []int // of each input: transactions that may be under way in the device
	traffic   map[int]*Traffic
	at        place // of the reference, once a run was played
}

// place is one in the sources.
type place struct {
	file string
	line int
}

// Open builds a device and starts it, to be judged as the options say. Errors: those of rtlbridge, *SpecError.
func Open(ctx context.Context, m *manifest.Manifest, s *Spec, o *Options) (*Device, error) {
	built, err := build.Build(m, build.Options{Variant: o.Variant, Log: o.Log, Context: ctx})
	if err != nil {
		return nil, err
	}
	d := &Device{Manifest: m, Build: built.HashString(), Spec: s, built: built, own: o.Reference, program: o.Program}
	if err := d.launch(); err != nil {
		return nil, err
	}
	if err := d.fit(); err != nil {
		return nil, errors.Join(&SpecError{d.located(err)}, d.Close())
	}
	return d, nil
}

// referenced reports whether a reference says what is right.
func (d *Device) referenced() bool { return d.own != nil || d.program != nil }

// launch starts the device's process.
func (d *Device) launch() error {
	c, err := rtlbridge.Launch(d.built, d.launching)
	if err != nil {
		return err
	}
	d.conn = c
	return nil
}

// Close ends the device.
func (d *Device) Close() error { return d.conn.Close() }

// located gives faults of the section play their lines.
func (d *Device) located(err error) error {
	s := DefaultSpec()
	where, bad := decodePlay(d.Manifest, &s)
	if bad != nil {
		return err
	}
	return where.Locate(err)
}

// fit looks at what the section play says of the design, now that it is known.
func (d *Device) fit() error {
	var f faults
	h := d.conn.Hello()
	d.streams, d.root, d.window = nil, make([]int, len(h.Streams)), make([]int, len(h.Streams))
	for i := range h.Streams {
		d.streams = append(d.streams, streamOf(&h.Streams[i]))
		d.root[i] = i
	}
	for i, x := range d.Manifest.Streams {
		if on := x.After + x.With; on != "" {
			if at, ok := d.conn.StreamIndex(on); ok {
				d.root[i] = d.root[at]
			}
		}
		fastest := h.PeriodPs
		for _, c := range h.Clocks {
			fastest = min(fastest, c.PeriodPs)
		}
		for _, v := range d.Spec.Clocks {
			fastest = min(fastest, int64(v.least()))
		}
		d.window[i] = d.quantum() * int((h.PeriodPs+fastest-1)/fastest+1)
	}
	d.check = d.Spec.Check
	switch {
	case d.referenced() && d.check != "" && d.check != OwnCheck:
		f.add(false, "check", "%q: a reference is given, too: want reference", d.check)
	case d.referenced():
		d.check = OwnCheck
	case d.check == OwnCheck:
		f.add(false, "check", "reference: none is given: name its folder by --ref")
	case d.check == "":
		d.check = Rules
	}
	d.fitFields(&f)
	d.fitTies(&f)
	if d.check == Identity || d.check == Route {
		d.fitCheck(&f)
	}
	return errors.Join(f.errs...)
}

// streamOf is a stream as references see it.
func streamOf(x *protocol.StreamInfo) *ref.Stream {
	s := &ref.Stream{Name: x.Name, In: !x.Out, Beat: x.DataBytes, Empty: x.Kind == protocol.KindTLP, Most: protocol.MaxDataBytes}
	switch x.Kind {
	case protocol.KindRecord:
		s.Kind = ref.Record
	case protocol.KindLevel:
		s.Kind = ref.Level
	}
	if s.Unit = x.KeepUnit; s.Unit == 0 {
		s.Unit = max(1, x.DataBytes)
	}
	for _, f := range x.Fields {
		s.Fields = append(s.Fields, ref.Field{Name: f.Name, Bits: f.Width})
	}
	return s
}

// Carry has an input carry packets of captures.
func (d *Device) Carry(t *Traffic) error {
	var fits []int
	var names []string
	for i, s := range d.streams {
		if s.In && s.Kind == ref.Packets {
			names = append(names, s.Name)
			if t.Stream == "" || t.Stream == s.Name {
				fits = append(fits, i)
			}
		}
	}
	if len(fits) != 1 {
		return field.Errorf("stream", "%q: captures need one input of packets, of %v", t.Stream, names)
	}
	d.traffic = map[int]*Traffic{fits[0]: t}
	return nil
}

// quantum is the number of cycles between two looks at the device.
func (d *Device) quantum() int {
	switch {
	case d.Spec.Quantum > 0:
		return d.Spec.Quantum
	case d.referenced() || d.Spec.Memory != nil || len(d.Spec.Serve) > 0:
		return 16 // answers come soon
	}
	return 256
}

// fitFields looks at the fields that are drawn.
func (d *Device) fitFields(f *faults) {
	for _, n := range slices.Sorted(maps.Keys(d.Spec.Inputs)) {
		x := d.Spec.Inputs[n]
		i, _ := d.conn.StreamIndex(n)
		s, at := d.streams[i], "inputs."+field.Path(n)
		f.add(!x.Bytes.given() || s.Kind == ref.Packets, at+".bytes", "stream %s carries no packets", n)
		f.add(!x.Every.given() || s.Kind == ref.Level, at+".every", "stream %s is no level", n)
		for _, name := range slices.Sorted(maps.Keys(x.Fields)) {
			v := x.Fields[name]
			p := at + ".fields." + field.Path(name)
			w, _, ok := s.Find(name)
			if !f.add(ok, p, "the stream has no such field: it has %v", names(s)) {
				continue
			}
			f.add(w.Bits >= 64 || v.most()>>w.Bits == 0, p, "%d does not fit into %d bits", v.most(), w.Bits)
			if v.BytesOf != "" {
				of, known := d.conn.StreamIndex(v.BytesOf)
				f.add(known && d.root[of] == d.root[i] && of != i && d.streams[of].Kind == ref.Packets, p,
					"bytes of %s: want a stream of packets that is coupled to %s by after or with", v.BytesOf, n)
			}
		}
		for k, e := range x.Edges {
			for _, name := range []string{e.Start, e.Length} {
				_, _, ok := s.Find(name)
				f.add(ok, at+field.Path(fmt.Sprintf(".edges[%d]", k)), "the stream has no field %q: it has %v", name, names(s))
			}
		}
	}
}

func names(s *ref.Stream) []string {
	var list []string
	for i := range s.Fields {
		list = append(list, s.Fields[i].Name)
	}
	return list
}
