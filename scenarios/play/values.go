package play

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/specfile"
)

// Values is the set from which a value is drawn: one number, a range `lo..hi` or `lo..hi step N`, a list of these,
// `any`, `count` (0, 1, 2, …), `count * N` (0, N, 2N, …), or `bytes of STREAM`: the length of the coupled packet.
type Values struct {
	Ranges  [][2]uint64
	Steps   []uint64 // step of each range; nil: every step is 1
	Any     bool
	Count   uint64 // increment of `count` from one transaction to the next; 0: the values are no `count`
	BytesOf string
}

// given reports whether v holds values: whether the manifest sets them.
func (v *Values) given() bool {
	return v != nil && (len(v.Ranges) > 0 || v.Any || v.Count > 0 || v.BytesOf != "")
}

// UnmarshalYAML parses values in the forms that Values lists.
func (v *Values) UnmarshalYAML(n *yaml.Node) error {
	*v = Values{}
	for _, x := range append([]*yaml.Node{n}, n.Content...) {
		if err := checkOctals(x.Value); err != nil {
			return err
		}
	}
	if n.Kind == yaml.SequenceNode {
		for _, x := range n.Content {
			if err := v.add(x.Value); err != nil || x.Kind != yaml.ScalarNode {
				return fmt.Errorf("%q: want numbers and ranges such as 1..64 or 0..64 step 4", x.Value)
			}
		}
		if len(v.Ranges) == 0 {
			return fmt.Errorf("an empty list: want numbers and ranges such as 1..64")
		}
		return nil
	}
	stream, of := strings.CutPrefix(n.Value, "bytes of ")
	step, counts := strings.CutPrefix(n.Value, "count *")
	switch {
	case n.Kind != yaml.ScalarNode:
		return fmt.Errorf("a group of fields: want a number, a range such as 1..64, a list of these, any, count, or " +
			"bytes of STREAM")
	case n.Value == "any":
		v.Any = true
	case n.Value == "count":
		v.Count = 1
	case counts:
		x, err := strconv.ParseUint(strings.TrimSpace(step), 0, 64)
		if err != nil || x == 0 {
			return fmt.Errorf("%q: want count * N, N a number above 0", n.Value)
		}
		v.Count = x
	case of && stream != "":
		v.BytesOf = stream
	default:
		return v.add(n.Value)
	}
	return nil
}

// checkOctals refuses octal numbers in a text.
func checkOctals(text string) error {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '.' || r == '*' }) {
		if err := specfile.CheckOctal(word); err != nil {
			return err
		}
	}
	return nil
}

// add parses a number or a range, with its step.
func (v *Values) add(text string) error {
	between, by, stepped := strings.Cut(text, " step ")
	r, err := parseRange(between)
	if err != nil {
		return err
	}
	step := uint64(1)
	if stepped {
		if step, err = strconv.ParseUint(strings.TrimSpace(by), 0, 64); err != nil || step == 0 {
			return fmt.Errorf("%q: want a range and a step above 0, such as 0..64 step 4", text)
		}
	}
	v.Ranges, v.Steps = append(v.Ranges, r), append(v.Steps, step)
	return nil
}

// step returns the step of a range.
func (v *Values) step(i int) uint64 {
	if i < len(v.Steps) {
		return v.Steps[i]
	}
	return 1
}

func parseRange(text string) (r [2]uint64, err error) {
	lo, hi, isRange := strings.Cut(text, "..")
	if !isRange {
		hi = lo
	}
	for i, s := range []string{lo, hi} {
		if r[i], err = strconv.ParseUint(strings.TrimSpace(s), 0, 64); err != nil {
			return r, fmt.Errorf("%q: want a number, a range such as 1..64, a list of these, any, count, or bytes of "+
				"STREAM", text)
		}
	}
	if r[0] > r[1] {
		return r, fmt.Errorf("%q: the range ends before it begins", text)
	}
	return r, nil
}

// sameNumber reports whether two texts denote one number, such as 16 and 0x10.
func sameNumber(a, b string) bool {
	x, okX := new(big.Float).SetString(a)
	y, okY := new(big.Float).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// most returns the largest of the values.
func (v *Values) most() uint64 {
	m := uint64(0)
	for _, r := range v.Ranges {
		m = max(m, r[1])
	}
	return m
}

// least returns the smallest of the values.
func (v *Values) least() uint64 {
	m := ^uint64(0)
	for _, r := range v.Ranges {
		m = min(m, r[0])
	}
	return m
}

// has reports whether x is one of the values.
func (v *Values) has(x uint64) bool {
	for i, r := range v.Ranges {
		if x >= r[0] && x <= r[1] && (x-r[0])%v.step(i) == 0 {
			return true
		}
	}
	return false
}

// draw draws one of the values. About half of the draws are corners: an end of the range, a power of two, a multiple of
// a page, or a number one below or above these. The others are uniform over the range, or over its powers of two.
func (v *Values) draw(r *rand.Rand) uint64 {
	i := r.IntN(len(v.Ranges))
	lo, hi := v.Ranges[i][0], v.Ranges[i][1]
	n := drawBetween(r, lo, hi)
	return n - (n-lo)%v.step(i)
}

func drawBetween(r *rand.Rand, lo, hi uint64) uint64 {
	span := hi - lo
	at := func(n uint64) uint64 { return max(lo, min(hi, n)) }
	switch k := r.IntN(16); {
	case span == 0:
		return lo
	case k < 2:
		return lo
	case k < 4:
		return hi
	case k == 4:
		return at(lo + 1)
	case k == 5:
		return at(hi - 1)
	case k == 6:
		return at(neighbour(r, 1<<r.IntN(bits.Len64(hi))))
	case k == 7 && hi >= page:
		return at(neighbour(r, (lo+uniform(r, span))/page*page))
	case k < 10: // each power of two is equally likely
		return at(lo + uniform(r, max(1, span>>r.IntN(bits.Len64(span)))))
	}
	return lo + uniform(r, span)
}

const page = 4096

// neighbour returns n, n-1 or n+1: n in half of the draws.
func neighbour(r *rand.Rand, n uint64) uint64 {
	switch r.IntN(4) {
	case 0:
		return n - min(n, 1)
	case 1:
		return n + 1
	}
	return n
}

// uniform draws a number from 0 to most.
func uniform(r *rand.Rand, most uint64) uint64 {
	if most == ^uint64(0) {
		return r.Uint64()
	}
	return r.Uint64N(most + 1)
}

// ofBits returns all values of a field of n bits.
func ofBits(n int) *Values {
	if n >= 64 {
		return &Values{Ranges: [][2]uint64{{0, ^uint64(0)}}}
	}
	return &Values{Ranges: [][2]uint64{{0, 1<<n - 1}}}
}
