package attribution

import (
	"nictwin/models/nicspec"
)

// statusMask is a set of statuses.
type statusMask uint32

func StatusSet(s nicspec.Status) statusMask { return 1 << s }

func (m statusMask) Has(s nicspec.Status) bool { return s < 32 && m>>s&1 != 0 }

// First is the lowest status of the set.
func (m statusMask) First() (s nicspec.Status) {
	for m != 0 && !m.Has(s) {
		s++
	}
	return s
}

func (m statusMask) String() string {
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
