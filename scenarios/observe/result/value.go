package result

import (
	"math/big"
	"regexp"
)

// shownNumbers match the formats in which numbers are printed for people: 0x1f, 31 (0x1f), FLUSHED (5), or a number
// with its meaning or its position (0x1030000: Write Rule 0, 0x35 at byte 3 of the frame).
var shownNumbers = []*regexp.Regexp{
	regexp.MustCompile(`^(0x[0-9a-f]+)(?:: .*| at byte [0-9]+ of the frame)?$`),
	regexp.MustCompile(`^([0-9]+) \(0x[0-9a-f]+\)$`),
	regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:\([0-9]+\))? \(([0-9]+)\)$`),
}

// Value converts a printed value for scripts: a number becomes plain decimal digits; anything else is unchanged.
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
