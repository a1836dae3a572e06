package device

import (
	"cmp"
	"os"
	"sync"

	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
)

// Builds caches built devices, so that the runs of one command ask the toolchain and the build cache only once for
// each. It is safe for concurrent use.
type Builds struct {
	mu  sync.Mutex
	all map[buildKey]*cachedBuild
}

// buildKey identifies a build within one command.
type buildKey struct {
	dut, variant string
	eth          Eth
	link         emulation.Link // zero: none
	sized        bool
	sizes        nicspec.Build
}

// cachedBuild is an entry of Builds. Whoever locks mu first builds it; others wait for the lock.
type cachedBuild struct {
	mu    sync.Mutex
	built *build.Device // nil: not built yet
}

// get returns the build that a spec wants, and calls build if it does not exist yet. A failed build is tried again on
// the next call.
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
		} // the build cache was emptied in the meantime: build again
	}
	made, err := build()
	if err == nil {
		k.built = made
	}
	return made, err
}

func (b *Builds) entry(s *Spec) *cachedBuild {
	w := buildKey{dut: s.DUT, variant: cmp.Or(s.Variant, "speed"), eth: Eth{s.ports(), s.EthBits}}
	if s.Link != nil {
		w.link = *s.Link
	}
	if s.Build != nil {
		w.sized, w.sizes = true, *s.Build
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[buildKey]*cachedBuild{}
	}
	if b.all[w] == nil {
		b.all[w] = &cachedBuild{}
	}
	return b.all[w]
}
