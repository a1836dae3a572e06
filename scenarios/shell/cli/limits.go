package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/scenarios/observe/heartbeat"
)

// minAddressSpace is the address space that a run needs, in bytes; Go's runtime and threads reserve most of it without
// using it. With less, the runtime aborts the program at some point, which cannot be prevented.
const minAddressSpace = 3 << 30

// addressSpace is the text of LimitError.What for memory.
const addressSpace = "address space"

// minFiles is the number of files that a run needs open: artifacts, captures, the device's sockets and memory,
// compilers. That is enough for a job that needs firstFiles.
const (
	minFiles   = 40
	firstFiles = 16
)

// jobNeeds holds the needs of each of several concurrent jobs.
type jobNeeds struct {
	space uint64 // address space in bytes
	files uint64 // open files
}

// programNeeds holds the needs of a program, or of a server of a pair.
var programNeeds = jobNeeds{space: 32 << 20}

// caseNeeds returns the needs of a case: for each server a stack, a device and their artifacts.
func caseNeeds(servers int) jobNeeds {
	return jobNeeds{space: uint64(servers) * (64 << 20), files: uint64(servers) * 8}
}

// LimitError reports a system limit that is too low.
type LimitError struct {
	What  string // the limited resource
	Have  string
	Want  string
	Shell string // command that shows and raises the limit
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit on %s (%s) is %s: want %s or more; raise it where nictwin is started", e.What,
		e.Shell, e.Have, e.Want)
}

// CheckLimits checks, before a run, that no system limit is so low that the run could abort halfway. It returns a
// *LimitError.
func CheckLimits() error { return checkLimits(1, programNeeds) }

// checkLimits is CheckLimits for a number of concurrent jobs.
func checkLimits(jobs int, each jobNeeds) error {
	var space, open syscall.Rlimit
	// If a limit cannot be read, assume that it is high enough.
	if syscall.Getrlimit(syscall.RLIMIT_AS, &space) != nil {
		space.Cur = math.MaxUint64
	}
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &open) != nil {
		open.Cur = math.MaxUint64
	}
	return tooLow(space.Cur, open.Cur, uint64(max(jobs, 1)), each)
}

func tooLow(space, open, jobs uint64, each jobNeeds) error {
	const kB = 1 << 10
	var errs []error
	if want := minAddressSpace + jobs*each.space; space < want {
		errs = append(errs, &LimitError{addressSpace, fmt.Sprintf("%d kB", space/kB), fmt.Sprintf("%d kB", want/kB),
			"ulimit -v"})
	}
	if want := minFiles + max(jobs*each.files, firstFiles) - firstFiles; open < want {
		errs = append(errs, &LimitError{"open files", fmt.Sprint(open), fmt.Sprint(want), "ulimit -n"})
	}
	return errors.Join(errs...)
}

// Timed holds the settings about wall time.
type Timed struct {
	WallLimit time.Duration // ends the run; 0: none
	Heartbeat *heartbeat.Beat
}

// start begins the wall time of a run: the returned context ends at the limit, and heartbeats come until stop is
// called.
func (t *Timed) start(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	if t.WallLimit > 0 {
		timer = time.AfterFunc(t.WallLimit, func() { cancel(&WallLimitError{t.WallLimit}) })
	}
	t.Heartbeat.Start()
	return ctx, func() {
		t.Heartbeat.Stop()
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}

// check returns an error about a limit that no run can keep.
func (t *Timed) check() error {
	if t.WallLimit < 0 {
		return Usagef("--wall-limit %v: want 0 (none) or more", t.WallLimit)
	}
	return nil
}

// SaysAll reports whether an error is about the machine alone, so that further errors of the run add nothing.
func SaysAll(err error) bool { return errors.Is(err, toolchain.ErrToolMissing) || is[*LimitError](err) }

// explainedError is an error with the system limit that caused it.
type explainedError struct {
	error
	limit string
}

func (e *explainedError) Error() string { return e.error.Error() + "\n" + e.limit }

// Unwrap returns the error.
func (e *explainedError) Unwrap() error { return e.error }

// Explain adds to an error the system limit that caused it, if any.
func Explain(err error) error {
	var r syscall.Rlimit
	limit := ""
	switch {
	case err == nil || is[*LimitError](err) || is[*explainedError](err):
	case errors.Is(err, syscall.EMFILE) && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil:
		limit = fmt.Sprintf("the limit on open files (ulimit -n) is %d: raise it where nictwin is started", r.Cur)
	case errors.Is(err, syscall.ENFILE):
		limit = "the whole system has no more open files: its limit is in /proc/sys/fs/file-max"
	case errors.Is(err, syscall.ENOMEM) && syscall.Getrlimit(syscall.RLIMIT_AS, &r) == nil && r.Cur < math.MaxInt64:
		limit = fmt.Sprintf("the limit on address space (ulimit -v) is %d kB: raise it where nictwin is started",
			r.Cur>>10)
	}
	if limit == "" {
		return err
	}
	return &explainedError{err, limit}
}

var _ error = (*LimitError)(nil)
