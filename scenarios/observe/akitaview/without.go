//go:build !akitaview

package akitaview

import (
	"context"

	"nictwin/models/sim/simcore"
)

const built = false

// Viewer opens a run to Akita's tools.
type Viewer struct{}

// Open refuses any options: see Options.Validate.
func Open(_ context.Context, o Options, _ *simcore.Engine) (*Viewer, error) {
	return &Viewer{}, o.Validate()
}

// Close does nothing.
func (*Viewer) Close() error { return nil }
