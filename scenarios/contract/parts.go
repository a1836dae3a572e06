package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// missingParts holds that what is of parts that the build lacks is refused in the way that its table says.
func missingParts(r *rig) {
	require.EqualValues(r.t, r.sizes.Parts, r.read(nicspec.RegCap1))
	n := uint64(0)
	for i := range nicspec.Registers {
		reg := &nicspec.Registers[i]
		if r.sizes.Has(reg.Part) {
			continue
		}
		for k := range max(1, min(reg.Count, 40)) {
			off := reg.Offset + uint32(k*reg.Stride)
			r.write(off, 0xffff_ffff)
			require.Zero(r.t, r.read(off), "%s %d", reg.Name, k)
			n++
		}
	}
	require.Equal(r.t, r.sizes.Has(nicspec.PartRss|nicspec.PartAccounts|nicspec.PartPause|nicspec.PartPush), n == 0)
	if !r.sizes.Has(nicspec.PartFlr) {
		r.write(nicspec.RegCtrl, 1<<31)
		r.write(nicspec.RegScratch, 5)
		r.synced()
		require.EqualValues(r.t, 5, r.read(nicspec.RegScratch))
		require.Zero(r.t, r.read(nicspec.RegCtrl))
	}
	if !r.sizes.Has(nicspec.PartAttr) {
		r.write(nicspec.RegDevctl, nicspec.ResetDevctl|3<<9) // relaxed ordering and no snoop
		require.EqualValues(r.t, nicspec.ResetDevctl, r.read(nicspec.RegDevctl))
	}
	if r.sizes.Has(nicspec.PartPush) {
		return
	}
	r.counted("work entries pushed", steps{dev(nicspec.CntRegBad): 2}, func() {
		h := memory(tlp.MWr, nicspec.RegTxPush(1))
		h.Length, h.LastBE = 16, 0xf
		r.send(h, make([]byte, 64))
		h.Address += 64 * 254
		r.send(h, make([]byte, 64))
	})
}
