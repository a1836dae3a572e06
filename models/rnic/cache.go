package rnic

// cacheWays is the associativity of both caches (assumption).
const cacheWays = 4

// cache says which contexts the NIC has at hand: set-associative, the least recently used goes.
type cache struct {
	sets  []cacheSet
	clock uint64
}

// cacheSet is of the size of a line of the processor, so that a look at it fetches one.
type cacheSet [cacheWays]struct {
	key  uint64 // plus one; 0: none
	used uint64
}

func newCache(entries int) cache {
	sets := 1
	for sets*2*cacheWays <= entries {
		sets *= 2
	}
	return cache{sets: make([]cacheSet, sets)}
}

// spread makes neighbouring keys fall into different sets.
func spread(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// has reports whether the cache has an entry, which then is the one used last; if not, it has from now on.
func (x *cache) has(key uint64) bool {
	set := &x.sets[spread(key)&uint64(len(x.sets)-1)]
	x.clock++
	oldest := 0
	for i := range set {
		if set[i].key == key+1 {
			set[i].used = x.clock
			return true
		}
		if set[i].used < set[oldest].used {
			oldest = i
		}
	}
	set[oldest].key, set[oldest].used = key+1, x.clock
	return false
}
