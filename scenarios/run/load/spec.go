package load

import (
	"errors"
	"fmt"

	"nictwin/models/memory/dram"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/run/phase"
)

var (
	_ specfile.Defaulter = (*Spec)(nil)
	_ specfile.Single    = (*List)(nil)
)

// Target names the part that a load uses.
type Target string

// Targets of loads.
const (
	DRAM Target = "dram"
	LLC  Target = "llc" // the last-level cache, by cores behind it

	// Cores stands for the cores that stack and applications use: other software takes them for a while.
	Cores Target = "cores"
)

// Memory names the side of a server whose memory a load uses.
type Memory string

// Sides of a server.
const (
	Host Memory = "host"
	Arm  Memory = "arm"
)

// Spec describes a load.
type Spec struct {
	Server int           `yaml:"server"`
	At     Target        `yaml:"at"`
	Of     Memory        `yaml:"of"`
	Socket int           `yaml:"socket"` // of the host
	Rate   quantity.Rate `yaml:"rate"`   // of all accesses, loads and stores together
	// length of the range that is accessed and, with LLC, of the buffer of the chaser, too; nil: see Server.length
	Bytes   *quantity.Bytes `yaml:"bytes"`
	Stores  float64         `yaml:"stores"`  // share of the accesses that write
	Cores   int             `yaml:"cores"`   // with LLC: cores with a walker each, which share the rate
	Latency *bool           `yaml:"latency"` // with LLC: one more core measures the latency under load; nil: true
	Seed    uint64          `yaml:"seed"`    // of random addresses

	phase.Spec `yaml:",inline"`
}

// List is the loads of a scenario.
type List []Spec

// TakesOne implements specfile.Single.
func (*List) TakesOne() {}

// SetDefaults sets the defaults of an entry (specfile.Defaulter).
func (s *Spec) SetDefaults() { *s = defaults }

var defaults = Spec{Of: Host, Stores: 0.5, Cores: 1}

// Limits of a load.
const (
	maxCores = 64
	maxLoads = 64
	maxBytes = 1 << 40
	permille = 1000
)

// Hog returns the spec of a load of DRAM.
func (s *Spec) Hog() dram.HogSpec {
	h := dram.DefaultHogSpec()
	h.Rate, h.Writes, h.Seed = rate(s.Rate), int(s.Stores*permille+0.5), s.Seed
	if s.Bytes != nil {
		h.Span = uint64(*s.Bytes)
	}
	h.From, h.Until = s.Times(0)
	return h
}

// rate returns a rate as a number of bytes in a number of picoseconds, the nearest that these fields can hold.
func rate(r quantity.Rate) simcore.Rate {
	const byteBits = 8
	bytes := int64(r) / byteBits
	if bytes == 0 {
		return simcore.Rate{Bytes: 1, Ps: simcore.Second} // the slowest that a generator has
	}
	ps := simcore.Second
	for bytes > 1<<30 {
		bytes, ps = bytes/10, ps/10
	}
	return simcore.Rate{Bytes: bytes, Ps: ps}
}

// Validate returns every error of the list, each a field.Error.
func (l List) Validate() error {
	if len(l) > maxLoads {
		return field.Errorf("load", ": %d of them: want %d at most", len(l), maxLoads)
	}
	var errs []error
	for i := range l {
		errs = append(errs, field.Under(path(i), l[i].validate()))
	}
	return errors.Join(errs...)
}

// path returns the path of an entry in a scenario file.
func path(i int) field.Path { return field.Path(fmt.Sprintf("load[%d]", i)) }

func (s *Spec) validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(s.At == DRAM || s.At == LLC || s.At == Cores, "at", "%q: want %s, %s or %s", s.At, DRAM, LLC, Cores)
	bad(s.Of == Host || s.Of == Arm, "of", "%q: want %s or %s", s.Of, Host, Arm)
	bad(s.Server >= 0, "server", "%d: want 0 or more", s.Server)
	bad(s.Socket >= 0 && (s.Of != Arm || s.Socket == 0), "socket", "%d: want 0, or another socket of a host", s.Socket)
	errs = append(errs, phase.Validate(s.Spec))
	if s.At == Cores {
		s.validateTaken(bad)
	} else {
		s.validateAccesses(bad)
	}
	return errors.Join(errs...)
}

// validateAccesses checks the fields of a load that accesses memory.
func (s *Spec) validateAccesses(bad func(ok bool, path field.Path, format string, a ...any)) {
	const most, least = 10_000_000_000_000, 8 // bit/s
	bad(s.Rate >= least && s.Rate <= most, "rate", "%v: want %v to %v", s.Rate, quantity.Rate(least),
		quantity.Rate(most))
	if n := s.Bytes; n != nil {
		bad(*n >= 1024 && *n <= maxBytes && *n%lineBytes == 0, "bytes",
			"%v: want a multiple of %d B from 1 KiB to %v, or none", *n, lineBytes, quantity.Bytes(maxBytes))
	}
	bad(s.Stores >= 0 && s.Stores <= 1, "stores", "%v: want a share of the accesses, 0 to 1", s.Stores)
	bad(s.Cores >= 1 && s.Cores <= maxCores, "cores", "%d: want 1 to %d", s.Cores, maxCores)
	bad(s.Cores == 1 || s.At != DRAM, "cores", "%d: a load of %s takes none: want another %v", s.Cores, DRAM,
		field.Path("at"))
	if l := s.Latency; l != nil {
		bad(s.At != DRAM, "latency", "%v: no core of a load of %s measures one: want none, or another %v", *l, DRAM,
			field.Path("at"))
	}
}

// validateTaken checks the fields of a load that takes the cores of stack and applications. It accesses no memory, and
// lets go of them.
func (s *Spec) validateTaken(bad func(ok bool, path field.Path, format string, a ...any)) {
	const longest = quantity.Time(10 * simcore.Millisecond)
	bad(s.Until != nil, "until", ": none: want the time from which the cores go on")
	if s.Until != nil {
		bad(*s.Until-s.From <= longest, "until", "%v: want %v after %v at most", *s.Until, longest, field.Path("from"))
	}
	bad(s.Socket == 0, "socket", "%d: stack and applications use cores of socket 0 alone: want that", s.Socket)
	none := func(ok bool, path field.Path) {
		bad(ok, path, ": a load of %s accesses no memory: want none, or another %v", Cores, field.Path("at"))
	}
	none(s.Rate == 0, "rate")
	none(s.Bytes == nil, "bytes")
	none(s.Stores == defaults.Stores, "stores")
	none(s.Cores == defaults.Cores, "cores")
	none(s.Latency == nil, "latency")
	none(s.Seed == 0, "seed")
}

// measures reports whether one more core measures the latency under load.
func (s *Spec) measures() bool { return s.At == LLC && (s.Latency == nil || *s.Latency) }

// Takes returns the number of cores that the load has for itself.
func (s *Spec) Takes() int {
	switch {
	case s.At != LLC:
		return 0
	case s.measures():
		return s.Cores + 1
	}
	return s.Cores
}

// Taken returns the longest time for which a load takes the cores of stack and applications, all loads together.
func (l List) Taken() (t simcore.Ps) {
	for i := range l {
		if s := &l[i]; s.At == Cores && s.Until != nil {
			t += simcore.Ps(*s.Until - s.From)
		}
	}
	return t
}
