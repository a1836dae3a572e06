package play

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Span is a range of transaction numbers, From and To included.
type Span struct{ From, To int }

// kept reports whether a transaction is offered; a nil list keeps all.
func kept(list []Span, id int) bool {
	return list == nil || slices.ContainsFunc(list, func(s Span) bool { return id >= s.From && id <= s.To })
}

// Spans returns the fewest spans that cover exactly the given numbers, which are sorted.
func Spans(ids []int) []Span {
	list := []Span{}
	for _, n := range ids {
		if k := len(list); k > 0 && list[k-1].To == n-1 {
			list[k-1].To = n
		} else if k == 0 || list[k-1].To != n {
			list = append(list, Span{n, n})
		}
	}
	return list
}

// FormatSpans formats a list of spans: 3,7-9.
func FormatSpans(list []Span) string {
	var parts []string
	for _, s := range list {
		if s.From == s.To {
			parts = append(parts, strconv.Itoa(s.From))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", s.From, s.To))
		}
	}
	return strings.Join(parts, ",")
}

// ParseKeep parses a list of spans; an empty text gives a nil list, which keeps all.
func ParseKeep(text string) ([]Span, error) {
	if text == "" {
		return nil, nil
	}
	var list []Span
	for _, part := range strings.Split(text, ",") {
		lo, hi, isSpan := strings.Cut(part, "-")
		if !isSpan {
			hi = lo
		}
		from, err1 := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || from < 0 || to < from {
			return nil, fmt.Errorf("%q: want numbers of transactions such as 3,7-9", part)
		}
		list = append(list, Span{from, to})
	}
	return list, nil
}
