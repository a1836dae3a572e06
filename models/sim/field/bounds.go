package field

import (
	"fmt"
	"math"
	"strings"

	"nictwin/models/sim/quantity"
)

// Within returns an error if the value of a field is not in a range. It writes numbers as Value does.
func Within[T ~int | ~int64 | ~uint64](path Path, v, low, high T) error {
	if v >= low && v <= high {
		return nil
	}
	return Errorf(path, "%s: want %s to %s", Value(path, v), Value(path, low), Value(path, high))
}

// Value returns the value of a field as text, with the unit of its type or, for a plain number, that which the end of
// the field's name stands for: 3us for latency_ps, 64KiB for size_bytes.
func Value[T ~int | ~int64 | ~uint64](path Path, v T) string {
	switch q := any(v).(type) {
	case quantity.Time:
		return q.String()
	case quantity.Rate:
		return q.String()
	case quantity.Bytes:
		return q.String()
	}
	n := int64(v)
	name := "_" + string(path[strings.LastIndexByte(string(path), '.')+1:])
	switch {
	case uint64(v) > math.MaxInt64 && v > 0:
	case strings.HasSuffix(name, "_ps"):
		return quantity.Time(n).String()
	case strings.HasSuffix(name, "_bps"):
		return quantity.Rate(n).String()
	case strings.HasSuffix(name, "_bytes"):
		return quantity.Bytes(n).String()
	}
	return fmt.Sprint(v)
}
