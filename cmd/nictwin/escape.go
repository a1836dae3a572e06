package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"nictwin/scenarios/shell/files"
)

// escaper writes text that cannot move a terminal's cursor or forge a line. Control characters, characters that change
// the writing direction and bytes that are not UTF-8 become escapes, spelled as in JSON. All output passes through an
// escaper, including names of files, streams and cases and messages of devices; only the program's own colours do not.
type escaper struct {
	w io.Writer
	// names escapes line breaks and tabs in words of the command line; in other text they are allowed.
	names *strings.Replacer
}

// newEscaper returns an escaper for a program with this command line.
func newEscaper(w io.Writer, words []string) *escaper {
	var pairs []string
	for _, word := range words {
		for _, part := range strings.Split(word, string(filepath.Separator)) {
			if strings.ContainsAny(part, "\n\t") {
				pairs = append(pairs, part, files.Shown(part))
			}
		}
	}
	return &escaper{w, strings.NewReplacer(pairs...)}
}

// Write writes all of a text, or returns an error.
func (e *escaper) Write(b []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(e.names.Replace(string(b)))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escape replaces control characters, direction changes and invalid UTF-8 by escapes. Line breaks and tabs stay.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		default:
			for _, u := range utf16.Encode([]rune{r}) { // escaped like JSON strings: by UTF-16 code units
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		}
	}
	return b.String()
}
