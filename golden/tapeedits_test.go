package golden

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// steerElsewhere changes the destination address of a received frame that was delivered to queue 0, so that the
// device should have steered it elsewhere.
func steerElsewhere(p *tape, dmac uint8) {
	e := nicspec.RxCqe(p.get(0, rxCqe(0)).TLP.Data)
	seq := uint32(0)
	for i := range p.s {
		if x := &p.s[i]; x.Kind == boundary.FrameIn && x.Port == int(e.Port()) {
			if seq == e.PortSeq() {
				x.Frame.Data[0] = dmac
				return
			}
			seq++
		}
	}
}

// swapFrames exchanges the first two frames of queue 0. The completion entry between them then follows both.
func swapFrames(p *tape) {
	f, c := p.find(0, frameOut(0)), p.find(0, txCqe(0))
	k := p.find(1, frameOut(0)) + 1
	p.move(f, k-1)
	p.move(c-1, k-1)
}

// unasked inserts a completion entry for a work entry that requests none.
func unasked(p *tape) {
	i := p.find(0, txCqe(0))
	x := clone(p.s[i])
	e := nicspec.TxCqe(x.TLP.Data)
	e.SetIndex(e.Index() + 1)
	p.header(&x, func(h *tlp.Header) { h.Address += 64 })
	p.insert(p.find(1, frameOut(0))+1, x)
}

// failing returns the completion entry of a work entry that fails.
func failing(p *tape) nicspec.TxCqe {
	return p.get(0, func(x *boundary.Crossing) bool {
		return txCqe(1)(x) && nicspec.TxCqe(x.TLP.Data).Status() != nicspec.StatusOk
	}).TLP.Data
}
