package dutnew

import (
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// Design is a module and its ports.
type Design struct {
	Top         string
	Sources     []string // relative to the manifest's folder
	IncludeDirs []string // relative to the manifest's folder
	Defines     map[string]string
	Parameters  map[string]string
	Ports       []manifest.PinPort
}

// pin is a port of the module, which may be assigned to a signal of the manifest.
type pin struct {
	manifest.PinPort
	lower string
	used  bool
}

type clock struct{ pin *pin }

type reset struct {
	pin *pin
	low bool
}

// found collects what was recognised among a module's ports.
type found struct {
	d       *Design
	pins    []*pin
	clocks  []clock
	resets  []reset
	streams []*stream
	enables []*pin // inputs named enable, to be tied to one
	rest    []*pin // inputs of unknown purpose
	observe []*pin
}

// recognise assigns each port of the module a purpose: clock, reset, stream, observed output or tied input.
func recognise(d *Design) *found {
	f := &found{d: d}
	for _, p := range d.Ports {
		f.pins = append(f.pins, &pin{PinPort: p, lower: strings.ToLower(p.Name)})
	}
	f.clocksAndResets()
	f.axi()
	f.handshakes()
	f.fifos()
	f.route()
	f.others()
	for _, s := range f.streams {
		s.clock, s.clockGuessed = f.clockOf(s)
	}
	return f
}

var (
	reClock = regexp.MustCompile(`^[a-z]{0,4}(clk|clock)(in|i)?[0-9]*(mhz)?$`)
	reReset = regexp.MustCompile(`^(n?)[a-z]{0,3}(rst|reset)(n|ni|b|i|in)?[0-9]*$`)
	noReset = regexp.MustCompile(`(burst|first|worst|preset)[a-z]*$`) // burst and the like, which are no resets
	lowEnds = []string{"n", "ni", "b", "l"}
	noClock = []string{"en", "ena", "enable", "ce", "gate", "sel", "lock", "locked"}
)

func words(name string) []string { return strings.Split(strings.ToLower(name), "_") }

// clocksAndResets finds clocks and resets among one-bit inputs, by their names.
func (f *found) clocksAndResets() {
	for _, p := range f.pins {
		if p.Dir != manifest.DirIn || p.Width != 1 || p.Array != "" {
			continue
		}
		list := words(p.Name)
		if slices.ContainsFunc(list, func(w string) bool { return slices.Contains(noClock, w) }) {
			continue
		}
		if slices.ContainsFunc(list, reClock.MatchString) {
			f.clocks, p.used = append(f.clocks, clock{p}), true
			continue
		}
		for i, w := range list {
			m := reReset.FindStringSubmatch(w)
			if m == nil || noReset.MatchString(w) {
				continue
			}
			low := m[1] != "" || slices.Contains(lowEnds, m[3]) || i+1 < len(list) &&
				slices.Contains(lowEnds, list[i+1])
			f.resets, p.used = append(f.resets, reset{p, low}), true
			break
		}
	}
}

// others assigns the ports that belong to no clock, reset or stream: inputs named enable, other inputs, and outputs to
// observe.
func (f *found) others() {
	for _, p := range f.pins {
		switch {
		case p.used:
		case p.Dir == manifest.DirIn &&
			slices.ContainsFunc(words(p.Name), func(w string) bool { return w == "enable" || w == "en" || w == "ena" }):
			f.enables = append(f.enables, p)
		case p.Dir == manifest.DirIn:
			f.rest = append(f.rest, p)
		case p.Dir == manifest.DirOut && p.Array == "" && p.Width <= 64 && len(f.observe) < maxObserve:
			f.observe = append(f.observe, p)
		}
	}
}

// maxObserve limits observed outputs, to keep a first manifest short.
const maxObserve = 32

// clockOf returns the clock of a stream: the clock whose name has most words in common with the stream's. guessed is
// set if there are several clocks and no name matches.
func (f *found) clockOf(s *stream) (signal string, guessed bool) {
	if len(f.clocks) < 2 {
		return "", false
	}
	if s.clockLetter != "" {
		return f.clockOfSide(s)
	}
	best, most := 0, 0
	for i, c := range f.clocks {
		n := 0
		for _, w := range words(strings.Trim(s.prefix, "_")) {
			if w != "" && !reClock.MatchString(w) && slices.Contains(words(c.pin.Name), w) {
				n += len(w)
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	if best == 0 {
		return "", most == 0
	}
	return f.clocks[best].pin.Name, false
}
