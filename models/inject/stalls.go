package inject

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"nictwin/models/nic/boundary"
)

// Stalls draws the cycles in which a device's streams stall. It is a pure function of seed, stream and cycle:
// neither other streams nor skipped cycles change the pattern.
type Stalls struct {
	Seed    uint64 `yaml:"seed"`
	Percent int    `yaml:"percent"` // of the cycles, for streams not listed in Streams
	Burst   int    `yaml:"burst"`   // one draw decides for 2^burst cycles; at most MaxBurst
	// percentage by stream; a name includes all lanes of the stream (name[0], name[1] …)
	Streams map[string]int `yaml:"streams"`
}

// MaxPercent is the largest percentage of stall cycles.
const MaxPercent = 99

// MaxBurst is the largest value of Stalls.Burst, a power of two of cycles.
const MaxBurst = 16

// Validate returns every error of the fields.
func (s *Stalls) Validate() error {
	var errs []error
	check := func(field string, percent int) {
		if percent < 0 || percent > MaxPercent {
			errs = append(errs, fmt.Errorf("inject: stalls: %s is %d: want 0..%d", field, percent, MaxPercent))
		}
	}
	check("percent", s.Percent)
	if s.Burst < 0 || s.Burst > MaxBurst {
		errs = append(errs, fmt.Errorf("inject: stalls: burst is %d: want 0..%d", s.Burst, MaxBurst))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		check("streams."+name, s.Streams[name])
	}
	return errors.Join(errs...)
}

// Of implements boundary.Stalls: it returns the stall pattern of a stream, nil if it never stalls.
func (s *Stalls) Of(stream string) func(cycle int64) bool {
	p, ok := s.Streams[stream]
	if lane := strings.IndexByte(stream, '['); !ok && lane >= 0 {
		p, ok = s.Streams[stream[:lane]]
	}
	if !ok {
		p = s.Percent
	}
	if p == 0 {
		return nil
	}
	h := fnv.New64a()
	h.Write([]byte(stream))
	seed, percent, burst := s.Seed^h.Sum64(), uint64(p), s.Burst
	return func(cycle int64) bool { return mix(seed+uint64(cycle)>>burst)%100 < percent }
}

// mix is the finaliser of the SplitMix64 generator: it spreads every bit of z over the result.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

var _ boundary.Stalls = (*Stalls)(nil)
