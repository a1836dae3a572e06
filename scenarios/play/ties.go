package play

import (
	"maps"
	"slices"
	"strings"

	"nictwin/models/field"
)

// fitTies checks the values that are drawn for inputs that are tied off, and completes `any`, now that widths are known.
func (d *Device) fitTies(f *faults) {
	for _, n := range slices.Sorted(maps.Keys(d.Spec.TieOffs)) {
		at, v := "tie_offs."+field.Path(n), d.Spec.TieOffs[n]
		width := d.tieWidth(n)
		if !f.add(width > 0, at, "the design ties off no input of this name: want one of tie_offs, or one that tie_rest ties off") {
			continue
		}
		if v.Any {
			v.Ranges = [][2]uint64{{0, ^uint64(0) >> (64 - min(64, width))}}
			d.Spec.TieOffs[n] = v
		}
		f.add(width >= 64 || v.most()>>width == 0, at, "%d does not fit into %d bits", v.most(), width)
	}
}

// tieWidth is the width of an input that is tied off; 0: there is none.
func (d *Device) tieWidth(name string) int {
	for _, t := range d.conn.Hello().Ties {
		if t.Name == name {
			return t.Width
		}
	}
	return 0
}

// forgotten names the inputs that tie_rest ties off and that no run changes: what keeps a device silent is often among them.
func (d *Device) forgotten() string {
	var list []string
	for _, t := range d.conn.Hello().Ties {
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
