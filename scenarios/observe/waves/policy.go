package waves

import (
	"fmt"
	"strconv"
	"strings"

	"nictwin/models/sim/simcore"
)

// Policy decides which runs dump a waveform.
type Policy struct {
	Kind     Kind
	from, to instant // ends of the window, if Kind is Window
}

// Kind selects which runs, and which of their cycles, are dumped.
type Kind int

// Kinds of policies.
const (
	Never  Kind = iota
	Fail        // failing runs: a window around the first difference
	Always      // every run and cycle
	Window      // the given cycles of every run
)

// instant is a cycle, or a simulated time.
type instant struct {
	n    uint64
	time bool // n is a time in picoseconds; else it is a cycle
}

// Cycles in a window before and after the difference that made the run fail.
const (
	Before = 400
	After  = 60
)

// Parse parses a policy: never, fail, always, or A:B in cycles or in times such as 2us. An omitted end is that of the
// run.
func Parse(text string) (Policy, error) {
	switch text {
	case "never":
		return Policy{Kind: Never}, nil
	case "fail":
		return Policy{Kind: Fail}, nil
	case "always":
		return Policy{Kind: Always}, nil
	}
	a, b, ok := strings.Cut(text, ":")
	bad := fmt.Errorf("%q: want never, fail, always, or A:B in cycles (1000:2000) or times (2us:3.5us)", text)
	if !ok || a == "" && b == "" {
		return Policy{}, bad
	}
	p := Policy{Kind: Window, to: instant{n: never}}
	for _, x := range []struct {
		text string
		into *instant
	}{{a, &p.from}, {b, &p.to}} {
		if x.text == "" {
			continue
		}
		if *x.into, ok = parseInstant(x.text); !ok {
			return Policy{}, bad
		}
	}
	if p.from.time == p.to.time && p.from.n > p.to.n {
		return Policy{}, fmt.Errorf("%q: the window ends before it begins", text)
	}
	return p, nil
}

const never = ^uint64(0)

func parseInstant(text string) (instant, bool) {
	for _, u := range []struct {
		unit string
		ps   float64
	}{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"µs", 1e6}, {"ms", 1e9}} {
		if number, ok := strings.CutSuffix(text, u.unit); ok {
			f, err := strconv.ParseFloat(number, 64)
			return instant{uint64(f * u.ps), true}, err == nil && f >= 0 && f*u.ps < 1e18
		}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return instant{n: n}, err == nil
}

// cycle returns the cycle that contains an instant.
func (i instant) cycle(period simcore.Ps) uint64 {
	if !i.time {
		return i.n
	}
	return i.n / uint64(period)
}

// Cycles returns the first and the last cycle of a run's waveform; ok is false if no waveform is dumped. at is the
// cycle in which the run failed, if it did.
func (p Policy) Cycles(failed bool, at uint64, period simcore.Ps) (from, to uint64, ok bool) {
	switch p.Kind {
	case Always:
		return 0, never, true
	case Window:
		return p.from.cycle(period), p.to.cycle(period), true
	case Fail:
		return at - min(at, Before), at + After, failed
	}
	return 0, 0, false
}
