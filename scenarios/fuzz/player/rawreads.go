package player

import "nictwin/models/format/tlp"

// rawReads tracks the reads in flight of raw requesters, by requester and tag.
type rawReads map[uint16]*[256]bool

func (r rawReads) begin(requester uint16, tag uint8) {
	if r[requester] == nil {
		r[requester] = new([256]bool)
	}
	r[requester][tag] = true
}

// end records an answer.
func (r rawReads) end(h *tlp.Header) {
	if tags := r[h.RequesterID]; tags != nil {
		tags[h.Tag] = false
	}
}

// free reports whether a requester has no read in flight with a tag.
func (r rawReads) free(requester uint16, tag uint8) bool {
	return r[requester] == nil || !r[requester][tag]
}

// freeTag sets x.tag to the requester's next free tag and waits for one if need be.
func (x *player) freeTag(requester uint16) error {
	return x.until("a raw request is answered", func() bool {
		for range 256 {
			if x.reads.free(requester, x.tag) {
				return true
			}
			x.tag++
		}
		return false
	})
}
