package dsa

import (
	"errors"
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// Spec configures an Engine.
type Spec struct {
	Rate    simcore.Rate `yaml:"rate"`       // shared by all engines; zero: no bound
	Latency simcore.Ps   `yaml:"latency_ps"` // from an engine taking a descriptor to its first read
	Engines int          `yaml:"engines"`    // descriptors in progress at a time
	Queue   int          `yaml:"queue"`      // descriptors that wait
	Chunk   int          `yaml:"chunk_bytes"`
	Ahead   int          `yaml:"ahead"` // chunks of a descriptor in flight
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	errs := []error{pace.Check("rate", s.Rate)}
	if s.Latency < 0 || s.Latency > simcore.Second {
		errs = append(errs, field.Errorf("latency_ps", "%d: want 0 to 1 s", int64(s.Latency)))
	}
	for _, c := range [...]struct {
		path    field.Path
		v, most int
	}{{"engines", s.Engines, 64}, {"queue", s.Queue, 1 << 16}, {"ahead", s.Ahead, 1024}} {
		if c.v < 1 || c.v > c.most {
			errs = append(errs, field.Errorf(c.path, "%d: want 1 to %d", c.v, c.most))
		}
	}
	if s.Chunk < mem.LineBytes || s.Chunk > 1<<16 || s.Chunk%mem.LineBytes != 0 {
		errs = append(errs, field.Errorf("chunk_bytes", "%d: want a multiple of 64 up to 65536", s.Chunk))
	}
	return errors.Join(errs...)
}

// Preset returns the spec of a machine's engine by name: only "host-fn" has one.
func Preset(name string) (Spec, error) {
	if name != "host-fn" {
		return Spec{}, fmt.Errorf("dsa: preset is %q: want host-fn, the only machine that has one", name)
	}
	return Spec{Rate: simcore.Rate{Bytes: 30, Ps: simcore.Nanosecond}, Latency: 500 * simcore.Nanosecond, Engines: 4,
		Queue: 128, Chunk: 1024, Ahead: 8}, nil
}
