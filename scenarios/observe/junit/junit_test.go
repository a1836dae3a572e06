package junit_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gojunit "github.com/joshdk/go-junit"
	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/junit"
	"nictwin/scenarios/observe/result"
)

const again = "nictwin replay --seed 7 a.pcap"

// hostile is a text, as captures and names may contain it, that XML, HTML or a terminal could misread.
const hostile = "a<b>&\"'\x00\x1b[31m]]>\ufffe\xff [[ATTACHMENT|/etc/passwd]] ::error::x"

func object(outcome result.Outcome, findings ...result.Finding) *result.Object {
	o := &result.Object{Command: "replay", Seed: 7, NIC: "rtl", Dir: "both", Digest: "d1", WallS: 1.5,
		Captures: []string{"in/a.pcap", "in/b.pcap"}, Findings: findings, Mismatches: uint64(len(findings)),
		Reproduce: again}
	o.End(outcome, nil)
	return o
}

func inCapture(name, text string) result.Finding {
	return result.Finding{Rule: "S2", Domain: result.Rx, Cycle: new(int64(13688)), Text: text,
		Files: []string{"models/nic/core/rss.go"}, Frame: &result.Frame{Dir: "rx", Capture: name, Packet: 4}}
}

// read writes the document and parses it by an independent reader of JUnit XML.
func read(t *testing.T, s *junit.Suites) gojunit.Suite {
	var text bytes.Buffer
	require.NoError(t, junit.Write(&text, s))
	list, err := gojunit.Ingest(text.Bytes())
	require.NoError(t, err, text.String())
	require.Len(t, list, 1)
	return list[0]
}

func statuses(s gojunit.Suite) map[string]gojunit.Status {
	m := map[string]gojunit.Status{}
	for _, c := range s.Tests {
		m[c.Classname+"/"+c.Name] = c.Status
	}
	return m
}

func TestPassHasACaseForEachCapture(t *testing.T) {
	s := read(t, junit.Of(object(result.Pass), again, []string{"frames.pcapng"}))
	require.Equal(t, map[string]gojunit.Status{"replay/replay": gojunit.StatusPassed,
		"replay.rtl.both/a.pcap": gojunit.StatusPassed, "replay.rtl.both/b.pcap": gojunit.StatusPassed}, statuses(s))
	require.Equal(t, "7", s.Properties["seed"])
	require.Equal(t, again, s.Properties["command"])
	require.Empty(t, s.Tests[0].SystemOut, "attachments of a pass")
}

func TestFindingFailsTheCaseOfItsCapture(t *testing.T) {
	f := inCapture("b.pcap", "cycle 13688, rxq 3 [S2] rss_hash: expected 0, got 1\n  blocks: rss.go")
	s := read(t, junit.Of(object(result.Mismatch, f), again, []string{"bundle.zip", "frames.pcapng"}))
	require.Equal(t, 1, s.Totals.Failed)
	require.Equal(t, gojunit.StatusFailed, statuses(s)["replay.rtl.both/b.pcap"])
	for _, c := range s.Tests {
		if c.Name == "b.pcap" {
			require.Contains(t, c.SystemOut, "[[ATTACHMENT|bundle.zip]]")
			require.Contains(t, c.Error.Error(), "rss_hash: expected 0, got 1")
		}
	}
}

func TestFindingWithoutCaptureFailsTheRun(t *testing.T) {
	f := result.Finding{Rule: "G5", Domain: result.Counters, Text: "counters [G5] DB_BAD: expected 1, got 4"}
	s := read(t, junit.Of(object(result.Mismatch, f), again, nil))
	require.Equal(t, gojunit.StatusFailed, statuses(s)["replay/replay"])
}

func TestScenariosOfBothNICs(t *testing.T) {
	o := object(result.Mismatch, result.Finding{Scenario: "loss", Domain: result.Application, Text: "byte 3 differs"})
	o.Command, o.Captures = "run", nil
	o.Scenarios = []result.ScenarioPlayed{{Name: "loss", NIC: "model", Result: "pass", Seed: 3},
		{Name: "loss", NIC: "rtl", Result: "mismatch", Seed: 3}}
	m := statuses(read(t, junit.Of(o, again, nil)))
	require.Equal(t, gojunit.StatusPassed, m["run.model/loss"])
	require.Equal(t, gojunit.StatusFailed, m["run.rtl/loss"])
}

// A run without a verdict is an error, whatever its findings are.
func TestNoVerdictIsAnError(t *testing.T) {
	for _, out := range []result.Outcome{result.Infrastructure, result.Interrupted} {
		o := object(out)
		o.Error = "the device died: signal 11"
		s := read(t, junit.Of(o, again, nil))
		require.Equal(t, gojunit.StatusError, statuses(s)["replay/replay"])
		require.Equal(t, 1, s.Totals.Error)
	}
	s := read(t, junit.Unfinished("replay", again, 7))
	require.Equal(t, 1, s.Totals.Error)
	require.Equal(t, "did not finish", s.Tests[0].Message)
}

func TestHostileTextStaysText(t *testing.T) {
	f := inCapture(hostile, hostile+strings.Repeat("x", 1<<20))
	o := object(result.Mismatch, f)
	o.Captures = append(o.Captures, hostile)
	s := read(t, junit.Of(o, hostile, []string{"frames.pcapng"}))
	require.Equal(t, 1, s.Totals.Failed)
	var text bytes.Buffer
	require.NoError(t, junit.Write(&text, junit.Of(o, hostile, nil)))
	require.NotContains(t, text.String(), "\x1b")
	require.Less(t, text.Len(), 64<<10)
}

func TestManyFindingsAreCounted(t *testing.T) {
	var list []result.Finding
	for range 500 {
		list = append(list, inCapture("a.pcap", "one more"))
	}
	s := read(t, junit.Of(object(result.Mismatch, list...), again, nil))
	require.Equal(t, 1, s.Totals.Failed)
	require.Contains(t, s.Tests[1].Error.Error(), "and 480 more findings")
}

// Python's junitparser reads the file, and finds the same cases and failures in it.
func TestPythonReads(t *testing.T) {
	python, err := filepath.Abs("../../../.venv/bin/python")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), result.JUnit)
	w, err := os.Create(file)
	require.NoError(t, err)
	f := inCapture(hostile, hostile)
	require.NoError(t, junit.Write(w, junit.Of(object(result.Mismatch, f), again, []string{"a"})))
	require.NoError(t, w.Close())
	const read = `
import json, sys, junitparser
x = junitparser.JUnitXml.fromfile(sys.argv[1])
bad = [c for s in x for c in s if not c.is_passed]
print(json.dumps({"tests": x.tests, "failures": x.failures, "errors": x.errors, "bad": len(bad),
  "kind": bad[0].result[0].type,
  "cycle": {p.name: p.value for p in bad[0].child(junitparser.Properties)}["cycle"]}))`
	out, err := exec.CommandContext(t.Context(), python, "-c", read, file).CombinedOutput()
	require.NoError(t, err, "junitparser, which make setup installs: %s", out)
	var got struct {
		Tests, Failures, Errors, Bad int
		Kind, Cycle                  string
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Equal(t, 4, got.Tests)
	require.Equal(t, 1, got.Failures)
	require.Equal(t, 0, got.Errors)
	require.Equal(t, 1, got.Bad)
	require.Equal(t, "S2", got.Kind)
	require.Equal(t, "13688", got.Cycle)
}

// The type attribute of an error or failure is the kind of failure of the run or of the finding.
func TestTypeIsTheKindOfFailure(t *testing.T) {
	o := object(result.Infrastructure)
	o.Failure, o.Error = result.Stall, "no answer in time"
	s := read(t, junit.Of(o, again, nil))
	require.Equal(t, "stall", s.Tests[0].Error.(gojunit.Error).Type)
	f := inCapture("a.pcap", "nothing happened")
	f.Failure = result.Hang
	o = object(result.Mismatch, f)
	s = read(t, junit.Of(o, again, nil))
	require.Equal(t, "hang", s.Tests[1].Error.(gojunit.Error).Type)
}
