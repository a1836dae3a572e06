package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"nictwin/models/nic/boundary"
	"nictwin/models/sim/specfile"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/pair"
	"nictwin/scenarios/play"
	"nictwin/scenarios/play/own"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/run"
	"nictwin/scenarios/shell/home"
	"nictwin/scenarios/traffic/capture"
)

// ErrInterrupted is the cause of a context that a signal has canceled.
var ErrInterrupted = errors.New("interrupted")

// UsageError reports a mistake in the command or its inputs.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a *UsageError.
func Usagef(format string, a ...any) error { return &UsageError{fmt.Errorf(format, a...)} }

// NothingError reports a run that compared nothing.
type NothingError struct{ Err error }

func (e *NothingError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NothingError) Unwrap() error { return e.Err }

// PanicError reports a bug in this program.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// WallLimitError reports a run that reached its wall limit.
type WallLimitError struct{ Limit time.Duration }

func (e *WallLimitError) Error() string {
	return fmt.Sprintf("not done after %v, the wall limit (--wall-limit)", e.Limit)
}

// ended describes how a command ended.
type ended struct {
	cause   error // cause of its cancellation; nil: it was not canceled
	err     error
	differs bool // something compared did not match
}

// Cause is a reason for which a command ends, with its outcome: a row of the table in docs/results.md.
type Cause struct {
	Outcome result.Outcome
	What    string
	holds   func(e ended) bool
}

// Causes lists all causes; the first one that holds decides the outcome. More fundamental causes come first: an
// interruption before a dead device, a dead device before a wrong setting, a wrong setting before a mismatch.
var Causes = []Cause{
	{result.Pass, "everything that was compared is as it must be, and something was; a command that compares nothing " +
		"did what it was asked", func(e ended) bool {
		return e.err == nil && !e.differs
	}},
	{result.Infrastructure, "the run took longer than `--wall-limit`", limited},
	{result.Interrupted, "a signal: `SIGINT`, `SIGTERM` or `SIGHUP`", interrupted},

	{result.Infrastructure, "a tool is missing: Verilator, a C++ compiler, clang for a tuned build, Go for `--ref`",
		isOneOf(toolchain.ErrToolMissing)},
	{result.Infrastructure, "a tool failed, or took more time, memory or disk space than it may",
		of[*toolchain.BuildError]},
	{result.Infrastructure, "a disk is full or fails, or a quota or the limit on the size of files (`ulimit -f`) " +
		"is reached, wherever something is written: " +
		"artifacts, `--coverage`, the cache, stdout",
		isOneOf(syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO)},
	{result.Infrastructure, "a limit of the system is too low: address space, memory, open files",
		either(of[*LimitError], isOneOf(syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM))},
	{result.Infrastructure, "the device's process died, hangs, or says what cannot be, such as more wall time than " +
		"has passed", of[*protocol.InfraError]},
	{result.Infrastructure, "the other process of `pair` died, is silent, or failed; the process of a reference " +
		"ended, and nothing tells why",
		either(of[*pair.LostError], of[*pair.PeerError], of[*own.LostError])},
	{result.Infrastructure, "a mistake in nictwin itself (`internal error`)",
		either(of[*PanicError], of[*player.CrashError])},

	{result.Usage, "an input cannot be read, is wrong, or does not fit: a capture, scenario, program, or board, for " +
		"instance one with too little memory",
		either(of[*capture.Error], of[*program.Error], of[*specfile.Error], of[*replay.UsageError],
			of[*pair.UsageError], of[*run.UsageError])},
	{result.Usage, "a manifest is wrong; a design does not build, does not fit its manifest, or is no NIC where one " +
		"is wanted; a tuned build was not made",
		either(of[*manifest.Error], of[*play.SpecError], of[*build.RefusedError], of[*build.DesignError],
			of[*device.NICError], isOneOf(build.ErrNotTuned))},
	{result.Usage, "the home was not found, may be somebody else's, or has no such device",
		either(of[*home.NotFoundError], of[*home.UntrustedError], of[*home.UnknownError])},
	{result.Usage, "the device at `--connect` is not what the settings say", of[*device.FitError]},
	{result.Usage, "the reference of `--ref` does not build, or makes a mistake",
		either(of[*own.RefError], of[*own.FolderError])},
	{result.Usage, "nothing was compared", of[*NothingError]},
	{result.Usage, "the command line or a variable of the environment is wrong: an unknown command or flag, a value " +
		"out of range, a flag without effect, " +
		"a file or folder that cannot be used",
		either(of[*UsageError], of[*toolchain.SettingError], of[*rtlbridge.SpecError])},

	{result.Mismatch, "something differs: `findings` has at least one",
		func(e ended) bool { return e.differs || is[*bench.MismatchError](e.err) }},
	{result.Mismatch, "the device lives, but answers no more, or breaks the contract so that the run cannot go on: " +
		"`findings` says how",
		either(of[*replay.StuckError], of[*boundary.ContractError])},
	{result.Infrastructure, "anything else, such as a cache that cannot be used, or a result that could not be written",
		func(ended) bool { return true }},
}

// Decide returns the outcome of a command that ended with err; `differs` says that something compared did not match.
func Decide(ctx context.Context, err error, differs bool) result.Outcome {
	return why(ctx, err, differs).Outcome
}

// why returns the deciding cause.
func why(ctx context.Context, err error, differs bool) *Cause {
	e := ended{context.Cause(ctx), err, differs}
	return &Causes[slices.IndexFunc(Causes, func(c Cause) bool { return c.holds(e) })] // the last cause always holds
}

// kinds lists the kinds of failure that follow from how a command ended, with their conditions; the first one that
// holds decides. Other kinds are fields of findings.
var kinds = []struct {
	kind  result.Kind
	holds func(e ended) bool
}{
	{result.WallLimit, limited},
	{result.BySignal, interrupted},
	{result.OutOfMemory, either(isOneOf(syscall.ENOMEM, toolchain.ErrMemory, protocol.ErrMemory), func(e ended) bool {
		low, ok := errors.AsType[*LimitError](e.err)
		return ok && low.What == addressSpace
	})},
	{result.DiskFull, isOneOf(syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, toolchain.ErrFileSize)},
	{result.Stall, either(isOneOf(protocol.ErrTimeout), func(e ended) bool {
		return is[*pair.LostError](e.err) && errors.Is(e.err, pair.ErrSilent)
	})},
	{result.Crash, either(func(e ended) bool {
		dead, ok := errors.AsType[*protocol.InfraError](e.err)
		return ok && dead.Crashed()
	}, of[*own.LostError], func(e ended) bool { return is[*pair.LostError](e.err) && errors.Is(e.err, io.EOF) })},
	{result.Hang, of[*replay.StuckError]},
}

// Failure returns the kind of failure of a command that ended with an outcome: that of its error, else the first that a
// finding shows; "" without one.
func Failure(ctx context.Context, out result.Outcome, err error, findings []result.Finding) result.Kind {
	if out == result.Pass || out == result.Usage {
		return ""
	}
	e := ended{cause: context.Cause(ctx), err: err}
	for _, k := range kinds {
		if err != nil && k.holds(e) {
			return k.kind
		}
	}
	for i := range findings {
		if k := findings[i].Failure; k != "" && out == result.Mismatch {
			return k
		}
	}
	return ""
}

// limited reports whether a command was ended by its wall limit.
func limited(e ended) bool {
	return e.err != nil && (is[*WallLimitError](e.cause) || is[*WallLimitError](e.err))
}

// interrupted reports whether a command was ended by a signal.
func interrupted(e ended) bool {
	return e.err != nil && (e.cause != nil || errors.Is(e.err, context.Canceled) || errors.Is(e.err, ErrInterrupted))
}

// Found reports whether an error is about the device alone, so that the findings already say everything.
func Found(err error) bool {
	if err == nil {
		return true
	}
	for _, e := range leaves(err) {
		if why(context.Background(), e, false).Outcome != result.Mismatch {
			return false
		}
	}
	return true
}

// leaves returns the errors that were joined into err.
func leaves(err error) (list []error) {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			list = append(list, leaves(one)...)
		}
		return list
	case interface{ Unwrap() error }:
		if list = leaves(e.Unwrap()); len(list) > 1 {
			return list
		}
	}
	return []error{err}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// of returns a condition that holds for errors of type E.
func of[E error](e ended) bool { return is[E](e.err) }

// isOneOf returns a condition that holds for each of these errors.
func isOneOf(list ...error) func(e ended) bool {
	return func(e ended) bool {
		return slices.ContainsFunc(list, func(x error) bool { return errors.Is(e.err, x) })
	}
}

// either returns a condition that holds if one of the given ones does.
func either(list ...func(e ended) bool) func(e ended) bool {
	return func(e ended) bool {
		return slices.ContainsFunc(list, func(holds func(ended) bool) bool { return holds(e) })
	}
}

var _, _, _, _ error = (*UsageError)(nil), (*NothingError)(nil), (*PanicError)(nil), (*WallLimitError)(nil)
