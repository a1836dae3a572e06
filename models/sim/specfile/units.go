package specfile

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/quantity"
)

// unit says how a file may write the values of a field with a unit. The name of the field, or its tag unit, decides:
//
//   - latency_ps, rate_bps, peak_mbps and gbps are whole numbers; with a unit, the field is written in its short
//     form, latency: 20ns.
//   - period_ps may also be written as frequency: 1.1GHz; the period is the nearest whole number of picoseconds.
//   - bytes, size_bytes and fields with the tag unit:"bytes" are whole numbers or have a unit, 64KiB.
type unit struct {
	form  form
	parse func(text string) (int64, error)
	write func(n int64) string // returns "" if n is larger than any quantity
	name  string               // unit of a value that is written as a whole number: ps, Mbps
	short string               // the short form of the field's name; empty: it has none
}

// form is a way to write values.
type form int

const (
	bare   form = iota // no unit
	long               // whole numbers, whose unit is in the field's name
	united             // numbers with a unit
	either             // whole numbers, or numbers with a unit
)

var noUnit unit

// suffixes lists the endings of long forms.
var suffixes = []struct {
	ending string
	unit   unit
}{
	{"_ps", longUnit("ps", 1, quantity.ParseTime)},
	{"_bps", longUnit("bps", 1, quantity.ParseRate)},
	{"_mbps", longUnit("Mbps", 1_000_000, quantity.ParseRate)},
	{"_gbps", longUnit("Gbps", 1_000_000_000, quantity.ParseRate)},
}

// keyRate is the short form of the names mbps and gbps.
const keyRate = "rate"

// longUnit returns the unit of a long form that counts so many of the quantity's smallest unit.
func longUnit[T interface {
	~int64
	fmt.Stringer
}](name string, scale int64, parse func(string) (T, error)) unit {
	return unit{form: long, name: name, parse: func(text string) (int64, error) {
		v, err := parse(text)
		if err == nil && int64(v)%scale != 0 {
			return 0, fmt.Errorf("%q: want a whole number of %s", text, name)
		}
		return int64(v) / scale, err
	}, write: func(n int64) string {
		if n > math.MaxInt64/scale {
			return ""
		}
		return T(n * scale).String()
	}}
}

func parseBytes(text string) (int64, error) {
	v, err := quantity.ParseBytes(text)
	return int64(v), err
}

// unitOf returns the unit of a field under the name of its tag.
func unitOf(f reflect.StructField) unit {
	name, _ := tagOf(f)
	if !whole(f.Type) {
		return noUnit
	}
	if name == "bytes" || strings.HasSuffix(name, "_bytes") || f.Tag.Get("unit") == "bytes" {
		return unit{form: either, parse: parseBytes, name: "bytes"}
	}
	for _, s := range suffixes {
		if short, ok := strings.CutSuffix("_"+name, s.ending); ok && name != "ps" {
			u := s.unit
			u.short = cmp.Or(strings.TrimPrefix(short, "_"), keyRate)
			return u
		}
	}
	return noUnit
}

// whole reports whether a type has whole numbers: one, or a list of them.
func whole(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	v := reflect.New(t).Elem()
	return v.CanInt() || v.CanUint()
}

// shortOf returns the short form of a field's name, empty if it has none.
func shortOf(f reflect.StructField) string { return unitOf(f).short }

// A period may be given as a frequency.
const keyPeriod, keyFrequency = "period_ps", "frequency"

// shortUnit returns the unit of a field under a short form of its name; ok is false for other keys.
func shortUnit(f reflect.StructField, key string) (u unit, ok bool) {
	u = unitOf(f)
	if name, _ := tagOf(f); name == keyPeriod && key == keyFrequency && u.form == long {
		return unit{form: united, parse: parsePeriod}, true
	}
	if u.short == "" || u.short != key {
		return noUnit, false
	}
	u.form = united
	return u, true
}

// Keys returns every key of a type's mapping: the names of fields, and their short forms. Other types have none.
func Keys(t reflect.Type) (all []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	eachField(t, func(name string, f reflect.StructField) {
		all = append(all, name)
		if short := shortOf(f); short != "" {
			all = append(all, short)
		}
		if _, ok := shortUnit(f, keyFrequency); ok {
			all = append(all, keyFrequency)
		}
	})
	return all
}

// parsePeriod reads a frequency as its period in picoseconds, to the nearest.
func parsePeriod(text string) (int64, error) {
	f, err := quantity.ParseFrequency(text)
	if err != nil {
		return 0, err
	}
	const second = 1_000_000_000_000
	if f == 0 || f > second {
		return 0, fmt.Errorf("%q: want 1Hz to 1000GHz", text)
	}
	return (second + int64(f)/2) / int64(f), nil
}

// reads reports whether a value is read with its unit.
func (u *unit) reads(n *yaml.Node) bool {
	return u.form == united && n.Tag != "!!null" || u.form == either && n.Tag == "!!str"
}

// set sets a field to the quantity that a text gives.
func (u *unit) set(text string, v reflect.Value) error {
	n, err := u.parse(text)
	switch {
	case err != nil:
		return err
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		return fmt.Errorf("%q: want %s", text, wanted(v.Kind()))
	}
	return nil
}

// wanted describes the valid values of a kind with the unit.
func (u *unit) wanted(k reflect.Kind) string {
	switch u.form {
	case long:
		return fmt.Sprintf("%s (%s), or a number with its unit for %s", wanted(k), u.name, u.short)
	case united:
		return "a number with its unit"
	case either:
		return wanted(k) + ", or a number with its unit"
	}
	return wanted(k)
}

// shorten rewrites a field of a mapping from the long form (latency_ps: 20000) to the short one (latency: 20ns).
func (e *entry) shorten(key, n *yaml.Node) {
	if e.unit.form != long || n.Kind != yaml.ScalarNode {
		return
	}
	if n.Tag != "!!null" {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || v < 0 {
			return
		}
		text := e.unit.write(v)
		if text == "" {
			return
		}
		n.Tag, n.Value = "!!str", text
	}
	key.Value = e.unit.short
}
