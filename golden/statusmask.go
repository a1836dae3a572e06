package golden

import (
	"nictwin/models/nicspec"
)

// statusMask is a set of statuses.
type statusMask uint32

func statusBit(s nicspec.Status) statusMask { return 1 << s }

func (m statusMask) has(s nicspec.Status) bool { return s < 32 && m>>s&1 != 0 }

// first is the lowest status of the set.
func (m statusMask) first() (s nicspec.Status) {
	for m != 0 && !m.has(s) {
		s++
	}
	return s
}

func (m statusMask) String() string {
	out := ""
	for s := nicspec.Status(0); m>>s != 0; s++ {
		if m.has(s) {
			if out != "" {
				out += " or "
			}
			out += s.String()
		}
	}
	return out
}
