package build

import (
	"context"
	"fmt"
	"io"

	"nictwin/rtlbridge/manifest"
)

// Options say how to build; the zero value builds for speed into the user's cache.
type Options struct {
	Variant    Variant
	CacheDir   string // default $NICTWIN_CACHE, else the user's cache folder
	HarnessDir string // default: that of SetHarness
	Compiler   string // default clang++ if there is one, else g++
	// recording (LaunchOptions.Record) that a tuned build is made with; without one, it must be in the cache
	Training string
	Log      io.Writer // progress, one line per step; nil: none
	// Context ends the wait for another process that builds the same, and the training; nil: nothing does.
	Context context.Context
	// Fits checks the manifest against the design's ports before anything is compiled; an error ends the build. It is
	// not called for a build that is in the cache. nil: nothing is checked.
	Fits func(*manifest.Binding) error
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// checkTraining refuses options that do not fit: a recording is for tuned builds, and making one needs it.
func (o *Options) checkTraining() error {
	if o.Training != "" && o.Variant != VariantTuned {
		return fmt.Errorf("a recording to train with was given: want variant %s, got %s", VariantTuned, o.Variant)
	}
	return nil
}
