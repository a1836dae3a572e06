package golden

import (
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// keyWindow is the memory keys and the writes that may not have taken effect.
type keyWindow struct {
	latest, old []core.Key
	at          []int64 // cycle of each key's latest write
	open        int64   // last cycle in which an older key may be seen
}

// write notes that key i has a new value.
func (k *keyWindow) write(i int, now int64, value core.Key) {
	if k.at[i]+nicspec.VisibleCycles < now {
		k.old[i] = k.latest[i]
	}
	k.latest[i], k.at[i] = value, now
	k.open = now + nicspec.VisibleCycles
}

// before is the table as an entry may see it for which no write of late has
// taken effect.
func (k *keyWindow) before(now int64) core.KeyTable {
	for i := range k.old {
		if k.at[i]+nicspec.VisibleCycles < now {
			k.old[i] = k.latest[i]
		}
	}
	return k.old
}
