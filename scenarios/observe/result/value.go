package result

import (
	"math/big"
	"regexp"
)

// shownNumbers are the ways in which people are shown a number: 0x1f, 31 (0x1f), FLUSHED (5); also with what is in it,
// or where it stands (0x1030000: Write Rule 0, 0x35 at byte 3 of the frame).
var shownNumbers = []*regexp.Regexp{
	regexp.MustCompile(`^(0x[0-9a-f]+)(?:: .*| at byte [0-9]+ of the frame)?$`),
	regexp.MustCompile(`^([0-9]+) \(0x[0-9a-f]+\)$`),
	regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:\([0-9]+\))? \(([0-9]+)\)$`),
}

// Value is a value for scripts, made of what people are shown: a number is its decimal digits and nothing else; what
// is no number stays as it is.
func Value(shown string) string {
	for _, form := range shownNumbers {
		if m := form.FindStringSubmatch(shown); m != nil {
			if n, ok := new(big.Int).SetString(m[1], 0); ok {
				return n.String()
			}
		}
	}
	return shown
}
