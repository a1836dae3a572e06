package build

import (
	"context"
	"fmt"
	"io"

	"nictwin/rtlbridge/manifest"
)

// Options configure a build; the zero value builds for speed into the user's cache.
type Options struct {
	Variant    Variant
	CacheDir   string // default: $NICTWIN_CACHE, else the user's cache folder
	HarnessDir string // default: that of SetHarness
	Compiler   string // default: clang++ if installed, else g++
	// Training is the recording (LaunchOptions.Record) that a tuned build is made with; without one, the build must be
	// in the cache.
	Training string
	// Shell shapes the shell at the other end of an agent's link; for VariantAgent, which needs it.
	Shell *ShellShape
	Log   io.Writer // progress, one line per step; nil: none
	// Context cancels the wait for another process that builds the same, and the training run of a tuned build; nil:
	// neither is canceled.
	Context context.Context
	// Fits checks the manifest against the design's ports before anything is compiled; an error ends the build.
	// It is not called for a build that is in the cache. nil: no check.
	Fits func(*manifest.Binding) error
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// checkTraining refuses contradictory options: a recording is for tuned builds only.
func (o *Options) checkTraining() error {
	if o.Training != "" && o.Variant != VariantTuned {
		return fmt.Errorf("a recording to train with was given: want variant %s, got %s", VariantTuned, o.Variant)
	}
	return nil
}
