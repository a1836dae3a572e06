package play

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// Spec is the section `play` of a manifest.
type Spec struct {
	// Check selects the check: identity (every input transaction comes out unchanged), route (a field selects the
	// output), memory (an AXI port behaves as a memory), rules (only the rules of streams are checked), or reference (a
	// user's reference decides). Empty: reference if the user gives one, else rules.
	Check string `yaml:"check"`
	// In and Out are the streams that are compared if Check is `identity` or `route`; empty: all streams with packets
	// or, if there are none, all with records.
	In  []string `yaml:"in"`
	Out []string `yaml:"out"`
	// By, for check `route`, names the field of an input transaction that selects the output: its value is an index of
	// Out.
	By string `yaml:"by"`
	// field of the inputs -> field of the outputs; fields not listed have the same name on both
	Rename map[string]string `yaml:"rename"`
	Ignore []string          `yaml:"ignore"` // fields of outputs that are not compared
	Drops  DropSpec          `yaml:"drops"`
	Memory *MemorySpec       `yaml:"memory"` // settings of check `memory`
	// Serve lists the device's AXI manager ports for which the player provides a memory, whatever the check.
	Serve map[string]ServeSpec `yaml:"serve"`
	Order map[string]string    `yaml:"order"` // output -> field: only transactions with the same value keep their order
	// Latency holds bounds, by output, of the cycles from the end of a transaction at the input to its first beat at
	// the output. They apply to runs without stalls.
	Latency map[string]Values `yaml:"latency"`

	Count  int                   `yaml:"count"` // number of transactions drawn for each input
	Gap    Values                `yaml:"gap"`   // cycles between transactions, in runs that have gaps
	Stall  Values                `yaml:"stall"` // percentage of cycles in which a stream stalls, in runs with stalls
	Inputs map[string]InputSpec  `yaml:"inputs"`
	Output map[string]OutputSpec `yaml:"outputs"`

	// number of resets during a run's traffic; half of all runs, drawn at random, have none
	Resets     Values              `yaml:"resets"`
	Clocks     map[string]Values   `yaml:"clocks"`     // signal -> period in ps
	Parameters map[string][]string `yaml:"parameters"` // of the top module -> values; a build for each combination
	TieOffs    map[string]Values   `yaml:"tie_offs"`   // input -> values of its tie-off, drawn for each run

	Quantum  int `yaml:"quantum"`  // cycles between exchanges with the device; answers come that much later
	Patience int `yaml:"patience"` // cycles within which a stream must move
	Fair     int `yaml:"fair"`     // cycles within which an input must be taken while other streams move; 0: no limit
	Settle   int `yaml:"settle"`   // cycles at the end of a run in which nothing more may come
	Longest  int `yaml:"longest"`  // maximum length of an output's transaction in bytes
}

// InputSpec describes the transactions that are drawn for an input.
type InputSpec struct {
	Bytes  Values            `yaml:"bytes"` // length of a packet
	Fields map[string]Values `yaml:"fields"`
	Count  *int              `yaml:"count"`
	Gap    Values            `yaml:"gap"`
	Stall  Values            `yaml:"stall"`
	// cycles between changes of a level; empty: a level keeps one value per run
	Every Values `yaml:"every"`
	// Edges lists limits, such as 4 KB, with the fields of a transfer's start and length. In a third of the
	// transactions, drawn at random, the start is moved so that the transfer ends at the limit, or one step before or
	// after it.
	Edges []EdgeSpec `yaml:"edges"`
}

// EdgeSpec describes limits near which transfers are placed: addresses, such as the multiples of 4 KB.
type EdgeSpec struct {
	Start  string `yaml:"start"`  // field with the start address
	Length string `yaml:"length"` // field with the length in bytes
	At     uint64 `yaml:"at"`     // the limits are the addresses that are multiples of it: 4096 for pages
}

// MemorySpec describes an AXI subordinate port of the device, and the accesses to it.
type MemorySpec struct {
	Port string `yaml:"port"`
	// Ports, instead of Port, lists ports that get equal parts of the addresses, so that the result of each read is
	// known.
	Ports  []string `yaml:"ports"`
	Base   uint64   `yaml:"base"`   // first address
	Bytes  uint64   `yaml:"bytes"`  // addresses from there on
	Bursts int      `yaml:"bursts"` // number of bursts in a run; 0: Spec.Count
	Most   int      `yaml:"most"`   // maximum number of beats of a burst; 0: as many as AXI allows
	Whole  bool     `yaml:"whole"`  // every beat is as wide as the bus
	NoWrap bool     `yaml:"no_wrap"`
	// port listed in Serve whose memory holds the bytes; empty: the device's own memory, with unknown contents
	Behind string `yaml:"behind"`
}

// all returns the ports that are accessed.
func (x *MemorySpec) all() []string {
	if x.Port != "" {
		return append([]string{x.Port}, x.Ports...)
	}
	return x.Ports
}

// at returns the path of the field that names port i.
func (x *MemorySpec) at(i int) field.Path {
	if x.Port == "" {
		return field.Path(fmt.Sprintf("memory.ports[%d]", i))
	}
	return "memory.port"
}

// part returns the number of addresses of each port: whole pages, since no burst crosses a page, or a power of two
// below a page.
func (x *MemorySpec) part() uint64 {
	n := uint64(len(x.all()))
	if n < 2 {
		return x.Bytes
	}
	if part := x.Bytes / n; part < page {
		return 1 << max(0, bits.Len64(part)-1)
	}
	return x.Bytes / n &^ (page - 1)
}

// ServeSpec describes the memory that the player provides behind a manager port.
type ServeSpec struct {
	Delay uint64 `yaml:"delay"` // maximum delay of answers in cycles
}

// OutputSpec describes how an output stalls.
type OutputSpec struct {
	Stall Values `yaml:"stall"`
}

// DropSpec describes what may be missing at the outputs: nothing (`none`), any whole transaction (`whole`), or the
// transactions that its fields describe.
type DropSpec struct {
	Whole bool `yaml:"whole"`
	// drop a transaction only while at least that many bytes are in flight, its own included
	Above   int               `yaml:"above"`
	Counted string            `yaml:"counted"` // observed output that counts drops
	When    map[string]Values `yaml:"when"`    // transactions whose fields have these values must not come out
}

// given reports whether the manifest allows or requires any drop.
func (d *DropSpec) given() bool { return d.Whole || d.Above != 0 || d.Counted != "" || len(d.When) > 0 }

// DecodeWord parses a drop policy given by its name.
func (d *DropSpec) DecodeWord(word string) error {
	switch *d = (DropSpec{}); word {
	case "none":
	case "whole":
		d.Whole = true
	default:
		return fmt.Errorf("%q: want none, whole, or a group of whole, above, counted and when", word)
	}
	return nil
}

// Names of the checks.
const (
	Identity = "identity"
	Route    = "route"
	Rules    = "rules"
	Memory   = "memory"
	OwnCheck = "reference"
)

// Limits of drawn values.
const (
	MaxCount  = 100_000 // transactions drawn for an input
	MaxStall  = 95      // percentage of cycles in which a stream stalls
	maxBuilds = 16
	maxResets = 16
	maxGap    = 1 << 20
	maxEvery  = 1 << 30
)

// DefaultSpec returns the spec of a manifest that has no section `play`.
func DefaultSpec() Spec {
	return Spec{
		Count: 100, Gap: Values{Ranges: [][2]uint64{{0, 64}}}, Stall: Values{Ranges: [][2]uint64{{0, MaxStall}}},
		Patience: 20_000, Settle: 256, Longest: protocol.DefaultMaxBytes,
	}
}

// ReadSpec reads the section `play` of a manifest. Errors name file, line and field.
func ReadSpec(m *manifest.Manifest) (*Spec, error) {
	s := DefaultSpec()
	where, err := decodePlay(m, &s)
	if err != nil {
		return nil, &SpecError{err}
	}
	if err := s.validate(m); err != nil {
		return nil, &SpecError{where.Locate(err)}
	}
	return &s, nil
}

// decodePlay decodes the section into a spec that already holds the defaults.
func decodePlay(m *manifest.Manifest, s *Spec) (*specfile.Places, error) {
	n := &m.Play
	if n.Kind == 0 {
		n = &yaml.Node{Kind: yaml.MappingNode}
	}
	return specfile.DecodeNode(m.Path, n, "play", s)
}

// SpecError reports faults in the section `play` of a manifest.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap returns the faults.
func (e *SpecError) Unwrap() error { return e.Err }

// faults collects faults of a section `play`.
type faults struct{ errs []error }

func (f *faults) add(ok bool, path field.Path, format string, a ...any) bool {
	if !ok {
		f.errs = append(f.errs, field.Errorf("play."+path, format, a...))
	}
	return ok
}

// stall checks the percentages of a stall.
func (f *faults) stall(v *Values, at field.Path) {
	f.add(!v.given() || len(v.Ranges) > 0 && v.most() <= MaxStall, at, "want percentages of 0 to %d", MaxStall)
}

// validate returns every fault that can be found without the design, as field errors.
func (s *Spec) validate(m *manifest.Manifest) error {
	var f faults
	f.add(slices.Contains([]string{"", Identity, Route, Memory, Rules, OwnCheck}, s.Check), "check",
		"%q: want identity, route, memory, rules or reference", s.Check)
	f.add(s.Check == Route || s.By == "", "by", "%q: it is for check route", s.By)
	f.add(s.Check != Route || s.By != "", "by", "is missing: want the field that says where a transaction goes")
	f.add(s.Count >= 1 && s.Count <= MaxCount, "count", "%d: want 1 to %d", s.Count, MaxCount)
	f.add(s.Quantum >= 0 && s.Quantum <= 1<<16, "quantum", "%d: want 1 to 65536", s.Quantum)
	f.add(s.Patience >= 100 && s.Patience <= 10_000_000, "patience", "%d: want 100 to 10000000", s.Patience)
	f.add(s.Fair >= 0 && s.Fair <= maxFair, "fair", "%d: want 1 to %d, or 0 for none", s.Fair, maxFair)
	f.add(s.Settle >= 0 && s.Settle <= 1_000_000, "settle", "%d: want 0 to 1000000", s.Settle)
	f.add(s.Longest >= 1 && s.Longest <= protocol.MaxDataBytes, "longest", "%d: want 1 to %d", s.Longest,
		protocol.MaxDataBytes)
	f.add(len(s.Stall.Ranges) > 0 && s.Stall.most() <= MaxStall, "stall", "want percentages of 0 to %d", MaxStall)
	f.add(len(s.Gap.Ranges) > 0 && s.Gap.most() <= maxGap, "gap", "want cycles, 0 to %d", maxGap)
	f.add(!s.Resets.given() || len(s.Resets.Ranges) > 0 && s.Resets.most() <= maxResets, "resets",
		"want numbers or a range, 0 to %d", maxResets)
	f.add(!s.Resets.given() || len(m.Resets) > 0, "resets", "the manifest has none")
	f.add(!s.Resets.given() || s.Memory == nil && len(s.Serve) == 0, "resets",
		"bursts of AXI are not played over a reset: leave it out with memory and serve")
	s.validateAXI(m, &f)
	s.validateStreams(m, &f)
	s.validateDraws(m, &f)
	return errors.Join(f.errs...)
}

func (s *Spec) validateStreams(m *manifest.Manifest, f *faults) {
	known := func(dir string, path field.Path, name string) bool {
		ok := slices.ContainsFunc(m.Streams,
			func(x manifest.Stream) bool { return x.Name == name && (dir == "" || x.Dir == dir) })
		f.add(ok, path, "%q: the manifest has no such stream of direction %s", name, dir)
		return ok
	}
	for i, n := range s.In {
		at := field.Path(fmt.Sprintf("in[%d]", i))
		known(manifest.DirIn, at, n)
		f.add(!slices.Contains(s.In[:i], n), at, "%q is there twice: want each input once", n)
	}
	for i, n := range s.Out {
		known(manifest.DirOut, field.Path(fmt.Sprintf("out[%d]", i)), n)
	}
	for _, n := range slices.Sorted(maps.Keys(s.Order)) {
		known(manifest.DirOut, "order."+field.Path(n), n)
	}
	for _, n := range slices.Sorted(maps.Keys(s.Latency)) {
		v := s.Latency[n]
		known(manifest.DirOut, "latency."+field.Path(n), n)
		f.add(len(v.Ranges) == 1, "latency."+field.Path(n), "want one range of cycles, such as 2..40")
		f.add(len(v.Ranges) != 1 || v.step(0) == 1, "latency."+field.Path(n),
			"a latency has no steps: want a range such as 2..40")
	}
	for _, n := range slices.Sorted(maps.Keys(s.Output)) {
		x := s.Output[n]
		known(manifest.DirOut, "outputs."+field.Path(n), n)
		f.stall(&x.Stall, "outputs."+field.Path(n)+".stall")
	}
	for _, n := range slices.Sorted(maps.Keys(s.Inputs)) {
		at, x := "inputs."+field.Path(n), s.Inputs[n]
		known(manifest.DirIn, at, n)
		f.add(x.Count == nil || *x.Count >= 0 && *x.Count <= MaxCount, at+".count", "want 0 to %d", MaxCount)
		f.stall(&x.Stall, at+".stall")
		f.add(!x.Bytes.given() || len(x.Bytes.Ranges) > 0 && x.Bytes.most() <= protocol.MaxDataBytes, at+".bytes",
			"want numbers or ranges up to %d", protocol.MaxDataBytes)
		f.add(!x.Gap.given() || len(x.Gap.Ranges) > 0 && x.Gap.most() <= maxGap, at+".gap", "want cycles, 0 to %d",
			maxGap)
		f.add(!x.Every.given() || len(x.Every.Ranges) > 0 && x.Every.least() > 0 && x.Every.most() <= maxEvery,
			at+".every",
			"want cycles, 1 to %d", maxEvery)
		for i, e := range x.Edges {
			f.add(e.At > 1 && e.Start != "" && e.Length != "", at+field.Path(fmt.Sprintf(".edges[%d]", i)),
				"want start and length, two fields, and at, a number above 1")
		}
	}
}

func (s *Spec) validateDraws(m *manifest.Manifest, f *faults) {
	for _, n := range slices.Sorted(maps.Keys(s.Clocks)) {
		v := s.Clocks[n]
		f.add(slices.ContainsFunc(m.Clocks, func(c manifest.Clock) bool { return c.Signal == n }),
			"clocks."+field.Path(n), "%q: the manifest has no such clock", n)
		f.add(len(v.Ranges) > 0 && v.least() >= uint64(simcore.MinPeriod) && v.most() <= uint64(simcore.MaxPeriod),
			"clocks."+field.Path(n), "want periods in ps, %s", simcore.WantPeriod)
	}
	builds := 1
	for _, n := range slices.Sorted(maps.Keys(s.Parameters)) {
		_, ok := m.Parameters[n]
		f.add(ok, "parameters."+field.Path(n), "the manifest's parameters have no %s: give it its usual value there", n)
		f.add(len(s.Parameters[n]) > 0, "parameters."+field.Path(n), "an empty list: want its values")
		for i, v := range s.Parameters[n] {
			first := slices.IndexFunc(s.Parameters[n], func(x string) bool { return x == v || sameNumber(x, v) })
			f.add(first == i, "parameters."+field.Path(fmt.Sprintf("%s[%d]", n, i)), "%q: a second time: %q has it", v,
				s.Parameters[n][first])
		}
		builds *= max(1, len(s.Parameters[n]))
	}
	f.add(builds <= maxBuilds, "parameters", "%d combinations, each of which is built: want at most %d", builds,
		maxBuilds)
	for _, n := range slices.Sorted(maps.Keys(s.TieOffs)) {
		v := s.TieOffs[n]
		_, ok := m.TieOffs[n]
		f.add(ok || m.TieRest != "", "tie_offs."+field.Path(n),
			"the manifest's tie_offs have no %s: give it its usual value there", n)
		f.add(len(v.Ranges) > 0 || v.Any, "tie_offs."+field.Path(n), "want numbers, ranges or any")
	}
	f.add(s.Drops.Counted == "" || slices.Contains(m.Observe, s.Drops.Counted), "drops.counted",
		"%q: the manifest's observe does not have it", s.Drops.Counted)
	f.add(s.Drops.Above == 0 || s.Drops.Whole, "drops.above", "%d: it is for drops that are whole", s.Drops.Above)
	f.add(s.Drops.Above >= 0, "drops.above", "%d: want bytes, 0 or more", s.Drops.Above)
	for _, n := range slices.Sorted(maps.Keys(s.Drops.When)) {
		v := s.Drops.When[n]
		f.add(len(v.Ranges) > 0, "drops.when."+field.Path(n), "want numbers or ranges")
	}
}

// clone returns a copy, in which a build may fill in defaults.
func (s *Spec) clone() *Spec {
	c := *s
	c.Inputs, c.TieOffs = maps.Clone(s.Inputs), maps.Clone(s.TieOffs)
	return &c
}
