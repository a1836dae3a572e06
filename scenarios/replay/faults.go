package replay

import "fmt"

// faults collects what the end-to-end check finds: the first few in words, all
// in number.
type faults struct {
	n     int
	first []string
}

const faultsKept = 8

func (f *faults) add(format string, a ...any) {
	f.n++
	if len(f.first) < faultsKept {
		f.first = append(f.first, fmt.Sprintf(format, a...))
	}
}

// firstDiff is where two byte strings differ first, and what stands there.
func firstDiff(want, got []byte) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("byte %d is %#02x, want %#02x", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}
