package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// Ranges of axes.
const (
	leastSpan = 0.3  // shortest range of an axis of curves, as a fraction of the largest value
	logFrom   = 8    // ratio of the largest to the smallest value from which an axis of curves is logarithmic
	margin    = 0.06 // space above and below the values, as a fraction of the range
)

// scale is the range of an axis. On a logarithmic one values that are not above 0 are at its low end.
type scale struct {
	low, high float64
	log       bool
	floor     bool // some values, 0 or less, have no logarithm and are at the low end
	ticks     int  // the largest number of labels if the axis is linear
}

// Normalize returns the place of a value between the ends of an axis, 0 to 1.
func (s scale) Normalize(low, high, x float64) float64 {
	if !s.log {
		return (x - low) / (high - low)
	}
	if x <= low {
		return 0
	}
	return math.Log(x/low) / math.Log(high/low)
}

var _ plot.Normalizer = scale{}

// place returns the place of a value that may lie beyond the axis.
func (s scale) place(x float64) float64 { return min(max(s.Normalize(s.low, s.high, x), 0), 1) }

// extent returns the smallest and the largest finite value, and the smallest above 0.
func extent(values []float64) (low, high, positive float64) {
	low, high, positive = math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		low, high = min(low, v), max(high, v)
		if v > 0 {
			positive = min(positive, v)
		}
	}
	if low > high {
		low, high = 0, 1
	}
	return low, high, min(positive, math.MaxFloat64)
}

// yScale returns the scale of values. A linear one begins at 0 if `zero` is true and no value is negative.
func yScale(values []float64, log, zero bool) scale {
	low, high, positive := extent(values)
	switch {
	case high <= 0 && low >= 0:
		return scale{low: 0, high: 1}
	case log, !zero && low > 0 && high/low >= logFrom:
		s := scale{low: low, high: high, log: true, floor: low <= 0}
		if s.floor {
			s.low = min(positive, high) / 2
		}
		if high/s.low < 2 {
			s.low = high / 2
		}
		pad := math.Pow(high/s.low, margin)
		s.low, s.high = s.low/pad, high*pad
		return s
	case zero && low >= 0:
		return scale{low: 0, high: high * (1 + margin)}
	}
	if least := leastSpan * max(math.Abs(high), math.Abs(low)); high-low < least {
		mid := (low + high) / 2
		low, high = mid-least/2, mid+least/2
	}
	pad := margin * (high - low)
	s := scale{low: low - pad, high: high + pad}
	if low >= 0 && s.low < high/10 {
		s.low = 0
	}
	return s
}

// xScale returns the scale of the x axis for the positions `values`.
func xScale(values []float64, log bool) scale {
	low, high, positive := extent(values)
	if log && positive < high {
		low = max(low, positive)
		pad := math.Pow(high/low, margin)
		return scale{low: low / pad, high: high * pad, log: true}
	}
	if low == high {
		return scale{low: low - 1, high: high + 1}
	}
	pad := margin * (high - low)
	return scale{low: low - pad, high: high + pad}
}

// Ticks returns 1, 2 and 5 times powers of ten of a logarithmic scale, or only the powers if there are many.
func (s scale) Ticks(low, high float64) (list []plot.Tick) {
	if !s.log {
		return s.steps(low, high)
	}
	if s.floor {
		list = append(list, plot.Tick{Value: low, Label: "0"})
		low *= 1.5
	}
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			label := ""
			if m == 1 || (m == 2 || m == 5) && high/low < 2e3 || high/low < 5 {
				label = Number(v)
			}
			list = append(list, plot.Tick{Value: v, Label: label})
		}
	}
	return list
}

// ticksWanted is the largest number of labels of a linear axis that is not short.
const ticksWanted = 7

// steps returns round numbers within a range.
func (s scale) steps(low, high float64) (list []plot.Tick) {
	wanted := float64(s.ticks)
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / wanted))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= wanted {
			step *= m
			break
		}
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		v := i*step + 0 // no negative zero
		list = append(list, plot.Tick{Value: v, Label: Number(v)})
	}
	return list
}

// places are the ticks of an axis at the positions of points, as far as there is room for them.
type places struct {
	scale
	at    []float64
	bytes float64 // bytes in the unit of the axis if many ticks are at powers of two bytes; else 0
	label func(v float64) string
	width func(text string) float64 // width of a label as a fraction of the axis
}

// maxPlaces is the largest number of positions that get a tick each. For more, ticks are at round numbers instead.
const maxPlaces = 14

func (p places) Ticks(low, high float64) (list []plot.Tick) {
	all := slices.Compact(slices.Sorted(slices.Values(p.at)))
	if len(all) > maxPlaces || p.bytes == 0 && slices.ContainsFunc(all, odd) {
		if p.bytes == 0 {
			return p.scale.Ticks(low, high)
		}
		all = powersOfTwo(low*p.bytes, high*p.bytes, p.bytes)
	}
	free := math.Inf(-1) // end of the latest label: the next one may begin here
	for _, v := range all {
		at, text := p.place(v), p.label(v)
		if half := p.width(text) / 2; at-half >= free {
			free = at + half + p.width(" ")
			list = append(list, plot.Tick{Value: v, Label: text})
			continue
		}
		list = append(list, plot.Tick{Value: v})
	}
	return list
}

// odd reports whether a position has more digits than a reader takes in: three, or all of a whole number.
func odd(v float64) bool {
	return v != math.Trunc(v) && strconv.FormatFloat(v, 'g', 3, 64) != strconv.FormatFloat(v, 'g', 6, 64)
}

// powersOfTwo returns the powers between two numbers, divided by a unit.
func powersOfTwo(low, high, unit float64) (list []float64) {
	for e := math.Ceil(math.Log2(low)); e <= math.Log2(high); e++ {
		list = append(list, math.Exp2(e)/unit)
	}
	return list
}

// Number returns a value as text: with up to four digits or, from 10,000 on, as a whole number in groups of three
// digits.
func Number(v float64) string {
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) < 1e4 || math.Abs(v) >= 1e15 {
		return s
	}
	s = strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 {
		return "-" + s
	}
	return s
}

// bytesOf has the units of sizes. A logarithmic axis of one of them has binary multiples of bytes.
var bytesOf = map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20}

// size formats a number of bytes in a binary multiple, which the papers write as 1 KB: a whole or half one, such as
// 1.5 KB, exactly, any other number of more than four digits in three, such as 3.05 MB.
func size(v float64) string {
	const kilo = 1024
	for i, suffix := range []string{" B", " KB", " MB", " GB"} {
		unit := math.Pow(kilo, float64(i))
		if v >= unit*kilo && i < 3 {
			continue
		}
		switch n := v / unit; {
		case n*2 == math.Trunc(n*2): // 1.5 KB
			return fmt.Sprintf("%g%s", n, suffix)
		case v >= 1e4:
			return fmt.Sprintf("%.3g%s", n, suffix)
		}
		break
	}
	return Number(v) + " B"
}

// Label returns the text beside an axis: its name and unit.
func (a *Axis) Label() string {
	if a.Unit == "" || a.Unit == "1" || a.sizes() {
		return a.Name
	}
	return a.Name + " (" + Unit(a.Unit) + ")"
}

// sizes reports whether the axis has binary multiples of bytes.
func (a *Axis) sizes() bool { return a.Log && bytesOf[a.Unit] > 0 }

// Tick returns the label of a position, which has a unit only if it is a size.
func (a *Axis) Tick(v float64) string {
	if a.sizes() {
		return size(v * bytesOf[a.Unit])
	}
	return Number(v)
}

// Text returns a position as text with its unit.
func (a *Axis) Text(v float64) string {
	if a.sizes() {
		return a.Tick(v)
	}
	return strings.TrimSpace(Number(v) + " " + Unit(a.Unit))
}

// Unit returns a unit as it is written: µs for us.
func Unit(unit string) string {
	if strings.HasSuffix(unit, "us") {
		return strings.TrimSuffix(unit, "us") + "µs"
	}
	return unit
}
