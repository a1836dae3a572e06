package windows

import (
	"math"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Keys holds the memory keys, and the previous values of recently written ones. Make it with
// NewKeys.
type Keys struct {
	latest, old []core.Key
	at          []int64 // cycle of each key's latest write
	open        int64   // last cycle in which the device may use an old value
}

// NewKeys returns n keys that were never written.
func NewKeys(n int) *Keys {
	k := &Keys{latest: make([]core.Key, n), old: make([]core.Key, n), at: make([]int64, n), open: never}
	for i := range k.at {
		k.at[i] = never
	}
	return k
}

// never is a cycle before all others, to which a few cycles may be added or subtracted without
// overflow.
const never = math.MinInt64 / 2

// Written records that key i has a new value.
func (k *Keys) Written(i int, now int64, value core.Key) {
	if k.at[i]+nicspec.VisibleCycles < now {
		k.old[i] = k.latest[i]
	}
	k.latest[i], k.at[i] = value, now
	k.open = now + nicspec.VisibleCycles
}

// Sure reports whether every write must have taken effect by a cycle.
func (k *Keys) Sure(now int64) bool { return k.open < now }

// Close records that every write had taken effect by a cycle.
func (k *Keys) Close(now int64) { k.open = min(k.open, now) }

// Before returns the keys without the recent writes, which may not have taken effect. It is valid until the next
// call.
func (k *Keys) Before(now int64) core.KeyTable {
	for i := range k.old {
		if k.at[i]+nicspec.VisibleCycles < now {
			k.old[i] = k.latest[i]
		}
	}
	return k.old
}
