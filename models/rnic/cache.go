package rnic

// cacheWays is the associativity of both caches (assumption).
const cacheWays = 4

// cache says which contexts the NIC has at hand: set-associative, the least recently used goes.
type cache struct {
	keys  []uint64 // plus one; 0: none
	used  []uint64
	clock uint64
	mask  uint64
}

func newCache(entries int) cache {
	sets := uint64(1)
	for int(sets)*2*cacheWays <= entries {
		sets *= 2
	}
	n := sets * cacheWays
	return cache{keys: make([]uint64, n), used: make([]uint64, n), mask: sets - 1}
}

// spread makes neighbouring keys fall into different sets.
func spread(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// has reports whether the cache has an entry, which then is the one used last; if not, it has from now on.
func (x *cache) has(key uint64) bool {
	at := (spread(key) & x.mask) * cacheWays
	x.clock++
	oldest := at
	for i := at; i < at+cacheWays; i++ {
		if x.keys[i] == key+1 {
			x.used[i] = x.clock
			return true
		}
		if x.used[i] < x.used[oldest] {
			oldest = i
		}
	}
	x.keys[oldest], x.used[oldest] = key+1, x.clock
	return false
}
