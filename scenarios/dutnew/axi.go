package dutnew

import (
	"strings"

	"nictwin/rtlbridge/manifest"
)

// axi recognises AXI ports among the pins: those with valid and ready of all five channels.
func (f *found) axi() {
	for _, p := range f.pins {
		for _, d := range directions {
			prefix, ok := strings.CutSuffix(p.lower, "awvalid"+d)
			if !ok || p.used || p.Array != "" {
				continue
			}
			if s := f.axiPort(prefix, p.Dir, p.Width); s != nil {
				s.name = f.unique(s)
				f.streams = append(f.streams, s)
			}
		}
	}
}

// channels lists the prefixes of AXI's channels in pin names.
var channels = []string{"aw", "w", "b", "ar", "r"}

// axiPort returns the AXI port whose pins begin with prefix; with lanes above 1, several ports whose pins are slices of
// vectors. It returns nil if a channel has no pin `valid` or `ready`.
func (f *found) axiPort(prefix, dir string, lanes int) *stream {
	s := &stream{kind: manifest.KindAXILite, dir: dir, prefix: prefix, lanes: lanes}
	back := manifest.DirIn
	if dir == manifest.DirIn {
		back = manifest.DirOut
	}
	for _, c := range channels {
		forth, answers := dir, back
		if c == "b" || c == "r" {
			forth, answers = back, dir
		}
		valid, ready := f.named(prefix+c+"valid", forth), f.named(prefix+c+"ready", answers)
		if valid == nil || ready == nil || valid.Width != lanes || ready.Width != lanes {
			return nil
		}
		s.members = append(s.members, member{pin: valid, role: c + "valid"}, member{pin: ready, role: c + "ready"})
	}
	var lacks, lacksMore []string
	for _, x := range manifest.AXIFields() {
		to := dir
		if x.Answer {
			to = back
		}
		p := f.named(prefix+x.Name, to)
		switch {
		case p != nil:
			s.members = append(s.members, member{pin: p, role: x.Name})
			if !x.Lite {
				s.kind = manifest.KindAXI4
			}
		case x.Lite:
			lacks = append(lacks, x.Name)
		default:
			lacksMore = append(lacksMore, x.Name)
		}
	}
	if s.omit = lacks; s.kind == manifest.KindAXI4 {
		s.omit = append(s.omit, lacksMore...)
	}
	for _, m := range s.members {
		m.pin.used = true
	}
	return s
}

// named finds a pin by name, with or without a suffix for its direction.
func (f *found) named(name, dir string) *pin {
	for _, p := range f.pins {
		for _, d := range directions {
			if !p.used && p.lower == name+d && p.Dir == dir && p.Array == "" {
				return p
			}
		}
	}
	return nil
}
