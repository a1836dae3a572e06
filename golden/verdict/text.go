package verdict

import "fmt"

// Between formats a range of numbers.
func Between(lo, hi uint64) string {
	if lo == hi {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

// FirstDifference returns the index of the first byte in which b differs from a, else len(a); b must
// not be shorter than a.
func FirstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// ByteOf formats a byte of a frame.
func ByteOf(b byte, at int) string { return fmt.Sprintf("0x%02x at byte %d of the frame", b, at) }
