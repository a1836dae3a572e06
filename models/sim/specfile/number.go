package specfile

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Forms of numbers that YAML 1.1 and YAML 1.2 read differently, or that only one of them reads as
// numbers.
var (
	leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
	octal       = regexp.MustCompile(`^[-+]?0[oO]_?[0-7][0-7_]*$`)
	binary      = regexp.MustCompile(`^[-+]?0[bB]_?[01][01_]*$`)
	oddHex      = regexp.MustCompile(`^(?:[-+]0[xX]|0X|0x[0-9a-fA-F]*_)[0-9a-fA-F_]*$`)
	underscores = regexp.MustCompile(`^[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?$`)
	base60      = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)
)

// CheckNumber rejects a number that versions of YAML read differently, and says how to write it.
// Numbers are written as in JSON, or as 0x and hexadecimal digits. A text that is not a number in
// any version passes: the caller must reject it.
func CheckNumber(text string) error {
	if err := CheckOctal(text); err != nil {
		return err
	}
	switch {
	case binary.MatchString(text):
		return fmt.Errorf("%q: YAML 1.2 has no binary numbers: want %s", text, written(text))
	case base60.MatchString(text):
		return fmt.Errorf("%q: a number of base 60 in YAML 1.1, a word in YAML 1.2: want %s", text, sexagesimal(text))
	case oddHex.MatchString(text):
		return fmt.Errorf("%q: no number in YAML 1.2: want %s", text, written(text))
	case underscores.MatchString(text):
		return fmt.Errorf("%q: no number in YAML 1.2: want %s", text, strings.ReplaceAll(text, "_", ""))
	}
	return nil
}

// CheckOctal rejects octal numbers, and texts that YAML 1.1 takes for one, where a number is
// expected: 010 is 8 in YAML 1.1 and in Go, 10 in YAML 1.2 and in Verilog.
func CheckOctal(text string) error {
	if octal.MatchString(text) {
		return fmt.Errorf("%q: octal numbers are not read: want %s", text, written(text))
	}
	if !leadingZero.MatchString(text) {
		return nil
	}
	decimal := decimalOf(text)
	old, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 0)
	if !ok || old.String() == decimal {
		return fmt.Errorf("%q: a number does not begin with 0: want %s", text, decimal)
	}
	return fmt.Errorf("%q: %v in YAML 1.1, where a 0 makes it octal, %s in YAML 1.2: want %v or %s", text, old, decimal,
		old, decimal)
}

// decimalOf reads a whole number with leading zeros as decimal.
func decimalOf(text string) string {
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 10)
	if !ok {
		return "digits alone"
	}
	return n.String()
}

// written returns the number of a text with a base prefix, in decimal.
func written(text string) string {
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 0)
	if !ok {
		return "decimal digits"
	}
	return n.String()
}

// sexagesimal returns the value of a number of base 60, in decimal.
func sexagesimal(text string) string {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(text, "_", ""), ".")
	sum := new(big.Int)
	for _, digits := range strings.Split(strings.TrimLeft(whole, "+-"), ":") {
		n, _ := new(big.Int).SetString(digits, 10) // base60 has only digits
		sum.Add(sum.Mul(sum, big.NewInt(60)), n)
	}
	value := sum.String()
	if fraction != "" {
		value += "." + fraction
	}
	if strings.HasPrefix(whole, "-") {
		value = "-" + value
	}
	return value
}

// Quoted reports whether a scalar is quoted or a block of text, which no version of YAML takes for
// a number.
func Quoted(n *yaml.Node) bool {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&quotes != 0 && n.Style&yaml.TaggedStyle == 0
}
