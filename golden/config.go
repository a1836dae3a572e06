package golden

import (
	"errors"
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
)

// Config says what a Referee watches and what the scenario allows. Take
// DefaultConfig and change it.
type Config struct {
	// NIC is the name of the one that is watched, for mismatches; empty where it
	// is the only one.
	NIC string

	// Build is what stands behind the boundary [B2].
	Build nicspec.Build

	// MaxMismatches is how many mismatches are kept in full; the others are
	// counted. 1 or more.
	MaxMismatches int

	// ForbidOverflow and ForbidNoDesc make drops by RX_DROP_OVERFLOW and
	// RX_DROP_NO_DESC mismatches even where the contract allows them.
	ForbidOverflow bool
	ForbidNoDesc   bool

	// LingerCycles and HoldBytes are the bounds described in the package
	// comment.
	LingerCycles int64
	HoldBytes    int

	// OnFrame, if set, is told of every frame that was compared.
	OnFrame func(*FrameEvent)

	// OnMismatch, if set, is told of every mismatch that is kept.
	OnMismatch func(*verdict.Mismatch)
}

// DefaultConfig is the configuration for a build.
func DefaultConfig(build nicspec.Build) Config {
	return Config{Build: build, MaxMismatches: 20, LingerCycles: 1 << 14, HoldBytes: 4 << 20}
}

// Validate returns every error of the configuration.
func (c *Config) Validate() error {
	var errs []error
	if err := c.Build.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("golden: %w", err))
	}
	if c.MaxMismatches < 1 {
		errs = append(errs, fmt.Errorf("golden: MaxMismatches is %d: want 1 or more", c.MaxMismatches))
	}
	if c.LingerCycles < 0 {
		errs = append(errs, fmt.Errorf("golden: LingerCycles is %d: want 0 or more", c.LingerCycles))
	}
	if c.HoldBytes < nicspec.RxBufBytes {
		errs = append(errs, fmt.Errorf("golden: HoldBytes is %d: want at least the receive buffer, %d",
			c.HoldBytes, nicspec.RxBufBytes))
	}
	return errors.Join(errs...)
}

// FrameEvent is one frame that was compared. It and its bytes are good until
// the hook returns.
type FrameEvent struct {
	Rx       bool // delivered to memory, else sent
	Known    bool // ID is
	ID       verdict.FrameID
	Port     int
	Queue    int
	Cycle    int64             // at which the device was done with it
	Expected []byte            // what came in, or what was to leave; nil if unknown
	Got      []byte            // what memory holds, or what left
	Mismatch *verdict.Mismatch // the first one found in it, or nil
}
