package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/shell/children"
)

// ends describes a command for the tests that run it to each of its possible ends.
type ends struct {
	args  string // arguments of a short run; if `long` is set, of a very long one
	tools bool   // it needs external tools: if they are missing, it ends with result.Infrastructure
	long  bool   // the command runs until it is interrupted
	child string // program of its child process; empty: none
}

// drives lists the visible commands with their arguments. CAP, DIR and LONG stand for a capture, an empty
// folder and a scenario that takes long.
var drives = map[string]ends{
	"replay":      {"--no-artifacts --loop 1000000 CAP", true, true, "dut"},
	"play":        {"fifo --no-artifacts --runs 1000000", true, true, "dut"},
	"fuzz":        {"--no-artifacts --runs 1000000", true, true, "dut"},
	"blocks":      {"csum --runs 1000000", true, true, "dut"},
	"run":         {"--nic rtl --no-artifacts LONG", true, true, "dut"},
	"bench":       {"bridge/rx_frames_per_s --percent 10000", true, true, "dut"},
	"pair":        {"--processes 2 --pad --count 1000000000 CAP", false, true, "nictwin"},
	"dut new":     {"axis_fifo ROOT/verilator/duts/fifo/rtl/axis_fifo.sv", true, false, ""},
	"dut build":   {"fifo", true, false, ""},
	"dut check":   {"fifo", true, false, ""},
	"dut ports":   {"fifo", true, false, ""},
	"dut shell":   {"fifo --out shell", true, false, ""},
	"emulate":     {"fifo --listen unix:here --token-file DIR/token", true, true, "dut"},
	"dut tune":    {"nic", true, false, ""},
	"dut list":    {"", false, false, ""},
	"dut clean":   {"--dry-run", false, false, ""},
	"report":      {"DIR --out page", false, false, ""},
	"gate":        {"--baseline baseline.json DIR", false, false, ""},
	"bundle show": {"bundle.zip", false, false, ""},
	"coverage":    {"DIR", false, false, ""},
	"board show":  {"bf3", false, false, ""},
	"version":     {"", false, false, ""},
}

// endsBench holds the schema, paths and word replacements that the tests of how commands end share.
type endsBench struct {
	t      *testing.T
	schema *resulttest.Schema
	words  *strings.Replacer
	env    []string
}

func newEndsBench(t *testing.T) *endsBench {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	schema, err := resulttest.Load(resulttest.Summary)
	require.NoError(t, err)
	dir := t.TempDir()
	long := filepath.Join(dir, "long.yaml")
	require.NoError(t, os.WriteFile(long, []byte("name: long\ndescription: takes long\nboard: {preset: "+
		"bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: send, count: 400000, sizes: [64]}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(strings.Repeat("5a", 32)), 0o600))
	return &endsBench{t, schema, strings.NewReplacer(
		"CAP", filepath.Join(root, "scenarios", "captures", "softroce", "ud_send6.pcap"), "ROOT", root, "DIR", dir,
		"LONG", long,
	), append(os.Environ(), "NICTWIN_HOME="+root)}
}

// commandsOf returns the visible commands below c.
func commandsOf(c *cobra.Command) (names []string) {
	for _, s := range c.Commands() {
		switch {
		case s.Hidden || s.Name() == "help" || s.Name() == "completion":
		case s.HasSubCommands():
			names = append(names, commandsOf(s)...)
		default:
			_, name, _ := strings.Cut(s.CommandPath(), " ")
			names = append(names, name)
		}
	}
	return names
}

// start starts a command with --json in a temporary folder.
func (b *endsBench) start(t *testing.T, name, words string, env ...string) (cmd *exec.Cmd, stdout,
	stderr *bytes.Buffer) {
	t.Helper()
	program, err := exec.LookPath("nictwin")
	require.NoError(t, err)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.Command(program, strings.Fields(name+" --json "+b.words.Replace(words))...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), stdout, stderr
	cmd.Env = append(b.env[:len(b.env):len(b.env)], env...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // fails if the command has ended, as it has unless the test failed
	return cmd, stdout, stderr
}

// end waits for a command and checks its exit code and its JSON object.
func (b *endsBench) end(t *testing.T, name string, cmd *exec.Cmd, stdout, stderr *bytes.Buffer, want result.Outcome) {
	t.Helper()
	err := cmd.Wait()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	require.Equal(t, want.Exit(), cmd.ProcessState.ExitCode(), "%s\n%s", stdout, stderr)
	require.NoError(t, checkObject(b.schema, stdout.String(), want.Exit()))
	require.Contains(t, stdout.String(), fmt.Sprintf(`"command":%q,"result":%q`, name, want))
}

// each runs a function for every command, in parallel.
func (b *endsBench) each(do func(t *testing.T, name string, x ends)) {
	for name, x := range drives {
		b.t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			do(t, name, x)
		})
	}
}

// TestEveryCommandIsDriven checks that drives lists every visible command, so that the tests below run it.
func TestEveryCommandIsDriven(t *testing.T) {
	names := commandsOf(newApp(commands).root())
	require.Len(t, names, len(drives))
	for _, n := range names {
		require.Contains(t, drives, n)
	}
}

// TestCommandsThatDoNotRun checks for every command that --help passes and an unknown flag is a usage
// error.
func TestCommandsThatDoNotRun(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		cmd, stdout, stderr := b.start(t, name, "--help")
		b.end(t, name, cmd, stdout, stderr, result.Pass)
		require.NotEmpty(t, stderr.String())
		cmd, stdout, stderr = b.start(t, name, x.args+" --no-such-flag")
		b.end(t, name, cmd, stdout, stderr, result.Usage)
	})
}

// TestCommandsWithoutTools checks that a command that needs an external tool reports which one is missing.
func TestCommandsWithoutTools(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		if x.long && !x.tools {
			return // such a command needs no tool, and would run until interrupted
		}
		cmd, stdout, stderr := b.start(t, name, x.args, "PATH="+t.TempDir(), "NICTWIN_CACHE="+t.TempDir())
		switch {
		case x.tools:
			b.end(t, name, cmd, stdout, stderr, result.Infrastructure)
			require.Contains(t, stdout.String(), "tool missing: verilator is not installed")
		case slices.Contains([]string{"coverage", "report", "gate", "bundle show"}, name): // their input is missing
			b.end(t, name, cmd, stdout, stderr, result.Usage)
		default:
			b.end(t, name, cmd, stdout, stderr, result.Pass)
		}
	})
}

// TestCommandsWhoseToolsFail checks that a failing tool is an infrastructure failure, not a usage error.
func TestCommandsWhoseToolsFail(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		if !x.tools {
			return
		}
		path := fakeTool(t, "verilator", "echo out of luck >&2; exit 1")
		cmd, stdout, stderr := b.start(t, name, x.args, "PATH="+path, "NICTWIN_CACHE="+t.TempDir())
		b.end(t, name, cmd, stdout, stderr, result.Infrastructure)
	})
}

// fakeTool returns a PATH on which one tool is replaced by a script.
func fakeTool(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return dir + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// TestCommandsWithoutCache checks that a build cache that cannot be used is reported by its path.
func TestCommandsWithoutCache(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		if !x.tools {
			return
		}
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		cmd, stdout, stderr := b.start(t, name, x.args, "NICTWIN_CACHE="+file)
		b.end(t, name, cmd, stdout, stderr, result.Infrastructure)
		require.Contains(t, stdout.String(), "not a directory")
	})
}

// TestCommandsInterruptedInABuild checks that a signal ends a command while one of its tools is running.
func TestCommandsInterruptedInABuild(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		if !x.tools {
			return
		}
		begun := filepath.Join(t.TempDir(), "begun")
		path := fakeTool(t, "verilator", "echo >"+begun+"; exec sleep 1000")
		cmd, stdout, stderr := b.start(t, name, x.args, "PATH="+path, "NICTWIN_CACHE="+t.TempDir())
		until(t, stderr, func() bool { _, err := os.Stat(begun); return err == nil })
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		b.end(t, name, cmd, stdout, stderr, result.Interrupted)
	})
}

// TestCommandsInterruptedInARun checks that a signal ends a run, and that a run ends if its device or its
// second process is killed, which is reported as infrastructure.
func TestCommandsInterruptedInARun(t *testing.T) {
	b := newEndsBench(t)
	b.each(func(t *testing.T, name string, x ends) {
		if !x.long {
			return
		}
		for kill, want := range map[bool]result.Outcome{false: result.Interrupted, true: result.Infrastructure} {
			cmd, stdout, stderr := b.start(t, name, x.args)
			child := 0
			until(t, stderr, func() bool { child = childOf(cmd.Process.Pid, x.child); return child != 0 })
			if kill {
				require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
			} else {
				require.NoError(t, cmd.Process.Signal(os.Interrupt))
			}
			b.end(t, name, cmd, stdout, stderr, want)
		}
	})
}

// TestEmulateIsKilled checks that neither the agent nor its socket outlives a command that ends without a warning.
func TestEmulateIsKilled(t *testing.T) {
	b := newEndsBench(t)
	cmd, _, stderr := b.start(t, "emulate", drives["emulate"].args)
	socket := filepath.Join(cmd.Dir, "here")
	there := func() bool { _, err := os.Lstat(socket); return err == nil }
	until(t, stderr, there)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	until(t, stderr, func() bool { return !there() })
}

// childOf returns the process id of the child of process pid that runs the program, or 0.
func childOf(pid int, program string) int {
	for _, kid := range children.Of(pid) {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", kid))
		if err == nil && (filepath.Base(exe) == program || program == "nictwin" &&
			strings.Contains(exe, "nictwin.test")) {
			return kid
		}
	}
	return 0
}

// until waits for a condition, and fails the test shortly before its time limit.
func until(t *testing.T, stderr *bytes.Buffer, there func() bool) {
	t.Helper()
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		sooner, cancel := context.WithDeadline(ctx, end.Add(-time.Until(end)/10))
		defer cancel()
		ctx = sooner
	}
	for !there() {
		if ctx.Err() != nil {
			require.Fail(t, "still waiting", "%s", stderr)
		}
		time.Sleep(pollEvery)
	}
}
