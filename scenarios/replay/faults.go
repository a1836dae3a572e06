package replay

import (
	"fmt"

	"nictwin/scenarios/observe/result"
)

// faults collects findings of the end-to-end check: the first few, and the total number.
type faults struct {
	n     int
	first []result.Finding
}

const faultsKept = 8

// add adds a finding and formats its text.
func (f *faults) add(x result.Finding, format string, a ...any) {
	f.n++
	if len(f.first) < faultsKept {
		x.Text = fmt.Sprintf(format, a...)
		x.About(x.Frame)
		f.first = append(f.first, x)
	}
}

// diff describes the first difference between two byte strings.
type diff struct{ field, want, got, text string }

func firstDiff(want, got []byte) diff {
	for i := range min(len(want), len(got)) {
		if w, g := want[i], got[i]; w != g {
			return diff{fmt.Sprintf("byte %d", i), fmt.Sprintf("%#02x", w), fmt.Sprintf("%#02x", g),
				fmt.Sprintf("byte %d is %#02x, want %#02x", i, g, w)}
		}
	}
	w, g := len(want), len(got)
	return diff{"length", fmt.Sprint(w), fmt.Sprint(g), fmt.Sprintf("%d bytes, want %d", g, w)}
}
