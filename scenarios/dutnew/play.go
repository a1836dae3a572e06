package dutnew

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// undecided is the remark written for a device whose ports do not show which outputs are right.
const undecided = "nothing says what is right: identity, route, memory, or a reference in Go"

// writePlay chooses a check for the section `play`, and writes the section.
func (f *found) writePlay(line func(string, ...any)) {
	subordinates, managers := f.axiPorts(manifest.DirIn), f.axiPorts(manifest.DirOut)
	memory := slices.ContainsFunc(f.streams, func(s *stream) bool {
		return s.kind == manifest.KindAXI4 &&
			s.dir == manifest.DirIn
	})
	switch by := f.routes(); {
	case by != "":
		line("play: {check: route, by: %s, inputs: {%s}}  # guessed: %s is the number of the output", by, f.draws(by),
			by)
	case f.passes() && f.lossy():
		line("play: {check: identity, drops: whole}  # guessed: what goes in comes out, unchanged; an input that " +
			"cannot be held back may be dropped")
	case f.passes():
		line("play: {check: identity}  # guessed: what goes in comes out, unchanged; see drops and ignore in " +
			"docs/own-rtl.md where it may not")
	case len(subordinates) > 0 && (memory || len(managers) > 0):
		f.writeMemory(line, subordinates, managers)
	default:
		f.writeRules(line, managers)
	}
}

// axiPorts returns the names of the playable AXI ports of a direction, one per lane.
func (f *found) axiPorts(dir string) (list []string) {
	for _, s := range f.streams {
		if s.dir == dir && (s.kind == manifest.KindAXI4 || s.kind == manifest.KindAXILite) && s.playable() {
			list = append(list, s.laneNames()...)
		}
	}
	return list
}

// axiIDs are the fields that a playable AXI port may lack, provided it lacks all of them.
var axiIDs = []string{"awid", "bid", "arid", "rid"}

// playable reports whether an AXI port has the fields that the checks named "memory" and "serve" need.
func (s *stream) playable() bool {
	other := slices.ContainsFunc(s.omit, func(field string) bool { return !slices.Contains(axiIDs, field) })
	return !other && (len(s.omit) == 0 || len(s.omit) == len(axiIDs))
}

// laneNames returns the streams that one line of the manifest stands for.
func (s *stream) laneNames() (list []string) {
	if s.lanes < 2 {
		return []string{s.name}
	}
	for i := range s.lanes {
		list = append(list, fmt.Sprintf("%s%d", s.name, i))
	}
	return list
}

// page is the number of addresses that the written manifest gives each port of a memory.
const page = 4096

func (f *found) writeMemory(line func(string, ...any), subordinates, managers []string) {
	bytes := f.addresses(page * uint64(len(subordinates)))
	m := fmt.Sprintf("port: %s, bytes: %d", subordinates[0], bytes)
	if len(subordinates) > 1 {
		m = fmt.Sprintf("ports: [%s], bytes: %d", strings.Join(subordinates, ", "), bytes)
	}
	what := strings.Join(subordinates, " and ")
	switch len(managers) {
	case 0:
		line("play: {check: memory, memory: {%s}}  # guessed: %s is a memory; its size", m, what)
	case 1:
		line("play: {check: memory, memory: {%s, behind: %s}, serve: {%s}}  # guessed: the way from %s to %s's memory",
			m, managers[0], served(managers), what, managers[0])
	default:
		line("play: {check: memory, memory: {%s}, serve: {%s}}  # guessed: the way from %s to memories; base, bytes: "+
			"addresses that the design decodes", m, served(managers), what)
	}
}

// addresses returns the number of addresses that the written manifest gives a memory: `want`, or fewer if an AXI port's
// address field is narrower.
func (f *found) addresses(want uint64) uint64 {
	for _, s := range f.streams {
		for _, m := range s.members {
			isAXI := s.kind == manifest.KindAXI4 || s.kind == manifest.KindAXILite
			if isAXI && (m.role == "awaddr" || m.role == "araddr") {
				want = min(want, 1<<min(m.pin.Width/s.lanes, 63))
			}
		}
	}
	return want
}

func served(managers []string) string {
	var all []string
	for _, m := range managers {
		all = append(all, m+": {delay: 20}")
	}
	return strings.Join(all, ", ")
}

// writeRules writes the check `rules`. Memories answer the device's AXI managers. If an input answers an output, the
// check is `reference` instead, and nothing is drawn for the input.
func (f *found) writeRules(line func(string, ...any), managers []string) {
	parts, remark := []string{}, undecided // without a reference, only the rules of streams are checked
	if len(managers) > 0 {
		parts = append(parts, "serve: {"+served(managers)+"}")
	}
	var counts, pairs []string
	for _, s := range f.streams {
		if of := f.asked(s); of != nil {
			for _, name := range s.laneNames() {
				counts = append(counts, name+": {count: 0}")
			}
			pairs = append(pairs, s.name+" answers "+of.name)
		}
	}
	if len(pairs) > 0 {
		parts = append(parts, "check: reference", "inputs: {"+strings.Join(counts, ", ")+"}")
		remark = "guessed: " + strings.Join(pairs, ", ") + ": a reference in Go (--ref) gives the answers " +
			"(p.Answer), and says what is right"
	}
	line("play: {%s}  # %s", strings.Join(parts, ", "), remark)
}

var (
	requests = []string{"req", "request", "cmd", "command", "rq", "query"}
	answers  = []string{"resp", "response", "rsp", "res", "cpl", "completion", "rc", "answer"}
)

// asked returns the output whose requests this input answers, judged by their names: ram_rd_cmd for ram_rd_resp.
func (f *found) asked(s *stream) *stream {
	stem, last := cutLast(s.name)
	if s.dir != manifest.DirIn || !slices.Contains(answers, last) {
		return nil
	}
	for _, o := range f.streams {
		if at, word := cutLast(o.name); o.dir == manifest.DirOut && at == stem && slices.Contains(requests, word) {
			return o
		}
	}
	return nil
}

// cutLast splits a name before its last word.
func cutLast(name string) (stem, last string) {
	i := strings.LastIndexByte(name, '_')
	return name[:i+1], name[i+1:]
}

// selectors are names of inputs that say to which of several outputs a packet goes, in order of preference.
var selectors = []string{"select", "sel", "dest", "port"}

// route finds the input that selects one of several outputs, and binds it to the packet stream that it belongs to.
func (f *found) route() {
	in, out := f.oneWay()
	if in == nil || out.lanes < 2 || in.lanes > 1 {
		return
	}
	for _, p := range f.pins {
		if !p.used && p.Dir == manifest.DirIn && p.Array == "" && p.Width < 16 && 1<<p.Width >= out.lanes &&
			slices.ContainsFunc(bare(p.lower), func(n string) bool { return slices.Contains(selectors, n) }) {
			p.used = true
			in.members = append(in.members, member{pin: p, role: p.lower, side: in.kind == protocol.KindAxis})
			in.selector = p.lower
			in.note = "side: valid with the first beat of a packet"
			return
		}
	}
}

// routes returns the name of the field that selects a transaction's output; empty if no field does.
func (f *found) routes() string {
	in, out := f.oneWay()
	switch {
	case in == nil || out.lanes < 2:
		return ""
	case in.selector != "":
		return in.selector
	case slices.Contains(in.fields(), "tdest"):
		return "tdest"
	}
	return ""
}

// draws returns the manifest's text for the values to draw: for each lane of the input, the field that is named by
// the argument takes the numbers of the outputs.
func (f *found) draws(by string) string {
	in, out := f.oneWay()
	var all []string
	for _, name := range in.laneNames() {
		all = append(all, fmt.Sprintf("%s: {fields: {%s: 0..%d}}", name, by, out.lanes-1))
	}
	return strings.Join(all, ", ")
}

// oneWay returns the design's only input and its only output, if both are packets or both are records; else nil.
func (f *found) oneWay() (in, out *stream) {
	if len(f.streams) != 2 || f.streams[0].kind != f.streams[1].kind || f.streams[0].dir == f.streams[1].dir {
		return nil, nil
	}
	in, out = f.streams[0], f.streams[1]
	if in.dir != manifest.DirIn {
		in, out = out, in
	}
	if in.kind != protocol.KindAxis && in.kind != protocol.KindRecord {
		return nil, nil
	}
	return in, out
}

// lossy reports whether an input cannot be held back.
func (f *found) lossy() bool {
	return slices.ContainsFunc(f.streams, func(s *stream) bool { return s.dir == manifest.DirIn && s.ready == nil })
}

// passes reports whether the design has one input and one output, and the input has every field of the output: what
// comes out may be what went in.
func (f *found) passes() bool {
	in, out := f.oneWay()
	if in == nil || out.lanes > 1 {
		return false
	}
	for _, field := range out.fields() {
		if !slices.Contains(in.fields(), field) {
			return false
		}
	}
	return in.kind == protocol.KindAxis || len(out.fields()) > 0
}
