package report

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// Diff shows an expected and an actual value with their differences marked.
type Diff struct {
	Kind string // number, bytes, or words for any other text
	Rows [2]DiffRow
	Note string // how many bits or bytes of the two values differ, and which
}

// DiffRow is one of the two values of a Diff.
type DiffRow struct {
	Name  string // expected or got
	Plain string // the value as text; a number in decimal
	Hex   string // a number in hexadecimal
	Parts []Part // bits from the most significant one on, or bytes in order
}

// Part is a run of bits or bytes that all differ from the other value, or all equal it.
type Part struct {
	Text    string
	Differs bool
}

var (
	decimal = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	inHex   = regexp.MustCompile(`^([0-9a-f]{2})+$`)
)

// Limits on values shown bit by bit or byte by byte.
const (
	maxBits   = 64
	maxDigits = 200 // decimal digits of a number; longer numbers are compared as text
	maxBytes  = 256
	lead      = 8 // bytes shown before the first that differs, in long values
)

// diff compares two values in the form in which findings have them.
func diff(expected, got string) *Diff {
	d := &Diff{Kind: "words"}
	for i, v := range [...]string{expected, got} {
		d.Rows[i] = DiffRow{Name: [...]string{"expected", "got"}[i], Plain: v}
	}
	switch {
	case decimal.MatchString(expected) && decimal.MatchString(got) && max(len(expected), len(got)) <= maxDigits:
		d.numbers()
	case inHex.MatchString(expected) && inHex.MatchString(got):
		d.bytes()
	}
	return d
}

// numbers marks the differing bits of two numbers, or the hexadecimal digits of wide ones.
func (d *Diff) numbers() {
	var n [2]*big.Int
	for i := range n {
		n[i], _ = new(big.Int).SetString(d.Rows[i].Plain, 10) // cannot fail: both values match pattern `decimal`
		d.Rows[i].Hex = "0x" + n[i].Text(16)
	}
	d.Kind = "number"
	width := (max(n[0].BitLen(), n[1].BitLen(), 1) + 7) / 8 * 8
	per := 1
	if width > maxBits {
		per = 4
	}
	var differ []string
	lo := -1
	for at := 0; at <= width; at++ { // bit by bit, from bit 0 on
		switch other := at < width && n[0].Bit(at) != n[1].Bit(at); {
		case other && lo < 0:
			lo = at
		case !other && lo >= 0:
			differ = append(differ, span(lo, at-1))
			lo = -1
		}
	}
	for i := range n {
		var digits []string
		var marks []bool
		for at := width - per; at >= 0; at -= per {
			mask := big.NewInt(1<<per - 1)
			a := new(big.Int).And(new(big.Int).Rsh(n[i], uint(at)), mask)
			b := new(big.Int).And(new(big.Int).Rsh(n[1-i], uint(at)), mask)
			digits, marks = append(digits, a.Text(16)), append(marks, a.Cmp(b) != 0)
			if at%(4*per) == 0 && at > 0 {
				digits, marks = append(digits, " "), append(marks, false)
			}
		}
		d.Rows[i].Parts = parts(digits, marks)
	}
	if len(differ) > 0 {
		d.Note = fmt.Sprintf("%d of %d bits differ: %s", distance(n[0], n[1]), width, strings.Join(differ, ", "))
	}
}

// distance counts the bits in which two numbers differ.
func distance(a, b *big.Int) (n int) {
	x := new(big.Int).Xor(a, b)
	for i := range x.BitLen() {
		n += int(x.Bit(i))
	}
	return n
}

// span names bits or bytes from a to b.
func span(a, b int) string {
	if a == b {
		return fmt.Sprint(a)
	}
	return fmt.Sprintf("%d–%d", a, b)
}

// bytes marks the differing bytes; long values are shown from shortly before the first of them.
func (d *Diff) bytes() {
	var b [2][]byte
	for i := range b {
		b[i], _ = hex.DecodeString(d.Rows[i].Plain) // cannot fail: both match inHex
	}
	d.Kind = "bytes"
	first, count, longest := -1, 0, max(len(b[0]), len(b[1]))
	same := func(k int) bool { return k < len(b[0]) && k < len(b[1]) && b[0][k] == b[1][k] }
	for k := range longest {
		if !same(k) {
			count++
			if first < 0 {
				first = k
			}
		}
	}
	if first < 0 {
		return
	}
	from := 0
	if longest > maxBytes {
		from = max(0, first-lead)
	}
	for i := range b {
		var digits []string
		var marks []bool
		for k := from; k < min(longest, from+maxBytes); k++ {
			text := "‒‒" // the other value is longer
			if k < len(b[i]) {
				text = fmt.Sprintf("%02x", b[i][k])
			}
			digits, marks = append(digits, text, " "), append(marks, !same(k), false)
		}
		d.Rows[i].Parts = parts(digits, marks)
		d.Rows[i].Plain = fmt.Sprintf("%d bytes", len(b[i]))
	}
	d.Note = fmt.Sprintf("%d of %d bytes differ, the first at byte %d", count, longest, first)
	if from > 0 || longest > from+maxBytes {
		d.Note += fmt.Sprintf("; shown from byte %d", from)
	}
}

// parts joins neighbours that are marked alike.
func parts(texts []string, marks []bool) (list []Part) {
	for i, t := range texts {
		if n := len(list); n > 0 && list[n-1].Differs == marks[i] {
			list[n-1].Text += t
			continue
		}
		list = append(list, Part{t, marks[i]})
	}
	return list
}

// Field is one field of an entry that the device wrote and the reference decoded.
type Field struct {
	Name, Expected, Got string
	Differs             bool
}

var (
	reEntry = regexp.MustCompile(`(?m)^ *(got|expected) +([A-Za-z0-9_]+)\{(.*)\}$\n?`)
	reField = regexp.MustCompile(`(?:^| )([A-Za-z_][A-Za-z0-9_.\[\]]*)=`)
)

// entryFields compares two decoded entries in the text of a finding, field by field; rest is the text without them.
func entryFields(text string) (name string, list []Field, rest string) {
	found := reEntry.FindAllStringSubmatch(text, -1)
	if len(found) != 2 || found[0][1] == found[1][1] || found[0][2] != found[1][2] {
		return "", nil, text
	}
	got, expected := found[0], found[1]
	if got[1] != "got" {
		got, expected = expected, got
	}
	want := assignments(expected[3])
	seen := map[string]bool{}
	for _, f := range assignments(got[3]) {
		x := Field{Name: f[0], Got: f[1]}
		for _, w := range want {
			if w[0] == f[0] {
				x.Expected = w[1]
			}
		}
		x.Differs = x.Got != x.Expected
		seen[x.Name] = true
		list = append(list, x)
	}
	for _, w := range want {
		if !seen[w[0]] {
			list = append(list, Field{w[0], w[1], "", true})
		}
	}
	return got[2], list, reEntry.ReplaceAllString(text, "")
}

// assignments splits text such as `a=1 b=Ok (2) c=x` into names and values.
func assignments(s string) (list [][2]string) {
	at := reField.FindAllStringSubmatchIndex(s, -1)
	for i, m := range at {
		end := len(s)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		list = append(list, [2]string{s[m[2]:m[3]], s[m[1]:end]})
	}
	return list
}

// brief shortens a value to n characters. It shows numbers above 9 in hexadecimal, as hardware does.
func brief(n int, value string) string {
	if decimal.MatchString(value) && len(value) > 1 && len(value) <= maxDigits {
		x, _ := new(big.Int).SetString(value, 10) // cannot fail: value matches pattern `decimal`
		value = "0x" + x.Text(16)
	}
	return clip(n, value)
}
