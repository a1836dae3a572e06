package core

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
)

// Names of replacement policies and index functions.
const (
	LRU    = "lru"    // the least recently used line
	Random = "random" // a random line, from a sequence that starts at Seed
	Plain  = "plain"  // the line's number modulo the number of sets
	Hashed = "hashed" // a hash of all bits of the line's number
)

// MaxWays is the largest number of ways: a mask of ways has 64 bits.
const MaxWays = 64

// Geometry holds the dimensions and the policies of a cache.
type Geometry struct {
	SizeBytes   int64  `yaml:"size_bytes"`
	Ways        int    `yaml:"ways"`
	DeviceWays  uint64 `yaml:"device_ways"` // DDIO; bit w: device writes may allocate in way w; 0: they do not allocate
	Replacement string `yaml:"replacement"` // LRU or Random
	Index       string `yaml:"index"`       // Plain or Hashed
	Seed        uint64 `yaml:"seed"`        // of Random
}

// Sets returns the number of sets of a valid geometry.
func (g Geometry) Sets() uint64 { return uint64(g.SizeBytes) / uint64(g.Ways) / mem.LineBytes }

// FirstWays returns the mask of the first n ways.
func FirstWays(n int) uint64 { return ^uint64(0) >> (MaxWays - n) }

// Validate returns every error of the geometry.
func (g Geometry) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string, against ...field.Path) {
		errs = append(errs, field.Against(field.Errorf(path, "%v: want %s", got, want), against...))
	}
	const largest = 1 << 34
	if g.Ways < 1 || g.Ways > MaxWays {
		bad("ways", g.Ways, "1 to 64")
	} else {
		if way := int64(g.Ways) * mem.LineBytes; g.SizeBytes < way || g.SizeBytes > largest || g.SizeBytes%way != 0 {
			bad("size_bytes", g.SizeBytes, fmt.Sprintf("a multiple of %d (ways times lines of %d B) up to 2^34", way,
				mem.LineBytes), "ways")
		}
		if bits.Len64(g.DeviceWays) > g.Ways {
			bad("device_ways", fmt.Sprintf("%#x", g.DeviceWays), fmt.Sprintf("a mask of %d ways", g.Ways), "ways")
		}
	}
	if g.Replacement != LRU && g.Replacement != Random {
		bad("replacement", fmt.Sprintf("%q", g.Replacement), LRU+" or "+Random)
	}
	if g.Index != Plain && g.Index != Hashed {
		bad("index", fmt.Sprintf("%q", g.Index), Plain+" or "+Hashed)
	}
	return errors.Join(errs...)
}

// Mix makes every bit of the result depend on every bit of x (the finalizer of SplitMix64).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
