package private

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a Cache.
type Spec struct {
	SizeBytes  int64      `yaml:"size_bytes"`
	Ways       int        `yaml:"ways"`
	HitLatency simcore.Ps `yaml:"hit_latency_ps"` // from a read to its bytes
}

const lineBytes = mem.LineBytes

// sets returns the number of sets of a valid spec.
func (s Spec) sets() uint64 { return uint64(s.SizeBytes) / uint64(s.Ways) / lineBytes }

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	const largest = 1 << 30
	if s.Ways < 1 || s.Ways > 64 {
		errs = append(errs, field.Errorf("ways", "%d: want 1 to 64", s.Ways))
	} else if way := int64(s.Ways) * lineBytes; s.SizeBytes < way || s.SizeBytes > largest || s.SizeBytes%way != 0 {
		errs = append(errs, field.Errorf("size_bytes", "%d: want a multiple of %d (%v times lines of %d B) up to 2^30",
			s.SizeBytes, way, field.Path("ways"), lineBytes))
	}
	if s.HitLatency < 0 || s.HitLatency > simcore.Millisecond {
		errs = append(errs, field.Errorf("hit_latency_ps", "%d: want 0 to 1 ms", int64(s.HitLatency)))
	}
	return errors.Join(errs...)
}

const kib = 1 << 10

// presets are the private caches of the papers' machines.
var presets = map[string]Spec{
	"bf3":     {512 * kib, 8, 4_400},   // Cortex-A78, 11 cycles
	"bf2":     {512 * kib, 16, 6_200},  // half of the L2 that two Cortex-A72 share, 17 cycles
	"host-fn": {2048 * kib, 16, 5_600}, // Sapphire Rapids, 14 cycles
	"host-ce": {1280 * kib, 20, 5_000}, // Ice Lake, 14 cycles
	"host-op": {1280 * kib, 20, 3_900}, // Ice Lake, 14 cycles
	"host-rb": {1024 * kib, 16, 6_100}, // Skylake, 14 cycles
}

// Preset returns the spec of a machine's private caches by name.
func Preset(name string) (Spec, error) {
	s, ok := presets[name]
	if !ok {
		return Spec{}, fmt.Errorf("private: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	return s, nil
}
