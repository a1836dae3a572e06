package coverage

import "nictwin/models/nic/nicspec"

// Words in the names of bins for buffers that were filled completely and for indices that wrapped.
var (
	EndsWhileHeld = []string{"a frame of the other port", "a Nop", "another opcode", "a port that there is not",
		"a copy"}
	BehindHeld = []string{"64 frames", "352 frames of up to 128 B", "96 KB", "516 beats, a longest frame last",
		"a beat more"}
	Beyond = []string{"receive", "transmit", "transmit, completion entries", "an entry of several blocks"}
	Filled = []string{"a transmit ring", "a receive ring", "64 transmit queues, or all", "256 reads under way",
		"512 register reads under way",
		"880 lines come in and no TLP leaves", "1024 lines come in and no TLP leaves",
		"16 frames leave and no TLP does"}
)

// fills adds the groups of bins for buffers filled completely.
func (u *Universe) fills() {
	if u.sizes.Has(nicspec.PartPause) {
		u.add("behind a held port", BehindHeld, portWords)
		if u.sizes.Ports > 1 {
			n := len(EndsWhileHeld)
			if !u.sizes.Has(nicspec.PartCopy) {
				n--
			}
			u.add("ends while a port is held", EndsWhileHeld[:n], portWords)
		}
		if u.sizes.Has(nicspec.PartLong) {
			u.add("doorbells inside, port full", names("after %d blocks", 1, 2, 3))
		}
	}
	n := len(Beyond)
	if !u.sizes.Has(nicspec.PartLong) {
		n--
	}
	u.add("indices beyond 65,536", Beyond[:n])
	u.add("filled", Filled)
}
