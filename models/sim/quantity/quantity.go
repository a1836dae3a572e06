package quantity

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Time is a time in picoseconds.
type Time int64

// Bytes is a number of bytes.
type Bytes int64

// Rate is a rate in bits per second.
type Rate int64

// Frequency is a frequency in hertz.
type Frequency int64

// unit is a name and the factor by which it multiplies a number.
type unit struct {
	name string
	size int64
}

// measure is a kind of quantity: its units, the smallest first.
type measure struct {
	what  string // as an error calls it
	like  string // an example
	units []unit
	bare  bool // a whole number without a unit is in the smallest one
}

var (
	times = measure{"a time", "20ms", []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}, false}
	sizes = measure{"a number of bytes", "64KiB", []unit{{"B", 1}, {"KB", 1e3}, {"KiB", 1 << 10}, {"MB", 1e6},
		{"MiB", 1 << 20}, {"GB", 1e9}, {"GiB", 1 << 30}}, true}
	rates = measure{"a rate", "200Gbps", []unit{{"bps", 1}, {"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9}, {"B/s", 8},
		{"KB/s", 8e3}, {"MB/s", 8e6}, {"GB/s", 8e9}}, false}
	frequencies = measure{"a frequency", "1.1GHz", []unit{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}, false}
)

// ParseTime reads a time: 20ms, 1.5us.
func ParseTime(text string) (Time, error) { n, err := times.parse(text); return Time(n), err }

// ParseBytes reads a number of bytes: 64KiB, 2MB, 512.
func ParseBytes(text string) (Bytes, error) { n, err := sizes.parse(text); return Bytes(n), err }

// ParseRate reads a rate: 200Gbps, 25GB/s.
func ParseRate(text string) (Rate, error) { n, err := rates.parse(text); return Rate(n), err }

// ParseFrequency reads a frequency: 250MHz, 1.1GHz.
func ParseFrequency(text string) (Frequency, error) {
	n, err := frequencies.parse(text)
	return Frequency(n), err
}

// maxText is the length of the longest text that is read.
const maxText = 64

// form matches a number and its unit.
var form = regexp.MustCompile(`^(-?)([0-9]+(?:\.[0-9]+)?)([^0-9.].*)?$`)

// parse reads a quantity as an integer of the smallest unit.
func (m *measure) parse(text string) (int64, error) {
	bad := func(format string, a ...any) (int64, error) {
		return 0, fmt.Errorf("%s: "+format, append([]any{Shown(text)}, a...)...)
	}
	parts := form.FindStringSubmatch(text)
	switch {
	case len(text) > maxText || parts == nil:
		return bad("no quantity: want %s, such as %s", m.what, m.like)
	case parts[1] != "":
		return bad("negative: want 0 or more")
	case len(parts[2]) > 1 && parts[2][0] == '0' && parts[2][1] != '.':
		return bad("a number does not begin with 0: want %s, such as %s", m.what, m.like)
	case parts[2] == "0" && parts[3] == "":
		return 0, nil
	case parts[3] == "" && m.bare && !strings.Contains(parts[2], "."):
		parts[3] = m.units[0].name
	case parts[3] == "":
		return bad("no unit: want %s behind it", m.names())
	}
	u, known := m.unit(parts[3])
	if !known {
		return bad("unknown unit %q: want %s", parts[3], m.names())
	}
	n, _ := new(big.Rat).SetString(parts[2]) // it is a decimal number: the regular expression form matches no other
	n.Mul(n, new(big.Rat).SetInt64(u.size))
	switch {
	case !n.IsInt():
		return bad("want a whole number of %s", m.units[0].name)
	case !n.Num().IsInt64():
		return bad("too large: want at most %d%s", int64(math.MaxInt64)/u.size, u.name)
	}
	return n.Num().Int64(), nil
}

func (m *measure) unit(name string) (unit, bool) {
	for _, u := range m.units {
		if u.name == name {
			return u, true
		}
	}
	return unit{}, false
}

// names lists the units.
func (m *measure) names() string {
	all := make([]string, len(m.units))
	for i, u := range m.units {
		all[i] = u.name
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Shown quotes a text for an error, and cuts it if it is long.
func Shown(text string) string {
	if len(text) <= maxText {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:maxText], "")) + "…"
}

// write returns a quantity in the largest unit of a list, smallest first, in which it is 1 or more.
func write(n int64, units []unit) string {
	sign, rest := "", uint64(n)
	if n < 0 {
		sign, rest = "-", -rest
	}
	u := units[0]
	for _, next := range units {
		if rest >= uint64(next.size) {
			u = next
		}
	}
	size := uint64(u.size)
	text := fmt.Sprintf("%s%d", sign, rest/size)
	if part := rest % size; part > 0 { // size is a power of 10
		digits := fmt.Sprintf("%0*d", len(fmt.Sprint(size))-1, part)
		text += "." + strings.TrimRight(digits, "0")
	}
	return text + u.name
}

// String returns the time in the largest unit in which it is 1 or more: 1.5us.
func (t Time) String() string { return write(int64(t), times.units) }

// String returns the number in the largest of B, KiB, MiB and GiB that divides it.
func (b Bytes) String() string {
	u := sizes.units[0]
	for _, name := range []string{"KiB", "MiB", "GiB"} {
		if next, _ := sizes.unit(name); b != 0 && int64(b)%next.size == 0 {
			u = next
		}
	}
	return fmt.Sprintf("%d%s", int64(b)/u.size, u.name)
}

// String returns the rate in the largest of bps, Kbps, Mbps and Gbps in which it is 1 or more.
func (r Rate) String() string { return write(int64(r), rates.units[:4]) }

// String returns the frequency in the largest unit in which it is 1 or more: 1.1GHz.
func (f Frequency) String() string { return write(int64(f), frequencies.units) }
