package toolchain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ToolLimits limit one run of a tool: a design can make Verilator read a file without end.
type ToolLimits struct {
	Memory uint64 // bytes of address space; 0: the value of $NICTWIN_TOOL_GB
	File   uint64 // largest size of an output file, bytes
	Time   time.Duration
	Longer string // a hint for the error: where a longer time limit applies
}

const (
	toolMemoryGB  = 8       // far more than a large NIC needs
	maxToolFile   = 4 << 30 // bytes
	maxToolOutput = 256 << 20
	lookTimeout   = 3 * time.Minute
	killDelay     = 5 * time.Second // time to read what a killed tool has left in its pipes
)

var (
	BuildLimits = ToolLimits{File: maxToolFile, Time: toolTimeout}
	LookLimits  = ToolLimits{File: maxToolFile, Time: lookTimeout,
		Longer: fmt.Sprintf("; nictwin dut build waits %v", toolTimeout)}
)

// ToolMemoryVar names the variable that raises the memory limit for larger designs.
const ToolMemoryVar = "NICTWIN_TOOL_GB"

// SettingError is an environment variable with an invalid value.
type SettingError struct{ Name, Value, Want string }

func (e *SettingError) Error() string { return fmt.Sprintf("%s=%s: want %s", e.Name, e.Value, e.Want) }

var _ error = (*SettingError)(nil)

// Complete fills in a missing memory limit.
func (l ToolLimits) Complete() (ToolLimits, error) {
	gb := uint64(toolMemoryGB)
	if text := os.Getenv(ToolMemoryVar); text != "" {
		var err error
		if gb, err = strconv.ParseUint(text, 10, 20); err != nil || gb == 0 {
			return l, &SettingError{ToolMemoryVar, text, "the memory of a tool in GB, such as 16"}
		}
	}
	if l.Memory == 0 {
		l.Memory = gb << 30
	}
	return l, nil
}

// ExceededError reports a run of a tool that was ended by one of its limits.
type ExceededError struct {
	what string
	err  error // ErrMemory or ErrFileSize; nil: the time limit
}

func (e *ExceededError) Error() string { return e.what }

// Unwrap returns the limit.
func (e *ExceededError) Unwrap() error { return e.err }

// Limits that end tools.
var (
	ErrMemory   = errors.New("memory")
	ErrFileSize = errors.New("size of files")
)

// exceeded returns the limit that ended a tool, which it tells from how the tool ended, or nil if no limit did.
func (l ToolLimits) exceeded(ctx context.Context, tool string, err error, out string) error {
	tool = filepath.Base(tool)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &ExceededError{fmt.Sprintf("%s took longer than %v, which is the limit: the design reads a pipe or a "+
			"file without end, or is too large for that%s",
			tool, l.Time, l.Longer), nil}
	case tooLittleMemory.MatchString(out):
		return &ExceededError{fmt.Sprintf("%s took more than %d MB of memory, which is the limit: the design reads a "+
			"file without end, or is large; set %s to more than %d if it is large",
			tool, l.Memory>>20, ToolMemoryVar, max(l.Memory>>30, 1)), ErrMemory}
	case tooLongFile(err, out):
		if has := (unix.Rlimit{}); unix.Getrlimit(unix.RLIMIT_FSIZE, &has) == nil && has.Cur < l.File {
			return &ExceededError{fmt.Sprintf("%s wrote more into one file than the limit on the size of files "+
				"(ulimit -f), %d kB: raise it where nictwin is started", tool, has.Cur>>10), ErrFileSize}
		}
		return &ExceededError{fmt.Sprintf("%s wrote more than %d MB into one file, which is the limit: make the "+
			"design smaller", tool, l.File>>20), ErrFileSize}
	}
	return nil
}

var tooLittleMemory = regexp.MustCompile(`std::bad_alloc|(?m)^(?:LLVM ERROR|cc1plus): out of memory`)

// tooLongFile reports whether a tool, or a process below Verilator's script, exceeded the limit on the size of a
// file.
func tooLongFile(err error, out string) bool {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGXFSZ {
			return true
		}
	}
	return strings.Contains(out, fmt.Sprintf("%%Error: Verilator threw signal %d.", int(syscall.SIGXFSZ)))
}

// start starts a tool with these limits, which its child processes inherit.
func (l ToolLimits) start(cmd *exec.Cmd) error {
	cmd.Cancel = func() error {
		return overTree(cmd.Process.Pid, func(pid int) error { return unix.Kill(pid, unix.SIGKILL) })
	}
	cmd.WaitDelay = killDelay
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := overTree(cmd.Process.Pid, l.hold); err != nil {
		return errors.Join(fmt.Errorf("limits of %s: %w", cmd.Path, err), cmd.Cancel(), cmd.Wait())
	}
	return nil
}

// hold sets the limits of one process, except where it already has lower ones.
func (l ToolLimits) hold(pid int) error {
	for _, r := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_AS, l.Memory}, {unix.RLIMIT_FSIZE, l.File},
		{unix.RLIMIT_CPU, 2 * uint64(math.Ceil(l.Time.Seconds()))}, // ends remaining processes when nictwin is killed
		{unix.RLIMIT_CORE, 0}, // a core file would be written into the folder of the manifest
	} {
		var has unix.Rlimit
		if err := unix.Prlimit(pid, r.resource, nil, &has); err != nil {
			return err
		}
		has.Cur, has.Max = min(has.Cur, r.most), min(has.Max, r.most)
		if err := unix.Prlimit(pid, r.resource, &has, nil); err != nil {
			return err
		}
	}
	return nil
}

// overTree applies a function to a process, and then to its child processes: those listed before and, as it may start
// some meanwhile, those listed afterwards. Processes that have ended are left out.
func overTree(pid int, do func(pid int) error) error {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	kids := func() (all []string) {
		for _, list := range lists {
			text, _ := os.ReadFile(list) // the process may have ended
			all = append(all, strings.Fields(string(text))...)
		}
		return all
	}
	before := kids()
	if doErr := do(pid); !errors.Is(doErr, unix.ESRCH) {
		err = errors.Join(err, doErr)
	}
	for _, kid := range append(before, kids()...) {
		if n, bad := strconv.Atoi(kid); bad == nil {
			err = errors.Join(err, overTree(n, do))
		}
	}
	return err
}

// FirstBytes keeps only the beginning of a tool's output: a design can make Verilator print without end.
type FirstBytes struct {
	strings.Builder
	Most int
}

func (f *FirstBytes) Write(b []byte) (int, error) {
	_, _ = f.Builder.Write(b[:min(len(b), f.Most-f.Len())]) // never fails
	return len(b), nil
}
