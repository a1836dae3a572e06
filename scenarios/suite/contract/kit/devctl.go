package kit

import (
	"nictwin/models/nic/nicspec"
)

// SetDevctl writes DEVCTL directly, since the driver refuses codes that name no limit.
func (r *Rig) SetDevctl(mps, mrrs, attr uint32) {
	r.T.Helper()
	var d nicspec.DevctlReg
	d.SetMps(mps)
	d.SetMrrs(mrrs)
	d.SetRelaxedOrdering(attr&2 != 0)
	d.SetNoSnoop(attr&1 != 0)
	r.Write(nicspec.RegDevctl, uint32(d))
}
