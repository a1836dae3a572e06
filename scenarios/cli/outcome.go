package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"nictwin/models/boundary"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/device"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/home"
	"nictwin/scenarios/play"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/result"
	"nictwin/scenarios/runner"
	"nictwin/scenarios/split"
	"nictwin/scenarios/traffic/capture"
)

// ErrInterrupted is the cause to cancel a context with when a signal arrives.
var ErrInterrupted = errors.New("interrupted")

// UsageError is a mistake in the command.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a *UsageError.
func Usagef(format string, a ...any) error { return &UsageError{fmt.Errorf(format, a...)} }

// Classify tells the outcome of a command that ended with err. When several things are wrong, the one that explains
// the others counts: an interruption before a dead device, that before a wrong setting, that before a mismatch.
func Classify(ctx context.Context, err error) result.Outcome {
	switch {
	case err == nil:
		return result.Pass
	case ctx.Err() != nil, errors.Is(err, context.Canceled), errors.Is(err, ErrInterrupted):
		return result.Interrupted
	case isInfra(err):
		return result.Infrastructure
	case isUsage(err):
		return result.Usage
	case isMismatch(err):
		return result.Mismatch
	}
	return result.Infrastructure
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isInfra(err error) bool {
	return is[*LimitError](err) || outOfFiles(err) || errors.Is(err, syscall.ENOMEM) || is[*protocol.InfraError](err) || is[*toolchain.BuildError](err) || is[*player.CrashError](err) || errors.Is(err, toolchain.ErrToolMissing)
}

func isUsage(err error) bool {
	return is[*UsageError](err) || is[*replay.UsageError](err) || is[*split.UsageError](err) || is[*runner.UsageError](err) || is[*capture.Error](err) ||
		is[*manifest.Error](err) || is[*toolchain.SettingError](err) || is[*build.RefusedError](err) || is[*build.DesignError](err) || is[*program.Error](err) ||
		is[*home.NotFoundError](err) || is[*home.UntrustedError](err) || is[*home.UnknownError](err) ||
		is[*play.SpecError](err) || is[*play.RefError](err) || is[*play.OwnError](err) || is[*device.FitError](err) || is[*rtlbridge.SpecError](err) || errors.Is(err, build.ErrNotTuned)
}

// isMismatch holds for a device that lives but no longer does its part.
func isMismatch(err error) bool {
	return is[*replay.StuckError](err) || is[*boundary.ContractError](err)
}

var _ error = (*UsageError)(nil)
