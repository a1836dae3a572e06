package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/shell/children"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/inorder"
)

// TestMain makes the program available to scripts, also with test commands that fail on purpose and with a
// longer grace period.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"nictwin": func() { os.Exit(watched(commands, grace)) },
		"nictwin-broken": func() {
			os.Exit(watched(append(commands[:len(commands):len(commands)], panicCommand, endCommand), grace))
		},
		// With this grace period all interrupts count as one, however slow the machine is.
		"nictwin-patient": func() { os.Exit(watched(commands, 24*time.Hour)) },
	})
}

func panicCommand(*app) *cobra.Command {
	return &cobra.Command{Use: "panic", RunE: func(c *cobra.Command, args []string) error {
		if !slices.Contains(args, "jobs") {
			return errors.New(args[7])
		}
		l := inorder.List[string]{Count: 3, Most: 2, Do: func(context.Context, int) string { return args[7] },
			Take: func(int, string) {}}
		return l.Run(c.Context())
	}}
}

// endCommand is a test command that ends as its argument says, and reports like a replay.
func endCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "end", RunE: func(c *cobra.Command, args []string) error {
		e := &cli.Ended{Outcome: result.Mismatch}
		e.Object = result.Object{Seed: 5, Findings: []result.Finding{
			{Domain: result.Run, Text: "first finding\n  in detail\n", Command: "again"},
			{Domain: result.Run, Text: "second finding\n  in detail", Command: "again"},
		}, Artifacts: "out/x", Reproduce: "nictwin replay --seed 5 'a b'"}
		if args[0] == "infrastructure" {
			e.Outcome, e.Err = result.Infrastructure, errors.New("the device died")
		}
		a.report(e, &replay.Result{Seed: 5})
		return e.Err
	}}
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("NICTWIN_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "nictwin")
	}
	// Waits in a script end shortly before the time limit of the whole test, so that their failure is reported.
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		sooner, cancel := context.WithDeadline(ctx, end.Add(-time.Until(end)/10))
		t.Cleanup(cancel)
		ctx = sooner
	}
	objects := t.TempDir()
	t.Cleanup(func() { checkPrinted(t, objects) }) // runs when all scripts have ended
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			program, err := exec.LookPath("nictwin")
			if err != nil {
				return err
			}
			e.Setenv("PROGRAM", program)
			e.Setenv("ROOT", root)
			e.Setenv("NICTWIN_HOME", root) // the program under test lies elsewhere
			e.Setenv("CAP", filepath.Join(root, "scenarios", "captures", "softroce"))
			e.Setenv("NICTWIN_CACHE", cache)
			e.Setenv(objectsVar, objects)
			e.Defer(func() { checkSummaries(e) })
			return goEnv(e)
		},
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("condition %q: want long", name)
			}
			return os.Getenv("NICTWIN_LONG") != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "object": cmdObject, "readable": cmdReadable,
			"unhex": cmdUnhex, "page": cmdPage,
			"gone": func(ts *testscript.TestScript, neg bool, args []string) { cmdGone(ctx, ts, neg, args) },
			"ends": func(ts *testscript.TestScript, neg bool, args []string) { cmdEnds(ctx, ts, neg, args) },
		},
	})
}

// goEnv sets Go's cache folders for scripts that build: these have no home folder.
func goEnv(e *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		text, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return fmt.Errorf("go env %s: %w", name, err)
		}
		e.Setenv(name, strings.TrimSpace(string(text)))
	}
	return nil
}

// cmdExits is "exits CODE COMMAND...": runs a command, which must end with that code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	checkCode(ts, want, ts.Exec(args[1], args[2:]...))
}

func checkCode(ts *testscript.TestScript, want int, err error) {
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			got = 128 + int(status.Signal()) // the exit code that a shell reports
		}
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// required lists the fields that every object has.
var required = []string{"schema", "result", "seed", "digest", "build", "checked", "mismatches", "cycles", "sim_ps",
	"wall_s", "artifacts"}

// cmdObject is "object FILE [FIELD=VALUE | FIELD~PART | !FIELD]...": checks that the file, or stdout, is
// one line with an object that the published schema allows and that has the required fields and those
// given. A nested field is named by its path: rx.in.
func cmdObject(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: object FILE CONDITION...")
	}
	text := ts.ReadFile(args[0])
	if args[0] == "stdout" && (strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n")) {
		ts.Fatalf("not one line: %q", text)
	}
	schema, err := resulttest.Load(resulttest.Summary)
	ts.Check(err)
	if err := schema.Check([]byte(text)); err != nil {
		ts.Fatalf("docs/schema/summary.json: %v\n%s", err, text)
	}
	var o map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	ts.Check(dec.Decode(&o))
	for _, f := range required {
		if _, ok := o[f]; !ok {
			ts.Fatalf("no field %q", f)
		}
	}
	for _, cond := range args[1:] {
		if name, absent := strings.CutPrefix(cond, "!"); absent {
			if v, there := field(o, name); there {
				ts.Fatalf("%s is %v, want no such field", name, v)
			}
			continue
		}
		at := strings.IndexAny(cond, "=~")
		if at < 0 {
			ts.Fatalf("%q is no condition", cond)
		}
		v, _ := field(o, cond[:at])
		got, want := fmt.Sprint(v), cond[at+1:]
		if cond[at] == '=' && got != want || cond[at] == '~' && !strings.Contains(got, want) {
			ts.Fatalf("%s is %q, want %q", cond[:at], got, want)
		}
	}
}

func field(o any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch x := o.(type) {
		case map[string]any:
			v, ok := x[name]
			if !ok {
				return nil, false
			}
			o = v
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil, false
			}
			o = x[i]
		default:
			return nil, false
		}
	}
	return o, true
}

// cmdUnhex is "unhex FROM TO": turns hexadecimal text, with comments after #, into bytes.
func cmdUnhex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unhex FROM TO")
	}
	var out []byte
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line, _, _ = strings.Cut(line, "#")
		for _, w := range strings.Fields(line) {
			for i := 0; i+2 <= len(w); i += 2 {
				b, err := strconv.ParseUint(w[i:i+2], 16, 8)
				ts.Check(err)
				out = append(out, byte(b))
			}
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out, 0o644))
}

// cmdEnds is "ends CODE int|twice|again|kill|quit|device|stop FILE COMMAND...": starts a command, waits
// until FILE is not empty, then ends the command (see end); it must end with that code and leave no device
// behind. Its output is in the files stdout.txt and stderr.txt.
func cmdEnds(ctx context.Context, ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: ends CODE int|twice|again|kill|quit|device|stop FILE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var out bytes.Buffer
	words, err := os.Create(ts.MkAbs("stderr.txt"))
	ts.Check(err)
	defer words.Close()
	cmd := exec.CommandContext(ctx, args[3], args[4:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, words
	cmd.Env = append(os.Environ(), "NICTWIN_CACHE="+ts.Getenv("NICTWIN_CACHE"),
		"NICTWIN_HOME="+ts.Getenv("NICTWIN_HOME"),
		objectsVar+"="+ts.Getenv(objectsVar))
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	device := slices.Contains([]string{"device", "stop", "quit"}, args[1])
	kids := await(ts, cmd.Process.Pid, device, ts.MkAbs(args[2]), done)
	err = end(ts, args[1], cmd.Process, kids, done)
	if ctx.Err() != nil {
		ts.Fatalf("still running at the time limit of the test: %s", ts.ReadFile("stderr.txt"))
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), out.Bytes(), 0o644))
	checkCode(ts, want, err)
	for _, pid := range kids {
		for isDevice(pid) { // the device may still be ending
			if ctx.Err() != nil {
				ts.Fatalf("process %d is left behind", pid)
			}
			time.Sleep(pollEvery)
		}
	}
}

// end interrupts a command once, twice, or repeatedly until it ends, kills it, sends it SIGQUIT, or kills
// or stops its device. It returns how the command ended.
func end(ts *testscript.TestScript, how string, p *os.Process, kids []int, done <-chan error) error {
	switch how {
	case "device":
		ts.Check(syscall.Kill(kids[0], syscall.SIGKILL))
	case "stop":
		ts.Check(syscall.Kill(kids[0], syscall.SIGSTOP))
	case "kill":
		ts.Check(p.Signal(syscall.SIGSTOP))
		for !halted(p.Pid) { // in the middle of a write, the kill could leave a part of a record
			time.Sleep(pollEvery)
		}
		ts.Check(p.Kill())
	case "quit":
		ts.Check(p.Signal(syscall.SIGQUIT))
	default:
		ts.Check(p.Signal(os.Interrupt))
	}
	if how != "twice" && how != "again" {
		return <-done
	}
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(pollEvery):
		}
		if strings.Contains(ts.ReadFile("stderr.txt"), "interrupt: ending") {
			_ = p.Signal(os.Interrupt) // fails if it has ended
			if how == "twice" {
				return <-done
			}
		}
	}
}

// halted reports whether all threads of a process are stopped.
func halted(pid int) bool {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range list {
		text, readErr := os.ReadFile(file)
		_, state, _ := strings.Cut(string(text), ") ")
		if readErr == nil && !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return err == nil
}

const pollEvery = 20 * time.Millisecond

// await waits until a command has begun its work: the file is not empty and, if it must have one, there is
// a child process.
func await(ts *testscript.TestScript, pid int, child bool, file string, done <-chan error) []int {
	for {
		select {
		case err := <-done:
			ts.Fatalf("ended too early: %v", err)
		case <-time.After(pollEvery):
		}
		kids := slices.DeleteFunc(children.Of(pid), func(kid int) bool { return !isDevice(kid) })
		if info, err := os.Stat(file); err == nil && info.Size() > 0 && (!child || len(kids) > 0) {
			return kids
		}
	}
}

// cmdGone is "gone FILE": waits until the process whose number is in the file has ended.
func cmdGone(ctx context.Context, ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone FILE")
	}
	pid, err := strconv.Atoi(ts.ReadFile(args[0]))
	ts.Check(err)
	for syscall.Kill(pid, 0) == nil {
		if ctx.Err() != nil {
			ts.Fatalf("process %d is left behind", pid)
		}
		time.Sleep(pollEvery)
	}
}

// isDevice reports whether a process runs a device.
func isDevice(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && filepath.Base(exe) == "dut"
}
