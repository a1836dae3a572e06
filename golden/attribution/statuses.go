package attribution

import (
	"nictwin/models/nic/nicspec"
)

// Statuses is a set of completion statuses.
type Statuses uint32

// StatusSet returns the set of one status.
func StatusSet(s nicspec.Status) Statuses { return 1 << s }

// Has reports whether a status is in the set.
func (m Statuses) Has(s nicspec.Status) bool { return s < 32 && m>>s&1 != 0 }

// First returns the lowest status of the set.
func (m Statuses) First() (s nicspec.Status) {
	for m != 0 && !m.Has(s) {
		s++
	}
	return s
}

// String lists the statuses as alternatives.
func (m Statuses) String() string {
	if m == 0 {
		return "no status"
	}
	out := ""
	for s := nicspec.Status(0); m>>s != 0; s++ {
		if m.Has(s) {
			if out != "" {
				out += " or "
			}
			out += s.String()
		}
	}
	return out
}
