package tlb

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"nictwin/models/sim/field"
)

// Page sizes of x86, and of Arm with a granule of 4 KB.
const (
	Page4K int64 = 4 << 10
	Page2M int64 = 2 << 20
	Page1G int64 = 1 << 30
)

// Spec configures a TLB.
type Spec struct {
	PageBytes int64  `yaml:"page_bytes"`
	Entries   int    `yaml:"entries"`
	Ways      int    `yaml:"ways"`
	Walkers   int    `yaml:"walkers"` // concurrent walks
	Tables    uint64 `yaml:"tables"`  // address of the page tables
	// size of the address space that the page tables describe: a power of two. Addresses are taken
	// modulo it
	Covers uint64 `yaml:"covers_bytes"`
}

const (
	entryBytes = 8
	levelBits  = 9  // address bits that one level translates
	allBits    = 48 // address bits that all levels translate together
)

// Levels returns the number of page-table entries that a walk reads.
func (s Spec) Levels() int { return (allBits - s.shift()) / levelBits }

func (s Spec) shift() int { return bits.TrailingZeros64(uint64(s.PageBytes)) }

// entry returns the address of the page-table entry for addr at a level. A walk reads level 0 last.
func (s Spec) entry(level int, addr uint64) uint64 {
	at := s.Tables
	for l := range level {
		at += s.levelBytes(l)
	}
	return at + (addr&(s.Covers-1))>>(s.shift()+levelBits*level)*entryBytes
}

func (s Spec) levelBytes(level int) uint64 {
	return max(s.Covers>>(s.shift()+levelBits*level)*entryBytes, entryBytes)
}

// TableBytes returns the size of the page tables.
func (s Spec) TableBytes() uint64 {
	n := uint64(0)
	for l := range s.Levels() {
		n += s.levelBytes(l)
	}
	return n
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string, against ...field.Path) {
		errs = append(errs, field.Against(field.Errorf(path, "%v: want %s", got, want), against...))
	}
	if s.PageBytes != Page4K && s.PageBytes != Page2M && s.PageBytes != Page1G {
		bad("page_bytes", s.PageBytes, "4096 (4 KB), 2097152 (2 MB) or 1073741824 (1 GB)")
	}
	if s.Entries < 1 || s.Entries > 1<<20 {
		bad("entries", s.Entries, "1 to 2^20")
	}
	if s.Ways < 1 || s.Entries%max(s.Ways, 1) != 0 {
		bad("ways", s.Ways, fmt.Sprintf("a divisor of %d (entries)", s.Entries), "entries")
	}
	if s.Walkers < 1 || s.Walkers > 64 {
		bad("walkers", s.Walkers, "1 to 64")
	}
	if s.Covers < 1<<12 || s.Covers > 1<<allBits || bits.OnesCount64(s.Covers) != 1 {
		bad("covers_bytes", s.Covers, "a power of two from 2^12 to 2^48")
	}
	if s.Tables%entryBytes != 0 {
		bad("tables", fmt.Sprintf("%#x", s.Tables), "a multiple of 8")
	}
	return errors.Join(errs...)
}

// size holds the entries and the ways of a machine's TLB for one page size.
type size struct{ entries, ways int }

// presets are the TLBs of the papers' machines.
var presets = map[string]struct {
	small, large, huge size // 4 KB, 2 MB, 1 GB
	walkers            int
}{
	"bf3":     {size{1024, 4}, size{1024, 4}, size{1024, 4}, 1},
	"bf2":     {size{1024, 4}, size{1024, 4}, size{1024, 4}, 1},
	"host-fn": {size{2048, 16}, size{2048, 16}, size{1024, 8}, 2},
	"host-ce": {size{2048, 16}, size{1024, 8}, size{1024, 8}, 2},
	"host-op": {size{2048, 16}, size{1024, 8}, size{1024, 8}, 2},
	"host-rb": {size{1536, 12}, size{1536, 12}, size{16, 4}, 2},
}

// Preset returns the spec of a machine's TLB by name, for pages of a size. The caller sets the
// address of the tables.
func Preset(name string, pageBytes int64) (Spec, error) {
	p, ok := presets[name]
	if !ok {
		return Spec{}, fmt.Errorf("tlb: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	n := p.small
	switch pageBytes {
	case Page4K:
	case Page2M:
		n = p.large
	case Page1G:
		n = p.huge
	default:
		return Spec{}, fmt.Errorf("tlb: pages of %d B: want 4096, 2097152 or 1073741824", pageBytes)
	}
	return Spec{PageBytes: pageBytes, Entries: n.entries, Ways: n.ways, Walkers: p.walkers, Covers: 1 << 36}, nil
}
