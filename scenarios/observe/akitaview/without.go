//go:build !akitaview

package akitaview

import (
	"context"

	"nictwin/models/sim/simcore"
)

const built = false

// Viewer is a run that Akita's tools see.
type Viewer struct{}

// Open refuses whatever is wanted: see Options.Validate.
func Open(_ context.Context, o Options, _ *simcore.Engine) (*Viewer, error) {
	return &Viewer{}, o.Validate()
}

// Close ends it.
func (*Viewer) Close() error { return nil }
