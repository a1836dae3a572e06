package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// clip shortens a text to at most n characters.
func clip(n int, s string) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// short shortens a hash.
func short(s string) string {
	if len(s) <= 12 {
		return s
	}
	return s[:12]
}

// comma formats a whole number with separators of thousands.
func comma(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// si formats a figure: whole numbers in full, others with four digits.
func si(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return comma(int64(f))
	}
	if math.Abs(f) >= 1000 {
		return comma(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// duration formats simulated time.
func duration(ps int64) string {
	if ps < 1000 {
		return fmt.Sprintf("%d ps", ps)
	}
	return time.Duration(ps / 1000).String()
}

// bar draws a share in percent.
func bar(percent float64) template.HTML {
	p := min(max(percent, 0), 100)
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" `+
		`aria-hidden="true"><rect class="all" width="100" height="8"/>`+
		`<rect class="hit" width="%.1f" height="8"/></svg>`, p)) // a number needs no escaping
}

// Quality words the change of a figure for people who do not see its colour.
func (f *Figure) Quality() string {
	percent, ok := f.Change()
	switch {
	case f.Before == nil:
		return "no earlier value"
	case *f.Before == f.Value:
		return "unchanged"
	}
	s := "changed from " + si(*f.Before)
	if ok {
		s = strings.Replace(fmt.Sprintf("%+.1f%%", percent), "-", "−", 1)
	}
	if f.Worse() {
		s += ", worse"
	} else if f.better != 0 {
		s += ", better"
	}
	return s
}

// size formats the size of a file.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
