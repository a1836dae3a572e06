package windows

import (
	"math"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Keys is the memory keys and the writes that may not have taken effect. Make
// it with NewKeys.
type Keys struct {
	latest, old []core.Key
	at          []int64 // cycle of each key's latest write
	open        int64   // last cycle in which an older key may be seen
}

// NewKeys is n keys that were never written.
func NewKeys(n int) *Keys {
	k := &Keys{latest: make([]core.Key, n), old: make([]core.Key, n), at: make([]int64, n), open: never}
	for i := range k.at {
		k.at[i] = never
	}
	return k
}

// never is a cycle before all others, from which a few can be taken away and
// added.
const never = math.MinInt64 / 2

// Written notes that key i has a new value.
func (k *Keys) Written(i int, now int64, value core.Key) {
	if k.at[i]+nicspec.VisibleCycles < now {
		k.old[i] = k.latest[i]
	}
	k.latest[i], k.at[i] = value, now
	k.open = now + nicspec.VisibleCycles
}

// Sure reports whether every write has taken effect by a cycle.
func (k *Keys) Sure(now int64) bool { return k.open < now }

// Close ends all windows in a cycle.
func (k *Keys) Close(now int64) { k.open = min(k.open, now) }

// Before is the table as an entry may see it for which no write of late has
// taken effect. It is good until the next call.
func (k *Keys) Before(now int64) core.KeyTable {
	for i := range k.old {
		if k.at[i]+nicspec.VisibleCycles < now {
			k.old[i] = k.latest[i]
		}
	}
	return k.old
}
