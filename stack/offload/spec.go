package offload

import (
	"errors"

	"nictwin/models/sim/field"
)

// Spec holds the limits and costs of an engine.
type Spec struct {
	Queue      int   `yaml:"queue"`               // requests that may wait: assumption
	Coroutines int   `yaml:"coroutines"`          // at a time on the core: assumption
	Memory     int   `yaml:"memory" unit:"bytes"` // bytes that a handler may hold at a time: assumption
	DMAs       int   `yaml:"dmas"`                // DMAs that a handler may have in flight: assumption
	Budget     int64 `yaml:"budget"`              // cycles of a handler, calls included: assumption, 40 ms at 2.5 GHz

	// Start is the cost in cycles of taking a request and starting its coroutine, Switch that of switching to a
	// coroutine, and Call that of a call of the context: assumptions.
	Start  int64 `yaml:"start_cycles"`
	Switch int64 `yaml:"switch_cycles"`
	Call   int64 `yaml:"call_cycles"`
	Poll   int64 `yaml:"poll_cycles"` // of polling the queue, as for a send queue (FN 3.2)
}

// DefaultSpec returns the spec of an Arm core at 2.5 GHz.
func DefaultSpec() Spec {
	return Spec{Queue: 256, Coroutines: 32, Memory: 64 << 10, DMAs: 64, Budget: 100_000_000, Start: 250, Switch: 50,
		Call: 40, Poll: 62}
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, low, high int64) {
		if v < low || v > high {
			errs = append(errs, field.Errorf(path, "%d: want %d to %d", v, low, high))
		}
	}
	within("queue", int64(s.Queue), 1, 1<<16)
	within("coroutines", int64(s.Coroutines), 1, 1<<12)
	within("memory", int64(s.Memory), 256, 1<<24)
	within("dmas", int64(s.DMAs), 1, 1<<12)
	within("budget", s.Budget, 1000, 1<<40)
	const cycles = 1 << 32
	within("start_cycles", s.Start, 0, cycles)
	within("switch_cycles", s.Switch, 0, cycles)
	within("call_cycles", s.Call, 1, cycles)
	within("poll_cycles", s.Poll, 1, cycles)
	return errors.Join(errs...)
}
