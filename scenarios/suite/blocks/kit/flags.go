package kit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
)

func Flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Direction returns a rule whose action, queue and account are drawn at random.
func Direction(rng *rand.Rand) (f nicspec.RuleEntryFields) {
	f.Valid, f.Action = 1, Pick(rng, nicspec.ActionDrop, nicspec.ActionQueue, nicspec.ActionRss, nicspec.ActionRss)
	f.Queue, f.RssLog = QueueFor(rng, f.Action), uint8(rng.IntN(nicspec.RssLogMax+1))
	if f.Action != nicspec.ActionDrop && Maybe(rng, 40) {
		f.AccountEn, f.Account = 1, uint8(rng.IntN(nicspec.NumAccounts))
		f.SlowQueue = uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))
	}
	return f
}

// PutNum writes a little-endian number that fills all of b.
func PutNum(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
