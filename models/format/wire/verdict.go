package wire

import "fmt"

// Verdict is the result of checking a checksum or CRC.
type Verdict uint8

// The verdicts.
const (
	// NotChecked: the packet carries no such checksum.
	NotChecked Verdict = iota
	OK
	Bad
	// Truncated: there are fewer bytes than the packet's own length says, or
	// that length is too small to hold the checksum.
	Truncated
)

func (v Verdict) String() string {
	names := [...]string{"not checked", "ok", "bad", "truncated"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}
