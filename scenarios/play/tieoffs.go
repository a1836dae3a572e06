package play

import (
	"maps"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/rtlbridge/protocol"
)

// maxTie is the maximum width, in bits, of a tied input whose value runs may draw.
const maxTie = 64

// fitTies checks the values drawn for tied inputs, and replaces `any` by the range that their widths give.
func (d *Device) fitTies(f *faults) {
	for _, n := range slices.Sorted(maps.Keys(d.Spec.TieOffs)) {
		at, v := "tie_offs."+field.Path(n), d.Spec.TieOffs[n]
		width := d.tieWidth(n)
		if !f.add(width > 0, at, "the design ties off no input of this name: want one of tie_offs, or one that "+
			"tie_rest ties off") {
			continue
		}
		if v.Any {
			v.Ranges = [][2]uint64{{0, ^uint64(0) >> (64 - min(64, width))}}
			d.Spec.TieOffs[n] = v
		}
		f.add(width >= 64 || v.most()>>width == 0, at, "%d does not fit into %d bits", v.most(), width)
		f.add(width <= maxTie, at, "the input has %d bits: values are drawn for at most %d", width, maxTie)
	}
}

// fitGiven checks the settings that the user gives. Each fault names its flag.
func (d *Device) fitGiven(f *faults) {
	add := func(ok bool, flag field.Path, format string, a ...any) {
		if !ok {
			f.errs = append(f.errs, field.Errorf(flag, format, a...))
		}
	}
	g := d.given
	for _, n := range slices.Sorted(maps.Keys(g.TieOffs)) {
		width, x := d.tieWidth(n), g.TieOffs[n]
		add(width > 0, "tie",
			"%s: the design ties off no input of this name: want one of tie_offs, or one that tie_rest ties off", n)
		add(width == 0 || width >= 64 || x>>width == 0, "tie", "%s=%d: does not fit into %d bits", n, x, width)
		add(width <= maxTie, "tie", "%s: it has %d bits: want at most %d", n, width, maxTie)
	}
	for _, n := range slices.Sorted(maps.Keys(g.Clocks)) {
		i := slices.IndexFunc(d.hello.Clocks, func(c protocol.ClockInfo) bool { return c.Name == n })
		add(i >= 0, "clock", "%s: the manifest has no such clock", n)
		add(i != 0 || g.Clocks[n].PhasePs == 0, "clock",
			"%s: a phase of %d ps: the first clock has none", n, g.Clocks[n].PhasePs)
	}
	for _, n := range slices.Sorted(maps.Keys(g.Stalls)) {
		i, ok := d.index(n)
		if ok = ok && d.pauses(i); !ok {
			add(false, "stall", "%s: want an input, or an output with a ready", n)
			continue
		}
		own := d.ownStall(d.streams[i])
		add(!own.given() || uint64(g.Stalls[n].Percent) <= own.most(), "stall",
			"%s=%d: its own stall in the manifest allows %d at most", n, g.Stalls[n].Percent, own.most())
	}
	if len(g.Resets) > 0 {
		add(len(d.Manifest.Resets) > 0, "resets", "%v: the manifest has none", g.Resets)
		add(d.Spec.Memory == nil && len(d.Spec.Serve) == 0, "resets",
			"%v: bursts of AXI are not played over a reset", g.Resets)
	}
}

// tieWidth returns the width of a tied input; 0 if no input of this name is tied.
func (d *Device) tieWidth(name string) int {
	for _, t := range d.hello.Ties {
		if t.Name == name {
			return t.Width
		}
	}
	return 0
}

// tiedInputsHint returns a hint that lists the inputs tied off by tie_rest whose value no run changes: such an input
// often keeps a device silent.
func (d *Device) tiedInputsHint() string {
	var list []string
	for _, t := range d.hello.Ties {
		_, tied := d.Manifest.TieOffs[t.Name]
		_, drawn := d.Spec.TieOffs[t.Name]
		if !tied && !drawn {
			list = append(list, t.Name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; tie_rest holds " + strings.Join(list, ", ") + " at " + d.Manifest.TieRest
}
