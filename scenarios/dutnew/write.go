package dutnew

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// usualPeriod is the period of 250 MHz, in picoseconds.
const usualPeriod = 4000

// Manifest returns the text of a manifest for a design. Comments mark what was guessed.
func Manifest(d *Design) string {
	f := recognise(d)
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("name: %s", d.Top)
	line("top: %s", d.Top)
	line("sources: %s", list(d.Sources))
	if len(d.IncludeDirs) > 0 {
		line("include_dirs: %s", list(d.IncludeDirs))
	}
	if len(d.Defines) > 0 {
		line("defines: %s", mapping(d.Defines))
	}
	if len(d.Parameters) > 0 {
		line("parameters: %s", mapping(d.Parameters))
	}
	f.writeClocks(line)
	if len(f.streams) > 0 {
		line("streams:")
	}
	for _, s := range f.streams {
		line("  - %s%s", s.flow(), s.comment())
	}
	f.writeRest(line)
	f.writePlay(line)
	return b.String()
}

func (f *found) writeClocks(line func(string, ...any)) {
	if len(f.clocks) == 0 {
		line("clocks: []  # guessed: no port looks like a clock, and a device needs one")
	} else {
		var all []string
		for _, c := range f.clocks {
			all = append(all, fmt.Sprintf("{signal: %s, period_ps: %d}", c.pin.Name, usualPeriod))
		}
		line("clocks: [%s]  # guessed: periods", strings.Join(all, ", "))
	}
	if len(f.resets) == 0 {
		return
	}
	var all []string
	for _, r := range f.resets {
		active := "high"
		if r.low {
			active = "low"
		}
		all = append(all, fmt.Sprintf("{signal: %s, active: %s}", r.pin.Name, active))
	}
	line("resets: [%s]  # guessed: levels, by the names", strings.Join(all, ", "))
}

// flow returns the line that describes a stream in the manifest.
func (s *stream) flow() string {
	parts := []string{"name: " + s.name, "kind: " + s.kind, "dir: " + s.dir}
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	prefix, signals := s.naming()
	if prefix != "" {
		add("prefix: %s", prefix)
	}
	if s.kind == protocol.KindRecord || s.kind == protocol.KindAxis {
		if fields := s.fields(); len(fields) > 0 {
			key := "fields"
			if s.kind == protocol.KindAxis {
				key = "side"
			}
			add("%s: [%s]", key, strings.Join(fields, ", "))
		}
		if s.held() {
			add("side_held: true")
		}
		if s.late {
			add("fields_late: true")
		}
		if s.kind == protocol.KindAxis && s.keepUnit != 1 {
			add("keep_unit: %d", s.keepUnit)
		}
		if s.ready == nil {
			add("ready: false")
		}
	}
	if len(signals) > 0 {
		add("signals: {%s}", strings.Join(signals, ", "))
	}
	if len(s.omit) > 0 {
		add("omit: [%s]", strings.Join(s.omit, ", "))
	}
	if s.lanes > 1 {
		add("lanes: %d", s.lanes)
	}
	if s.clock != "" {
		add("clock: %s", s.clock)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// fields returns the roles of a record, or the side band of packets.
func (s *stream) fields() (list []string) {
	for _, m := range s.members {
		if s.kind == protocol.KindRecord || m.side {
			list = append(list, m.role)
		}
	}
	return list
}

// naming returns how roles map to pins: a prefix for pins named prefix, underscore and role, and the others one by
// one.
func (s *stream) naming() (prefix string, signals []string) {
	roles := slices.Clone(s.members)
	t := ""
	if s.kind == protocol.KindAxis {
		t = "t"
	}
	if s.valid != nil {
		roles = append(roles, member{pin: s.valid, role: t + "valid", low: s.validLow})
	}
	if s.ready != nil {
		roles = append(roles, member{pin: s.ready, role: t + "ready", low: s.readyLow})
	}
	want := strings.TrimSuffix(s.prefix, "_")
	for _, m := range roles {
		if len(m.pin.Name) >= len(want) && strings.EqualFold(m.pin.Name[:len(want)], want) {
			prefix = m.pin.Name[:len(want)]
		}
	}
	byPrefix := 0
	for _, m := range roles {
		pin := m.role
		if prefix != "" {
			pin = prefix + "_" + m.role
		}
		switch {
		case m.low:
			signals = append(signals, m.role+": \"!"+m.pin.Name+"\"")
		case m.pin.Name == pin:
			byPrefix++
		default:
			signals = append(signals, m.role+": "+m.pin.Name)
		}
	}
	if byPrefix == 0 {
		prefix = ""
	}
	return prefix, signals
}

func (s *stream) comment() string {
	var list []string
	if s.note != "" {
		list = append(list, s.note)
	}
	if s.clockGuessed {
		list = append(list, "the first clock")
	}
	if len(list) == 0 {
		return ""
	}
	return "  # guessed: " + strings.Join(list, "; ")
}

func (f *found) writeRest(line func(string, ...any)) {
	if len(f.enables) > 0 {
		ties := map[string]string{}
		for _, p := range f.enables {
			ties[p.Name] = "1"
		}
		line("tie_offs: %s  # guessed: on", mapping(ties))
	}
	if len(f.rest) > 0 {
		line("tie_rest: 0  # guessed: %s", names(f.rest))
	}
	if len(f.observe) > 0 {
		line("observe: [%s]", names(f.observe))
	}
}

func names(pins []*pin) string {
	var all []string
	for _, p := range pins {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}

func list(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, scalar(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func mapping(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+": "+scalar(m[k]))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// scalar writes a text in YAML, with quotes where needed.
func scalar(s string) string {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./+-", r)) {
			return strconv.Quote(s)
		}
	}
	if s == "" || strings.HasPrefix(s, "-") {
		return strconv.Quote(s)
	}
	return s
}
