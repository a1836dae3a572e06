package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/play/own"
)

// Device is a running build of a device.
type Device struct {
	Manifest *manifest.Manifest
	Build    string // hash of the build
	Spec     *Spec

	built      *build.Device
	launching  rtlbridge.LaunchOptions
	conn       *rtlbridge.Conn
	hello      *protocol.Hello // description that the device gives of itself when it starts
	streams    []*ref.Stream   // in the order in which the bridge numbers them
	own        ref.Reference
	program    *own.Program // the reference in a separate process; nil: none
	check      string
	root       []int     // by stream: the stream that its transactions are coupled to, or itself
	window     []int     // by input: maximum number of transactions that may be in flight in the device
	finite     []bool    // by output: it only answers drawn transactions, so their number is limited
	mem        []axiPort // AXI ports that the check named `memory` answers
	given      *Given
	parameters []string // NAME=VALUE of each of the build's parameters that was drawn or given
	captured   *Traffic // captured packets to play; nil: all packets are drawn
	traffic    map[int]*Traffic
	at         place // file and line of the reference, known once a run was played
}

// place is a file and a line of source code.
type place struct {
	file string
	line int
}

// open builds a device and starts it. A section `play` that does not fit the design is refused before anything is
// compiled. It returns the errors of rtlbridge, or a *SpecError.
func open(ctx context.Context, m *manifest.Manifest, o *Options, parameters []string) (*Device, error) {
	d := &Device{
		Manifest: m, Spec: o.Spec.clone(), own: o.Reference, program: o.Program,
		given: &o.Given, parameters: parameters, captured: o.Traffic,
	}
	built, err := o.Link.Build(m, build.Options{
		Variant: o.Variant, Log: o.Log, Context: ctx,
		Fits: func(b *manifest.Binding) error { return d.fit(announcedHello(b)) },
	})
	if err != nil {
		return nil, err
	}
	d.Build, d.built = built.HashString(), built
	if err := d.launch(); err != nil {
		return nil, err
	}
	if err := d.fit(d.conn.Hello()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// referenced reports whether the expected output comes from a reference.
func (d *Device) referenced() bool { return d.own != nil || d.program != nil }

// Fit checks the section `play` of a manifest against its design, as Play does before it builds. If the check is a
// reference, Fit assumes that the reference exists. Errors: *SpecError.
func Fit(b *manifest.Binding) error {
	s, err := ReadSpec(b.Manifest)
	if err != nil {
		return err
	}
	d := &Device{Manifest: b.Manifest, Spec: s.clone(), given: &Given{}}
	if s.Check == OwnCheck {
		d.own = func(*ref.Player) {}
	}
	return d.fit(announcedHello(b))
}

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

// located adds line numbers to faults of the section `play`.
func (d *Device) located(err error) error {
	s := DefaultSpec()
	where, bad := decodePlay(d.Manifest, &s)
	if bad != nil {
		return err
	}
	return where.Locate(err)
}

// fit checks the section `play` against the design. Errors: *SpecError.
func (d *Device) fit(h *protocol.Hello) error {
	var f faults
	d.hello = h
	d.readStreams()
	d.choose(&f)
	d.fitFields(&f)
	d.fitTies(&f)
	d.fitAXI(&f)
	d.fitOutputs(&f)
	if d.check == Identity || d.check == Route {
		d.fitCheck(&f)
	}
	d.fitTraffic(&f)
	d.fitSize(&f)
	d.fitGiven(&f)
	if err := errors.Join(f.errs...); err != nil {
		return &SpecError{d.located(err)}
	}
	return nil
}

// readStreams reads the streams of the design.
func (d *Device) readStreams() {
	n, h := len(d.hello.Streams), d.hello
	d.streams, d.root, d.window, d.finite = nil, make([]int, n), make([]int, n), make([]bool, n)
	fastest := h.PeriodPs
	for _, c := range h.Clocks {
		fastest = min(fastest, c.PeriodPs)
	}
	for _, v := range d.Spec.Clocks {
		fastest = min(fastest, int64(v.least()))
	}
	for _, c := range d.given.Clocks {
		fastest = min(fastest, c.PeriodPs)
	}
	for i, x := range d.Manifest.Streams {
		d.streams = append(d.streams, streamOf(&h.Streams[i]))
		d.root[i] = i
		if on := x.After + x.With; on != "" {
			if at, ok := d.index(on); ok {
				d.root[i] = d.root[at]
			}
		}
		d.window[i] = d.quantum() * int((h.PeriodPs+fastest-1)/fastest+1)
	}
}

// choose selects the check, or the reference, that decides whether outputs are right.
func (d *Device) choose(f *faults) {
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
}

// streamOf converts a stream of the bridge to the form that references see.
func streamOf(x *protocol.StreamInfo) *ref.Stream {
	s := &ref.Stream{Name: x.Name, In: !x.Out, Beat: x.DataBytes, Empty: x.Kind == protocol.KindTLP,
		Most: protocol.MaxDataBytes}
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

// quantum returns the number of cycles between two exchanges with the device.
func (d *Device) quantum() int {
	switch {
	case d.Spec.Quantum > 0:
		return d.Spec.Quantum
	case d.referenced() || d.Spec.Memory != nil || len(d.Spec.Serve) > 0:
		return 16 // short, so that a memory's answers reach the device early
	}
	return 256
}

// fitFields checks the fields that are drawn.
func (d *Device) fitFields(f *faults) {
	for _, n := range slices.Sorted(maps.Keys(d.Spec.Inputs)) {
		x := d.Spec.Inputs[n]
		i, _ := d.index(n)
		s, at := d.streams[i], "inputs."+field.Path(n)
		f.add(!x.Bytes.given() || s.Kind == ref.Packets, at+".bytes", "stream %s carries no packets", n)
		f.add(!x.Every.given() || s.Kind == ref.Level, at+".every", "stream %s is no level", n)
		f.add(s.Kind != ref.Level || x.Count == nil || *x.Count < 2 || x.Every.given(), at+".count",
			"stream %s is a level: want every, the cycles after which it changes, too", n)
		for _, name := range slices.Sorted(maps.Keys(x.Fields)) {
			v := x.Fields[name]
			p := at + ".fields." + field.Path(name)
			w, _, ok := s.Find(name)
			if !f.add(ok, p, "the stream has no such field: it has %v", names(s)) {
				continue
			}
			f.add(w.Bits >= 64 || v.most()>>w.Bits == 0, p, "%d does not fit into %d bits", v.most(), w.Bits)
			if v.BytesOf != "" {
				of, known := d.index(v.BytesOf)
				f.add(known && d.root[of] == d.root[i] && of != i && d.streams[of].Kind == ref.Packets, p,
					"bytes of %s: want a stream of packets that is coupled to %s by after or with", v.BytesOf, n)
			}
		}
		for k, e := range x.Edges {
			for _, name := range []string{e.Start, e.Length} {
				_, _, ok := s.Find(name)
				f.add(ok, at+field.Path(fmt.Sprintf(".edges[%d]", k)), "the stream has no field %q: it has %v", name,
					names(s))
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

// maxDrawn bounds the bytes of all packets of a run: they are drawn before it begins.
const maxDrawn = 1 << 30

// fitSize refuses a run whose packets would not fit into memory.
func (d *Device) fitSize(f *faults) {
	total := uint64(0)
	for i, s := range d.streams {
		if !s.In || s.Kind != ref.Packets || d.traffic[i] != nil {
			continue
		}
		v := d.Spec.Inputs[s.Name].Bytes
		if !v.given() {
			v = usualBytes
		}
		total += uint64(d.count(i)) * v.most()
	}
	f.add(total <= maxDrawn, "count",
		"a run may have packets of %d bytes in all: want at most %d, by fewer or shorter ones", total, maxDrawn)
}

// announcedHello returns the description that the device will give of itself, so that a section `play` that does not
// fit is refused before the build.
func announcedHello(b *manifest.Binding) *protocol.Hello {
	h := &protocol.Hello{PeriodPs: b.Manifest.Clocks[0].PeriodPs, Busy: b.BusyIdx, SkipIdle: b.Manifest.SkipIdle}
	for _, c := range b.Manifest.Clocks {
		h.Clocks = append(h.Clocks, protocol.ClockInfo{Name: c.Signal, PeriodPs: c.PeriodPs})
	}
	for i := range b.Streams {
		s := &b.Streams[i]
		x := protocol.StreamInfo{
			Name: s.Name, Kind: s.Kind, Out: s.Dir == manifest.DirOut, Ready: s.HasReady(), KeepUnit: s.Unit(),
			DataBytes: s.DataBytes, SideBytes: s.SideBytes, Clock: s.ClockIdx,
		}
		for _, f := range s.SideFields {
			x.Fields = append(x.Fields, protocol.Signal{Name: f.Role, Width: f.Width})
		}
		h.Streams = append(h.Streams, x)
	}
	for _, p := range b.Observe {
		h.Observe = append(h.Observe, protocol.Signal{Name: p.Name, Width: p.Width})
	}
	for _, t := range b.Ties {
		h.Ties = append(h.Ties, protocol.Signal{Name: t.Name, Width: t.Width})
	}
	return h
}

// index returns the number of a stream.
func (d *Device) index(name string) (int, bool) {
	i := slices.IndexFunc(d.hello.Streams, func(s protocol.StreamInfo) bool { return s.Name == name })
	return i, i >= 0
}
