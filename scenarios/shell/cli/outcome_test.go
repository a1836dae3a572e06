package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
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

// examples lists errors of each cause, by the beginning of the cause's text.
var examples = map[string][]error{
	"everything that was compared": {nil},
	"the run took longer":          {&WallLimitError{}},
	"a signal":                     {context.Canceled, ErrInterrupted},
	"a tool is missing":            {toolchain.ErrToolMissing},
	"a tool failed":                {&toolchain.BuildError{Err: errors.New("exit status 1")}},
	"a disk is full": {
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC},
		&UsageError{&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}},
		syscall.EFBIG, &capture.Error{Err: syscall.EIO},
	},
	"a limit of the system": {&LimitError{}, syscall.EMFILE, syscall.ENFILE,
		&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOMEM}},
	"the device's process":        {&protocol.InfraError{Err: protocol.ErrClosed}},
	"the other process":           {&pair.LostError{Err: errors.New("silent")}, &pair.PeerError{}, &own.LostError{}},
	"a mistake in nictwin itself": {&PanicError{Value: "x"}, &player.CrashError{Value: "x"}},
	"an input cannot be read": {&capture.Error{Err: errors.New("x")}, &program.Error{},
		&specfile.Error{Err: errors.New("x")}, &replay.UsageError{Err: errors.New("x")},
		&pair.UsageError{Err: errors.New("x")}, &run.UsageError{Err: errors.New("x")}},
	"a manifest is wrong": {&manifest.Error{}, &play.SpecError{Err: errors.New("x")}, &build.RefusedError{},
		&build.DesignError{}, &device.NICError{}, build.ErrNotTuned},
	"the home":             {&home.NotFoundError{}, &home.UnknownError{}, &home.UntrustedError{}},
	"the device at":        {&device.FitError{Err: errors.New("x")}},
	"the reference of":     {&own.RefError{}, &own.FolderError{}},
	"nothing was compared": {&NothingError{errors.New("x")}},
	"the command line":     {Usagef("x"), &toolchain.SettingError{}, &rtlbridge.SpecError{Err: errors.New("x")}},
	"something differs":    {&bench.MismatchError{}},
	"the device lives": {&replay.StuckError{}, boundary.Breach("Q4", "an event"),
		&root.RegError{Err: boundary.Breach("G2", "status UR")}},
	"anything else": {errors.New("never seen before"),
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, &root.RegError{Err: root.ErrNoTag}},
}

// Each example error is attributed to its cause, wrapped or not. Of two joined errors, the one whose cause comes
// first in Causes decides.
func TestCausesDecide(t *testing.T) {
	require.Len(t, examples, len(Causes))
	for i := range Causes {
		c := &Causes[i]
		var mine []error
		for name, list := range examples {
			if strings.HasPrefix(c.What, name) {
				mine = list
			}
		}
		require.NotEmpty(t, mine, "no example of: %s", c.What)
		for _, err := range mine {
			require.Equal(t, c.What, why(t.Context(), err, false).What, "%v", err)
			if err == nil {
				continue
			}
			require.Equal(t, c.What, why(t.Context(), fmt.Errorf("wrapped: %w", err), false).What, "%v", err)
			require.Equal(t, c.What, why(t.Context(), errors.Join(errors.New("odd"), err), false).What, "%v", err)
			for k := range Causes[i:] {
				require.Equal(t, c.What, why(t.Context(), errors.Join(exampleOf(t, i+k), err), false).What, "%v", err)
			}
		}
	}
}

// exampleOf returns an error of a cause.
func exampleOf(t *testing.T, cause int) error {
	t.Helper()
	for name, list := range examples {
		if strings.HasPrefix(Causes[cause].What, name) {
			return list[0]
		}
	}
	require.Fail(t, "no example")
	return nil
}

// Mismatches decide the outcome, unless the run ended for a more fundamental reason.
func TestDecide(t *testing.T) {
	odd, infra, full := errors.New("odd"), &protocol.InfraError{Err: protocol.ErrClosed},
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err     error
		differs bool
		want    result.Outcome
	}{
		{nil, false, result.Pass},
		{nil, true, result.Mismatch},
		{odd, false, result.Infrastructure},
		{odd, true, result.Mismatch},
		{Usagef("x"), true, result.Usage},
		{infra, true, result.Infrastructure},
		{full, true, result.Infrastructure},
		{&UsageError{full}, false, result.Infrastructure},
		{errors.Join(&device.FitError{Err: odd}, infra), true, result.Infrastructure},
	} {
		require.Equal(t, c.want, Decide(t.Context(), c.err, c.differs), "%v, differs: %v", c.err, c.differs)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	require.Equal(t, result.Interrupted, Decide(ctx, infra, true), "a device that dies of the same signal")
	require.Equal(t, result.Pass, Decide(ctx, nil, false), "a run that had ended already")
	require.Equal(t, result.Mismatch, Decide(ctx, nil, true), "likewise")
}

// The error decides the kind of failure or, if it has none, the first finding that has a kind.
func TestFailure(t *testing.T) {
	infra := func(cause error, words string) error { return &protocol.InfraError{Err: cause, LastWords: words} }
	said := func(c protocol.ErrorCode) error { return infra(&protocol.DeviceError{Code: c}, "") }
	hangs := []result.Finding{{Rule: "C1"}, {Failure: result.Hang}, {Failure: result.Deadlock}}
	for _, c := range []struct {
		out      result.Outcome
		err      error
		findings []result.Finding
		want     result.Kind
	}{
		{result.Infrastructure, infra(protocol.ErrClosed, ""), nil, result.Crash},
		{result.Infrastructure, infra(protocol.ErrClosed, ""), hangs, result.Crash},
		{result.Infrastructure, said(protocol.CodeAssert), nil, result.Crash},
		{result.Infrastructure, said(protocol.CodeFinish), nil, result.Crash},
		{result.Infrastructure, said(protocol.CodeToken), nil, ""},
		{result.Infrastructure, said(protocol.CodeLink), nil, ""},
		{result.Infrastructure, infra(protocol.ErrFlood, ""), nil, ""},
		{result.Infrastructure, infra(protocol.ErrTimeout, ""), nil, result.Stall},
		{result.Infrastructure, fmt.Errorf("case: %w", infra(protocol.ErrTimeout, "")), nil, result.Stall},
		{result.Infrastructure, infra(protocol.ErrClosed, "what():  std::bad_alloc"), nil, result.OutOfMemory},
		{result.Infrastructure, &toolchain.BuildError{Err: toolchain.ErrMemory}, nil, result.OutOfMemory},
		{result.Infrastructure, &LimitError{What: addressSpace}, nil, result.OutOfMemory},
		{result.Infrastructure, &LimitError{What: "open files"}, nil, ""},
		{result.Infrastructure, syscall.ENOMEM, nil, result.OutOfMemory},
		{result.Infrastructure, &fs.PathError{Op: "write", Err: syscall.ENOSPC}, nil, result.DiskFull},
		{result.Infrastructure, &toolchain.BuildError{Err: toolchain.ErrFileSize}, nil, result.DiskFull},
		{result.Infrastructure, &pair.LostError{Err: io.EOF}, nil, result.Crash},
		{result.Infrastructure, &pair.LostError{Err: fmt.Errorf("%w for 1s", pair.ErrSilent)}, nil, result.Stall},
		{result.Infrastructure, &own.LostError{}, nil, result.Crash},
		{result.Infrastructure, &WallLimitError{}, hangs, result.WallLimit},
		{result.Infrastructure, errors.New("odd"), hangs, ""},
		{result.Interrupted, ErrInterrupted, nil, result.BySignal},
		{result.Mismatch, &replay.StuckError{}, nil, result.Hang},
		{result.Mismatch, nil, hangs, result.Hang},
		{result.Mismatch, nil, hangs[:1], ""},
		{result.Usage, &UsageError{syscall.ENOSPC}, nil, ""},
		{result.Pass, nil, nil, ""},
	} {
		require.Equal(t, c.want, Failure(t.Context(), c.out, c.err, c.findings), "%v, %v", c.out, c.err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&WallLimitError{})
	require.Equal(t, result.WallLimit, Failure(ctx, result.Infrastructure, context.Canceled, nil))
	require.Equal(t, result.Infrastructure, Decide(ctx, context.Canceled, true))
}

// The table in docs/results.md lists every kind of failure.
func TestThePageHasTheKinds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/results.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "\n| `failure` | Meaning | What to look at |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ := strings.Cut(after, "\n\n")
	var want []string
	for _, k := range result.Kinds {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", k.Kind, k.What, k.Look))
		require.Equal(t, string(k.Kind)+": "+strings.ReplaceAll(k.What, "`", ""), k.Kind.Text())
	}
	require.Equal(t, want, strings.Split(table, "\n"))
	require.Empty(t, result.Kind("").Text())
}

// After a replay that broke off, mismatches from before the break count, but not findings about the break itself.
func TestReplayDiffers(t *testing.T) {
	odd := errors.New("odd")
	require.False(t, differs(nil, odd))
	require.False(t, differs(&replay.Result{Pass: true}, nil))
	require.True(t, differs(&replay.Result{}, nil))
	require.False(t, differs(&replay.Result{}, odd))
	require.True(t, differs(&replay.Result{Mismatches: 1}, odd))
}

// An error counts as found only if all of its parts are about the device; others are reported beside the findings.
func TestFound(t *testing.T) {
	breach := boundary.Breach("Q4", "an event")
	require.True(t, Found(breach))
	require.True(t, Found(errors.Join(&replay.StuckError{}, fmt.Errorf("wrapped: %w", breach))))
	require.False(t, Found(errors.Join(breach, errors.New("odd"))))
	require.True(t, Found(nil))
}

// The table in docs/results.md lists every cause with its exit code, in the order in which they decide.
func TestThePageHasTheCauses(t *testing.T) {
	page, err := os.ReadFile("../../../docs/results.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "\n| Code | `result` | Cause |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ := strings.Cut(after, "\n\n")
	var want []string
	for _, c := range Causes {
		want = append(want, fmt.Sprintf("| %d | `%v` | %s |", c.Outcome.Exit(), c.Outcome, c.What))
	}
	require.Equal(t, want, strings.Split(table, "\n"))
}
