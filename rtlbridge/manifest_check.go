package rtlbridge

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"sort"
	"strings"
)

var (
	reName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	reSignal = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Limits on what a manifest may ask for; the protocol's tables use one byte per stream.
const (
	maxStreams     = 64
	maxObserve     = 64
	maxTieOffs     = 256
	maxResetCycles = 1 << 20
	maxPeriodPs    = 1_000_000_000
	minPeriodPs    = 2
)

var streamRoles = []string{"tdata", "tkeep", "tlast", "tvalid", "tready"}

// validate returns what is wrong with the values, and the fields that have them, but for what may only follow from faults of
// shape.
func (m *Manifest) validate(s *shape) (errs []error, wrong []string) {
	given := func(path string) bool { _, ok := m.lines[path]; return ok }
	add := func(path, format string, args ...any) {
		if !s.follows(path, given) {
			errs, wrong = append(errs, m.errorf(path, format, args...)), append(wrong, path)
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
	case len(m.Clocks) > 1:
		add("clocks[1]", "clocks: more than one clock is not supported; give one, and cross domains inside a wrapper")
	}
	for i, c := range m.Clocks {
		p := fmt.Sprintf("clocks[%d]", i)
		if !reSignal.MatchString(c.Signal) {
			add(p+".signal", "clock signal %q is not a port name", c.Signal)
		}
		if c.PeriodPs < minPeriodPs || c.PeriodPs > maxPeriodPs {
			add(p+".period_ps", "period_ps %d: needs %d to %d ps", c.PeriodPs, minPeriodPs, maxPeriodPs)
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
	if len(m.Streams) > maxStreams {
		add("streams", "streams: %d given, the limit is %d", len(m.Streams), maxStreams)
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
	}
}

func checkStream(s *Stream, p string, add func(string, string, ...any)) {
	if s.Kind != KindAxis && s.Kind != KindTLP {
		add(p+".kind", "stream %s: kind %q is not supported; axis or tlp", s.Name, s.Kind)
	}
	if s.Dir != DirIn && s.Dir != DirOut {
		add(p+".dir", "stream %s: dir %q: needs in (into the device) or out", s.Name, s.Dir)
	}
	if u := s.Unit(); u != 0 && u != 1 && u != 4 {
		add(p+".keep_unit", "stream %s: keep_unit %d: needs 1 (bytes), 4 (double words) or 0 (no tkeep)", s.Name, u)
	}
	if s.Lanes < 0 || s.Lanes > maxStreams || s.Lane < 0 || s.Lane >= s.lanes() {
		add(p+".lane", "stream %s: lane %d of %d: lanes needs 1 to %d and lane 0 to lanes-1", s.Name, s.Lane, s.lanes(), maxStreams)
	}
	roles := append(slices.Clone(streamRoles), s.Side...)
	for i, r := range s.Side {
		if !reSignal.MatchString(r) || slices.Contains(streamRoles, r) || slices.Contains(s.Side[:i], r) {
			add(fmt.Sprintf("%s.side[%d]", p, i), "stream %s: side-band role %q is not a new role name", s.Name, r)
		}
	}
	missing := false
	for _, r := range roles {
		if _, ok := s.Signals[r]; !ok {
			missing = true
		}
	}
	if s.Prefix == "" && missing {
		add(p, "stream %s: prefix is needed unless signals names every role (%s)", s.Name, strings.Join(roles, ", "))
	}
	for _, k := range sortedKeys(s.Signals) {
		if !slices.Contains(roles, k) {
			add(p+".signals."+k, "stream %s: signals: role %q is none of %s", s.Name, k, strings.Join(roles, ", "))
		} else if !reSignal.MatchString(s.Signals[k]) {
			add(p+".signals."+k, "stream %s: signals.%s: %q is not a port name", s.Name, k, s.Signals[k])
		}
	}
	for _, k := range sortedKeys(s.Strides) {
		if !slices.Contains(roles, k) || s.Strides[k] < 1 {
			add(p+".strides."+k, "stream %s: strides.%s: needs a known role and at least 1 bit", s.Name, k)
		}
	}
}

func (m *Manifest) checkExtras(add func(string, string, ...any)) {
	if len(m.TieOffs) > maxTieOffs {
		add("tie_offs", "tie_offs: %d given, the limit is %d", len(m.TieOffs), maxTieOffs)
	}
	for _, k := range sortedKeys(m.TieOffs) {
		if _, err := parseConstant(m.TieOffs[k]); err != nil {
			add("tie_offs."+k, "tie_offs.%s: %v", k, err)
		}
		if !reSignal.MatchString(k) {
			add("tie_offs."+k, "tie_offs: %q is not a port name", k)
		}
	}
	if len(m.Observe) > maxObserve {
		add("observe", "observe: %d given, the limit is %d", len(m.Observe), maxObserve)
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
	if m.SkipIdle && m.Busy == "" {
		add("skip_idle", "skip_idle: needs busy, the signal that tells when the device is idle")
	}
}

// parseConstant reads a tie-off constant.
func parseConstant(s string) (*big.Int, error) {
	v, ok := new(big.Int).SetString(s, 0)
	if !ok || v.Sign() < 0 {
		return nil, fmt.Errorf("constant %q: needs a non-negative number such as 5, 0x1f or 0b101", s)
	}
	return v, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
