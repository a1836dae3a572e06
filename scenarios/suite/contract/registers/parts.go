package registers

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// missingParts checks that parts that the build lacks have no effect: their registers read 0, a function-level reset
// and request attributes cannot be set, and pushes are refused.
func missingParts(r *kit.Rig) {
	require.EqualValues(r.T, r.Sizes.Parts, r.Read(nicspec.RegCap1))
	n := uint64(0)
	for i := range nicspec.Registers {
		reg := &nicspec.Registers[i]
		if r.Sizes.Has(reg.Part) {
			continue
		}
		for k := range max(1, min(reg.Count, 40)) {
			off := reg.Offset + uint32(k*reg.Stride)
			r.Write(off, 0xffff_ffff)
			require.Zero(r.T, r.Read(off), "%s %d", reg.Name, k)
			n++
		}
	}
	require.Equal(r.T, r.Sizes.Has(nicspec.PartRss|nicspec.PartAccounts|nicspec.PartPause|nicspec.PartPush), n == 0)
	if !r.Sizes.Has(nicspec.PartFlr) {
		r.Write(nicspec.RegCtrl, 1<<31)
		r.Write(nicspec.RegScratch, 5)
		r.Synced()
		require.EqualValues(r.T, 5, r.Read(nicspec.RegScratch))
		require.Zero(r.T, r.Read(nicspec.RegCtrl))
	}
	if !r.Sizes.Has(nicspec.PartAttr) {
		r.Write(nicspec.RegDevctl, nicspec.ResetDevctl|3<<9) // relaxed ordering and no snoop
		require.EqualValues(r.T, nicspec.ResetDevctl, r.Read(nicspec.RegDevctl))
	}
	if r.Sizes.Has(nicspec.PartPush) {
		return
	}
	r.Counted("work entries pushed", kit.Steps{kit.DevCounter(nicspec.CntRegBad): 2}, func() {
		h := kit.Memory(tlp.MWr, nicspec.RegTxPush(1))
		h.Length, h.LastBE = 16, 0xf
		r.Send(h, make([]byte, 64))
		h.Address += 64 * 254
		r.Send(h, make([]byte, 64))
	})
}
