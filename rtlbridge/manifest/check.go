package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

const maxResetCycles = 1 << 20

// validate returns the faults of values, and the fields that have them. It leaves out faults that may only follow
// from an unknown field or a value of a wrong type, which s has found.
func (m *Manifest) validate(s *shape) (errs []error, wrong []string) {
	given := func(path string) bool { _, ok := m.lines[path]; return ok }
	add := func(path, format string, args ...any) {
		if !s.follows(path, given) {
			errs, wrong = append(errs, m.Errorf(path, format, args...)), append(wrong, path)
		}
	}
	if !reName.MatchString(m.Name) {
		add("name", "name %q: needs 1 to 64 letters, digits, '_', '.' or '-'", m.Name)
	}
	if !reSignal.MatchString(m.Top) {
		add("top", "top %q is not a module name", m.Top)
	}
	if len(m.Sources) == 0 {
		add("sources", "sources: at least one file, glob or file list (*.f) is needed")
	}
	m.checkPaths(add)
	m.checkValues(add)
	m.checkClocks(add)
	m.checkResets(add)
	m.checkStreams(add)
	m.checkExtras(add)
	m.checkFlags(add)
	return errs, wrong
}

func (m *Manifest) checkClocks(add func(string, string, ...any)) {
	switch {
	case len(m.Clocks) == 0:
		add("clocks", "clocks: one clock is needed")
	case len(m.Clocks) > protocol.MaxClocks:
		add("clocks", "clocks: %d given, the limit is %d", len(m.Clocks), protocol.MaxClocks)
	}
	for i, c := range m.Clocks {
		p := fmt.Sprintf("clocks[%d]", i)
		if !reSignal.MatchString(c.Signal) {
			add(p+".signal", "clock signal %q is not a port name", c.Signal)
		}
		if !simcore.ValidPeriod(simcore.Ps(c.PeriodPs)) {
			add(p+".period_ps", "period_ps %d: needs %s ps", c.PeriodPs, simcore.WantPeriod)
		}
	}
}

func (m *Manifest) checkResets(add func(string, string, ...any)) {
	for i := range m.Resets {
		r, p := &m.Resets[i], fmt.Sprintf("resets[%d]", i)
		if !reSignal.MatchString(r.Signal) {
			add(p+".signal", "reset signal %q is not a port name", r.Signal)
		}
		if r.Active != "high" && r.Active != "low" {
			add(p+".active", "reset %s: active %q: needs high or low", r.Signal, r.Active)
		}
		if _, given := m.lines[p+".cycles"]; !given {
			r.Cycles = 16
		}
		if r.Cycles < 1 || r.Cycles > maxResetCycles {
			add(p+".cycles", "reset %s: cycles %d: needs 1 to %d", r.Signal, r.Cycles, maxResetCycles)
		}
	}
}

func (m *Manifest) checkStreams(add func(string, string, ...any)) {
	if len(m.Streams) == 0 {
		add("streams", "streams: at least one is needed, or nothing could be said to the device")
	}
	if len(m.Streams) > protocol.MaxStreams {
		add("streams", "streams: %d given, the limit is %d", len(m.Streams), protocol.MaxStreams)
	}
	seen := map[string]bool{}
	for i := range m.Streams {
		s, p := &m.Streams[i], fmt.Sprintf("streams[%d]", i)
		if !reName.MatchString(s.Name) {
			add(p+".name", "stream name %q: needs 1 to 64 letters, digits, '_', '.' or '-'", s.Name)
		}
		if seen[s.Name] {
			add(p+".name", "stream %s is given twice", s.Name)
		}
		seen[s.Name] = true
		checkStream(s, p, add)
		m.checkCoupling(i, add)
	}
}

// checkCoupling checks the fields of a stream that refer to clocks and to other streams.
func (m *Manifest) checkCoupling(i int, add func(string, string, ...any)) {
	s, p := &m.Streams[i], fmt.Sprintf("streams[%d]", i)
	if s.Clock != "" && !slices.ContainsFunc(m.Clocks, func(c Clock) bool { return c.Signal == s.Clock }) {
		add(p+".clock", "stream %s: clock %q is not in clocks", s.Name, s.Clock)
	}
	if s.ReadyAnswers && (s.Dir != DirOut || !s.HasReady()) {
		add(p+".ready_answers", "stream %s: ready_answers is for outputs with a ready", s.Name)
	}
	if s.FieldsLate && (s.Kind != protocol.KindRecord || s.Dir != DirOut) {
		add(p+".fields_late", "stream %s: fields_late is for records out of the device", s.Name)
	}
	for _, c := range []struct{ field, name string }{{"after", s.After}, {"with", s.With}} {
		if c.name == "" {
			continue
		}
		switch k := m.stream(c.name); {
		case k < 0 || k == i || m.Streams[k].Dir != DirIn || s.Dir != DirIn:
			add(p+"."+c.field, "stream %s: %s %q: needs an input stream, and the name of another one", s.Name, c.field,
				c.name)
		case k > i:
			add(p+"."+c.field, "stream %s: %s %q: needs a stream listed before it in the manifest", s.Name,
				c.field, c.name)
		case c.field == "with" && m.clock(s.Clock) != m.clock(m.Streams[k].Clock):
			add(p+".with", "stream %s: with %q: needs a stream of the same clock", s.Name, c.name)
		}
	}
}

func checkStream(s *Stream, p string, add func(string, string, ...any)) {
	kinds := []string{protocol.KindAxis, protocol.KindTLP, protocol.KindRecord, protocol.KindLevel}
	if !slices.Contains(kinds, s.Kind) {
		kinds = append(kinds, KindAXI4, KindAXILite)
		add(p+".kind", "stream %s: kind %q is not supported; %s", s.Name, s.Kind, strings.Join(kinds, ", "))
		return
	}
	if len(s.Omit) > 0 {
		add(p+".omit", "stream %s: omit is for kinds %s and %s", s.Name, KindAXI4, KindAXILite)
	}
	checkKind(s, p, add)
	if s.Dir != DirIn && s.Dir != DirOut {
		add(p+".dir", "stream %s: dir %q: needs in (into the device) or out", s.Name, s.Dir)
	}
	if u := s.Unit(); u != 0 && u != 1 && u != 4 {
		add(p+".keep_unit", "stream %s: keep_unit %d: needs 1 (bytes), 4 (double words) or 0 (no tkeep)", s.Name, u)
	}
	if s.Lanes < 0 || s.Lanes > protocol.MaxStreams || s.Lane < 0 || s.Lane >= s.lanes() {
		add(p+".lane", "stream %s: lane %d of %d: lanes needs 1 to %d and lane 0 to lanes-1", s.Name, s.Lane, s.lanes(),
			protocol.MaxStreams)
	}
	roles := s.roles()
	extra := s.side()
	for i, r := range extra {
		if !reSignal.MatchString(r) || slices.Contains(roles[:len(roles)-len(extra)], r) ||
			slices.Contains(extra[:i], r) {
			add(fmt.Sprintf("%s.%s[%d]", p, sideName(s), i), "stream %s: %q in %s is not a new role name", s.Name, r,
				sideName(s))
		}
	}
	// Leave out the roles that this stream has no pin for.
	wanted := slices.DeleteFunc(slices.Clone(roles), func(r string) bool {
		return r == "tkeep" && s.Unit() == 0 || r == s.readyRole() && !s.HasReady()
	})
	missing := slices.ContainsFunc(wanted, func(r string) bool { _, named := s.Signals[r]; return !named })
	if s.Prefix == "" && missing && s.Packets() {
		add(p, "stream %s: prefix is needed unless signals names every role (%s)", s.Name, strings.Join(wanted, ", "))
	}
	for _, k := range SortedKeys(s.Signals) {
		if !slices.Contains(roles, k) {
			add(p+".signals."+k, "stream %s: signals: role %q is none of %s", s.Name, k, strings.Join(roles, ", "))
		} else if s.inverted(k) && k != s.validRole() && k != s.readyRole() {
			add(p+".signals."+k, "stream %s: signals.%s: %q: ! (active low) is for %s and %s alone", s.Name, k,
				s.Signals[k], s.validRole(), s.readyRole())
		} else if !reSignal.MatchString(strings.TrimPrefix(s.Signals[k], invertMark)) {
			add(p+".signals."+k, "stream %s: signals.%s: %q is not a port name", s.Name, k, s.Signals[k])
		}
	}
	for _, k := range SortedKeys(s.Strides) {
		if !slices.Contains(roles, k) || s.Strides[k] < 1 {
			add(p+".strides."+k, "stream %s: strides.%s: needs a known role and at least 1 bit", s.Name, k)
		}
	}
}

// sideName returns the manifest's field that lists the roles besides data and handshake.
func sideName(s *Stream) string {
	if s.Packets() {
		return "side"
	}
	return "fields"
}

// checkKind refuses fields that streams of a kind do not have.
func checkKind(s *Stream, p string, add func(string, string, ...any)) {
	not := func(field string, given bool) {
		if given {
			add(p+"."+field, "stream %s: kind %s has no %s", s.Name, s.Kind, field)
		}
	}
	if s.Packets() {
		not("fields", len(s.Fields) > 0)
		return
	}
	not("side", len(s.Side) > 0)
	not("side_held", s.SideHeld)
	not("keep_unit", s.KeepUnit != nil)
	not("zero_padding", s.ZeroPadding)
	if s.Kind != protocol.KindLevel {
		return
	}
	not("ready", s.Ready != nil)
	not("ready_answers", s.ReadyAnswers)
	if s.Dir == DirOut {
		add(p+".dir", "stream %s: a level is an input; to sample an output, name it in observe", s.Name)
	}
	if len(s.Fields) == 0 {
		add(p+".fields", "stream %s: a level needs fields", s.Name)
	}
}

func (m *Manifest) checkExtras(add func(string, string, ...any)) {
	if len(m.TieOffs) > protocol.MaxTieOffs {
		add("tie_offs", "tie_offs: %d given, the limit is %d", len(m.TieOffs), protocol.MaxTieOffs)
	}
	for _, k := range SortedKeys(m.TieOffs) {
		if _, err := parseConstant(m.TieOffs[k]); err != nil {
			add("tie_offs."+k, "tie_offs.%s: %v", k, err)
		}
		if !reSignal.MatchString(k) {
			add("tie_offs."+k, "tie_offs: %q is not a port name", k)
		}
	}
	if len(m.Observe) > protocol.MaxObserve {
		add("observe", "observe: %d given, the limit is %d", len(m.Observe), protocol.MaxObserve)
	}
	for i, o := range m.Observe {
		if !reSignal.MatchString(o) {
			add(fmt.Sprintf("observe[%d]", i), "observe: %q is not a port name", o)
		}
		if slices.Contains(m.Observe[:i], o) {
			add(fmt.Sprintf("observe[%d]", i), "observe: %s is given twice", o)
		}
	}
	if m.Busy != "" && !slices.Contains(m.Observe, m.Busy) {
		add("busy", "busy: %q is not in observe", m.Busy)
	}
	if m.TieRest != "" {
		if _, err := parseConstant(m.TieRest); err != nil {
			add("tie_rest", "tie_rest: %v", err)
		}
	}
	if m.SkipIdle && len(m.Clocks) > 1 {
		add("skip_idle", "skip_idle: needs one clock")
	}
	if m.SkipIdle && m.Busy == "" {
		add("skip_idle", "skip_idle: needs busy, the signal that tells when the device is idle")
	}
}
