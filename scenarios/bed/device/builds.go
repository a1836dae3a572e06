package device

import (
	"cmp"
	"os"
	"sync"

	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"
)

// Builds keeps the devices that were built, so that runs of one command ask the toolchain and the cache for each of
// them once. Goroutines may share it.
type Builds struct {
	mu  sync.Mutex
	all map[wanted]*kept
}

// wanted is what a build is told apart by within one command.
type wanted struct {
	dut, variant string
	eth          Eth
	sized        bool
	sizes        nicspec.Build
}

// kept is one of the builds. Whoever holds mu makes it.
type kept struct {
	mu    sync.Mutex
	built *build.Device // nil: not built yet
}

// get returns the build that a spec wants, made by build unless it is there. What fails is tried again by the next who
// asks.
func (b *Builds) get(s *Spec, build func() (*build.Device, error)) (*build.Device, error) {
	if b == nil || s.Coverage != "" || s.Wave != nil {
		return build()
	}
	k := b.entry(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.built != nil {
		if _, err := os.Stat(k.built.Binary); err == nil {
			return k.built, nil
		} // else the cache was emptied meanwhile
	}
	made, err := build()
	if err == nil {
		k.built = made
	}
	return made, err
}

func (b *Builds) entry(s *Spec) *kept {
	w := wanted{dut: s.DUT, variant: cmp.Or(s.Variant, "speed"), eth: Eth{s.ports(), s.EthBits}}
	if s.Build != nil {
		w.sized, w.sizes = true, *s.Build
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[wanted]*kept{}
	}
	if b.all[w] == nil {
		b.all[w] = &kept{}
	}
	return b.all[w]
}
