package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutantsApply checks that the patches of seeded bugs apply. A change of the RTL can break them
// unnoticed, and a patch that does not apply proves nothing.
func TestMutantsApply(t *testing.T) {
	count := 0
	walkExt(t, ".patch", func(path string) {
		count++
		for _, fault := range patchFaults(root(t), path) {
			t.Error(fault)
		}
	})
	require.Greater(t, count, 30, "the walk must have found the patches")
}

// TestMutantsStandInTheDocs checks that docs/verification.md has a row for each seeded bug, with the block
// and description in its patch.
func TestMutantsStandInTheDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs/verification.md"))
	require.NoError(t, err)
	rows, caught := map[string][]string{}, 0
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 5 {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells
		}
	}
	delete(rows, "bug") // not a bug: the heading row of the table
	count := 0
	walkExt(t, ".patch", func(path string) {
		count++
		b, err := os.ReadFile(filepath.Join(root(t), path))
		require.NoError(t, err)
		name, key := strings.TrimSuffix(filepath.Base(path), ".patch"), keysOf(string(b))
		row, ok := rows[name]
		require.True(t, ok, "docs/verification.md: no row for %s", path)
		require.Equal(t, []string{key["block"], key["bug"]}, []string{row[1], row[3]},
			"docs/verification.md: row %s: block, bug", name)
		module := filepath.Base(regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`).FindStringSubmatch(string(b))[1])
		require.Equal(t, "`"+module+"`", row[2], "docs/verification.md: row %s: module", name)
		ended, _, _ := strings.Cut(strings.Trim(row[4], "* |\n"), ":")
		require.Equal(t, key["expect"], strings.Trim(ended, "*"), "docs/verification.md: row %s: how it ended", name)
		if key["expect"] == "caught" {
			caught++
		}
	})
	require.Len(t, rows, count, "docs/verification.md: rows, as many as patches")
	require.Contains(t, string(page), fmt.Sprintf("**%d of %d were caught", caught, count),
		"docs/verification.md: counts")
}

func TestPatchFaultsAreFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	keys := "block: b\nbug: c\nexpect: caught\n\n"
	write("a.sv", "one\ntwo\nthree\ntwo\nfour\n")
	write("ok.patch", keys+"--- a/a.sv\n+++ b/a.sv\n@@ -2,2 +2,2 @@\n-two\n+2\n three\n@@ -5,1 +5,1 @@\n-four\n+4\n")
	write("moved.patch", keys+"--- a/a.sv\n+++ b/a.sv\n@@ -1,2 +1,2 @@\n three\n-two\n+2\n")
	write("gone.patch", keys+"--- a/a.sv\n+++ b/a.sv\n@@ -1,1 +1,1 @@\n-one\n+1\n@@ -2,1 +2,1 @@\n-five\n+5\n")
	write("twice.patch", keys+"--- a/a.sv\n+++ b/a.sv\n@@ -1,1 +1,1 @@\n-two\n+2\n")
	write("short.patch", keys+"--- a/a.sv\n+++ b/a.sv\n@@ -1,2 +1,1 @@\n-one\n+1\n")
	write("file.patch", keys+"--- a/b.sv\n+++ b/b.sv\n@@ -1,1 +1,1 @@\n-one\n+1\n")
	write("same.patch", keys+"--- a/a.sv\n+++ b/a.sv\n")
	write("keys.patch", "block: b\nexpect: perhaps\nplay: chess\n--- a/a.sv\n+++ b/a.sv\n@@ -1,1 +1,1 @@\n-one\n+1\n")
	write("stack-keys.patch", keys[:len(keys)-1]+"play: stack\nrule: D\nscenario: no.yaml\n--- a/a.sv\n+++ "+
		"b/a.sv\n@@ -1,1 +1,1 @@\n-one\n+1\n")
	write("stack-other.patch", keys[:len(keys)-1]+"play: fuzz\n--- a/a.sv\n+++ b/a.sv\n@@ -1,1 +1,1 @@\n-one\n+1\n")
	for name, want := range map[string][]string{
		"ok.patch": nil, "moved.patch": nil,
		"gone.patch":  {"gone.patch: a.sv, hunk 2 (line 2): its old lines are not in the file; the first: \"five\""},
		"twice.patch": {"twice.patch: a.sv, hunk 1 (line 1): its old lines are not at that line, but at 2 others"},
		"short.patch": {"short.patch: a.sv, hunk 1 (line 1): expected 2 old and 1 new lines, got 1 and 1"},
		"file.patch":  {"file.patch: b.sv: no such file"},
		"same.patch":  {"same.patch: changes nothing"},
		"keys.patch": {"keys.patch: bug: expected a value, got none",
			"keys.patch: expect: expected caught or survives, got perhaps",
			"keys.patch: play: expected replay, fuzz, contract, blocks or stack, got chess"},
		"stack-keys.patch": {`stack-keys.patch: rule: expected one of docs/nic.md, such as D6, got "D"`,
			`stack-keys.patch: scenario: expected a file and, if it has several, a case, got "no.yaml"`},
		"stack-other.patch": {"stack-other.patch: play: expected stack in patches named stack-, and in no others, " +
			"got fuzz"},
	} {
		require.Equal(t, want, patchFaults(dir, name), name)
	}
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// hunk is a part of a patch: lines of a file without and with the change, and the number of the first of them, from 1.
type hunk struct {
	file               string
	nr, line           int
	wantOld, wantNew   int
	oldLines, newLines []string
}

func (h *hunk) String() string { return fmt.Sprintf("%s, hunk %d (line %d)", h.file, h.nr, h.line) }

// keysOf returns the values in the lines `key: value` before a patch's diff.
func keysOf(text string) map[string]string {
	keys := map[string]string{}
	head, _, _ := strings.Cut(text, "--- ")
	for line := range strings.Lines(head) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			keys[k] = v
		}
	}
	return keys
}

// patchFaults returns what is wrong with the patch at path below top: keys that are missing or wrong, and hunks that do
// not apply.
func patchFaults(top, path string) []string {
	b, err := os.ReadFile(filepath.Join(top, path))
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	faults, keys, hunks := []string(nil), keysOf(string(b)), hunksOf(string(b))
	tell := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	for _, k := range []string{"block", "bug"} {
		if keys[k] == "" {
			tell("%s: expected a value, got none", k)
		}
	}
	if v := keys["expect"]; v != "caught" && v != "survives" {
		tell("expect: expected caught or survives, got %s", v)
	}
	if v, ok := keys["play"]; ok && !slices.Contains([]string{"replay", "fuzz", "contract", "blocks", "stack"}, v) {
		tell("play: expected replay, fuzz, contract, blocks or stack, got %s", v)
	}
	if named := strings.HasPrefix(filepath.Base(path), "stack-"); named != (keys["play"] == "stack") {
		tell("play: expected stack in patches named stack-, and in no others, got %s", keys["play"])
	}
	if keys["play"] == "stack" {
		if !regexp.MustCompile(`^[A-Z]\d+$`).MatchString(keys["rule"]) {
			tell("rule: expected one of docs/nic.md, such as D6, got %q", keys["rule"])
		}
		scenario, _, _ := strings.Cut(keys["scenario"], " ")
		if info, err := os.Stat(filepath.Join(top, scenario)); err != nil || info.IsDir() {
			tell("scenario: expected a file and, if it has several, a case, got %q", keys["scenario"])
		}
	}
	if len(hunks) == 0 {
		tell("changes nothing")
	}
	for _, h := range hunks {
		file, err := os.ReadFile(filepath.Join(top, h.file))
		if err != nil {
			tell("%s: no such file", h.file)
		} else if fault := h.fault(strings.Split(string(file), "\n")); fault != "" {
			tell("%v: %s", h, fault)
		}
	}
	return faults
}

// hunksOf returns the hunks of a unified diff.
func hunksOf(text string) []*hunk {
	var list []*hunk
	file, nr := "", 0
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch m := hunkHead.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "+++ b/"):
			file, nr = strings.TrimPrefix(line, "+++ b/"), 0
		case m != nil:
			nr++
			at, _ := strconv.Atoi(m[1])
			list = append(list, &hunk{file: file, nr: nr, line: at, wantOld: countOf(m[2]), wantNew: countOf(m[3])})
		case nr > 0 && !strings.HasPrefix(line, "--- "):
			h, kind, rest := list[len(list)-1], line[:min(1, len(line))], line[min(1, len(line)):]
			if kind != "+" {
				h.oldLines = append(h.oldLines, rest)
			}
			if kind != "-" {
				h.newLines = append(h.newLines, rest)
			}
		}
	}
	return list
}

// countOf returns the number of lines that a hunk's header states; 1 if it states none.
func countOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return 1
}

// fault returns why the hunk does not apply to a file, "" if it does: its old lines must be at its line, or
// else at exactly one place in the file.
func (h *hunk) fault(file []string) string {
	if len(h.oldLines) != h.wantOld || len(h.newLines) != h.wantNew {
		return fmt.Sprintf("expected %d old and %d new lines, got %d and %d", h.wantOld, h.wantNew, len(h.oldLines),
			len(h.newLines))
	}
	places := 0
	for i := 0; i+len(h.oldLines) <= len(file); i++ {
		if !slices.Equal(file[i:i+len(h.oldLines)], h.oldLines) {
			continue
		}
		if i+1 == h.line {
			return ""
		}
		places++
	}
	switch places {
	case 0:
		return fmt.Sprintf("its old lines are not in the file; the first: %q", h.oldLines[0])
	case 1:
		return ""
	}
	return fmt.Sprintf("its old lines are not at that line, but at %d others", places)
}
