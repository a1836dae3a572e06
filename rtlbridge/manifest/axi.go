package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// Kinds of streams that stand for the five channels of an AXI port: records named after it, s.aw, s.w, s.b, s.ar
// and s.r.
const (
	KindAXI4    = "axi4"
	KindAXILite = "axil"
)

// axiChannels lists the channels of AXI with the fields of AXI4-Lite, and those that AXI4 adds.
var axiChannels = []struct {
	name       string
	answer     bool // the subordinate drives the channel
	lite, more []string
}{
	{"aw", false, []string{"awaddr"}, []string{"awid", "awlen", "awsize", "awburst"}},
	{"w", false, []string{"wdata", "wstrb"}, []string{"wlast"}},
	{"b", true, []string{"bresp"}, []string{"bid"}},
	{"ar", false, []string{"araddr"}, []string{"arid", "arlen", "arsize", "arburst"}},
	{"r", true, []string{"rdata", "rresp"}, []string{"rid", "rlast"}},
}

func (s *Stream) axi() bool { return s.Kind == KindAXI4 || s.Kind == KindAXILite }

// checkAXI refuses fields that an AXI port does not have.
func (s *Stream) checkAXI(p string, add func(path, format string, args ...any)) {
	if len(s.Side) > 0 || s.KeepUnit != nil || s.Ready != nil || s.ReadyAnswers || s.FieldsLate || s.After != "" ||
		s.With != "" || s.SideHeld || s.ZeroPadding {
		add(p, "stream %s: kind %s has name, kind, dir, prefix, signals, fields, omit, clock, lane, lanes and "+
			"strides alone", s.Name, s.Kind)
	}
	for i, f := range s.Fields {
		if s.channel(f) == "" {
			add(fmt.Sprintf("%s.fields[%d]", p, i), "stream %s: field %q: needs a name that begins with its channel: "+
				"aw, w, b, ar or r", s.Name, f)
		}
	}
	known := s.all()
	for i, f := range s.Omit {
		if !slices.Contains(known, f) {
			add(fmt.Sprintf("%s.omit[%d]", p, i), "stream %s: omit %q: kind %s has %s", s.Name, f, s.Kind,
				strings.Join(known, ", "))
		}
	}
}

// channel returns the channel that a field belongs to; "": none.
func (s *Stream) channel(f string) string {
	for _, c := range []string{"aw", "ar", "w", "b", "r"} {
		if strings.HasPrefix(f, c) && len(f) > len(c) {
			return c
		}
	}
	return ""
}

// all returns all fields that a port of the kind may have.
func (s *Stream) all() (list []string) {
	for _, c := range axiChannels {
		list = append(list, c.lite...)
		if s.Kind == KindAXI4 {
			list = append(list, c.more...)
		}
	}
	return list
}

// channels returns the records of the port.
func (s *Stream) channels() (list []Stream) {
	known := append(s.all(), s.Fields...)
	for _, c := range axiChannels {
		x := Stream{Name: s.Name + "." + c.name, Kind: protocol.KindRecord, Dir: s.Dir, Prefix: s.Prefix,
			Clock: s.Clock, Lane: s.Lane, Lanes: s.Lanes, Signals: map[string]string{}}
		if c.answer && s.Dir == DirIn {
			x.Dir = DirOut
		} else if c.answer && s.Dir == DirOut {
			x.Dir = DirIn
		}
		for _, role := range []string{"valid", "ready"} {
			x.Signals[role] = s.Pin(c.name + role)
		}
		for _, f := range known {
			if s.channel(f) != c.name || slices.Contains(s.Omit, f) {
				continue
			}
			x.Fields = append(x.Fields, f)
			if pin, ok := s.Signals[f]; ok {
				x.Signals[f] = pin
			}
			if n, ok := s.Strides[f]; ok {
				x.setStride(f, n)
			}
		}
		list = append(list, x)
	}
	return list
}

// AXIField is a field of an AXI port of kind axi4 or axil.
type AXIField struct {
	Name, Channel string
	Answer        bool // field of a channel driven by the subordinate
	Lite          bool // the field is also part of AXI4-Lite
}

// AXIFields returns the fields of AXI ports, by channel, without their handshakes.
func AXIFields() (list []AXIField) {
	for _, c := range axiChannels {
		for _, f := range c.lite {
			list = append(list, AXIField{f, c.name, c.answer, true})
		}
		for _, f := range c.more {
			list = append(list, AXIField{f, c.name, c.answer, false})
		}
	}
	return list
}

func (s *Stream) setStride(role string, bits int) {
	if s.Strides == nil {
		s.Strides = map[string]int{}
	}
	s.Strides[role] = bits
}
