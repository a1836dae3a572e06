package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/models/sim/specfile"
	"nictwin/stack/apps"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/rb2"
	"nictwin/stack/transport"
)

// SweepSpec expands a scenario to one case for every combination of values. A field without values stays as the
// scenario gives it.
type SweepSpec struct {
	Kinds       []apps.Kind      `yaml:"kind"`
	Transports  []apps.Transport `yaml:"transport"`
	Sizes       []int            `yaml:"size" unit:"bytes"` // messages of a case have only one of these sizes
	Processes   []int            `yaml:"processes"`
	QueuePairs  []int            `yaml:"queue_pairs"`
	Depths      []int            `yaml:"depth"`
	Pieces      []int            `yaml:"pieces"`
	Offsets     []int            `yaml:"offset" unit:"bytes"`
	Batches     []int            `yaml:"batch"`
	SignalEvery []int            `yaml:"signal_every"`
	MTUs        []int            `yaml:"mtu" unit:"bytes"`
	LowLatency  []bool           `yaml:"low_latency"`
	Losses      []float64        `yaml:"loss"` // sets the loss in faults.wire
	Stalls      []int            `yaml:"stall"`
	Seeds       []uint64         `yaml:"seed"`
	PCIe        []string         `yaml:"pcie"` // sets the kind of every fault in faults.pcie
	Heads       []rb2.HeadSync   `yaml:"head"` // with tail: sets workload.ring
	Tails       []rb2.TailSync   `yaml:"tail"`

	// Options of kind flexins.
	DataCores       []int               `yaml:"data_cores"`
	Receives        []data.ReceiveKind  `yaml:"receive"`
	Transmits       []data.TransmitKind `yaml:"transmit"`
	StagingBytes    []int               `yaml:"staging_bytes"`
	SelectiveRepeat []bool              `yaml:"selective_repeat"`

	CCs      []data.CongestionKind `yaml:"cc"`
	Sprays   []bool                `yaml:"spray"`
	Notifies []node.Notification   `yaml:"notify"`
}

// stackAxes names the axes that set options of kind flexins.
var stackAxes = []string{"data_cores", "receive", "transmit", "staging_bytes", "selective_repeat", "cc", "spray",
	"notify"}

// axis is one field of a sweep.
type axis struct {
	name  string
	n     int
	twice error                       // error about a repeated value; nil if all values differ
	set   func(s *Spec, i int) string // sets value i and returns it as text
}

func values[T comparable](name string, list []T, set func(s *Spec, v T)) axis {
	return axis{name, len(list), twice(name, list), func(s *Spec, i int) string {
		set(s, list[i])
		return fmt.Sprint(list[i])
	}}
}

// twice reports a value that equals an earlier one even if it is written differently: both would give the same case.
func twice[T comparable](name string, list []T) error {
	for i, v := range list {
		if first := slices.Index(list, v); first < i {
			return field.Errorf(field.Path(fmt.Sprintf("%s[%d]", name, i)), ": %v a second time: %v has it", v,
				field.Path(fmt.Sprintf("%s[%d]", name, first)))
		}
	}
	return nil
}

func (w *SweepSpec) axes() []axis {
	return []axis{
		values("kind", w.Kinds, func(s *Spec, v apps.Kind) { s.Workload.Kind = v }),
		values("transport", w.Transports, func(s *Spec, v apps.Transport) { s.Workload.Transport = v }),
		values("size", w.Sizes, func(s *Spec, v int) { s.Workload.Sizes = []int{v} }),
		values("processes", w.Processes, func(s *Spec, v int) { s.Workload.Processes = v }),
		values("queue_pairs", w.QueuePairs, func(s *Spec, v int) { s.Workload.QueuePairs = v }),
		values("depth", w.Depths, func(s *Spec, v int) { s.Workload.Depth = v }),
		values("pieces", w.Pieces, func(s *Spec, v int) { s.Workload.Pieces = v }),
		values("offset", w.Offsets, func(s *Spec, v int) { s.Workload.Offset = v }),
		values("batch", w.Batches, func(s *Spec, v int) { s.Workload.Batch = v }),
		values("signal_every", w.SignalEvery, func(s *Spec, v int) { s.Workload.SignalEvery = v }),
		values("mtu", w.MTUs, func(s *Spec, v int) { s.Workload.MTU = v }),
		values("low_latency", w.LowLatency, func(s *Spec, v bool) { s.Workload.LowLatency = v }),
		values("head", w.Heads, func(s *Spec, v rb2.HeadSync) { s.Workload.Ring.Head = v }),
		values("tail", w.Tails, func(s *Spec, v rb2.TailSync) { s.Workload.Ring.Tail = v }),
		values("loss", w.Losses, (*Spec).setLoss),
		values("stall", w.Stalls, func(s *Spec, v int) { s.Faults.Stall = v }),
		values("data_cores", w.DataCores, func(s *Spec, v int) { s.flexins(func(n *node.Spec) { n.DataCores = v }) }),
		values("receive", w.Receives,
			func(s *Spec, v data.ReceiveKind) { s.flexins(func(n *node.Spec) { n.Data.Receive = v }) }),
		values("transmit", w.Transmits,
			func(s *Spec, v data.TransmitKind) { s.flexins(func(n *node.Spec) { n.Data.Transmit = v }) }),
		values("staging_bytes", w.StagingBytes,
			func(s *Spec, v int) { s.flexins(func(n *node.Spec) { n.Data.StagingBytes = v }) }),
		values("selective_repeat", w.SelectiveRepeat, func(s *Spec, v bool) {
			s.flexins(func(n *node.Spec) {
				n.Data.Recovery = map[bool]transport.Recovery{false: transport.GoBackN,
					true: transport.SelectiveRepeat}[v]
			})
		}),
		values("cc", w.CCs,
			func(s *Spec, v data.CongestionKind) { s.flexins(func(n *node.Spec) { n.Data.CC.Kind = v }) }),
		values("spray", w.Sprays, func(s *Spec, v bool) { s.flexins(func(n *node.Spec) { n.Data.Spray = v }) }),
		values("notify", w.Notifies,
			func(s *Spec, v node.Notification) { s.flexins(func(n *node.Spec) { n.Notify = v }) }),
		values("pcie", w.PCIe, (*Spec).setReadFault),
		values("seed", w.Seeds, func(s *Spec, v uint64) { s.Workload.Seed = v }),
	}
}

// flexins changes the FlexiNS options of both servers.
func (s *Spec) flexins(change func(*node.Spec)) {
	s.Stacks = slices.Clone(s.Stacks)
	for i := range s.Stacks {
		change(&s.Stacks[i].FlexiNS)
	}
}

// setLoss sets the share of packets that the cables lose.
func (s *Spec) setLoss(share float64) {
	w := *s.Faults.Wire
	w.Chances.Loss = share
	s.Faults.Wire = &w
}

// setReadFault sets the kind of the injected read faults.
func (s *Spec) setReadFault(kind string) {
	s.Faults.PCIe = slices.Clone(s.Faults.PCIe)
	for i := range s.Faults.PCIe {
		s.Faults.PCIe[i].Kind = kind
	}
}

// maxCases limits the cases of a sweep to a number of results that somebody can read.
const maxCases = 1000

func (w *SweepSpec) validate() error {
	n := 1
	var errs []error
	for _, a := range w.axes() {
		errs = append(errs, a.twice)
		if n *= max(a.n, 1); n > maxCases {
			return field.Errorf(field.Path(a.name), ": more than %d cases: want fewer values", maxCases)
		}
	}
	return errors.Join(errs...)
}

// Case is a scenario with one value for each field of its sweep.
type Case struct {
	Spec
	File string
	Name string // name of the scenario and the values of its sweep: name:size=64:depth=8

	places *specfile.Places // positions of the fields in the file
}

// Locate adds file and line to errors about fields.
func (c *Case) Locate(err error) error { return c.places.Locate(err) }

// OldNames returns a warning for each field that the file of the case gives by its old name, which has the unit. Fields
// of boards keep such names.
func (c *Case) OldNames() (all []string) {
	for _, l := range c.places.Longs() {
		if !strings.HasPrefix(string(l.Path), "board.") {
			const text = "%s:%d: %s: an old name, which the next release will refuse: want %s, with a unit"
			all = append(all, fmt.Sprintf(text, l.File, l.Line, l.Path, l.Short))
		}
	}
	return all
}

// cases returns one case for each combination of values; the last field varies fastest.
func (s *Spec) cases(file string) ([]*Case, error) {
	axes := s.Sweep.axes()
	if of := slices.ContainsFunc(s.Stacks, func(x StackSpec) bool { return x.Kind == StackFlexiNS }); !of {
		for _, a := range axes {
			if a.n > 0 && slices.Contains(stackAxes, a.name) {
				return nil, field.Errorf(field.Path("sweep."+a.name), ": an option of stacks of kind %s: there is none",
					StackFlexiNS)
			}
		}
	}
	if len(s.Sweep.Losses) > 0 && s.Faults.Wire == nil {
		return nil, field.Errorf("sweep.loss", ": want %v, whose chances.loss it sets", field.Path("faults.wire"))
	}
	if len(s.Sweep.PCIe) > 0 && len(s.Faults.PCIe) == 0 {
		return nil, field.Errorf("sweep.pcie", ": want %v, whose kinds it sets", field.Path("faults.pcie"))
	}
	var list []*Case
	at := make([]int, len(axes))
	for {
		c := &Case{Spec: *s, File: file}
		c.Spec.Sweep = SweepSpec{}
		c.Name = s.Name
		for i, a := range axes {
			if a.n > 0 {
				c.Name += ":" + a.name + "=" + a.set(&c.Spec, at[i])
			}
		}
		if len(c.Name) > maxCaseName {
			return nil, field.Errorf("sweep", ": the name of case %s has %d characters: want %d at most, by a "+
				"shorter name or fewer fields", c.Name, len(c.Name), maxCaseName)
		}
		if err := c.Validate(); err != nil {
			return nil, field.Errorf("sweep", ": case %s: %w", c.Name, err)
		}
		if c.Workload.Timeout == nil {
			c.Workload.Timeout = new(c.timeout())
		}
		list = append(list, c)
		if !step(at, axes) {
			return list, nil
		}
	}
}

// step advances to the next combination, and reports false after the last.
func step(at []int, axes []axis) bool {
	for i := len(axes) - 1; i >= 0; i-- {
		if at[i]++; at[i] < axes[i].n {
			return true
		}
		at[i] = 0
	}
	return false
}
