package cpu

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures the cores of one processor, which are identical. The package comment gives the
// sources of the presets' values.
type Spec struct {
	Period    simcore.Ps `yaml:"period_ps"`  // of the clock
	Cores     int        `yaml:"cores"`      // in all
	DataCores int        `yaml:"data_cores"` // number of cores, the first ones, that serve the data path
	// lines that a core's loads and prefetches fetch at a time (line fill buffers)
	Misses   int          `yaml:"misses"`
	Stores   int          `yaml:"stores"`       // lines of a core's stores in flight
	MMIOPost simcore.Ps   `yaml:"mmio_post_ps"` // time that a register write holds the core, per 64 B
	Copy     simcore.Rate `yaml:"copy"`         // upper bound on a core's copy rate; zero: none
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string, against ...field.Path) {
		errs = append(errs, field.Against(field.Errorf(path, "%v: want %s", got, want), against...))
	}
	within := func(path field.Path, v, low, high int) {
		if v < low || v > high {
			bad(path, v, fmt.Sprintf("%d to %d", low, high))
		}
	}
	if !simcore.ValidPeriod(s.Period) {
		bad("period_ps", int64(s.Period), simcore.WantPeriod)
	}
	within("cores", s.Cores, 1, 1024)
	if s.DataCores < 0 || s.DataCores > s.Cores {
		bad("data_cores", s.DataCores, fmt.Sprintf("0 to %d (cores)", s.Cores), "cores")
	}
	within("misses", s.Misses, 1, 1024)
	within("stores", s.Stores, 1, 1024)
	if s.MMIOPost < 0 || s.MMIOPost > simcore.Second {
		bad("mmio_post_ps", int64(s.MMIOPost), "0 to 1 s")
	}
	if r := s.Copy; r != (simcore.Rate{}) && (r.Bytes <= 0 || r.Ps <= 0 || r.Bytes > 1<<30 || r.Ps > simcore.Second) {
		bad("copy", fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps),
			"1 to 2^30 bytes in 1 ps to 1 s, or both 0 for no bound")
	}
	return errors.Join(errs...)
}

const lineBytes = mem.LineBytes

// memcpy is the rate at which one of a server's cores copies, according to the papers.
var memcpy = simcore.Rate{Bytes: 7, Ps: simcore.Nanosecond}

func arm(period simcore.Ps, cores, data, misses, stores int) Spec {
	return Spec{Period: period, Cores: cores, DataCores: data, Misses: misses, Stores: stores,
		MMIOPost: 200 * simcore.Nanosecond, Copy: memcpy}
}

func host(period simcore.Ps, cores int) Spec {
	return Spec{Period: period, Cores: cores, DataCores: cores, Misses: 12, Stores: 32,
		MMIOPost: 120 * simcore.Nanosecond, Copy: memcpy}
}

var presets = map[string]Spec{
	"bf3": arm(400, 16, 12, 12, 32), "bf2": arm(364, 8, 8, 10, 16),
	"host-fn": host(400, 16), "host-ce": host(357, 16), "host-op": host(278, 12), "host-rb": host(435, 12),
}

// Preset returns the spec of a machine's cores by name.
func Preset(name string) (Spec, error) {
	s, ok := presets[name]
	if !ok {
		return Spec{}, fmt.Errorf("cpu: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	return s, nil
}
