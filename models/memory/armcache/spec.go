package armcache

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a Cache.
type Spec struct {
	core.Geometry `yaml:",inline"`

	Rate       simcore.Rate `yaml:"rate"`           // of accesses, in whole lines; zero: no bound
	HitLatency simcore.Ps   `yaml:"hit_latency_ps"` // from an access's turn in the pipeline to the end of a hit
	Fetches    int          `yaml:"fetches"`        // lines being fetched at a time (MSHRs)
	WriteBacks int          `yaml:"write_backs"`    // lines being written back at a time
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	errs := []error{s.Geometry.Validate()}
	bad := func(path field.Path, got any, want string) {
		errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
	}
	const longest, most = simcore.Millisecond, 1 << 12
	if r := s.Rate; r != (simcore.Rate{}) && (r.Bytes <= 0 || r.Ps <= 0 || r.Bytes > 1<<30 || r.Ps > simcore.Second) {
		bad("rate", fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps),
			"1 to 2^30 bytes in 1 ps to 1 s, or both 0 for no bound")
	}
	if s.HitLatency < 0 || s.HitLatency > longest {
		bad("hit_latency_ps", int64(s.HitLatency), "0 to 1 ms")
	}
	if s.Fetches < 1 || s.Fetches > most {
		bad("fetches", s.Fetches, "1 to 4096")
	}
	if s.WriteBacks < 1 || s.WriteBacks > most {
		bad("write_backs", s.WriteBacks, "1 to 4096")
	}
	return errors.Join(errs...)
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// presets are the caches of the papers' machines; the package comment gives the source of each
// number.
var presets = map[string]Spec{
	"bf3": {
		Geometry: core.Geometry{SizeBytes: 16 * mib, Ways: 16, DeviceWays: core.FirstWays(16), Replacement: core.LRU,
			Index: core.Plain},
		Rate: simcore.Gbps(1200), HitLatency: 30 * simcore.Nanosecond, Fetches: 64, WriteBacks: 64,
	},
	"host-fn": {
		Geometry: core.Geometry{SizeBytes: 37*mib + 512*kib, Ways: 15, DeviceWays: core.FirstWays(2),
			Replacement: core.LRU, Index: core.Hashed},
		HitLatency: 25 * simcore.Nanosecond, Fetches: 128, WriteBacks: 128,
	},
	"host-ce":   hostCE(2),
	"host-ce-6": hostCE(6),
	"host-op":   serverCache(18*mib, 2),
	"host-rb": {
		Geometry: core.Geometry{SizeBytes: 16*mib + 512*kib, Ways: 11, DeviceWays: core.FirstWays(2),
			Replacement: core.LRU, Index: core.Hashed},
		HitLatency: 25 * simcore.Nanosecond, Fetches: 128, WriteBacks: 128,
	},
}

func hostCE(deviceWays int) Spec { return serverCache(12*mib, deviceWays) }

// serverCache returns a cache with twelve ways. Devices allocate in deviceWays of them.
func serverCache(bytes int64, deviceWays int) Spec {
	return Spec{
		Geometry: core.Geometry{SizeBytes: bytes, Ways: 12, DeviceWays: core.FirstWays(deviceWays),
			Replacement: core.LRU, Index: core.Hashed},
		HitLatency: 25 * simcore.Nanosecond, Fetches: 128, WriteBacks: 128,
	}
}

// Preset returns the spec of a machine's cache by name.
func Preset(name string) (Spec, error) {
	if name == "bf2" {
		return Spec{},
			errors.New("armcache: BlueField-2 has no cache that devices write to: put its root over its DRAM")
	}
	s, ok := presets[name]
	if !ok {
		return Spec{}, fmt.Errorf("armcache: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	return s, nil
}

// lineBytes is the size of a line.
const lineBytes = mem.LineBytes
