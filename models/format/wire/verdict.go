package wire

import "fmt"

// Verdict is the result of checking a checksum or CRC.
type Verdict uint8

// The verdicts.
const (
	// NotChecked: the packet has no such checksum.
	NotChecked Verdict = iota
	OK
	Bad
	// Truncated: the packet is shorter than its own length field says, or the length is too small
	// for the checksum.
	Truncated
)

func (v Verdict) String() string {
	names := [...]string{"not checked", "ok", "bad", "truncated"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}
