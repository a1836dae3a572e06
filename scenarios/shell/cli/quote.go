package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
