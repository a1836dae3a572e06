package cli

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/play"
)

// GivenText holds settings, as text, that the user gives to the play command instead of having them drawn.
type GivenText struct {
	Parameters map[string]string // parameters of the top module, instead of the manifest's
	Ties       map[string]string // VALUE by SIGNAL
	Clocks     map[string]string // PERIOD or PERIOD+PHASE in ps, by SIGNAL
	// percentage for all streams, or a list of STREAM=PERCENT and STREAM=PERCENTxCYCLES
	Stall  string
	Resets string // list of numbers, or the word "none"; empty: drawn
}

// parse parses the texts into the options.
func (g *GivenText) parse(o *play.Options) error {
	o.Given.Parameters = g.Parameters
	return errors.Join(g.ties(o), g.clocks(o), g.stalls(o), g.resets(o))
}

func (g *GivenText) ties(o *play.Options) error {
	var errs []error
	o.Given.TieOffs = map[string]uint64{}
	for _, n := range slices.Sorted(maps.Keys(g.Ties)) {
		x, err := strconv.ParseUint(g.Ties[n], 0, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("--tie %s=%s: want a number", n, g.Ties[n]))
		}
		o.Given.TieOffs[n] = x
	}
	return errors.Join(errs...)
}

func (g *GivenText) clocks(o *play.Options) error {
	var errs []error
	o.Given.Clocks = map[string]play.ClockSetting{}
	for _, n := range slices.Sorted(maps.Keys(g.Clocks)) {
		x, ok := parseClock(n, g.Clocks[n])
		if !ok {
			errs = append(errs, fmt.Errorf("--clock %s=%s: want a period of %d to %d ps, and a phase below it: 3200 "+
				"or 3200+800",
				n, g.Clocks[n], protocol.MinPeriodPs, protocol.MaxPeriodPs))
		}
		o.Given.Clocks[n] = x
	}
	return errors.Join(errs...)
}

// parseClock parses PERIOD or PERIOD+PHASE.
func parseClock(signal, text string) (x play.ClockSetting, ok bool) {
	period, phase, later := strings.Cut(text, "+")
	x.Signal = signal
	var err1, err2 error
	x.PeriodPs, err1 = strconv.ParseInt(period, 10, 64)
	if later {
		x.PhasePs, err2 = strconv.ParseInt(phase, 10, 64)
	}
	valid := x.PeriodPs >= protocol.MinPeriodPs && x.PeriodPs <= protocol.MaxPeriodPs
	return x, err1 == nil && err2 == nil && valid && x.PhasePs >= 0 && x.PhasePs < x.PeriodPs
}

// maxBurst is the length of the longest burst of stalls in cycles, a power of two.
const maxBurst = 1 << 16

func (g *GivenText) stalls(o *play.Options) error {
	if n, err := strconv.Atoi(g.Stall); err == nil {
		o.Stall = n // the options' Validate checks it
		return nil
	}
	o.Given.Stalls = map[string]play.StallSetting{}
	for _, part := range strings.Split(g.Stall, ",") {
		name, text, named := strings.Cut(part, "=")
		x, ok := parseStall(text)
		if !named || !ok {
			return fmt.Errorf("--stall %s: want 0 to %d percent, or STREAM=PERCENTxCYCLES with a power of two of "+
				"cycles: "+
				"s=40x8,m=0", part, play.MaxStall)
		}
		o.Given.Stalls[name] = x
	}
	return nil
}

// parseStall parses PERCENT or PERCENTxCYCLES.
func parseStall(text string) (x play.StallSetting, ok bool) {
	percent, burst, several := strings.Cut(text, "x")
	x.Burst = 1
	var err1, err2 error
	x.Percent, err1 = strconv.Atoi(percent)
	if several {
		x.Burst, err2 = strconv.Atoi(burst)
	}
	powerOfTwo := x.Burst >= 1 && x.Burst <= maxBurst && bits.OnesCount(uint(x.Burst)) == 1
	return x, err1 == nil && err2 == nil && x.Percent >= 0 && x.Percent <= play.MaxStall && powerOfTwo
}

func (g *GivenText) resets(o *play.Options) error {
	switch g.Resets {
	case "":
		return nil
	case "none":
		o.Given.Resets = []int{}
		return nil
	}
	for _, part := range strings.Split(g.Resets, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return fmt.Errorf(
				"--resets %s: want none, or numbers of transactions after which the device is reset: 3,17", part)
		}
		o.Given.Resets = append(o.Given.Resets, n)
	}
	return nil
}

// setting is a flag with its value. An empty value stands for true, which needs no value on a command line.
type setting struct{ flag, value string }

// words returns settings as words of a command line.
func words(list []setting) (words []string) {
	for _, s := range list {
		words = append(words, "--"+s.flag)
		if s.value != "" {
			words = append(words, s.value)
		}
	}
	return words
}

// flags returns settings in the form of bundle.Info.Flags.
func flags(list []setting) []string {
	flags := make([]string, len(list))
	for i, s := range list {
		flags[i] = "--" + s.flag
		if s.value != "" {
			flags[i] += "=" + s.value
		}
	}
	return flags
}

// givenSettings returns the flags that fix these settings for a run.
func givenSettings(s *play.Settings) (list []setting) {
	add := func(flag, value string) { list = append(list, setting{flag, value}) }
	if !s.Gaps {
		add("no-gaps", "")
	}
	add("stall", stallText(s))
	for _, p := range s.Parameters {
		add("param", p)
	}
	for _, n := range slices.Sorted(maps.Keys(s.TieOffs)) {
		add("tie", fmt.Sprintf("%s=%d", n, s.TieOffs[n]))
	}
	for _, c := range s.Clocks {
		if c.Drawn {
			add("clock", fmt.Sprintf("%s=%d+%d", c.Signal, c.PeriodPs, c.PhasePs))
		}
	}
	if s.Resets == nil {
		return list
	}
	text := "none"
	if len(s.Resets) > 0 {
		text = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Resets), " ", ","), "[]")
	}
	return append(list, setting{"resets", text})
}

// stallText formats the stalls of all streams as a value of --stall.
func stallText(s *play.Settings) string {
	var parts []string
	stalled := false
	for _, x := range s.Streams {
		part := x.Name + "=0"
		if x.Stall > 0 {
			part, stalled = fmt.Sprintf("%s=%dx%d", x.Name, x.Stall, x.Burst), true
		}
		parts = append(parts, part)
	}
	if !stalled {
		return "0"
	}
	return strings.Join(parts, ",")
}
