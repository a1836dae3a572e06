package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// ErrToolMissing is wrapped by every error about a program that is not installed; the message names the command that
// installs it.
var ErrToolMissing = errors.New("tool missing")

// BuildError is a failure of Verilator or of the C++ compiler.
type BuildError struct {
	Step   string // the step that failed
	Output string // the tool's output, shortened
	Err    error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("%s: %v\n%s", e.Step, e.Err, strings.TrimRight(e.Output, "\n"))
}

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

const (
	toolTimeout  = 30 * time.Minute // far longer than a step takes on a slow, busy machine
	MaxToolLines = 40
)

// Tools is the set of programs that a build uses.
type Tools struct {
	Verilator, VerilatorVersion string
	IncludeDir                  string // folder of Verilator's run-time sources
	Cxx, CxxVersion             string
	Clang                       bool
}

func Find(compiler string) (*Tools, error) {
	t := &Tools{}
	var err error
	if t.Verilator, err = exec.LookPath("verilator"); err != nil {
		return nil, fmt.Errorf("%w: verilator is not installed; install it with: apt-get install verilator",
			ErrToolMissing)
	}
	candidates := []string{"clang++", "g++"}
	if compiler != "" {
		candidates = []string{compiler}
	}
	for _, c := range candidates {
		if t.Cxx, err = exec.LookPath(c); err == nil {
			t.Clang = strings.Contains(filepath.Base(c), "clang")
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: no C++ compiler (%s); install one with: apt-get install clang", ErrToolMissing,
			strings.Join(candidates, ", "))
	}
	if t.VerilatorVersion, err = toolOutput(t.Verilator, "--version"); err != nil {
		return nil, err
	}
	if t.CxxVersion, err = toolOutput(t.Cxx, "--version"); err != nil {
		return nil, err
	}
	root, err := toolOutput(t.Verilator, "--getenv", "VERILATOR_ROOT")
	if err != nil {
		return nil, err
	}
	t.IncludeDir = filepath.Join(strings.TrimSpace(root), "include")
	return t, nil
}

// Own reports whether a file that a design depends on belongs to Verilator: its program, or a file that it
// always reads. The version of Verilator is part of every build's hash.
func (t *Tools) Own(path string) bool {
	switch filepath.Base(path) {
	case "verilator_bin", "verilator_bin_dbg":
		return true
	}
	return filepath.Dir(path) == t.IncludeDir && strings.HasPrefix(filepath.Base(path), "verilated")
}

// fstLibraries matches the libraries that Verilator links for writing FST files.
var fstLibraries = regexp.MustCompile(`(?m)^\s*LDLIBS \+= ((?:-l\w+ )*-lz)$`)

// WaveLibraries returns the libraries of a program that writes waveforms. It takes them from Verilator's makefile,
// which names them only if there are several; else there is one, zlib.
func (t *Tools) WaveLibraries() []string {
	text, err := os.ReadFile(filepath.Join(t.IncludeDir, "verilated.mk"))
	if m := fstLibraries.FindSubmatch(text); err == nil && m != nil {
		return strings.Fields(string(m[1]))
	}
	return []string{"-lz"}
}

// toolOutput returns what a tool prints.
func toolOutput(name string, args ...string) (string, error) {
	out, _, err := ask(name, args...)
	return out, err
}

// toolErrors returns what a successful tool prints on its standard error.
func toolErrors(name string, args ...string) (string, error) {
	_, words, err := ask(name, args...)
	return words, err
}

func ask(name string, args ...string) (out, words string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
	defer cancel()
	var o, w bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &o, &w
	if err := runChild(cmd, (*exec.Cmd).Start); err != nil {
		return "", "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return o.String(), w.String(), nil
}

// ToolRun describes a run of a tool.
type ToolRun struct {
	Ctx    context.Context // cancels the run
	Limits ToolLimits
	Env    []string // environment variables in addition to those of this process
	Step   string   // the step, for messages
	Dir    string
}

// RunTool runs one build step in dir; a failure becomes a BuildError with the tool's words.
func RunTool(step, dir, name string, args ...string) (string, error) {
	return ToolRun{context.Background(), BuildLimits, nil, step, dir}.Run(name, args...)
}

func (r ToolRun) Run(name string, args ...string) (string, error) {
	limits, err := r.Limits.Complete()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.Ctx, limits.Time)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.Dir, append(os.Environ(), r.Env...)
	out := FirstBytes{Most: maxToolOutput}
	cmd.Stdout, cmd.Stderr = &out, &out
	err = runChild(cmd, limits.start)
	if err == nil {
		return out.String(), nil
	}
	if over := limits.exceeded(ctx, name, err, out.String()); over != nil {
		err = over
	} else if ctx.Err() != nil {
		err = fmt.Errorf("%s was stopped: %w", filepath.Base(name), context.Cause(ctx))
	}
	return out.String(), &BuildError{Step: r.Step, Output: HeadLines(out.String(), MaxToolLines), Err: err}
}

// runChild runs a tool that is killed when this process ends, in whatever way. The system kills the tool when
// the thread that started it ends, so the thread is kept.
func runChild(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// HeadLines keeps the first n lines: the first errors are the ones that matter.
func HeadLines(s string, n int) string {
	lines := strings.SplitAfterN(s, "\n", n+1)
	if len(lines) <= n {
		return s
	}
	return strings.Join(lines[:n], "") + "... (more in the tool's output)\n"
}

// CpuFlags describes the processor that -march=native compiles for.
func CpuFlags() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for _, line := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(line, "flags") || strings.HasPrefix(line, "Features") {
			return line
		}
	}
	return runtime.GOARCH
}
