package rnic

// cacheWays is the associativity of the queue pair cache and the translation cache (assumption).
const cacheWays = 4

// cache tracks which contexts the NIC has cached: set-associative, with least-recently-used
// replacement. It stores keys only.
type cache struct {
	sets  []cacheSet
	clock uint64
}

// cacheSet fills one cache line of the simulating machine, so that a lookup touches one line.
type cacheSet [cacheWays]struct {
	key  uint64 // the key plus one; 0: the way is empty
	used uint64
}

func newCache(entries int) cache {
	sets := 1
	for sets*2*cacheWays <= entries {
		sets *= 2
	}
	return cache{sets: make([]cacheSet, sets)}
}

// spread hashes a key, so that neighbouring keys fall into different sets.
func spread(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// has reports whether the cache holds a key, and makes it the most recently used. On a miss it
// inserts the key.
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
