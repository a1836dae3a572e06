package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"nictwin/models/sim/field"
)

// Flags maps field paths of specs and options to the flags that set them. Fields not listed have no flag.
var Flags = map[field.Path]string{
	"nic": "nic", "dut": "dut", "variant": "variant", "connect": "connect", "ports": "ports", "eth_bits": "eth-bits",
	"coverage": "rtl-coverage", "rtl_coverage": "rtl-coverage", "stall": "stall",

	"dir": "dir", "pace": "speed", "max_gap": "max-gap", "loop": "loop", "limit": "limit",

	"ref_s": "ref-s", "ref_mb": "ref-mb", "ref_count": "ref-count",

	"build": "build", "runs": "runs", "skip": "skip", "time": "time", "jobs": "jobs", "most": "failures",
	"count": "count", "cut": "cut", "window": "window", "processes": "processes", "wait": "wait",
	"tie": "tie", "clock": "clock", "resets": "resets", "stream": "stream",
	"transactions": "transactions", "repeats": "repeats", "percent": "percent", "seeds": "seeds",
	"leave_one_out": "leave-one-out",
}

// flag returns the flag that sets a field, or else the field's path.
func flag(p field.Path) string {
	if f, ok := Flags[p]; ok {
		return "--" + f
	}
	return string(p)
}

// flagError is an error whose text names flags instead of fields.
type flagError struct {
	error
	text string
}

func (e *flagError) Error() string { return e.text }

// Unwrap returns the error that names fields.
func (e *flagError) Unwrap() error { return e.error }

// withFlags replaces fields by their flags in an error's text.
func withFlags(err error) error {
	if err == nil {
		return nil
	}
	text, done := err.Error(), 0
	for _, e := range fieldErrors(err) {
		if at := strings.Index(text[done:], e.Error()); at >= 0 { // a wrapper may have changed the text
			spelled := e.Spelled(flag)
			text = text[:done+at] + spelled + text[done+at+len(e.Error()):]
			done += at + len(spelled)
		}
	}
	if text == err.Error() {
		return err
	}
	return &flagError{err, text}
}

// fieldErrors returns the field errors inside an error, in the order of its text.
func fieldErrors(err error) (list []*field.Error) {
	switch e := err.(type) {
	case *field.Error:
		return []*field.Error{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			list = append(list, fieldErrors(one)...)
		}
	case interface{ Unwrap() error }:
		return fieldErrors(e.Unwrap())
	}
	return list
}

// plain lists the characters, in addition to letters and digits, that need no quotes in a shell.
const plain = "_-./,:=+@%"

// Quote joins words to a command line that a POSIX shell splits into these words.
func Quote(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = quote(w)
	}
	return strings.Join(q, " ")
}

func quote(w string) string {
	safe := w != ""
	for i := 0; i < len(w) && safe; i++ {
		c := w[i]
		safe = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0
	}
	if safe {
		return w
	}
	if !strings.HasSuffix(w, "\n") && w[:min(len(w), 1)] != "-" &&
		(strings.ContainsFunc(w, unicode.IsControl) || !utf8.ValidString(w)) {
		return printed(w)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// printed turns a word that contains control characters, on which a terminal would act, into "$(printf '…')" with the
// characters as octal escapes. Limit: a shell drops line breaks at the end of such a word.
func printed(w string) string {
	var b strings.Builder
	for i := range len(w) {
		switch c := w[i]; {
		case c == '%':
			b.WriteString("%%")
		case c < 0x20 || c >= 0x7f || c == '\'' || c == '\\':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return `"$(printf '` + b.String() + `')"`
}
