package kit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
)

// RxqEntry returns a random entry, in most cases one that can be enabled.
func RxqEntry(rng *rand.Rand) nicspec.RxqEntryFields {
	const align = 63
	f := nicspec.RxqEntryFields{
		Enable: Pick(rng, 0, 0, 1, 1, 1, uint8(rng.IntN(3))), SplitMode: nicspec.SplitMode(rng.IntN(3)),
		LogSize:  uint8(2 + rng.IntN(14)),
		SplitLen: uint16(rng.Uint32()), HdrBufSize: uint16(rng.Uint32()), PayBufSize: uint16(rng.Uint32()),
		RingBase: rng.Uint64() &^ align, CqBase: rng.Uint64() &^ align, CrcMode: nicspec.CrcMode(rng.IntN(3)),
		MsixAddr: rng.Uint64() &^ 3, MsixData: rng.Uint32(), ModCount: uint16(rng.Uint32()),
		ModCycles: uint16(rng.Uint32()),
		// ignored in a write
		State: nicspec.QueueState(rng.IntN(3)), Pi: uint16(rng.Uint32()), Ci: uint16(rng.Uint32()),
		Cqi: uint16(rng.Uint32()),
	}
	switch rng.IntN(16) {
	case 0:
		f.SplitMode = 3
	case 1:
		f.LogSize = uint8(rng.Uint32())
	case 2:
		f.RingBase |= 1 << rng.IntN(6)
	case 3:
		f.CqBase |= 1 << rng.IntN(6)
	case 4:
		f.PayBufSize = 0
	case 5:
		f.HdrBufSize = 0
	case 6:
		f.CrcMode = 3
	case 7:
		f.MsixAddr |= uint64(rng.IntN(4))
	case 8:
		f.EcnMode = uint8(rng.IntN(3))
	}
	return f
}

// Credits returns few credits, or so many that a sum exceeds what an account can store.
func Credits(rng *rand.Rand) uint32 {
	return Pick(rng, 0, uint32(rng.IntN(4)), uint32(rng.IntN(4)), nicspec.CreditMax-uint32(rng.IntN(3)),
		rng.Uint32N(nicspec.CreditMax+100))
}

// QueueFor returns a queue number for a rule or, for action Rss, an index of the indirection table.
func QueueFor(rng *rand.Rand, a nicspec.Action) uint16 {
	if a == nicspec.ActionRss {
		return uint16(Pick(rng, 0, 0, 1, rng.IntN(nicspec.RssEntries), nicspec.RssEntries-1))
	}
	return uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))
}
