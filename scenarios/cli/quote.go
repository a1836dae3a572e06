package cli

import "strings"

// plain are the bytes that no shell looks at, beside letters and digits.
const plain = "_-./,:=+@%"

// Quote joins words to a command line that a POSIX shell takes apart into the same words.
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
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
