package nic

import "nictwin/models/nicspec"

// What stands here lets a caller have one block's function without the blocks
// around it.

// Steer is [R5] and [S3] for a frame that came in on port and whose headers are
// known: rule, queue or drop, hash and account of v.
func (c *Config) Steer(port int, h *Headers, v *RxVerdict) {
	*v = RxVerdict{Drop: NoDrop, Rule: nicspec.RuleNone, Headers: *h}
	c.steer(port, v)
}

// CheckCRC32C judges the payload CRC-32C of a frame, as a queue in mode Check
// does, and gives its value [X3, X4].
func CheckCRC32C(frame []byte, h *Headers) (uint32, nicspec.Verdict) { return checkCRC32C(frame, h) }

// CRC32CRange is the bytes of a frame that CheckCRC32C covers; from >= to for
// none [X3].
func (h *Headers) CRC32CRange() (from, to int) { return h.crc32cRange() }
