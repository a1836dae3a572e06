package pcielink

import (
	"fmt"

	"nictwin/models/format/tlp"
)

// fault checks a TLP against MPS, MRRS and RCB of the ends. back is set for TLPs from end 1 to end
// 0.
func (s *Spec) fault(h *tlp.Header, payload int, back bool) error {
	src, dst := &s.Ends[0], &s.Ends[1]
	if back {
		src, dst = dst, src
	}
	switch mps := min(src.MPS, dst.MPS); {
	case h.Kind == tlp.KindInvalid:
		return fmt.Errorf("a TLP of a type that is not supported")
	case payload > mps:
		return fmt.Errorf("%v with %d B of payload: want at most the MPS of the link, %d B", h, payload, mps)
	case h.Kind == tlp.MRd && int(h.Length)*tlp.DWBytes > src.MRRS:
		return fmt.Errorf("%v of %d B: want at most the MRRS of its end, %d B", h, int(h.Length)*tlp.DWBytes, src.MRRS)
	case h.Kind == tlp.CplD && splitOff(h, src.RCB):
		return fmt.Errorf(
			"%v that ends in between: want the end of the read, or a multiple of the RCB of its end, %d B", h, src.RCB)
	}
	return nil
}

// splitOff reports whether a completion ends neither where its read ends nor at a multiple of the
// RCB.
func splitOff(h *tlp.Header, rcb int) bool {
	lead := int(h.LowerAddr) % tlp.DWBytes
	n := h.PayloadBytes() - lead
	return h.Status == tlp.StatusSC && n < int(h.ByteCount) && (int(h.LowerAddr)+n)%rcb != 0
}
