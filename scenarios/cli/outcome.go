package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"nictwin/models/host"
	"nictwin/rtlbridge"
	"nictwin/scenarios/board"
	"nictwin/scenarios/capture"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/home"
	"nictwin/scenarios/replay"
)

// Outcome is how a command ended.
type Outcome int

// Outcomes.
const (
	Pass           Outcome = iota
	Mismatch               // the device does not do what it must
	Usage                  // the command or its input is wrong
	Infrastructure         // it could not be found out
	Interrupted            // by a signal
)

var outcomes = [...]struct {
	exit int
	name string
}{
	Pass: {0, "pass"}, Mismatch: {1, "mismatch"}, Usage: {2, "usage"}, Infrastructure: {3, "infrastructure"},
	Interrupted: {130, "interrupted"},
}

// Exit is the exit code.
func (o Outcome) Exit() int { return outcomes[o].exit }

// String is the name of the outcome in the JSON object.
func (o Outcome) String() string { return outcomes[o].name }

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
func Classify(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Pass
	case ctx.Err() != nil, errors.Is(err, context.Canceled), errors.Is(err, ErrInterrupted):
		return Interrupted
	case isInfra(err):
		return Infrastructure
	case isUsage(err):
		return Usage
	case isMismatch(err):
		return Mismatch
	}
	return Infrastructure
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isInfra(err error) bool {
	return is[*LimitError](err) || outOfFiles(err) || errors.Is(err, syscall.ENOMEM) || is[*rtlbridge.InfraError](err) || is[*rtlbridge.BuildError](err) || is[*fuzz.CrashError](err) || errors.Is(err, rtlbridge.ErrToolMissing)
}

func isUsage(err error) bool {
	return is[*UsageError](err) || is[*replay.UsageError](err) || is[*capture.Error](err) ||
		is[*rtlbridge.ManifestError](err) || is[*rtlbridge.SettingError](err) || is[*rtlbridge.RefusedError](err) || is[*rtlbridge.DesignError](err) || is[*fuzz.ProgramError](err) ||
		is[*home.NotFoundError](err) || is[*home.UntrustedError](err) || is[*home.UnknownError](err) ||
		is[*board.FitError](err) || errors.Is(err, rtlbridge.ErrNotTuned)
}

// isMismatch holds for a device that lives but no longer does its part.
func isMismatch(err error) bool { return is[*replay.StuckError](err) || is[*host.ContractError](err) }

var _ error = (*UsageError)(nil)
