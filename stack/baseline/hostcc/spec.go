package hostcc

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/stack/baseline/hostcc/monitor"
)

// Mark selects how packets are marked.
type Mark string

// Ways to mark packets.
const (
	MarkHeader Mark = "header" // by the core of the flow, in host memory
	MarkQueue  Mark = "queue"  // by the NIC, in a second receive queue of each flow
	MarkNone   Mark = "none"
)

// Spec holds the parameters of a server.
type Spec struct {
	monitor.Spec `yaml:",inline"`

	Mark Mark `yaml:"mark"`
}

// DefaultSpec returns the parameters of the published implementation, as far as it has them.
func DefaultSpec() Spec { return Spec{Spec: monitor.DefaultSpec(), Mark: MarkHeader} }

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var mark error
	if s.Mark != MarkHeader && s.Mark != MarkQueue && s.Mark != MarkNone {
		mark = field.Errorf("mark", "%q: want %s, %s or %s", s.Mark, MarkHeader, MarkQueue, MarkNone)
	}
	return errors.Join(s.Spec.Validate(), mark)
}
