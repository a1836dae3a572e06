package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
)

// objectsVar names the folder in which programs under test record their output with --json.
const objectsVar = "NICTWIN_TEST_OBJECTS"

// printed records the output of a program with --json, and its exit code.
type printed struct {
	Args   []string
	Stdout string
	Exit   int
	Failed bool // writing to stdout failed
}

// watched runs the program as function `start` does, and records its output with --json.
func watched(commands []command, grace time.Duration) int {
	a, dir := newApp(commands), os.Getenv(objectsVar)
	var stdout bytes.Buffer
	if dir != "" && wantsJSON(os.Args[1:]) {
		a.stdout.w = io.MultiWriter(&stdout, a.stdout.w)
	}
	exit := a.run(grace)
	if dir == "" || !a.json {
		return exit
	}
	path := filepath.Join(dir, fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano()))
	text, err := json.Marshal(printed{os.Args[1:], stdout.String(), exit, a.stdout.err != nil})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if errors.Is(err, syscall.EFBIG) { // a limit that a script sets on file sizes applies to this file as well
		err = os.Remove(path)
	}
	if err != nil {
		panic(err)
	}
	return exit
}

// checkObject checks the output of a command with --json: one line, with an object that the schema allows
// and whose result matches the exit code.
func checkObject(schema *resulttest.Schema, stdout string, exit int) error {
	if strings.Count(stdout, "\n") != 1 || !strings.HasSuffix(stdout, "\n") {
		return fmt.Errorf("not one line: %q", stdout)
	}
	if err := schema.Check([]byte(stdout)); err != nil {
		return fmt.Errorf("docs/schema/summary.json: %w\n%s", err, stdout)
	}
	var o result.Object
	if err := json.Unmarshal([]byte(stdout), &o); err != nil {
		return err
	}
	for out := result.Pass; out <= result.Interrupted; out++ {
		if out.String() == o.Result && out.Exit() != exit {
			return fmt.Errorf("result %s, but exit code %d", o.Result, exit)
		}
	}
	return nil
}

// checkPrinted checks everything that scripts have printed with --json, whether they examined it or not.
func checkPrinted(t *testing.T, dir string) {
	schema, err := resulttest.Load(resulttest.Summary)
	require.NoError(t, err)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range list {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		var p printed
		require.NoError(t, json.Unmarshal(text, &p))
		if p.Failed { // the script made writing fail on purpose
			continue
		}
		if err := checkObject(schema, p.Stdout, p.Exit); err != nil {
			t.Errorf("nictwin %s: %v", strings.Join(p.Args, " "), err)
		}
	}
}

// checkSummaries checks every summary.json that runs of a script have left.
func checkSummaries(e *testscript.Env) {
	t := e.T().(testing.TB)
	schema, err := resulttest.Load(resulttest.Summary)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(e.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != result.Summary || !d.Type().IsRegular() {
			return nil // a script may have made it unreadable
		}
		text, err := os.ReadFile(path)
		if err != nil || result.IsSummary(text) != nil { // not a summary: a script wrote a file of this name
			return err
		}
		if err := schema.Check(text); err != nil {
			return fmt.Errorf("%s: %w\n%s", path, err, text)
		}
		return nil
	}))
}

// TestCheckObject checks that checkObject finds faults.
func TestCheckObject(t *testing.T) {
	schema, err := resulttest.Load(resulttest.Summary)
	require.NoError(t, err)
	var o result.Object
	o.End(result.Pass, nil)
	var line bytes.Buffer
	require.NoError(t, o.WriteLine(&line))
	require.NoError(t, checkObject(schema, line.String(), 0))
	require.ErrorContains(t, checkObject(schema, line.String(), 2), "result pass, but exit code 2")
	for _, text := range []string{"", "PASS\n" + line.String(), line.String() + line.String(),
		strings.TrimSuffix(line.String(), "\n")} {
		require.ErrorContains(t, checkObject(schema, text, 0), "not one line")
	}
	require.ErrorContains(t, checkObject(schema, strings.Replace(line.String(), `"pass"`, `"passed"`, 1), 0),
		"docs/schema/summary.json")
	require.ErrorContains(t,
		checkObject(schema, strings.Replace(line.String(), `"artifacts"`, `"rx":null,"artifacts"`, 1), 0),
		"docs/schema/summary.json")
}
