package kit

import (
	"nictwin/models/nic/nicspec"
)

// BusyFalls waits until the busy pin is 0: no work is left [B8] [C3].
func (r *Rig) BusyFalls() {
	r.T.Helper()
	from := r.Bed.NIC.Cycles()
	r.Until("the busy pin is 0 [B8]", func() bool {
		r.Read(nicspec.RegStatus) // makes the Go NIC end its idle interval: it reports an interval only when it ends
		return r.IdleAt > from
	})
}
