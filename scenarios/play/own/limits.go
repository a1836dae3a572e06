package own

import (
	"errors"

	"nictwin/models/sim/field"
)

// Limits bound time, memory and transactions of a reference.
type Limits struct {
	S     int // seconds for a call
	MB    int // memory of the process
	Count int // in a run: sum of the transactions that a reference draws, sends and expects
}

// DefaultLimits returns the limits that apply without flags.
func DefaultLimits() Limits { return Limits{S: 10, MB: 1024, Count: 1_000_000} }

// Validate returns every error of the limits, each a field.Error.
func (l *Limits) Validate() error {
	var errs []error
	for _, x := range []struct {
		path        field.Path
		n, from, to int
	}{{"ref_s", l.S, 1, 86_400}, {"ref_mb", l.MB, 64, 1 << 20}, {"ref_count", l.Count, 1, 1_000_000_000}} {
		if x.n < x.from || x.n > x.to {
			errs = append(errs, field.Errorf(x.path, "%d: want %d to %d", x.n, x.from, x.to))
		}
	}
	return errors.Join(errs...)
}

// stack returns the limit of a stack in bytes, low enough to end an endless recursion soon.
func (l *Limits) stack() int { return max(16, l.MB/16) << 20 }
