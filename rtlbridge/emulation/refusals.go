package emulation

import (
	"errors"
	"fmt"

	"nictwin/rtlbridge/manifest"
)

// maxResets is the number of resets that a grant has bits for.
const maxResets = 64

// Supported reports what a shell cannot carry, each with the manifest's line.
func Supported(b *manifest.Binding) error {
	m := b.Manifest
	var errs []error
	ins, outs := 0, 0
	for _, s := range b.Streams {
		if s.Dir == manifest.DirIn {
			ins++
		} else {
			outs++
		}
	}
	if ins == 0 || outs == 0 {
		errs = append(errs, m.Errorf("streams", "a shell needs an input and an output stream: %d inputs, %d outputs",
			ins, outs))
	}
	if len(b.Resets) > maxResets {
		errs = append(errs, m.Errorf("resets", "%d resets: a shell holds at most %d", len(b.Resets), maxResets))
	}
	for i, c := range m.Clocks {
		for k, d := range m.Clocks[:i] {
			if c.Signal == d.Signal {
				errs = append(errs, m.Errorf(fmt.Sprintf("clocks[%d]", i), "clock %s is clocks[%d], too", c.Signal, k))
			}
		}
	}
	return errors.Join(errs...)
}
