package pipelines

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// systems lists the pipelines, and how each is played.
var systems = []struct {
	file string
	play func(r *runner, file string) []error
}{{"github.yml", (*runner).github}, {"gitlab-ci.yml", (*runner).gitlab}, {"Jenkinsfile", (*runner).jenkins}}

// few are variables that make a pipeline short: few runs, and no waveforms, which need builds of their own.
var few = map[string]string{"RUNS": "6", "NICTWIN_WAVE": "never"}

// built puts a build of the user's device into the CI system's cache, as if an earlier run had left it there.
// Building it fills the machine's own cache, too, so later runs of this test are fast.
func (r *runner) built(system string) {
	dir := r.workspace()
	err := r.shell(dir, `make -C nictwin setup build && nictwin/bin/nictwin dut build dut.yaml &&
		nictwin/bin/nictwin dut build dut.yaml --dry-run |
		awk '$1 == "hash" || $1 == "program" {print $2}' > built`, nil)
	require.NoError(r.t, err, r.log.String())
	list := lines(r.t, filepath.Join(dir, "built"))
	require.Len(r.t, list, 2)
	entry := filepath.Dir(list[1])
	to := map[string]string{"github.yml": "rtl-" + list[0], "gitlab-ci.yml": "rtl/.cache/nictwin",
		"Jenkinsfile": ".cache/nictwin"}[system]
	copyTree(r.t, entry, filepath.Join(r.store, to, "rtl", filepath.Base(entry)))
}

func newRunner(t *testing.T, nictwin, repo string, env map[string]string) *runner {
	top := t.TempDir()
	return &runner{t: t, nictwin: nictwin, repo: repo, env: env, store: filepath.Join(top, "store"),
		kept: filepath.Join(top, "kept")}
}

// found returns the path below a folder that has this suffix.
func found(t *testing.T, dir, end string) (path string) {
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(p, end) && !strings.Contains(p, "/stash/") {
			path = p
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, path, "no %s in %s", end, dir)
	return path
}

// The tutorial: the first version of a device passes, and leaves a baseline; a change with a mistake is red, and shows
// the line of the stream whose output is wrong.
func TestTutorial(t *testing.T) {
	nictwin := checkout(t)
	good, bad := tutorial(t, false), tutorial(t, true)
	for _, s := range systems {
		t.Run(s.file, func(t *testing.T) {
			r := newRunner(t, nictwin, good, few)
			if s.file != "github.yml" {
				r.built(s.file)
			}
			require.Empty(t, s.play(r, s.file), "%s", &r.log)
			require.Contains(t, r.log.String(), "skid (speed): in the cache",
				"the second job finds the build of the first")
			baseline, err := os.ReadFile(found(t, r.kept, "baseline.json"))
			require.NoError(t, err)
			found(t, r.kept, "play/report.html")

			pull := newRunner(t, nictwin, t.TempDir(), few)
			copyTree(t, bad, pull.repo)
			require.NoError(t, os.MkdirAll(filepath.Join(pull.repo, "ci"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(pull.repo, "ci", "baseline.json"), baseline, 0o644))
			pull.built(s.file)
			errs := s.play(pull, s.file)
			require.Len(t, errs, 2, "a shard, and the gate: %s", &pull.log)
			require.Contains(t, pull.log.String(), "new mismatch: seed 4")
			require.Contains(t, pull.log.String(), "worse than ci/baseline.json")
			require.FileExists(t, found(t, pull.kept, "page/gate.xml"))
			at := lineOf(t, filepath.Join(bad, "rtl", "skid.v"), "m_tdata")
			switch s.file {
			case "github.yml":
				require.Regexp(t, `::error file=rtl/skid.v,line=`+at+`,`, pull.log.String())
			case "gitlab-ci.yml":
				text, err := os.ReadFile(found(t, pull.kept, "shard-2/play/gl-code-quality-report.json"))
				require.NoError(t, err)
				require.Regexp(t, `(?s)"path": "rtl/skid.v".*"begin": `+at, string(text))
			}
		})
	}
}

// lineOf returns the number of the first line that contains a word.
func lineOf(t *testing.T, file, word string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	n := 1 + strings.Count(string(text[:strings.Index(string(text), word)]), "\n")
	return strconv.Itoa(n)
}

// A NIC is played by random programs and scenarios; the bins of the contract are merged. The Go model stands in for
// RTL.
func TestNIC(t *testing.T) {
	nictwin, repo := checkout(t), tutorial(t, false)
	env := map[string]string{"RUNS": "4", "KIND": "nic", "NICTWIN_NIC": "model",
		"SCENARIOS": "nictwin/scenarios/library/tutorial.yaml nictwin/scenarios/library/nothing.yaml"}
	for _, s := range systems {
		t.Run(s.file, func(t *testing.T) {
			r := newRunner(t, nictwin, repo, env)
			r.built(s.file)
			require.Empty(t, s.play(r, s.file), "%s", &r.log)
			for _, name := range []string{"coverage/coverage.json", "fuzz/report.html", "run/report.html",
				"baseline.json"} {
				found(t, r.kept, name)
			}
		})
	}
}

// The commands on docs/ci.md must work as they are written.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "ci.md"))
	require.NoError(t, err)
	r := newRunner(t, checkout(t), tutorial(t, false), few)
	dir := r.workspace()
	first := block(t, string(text), "first") + block(t, string(text), "copy")
	require.NoError(t, r.shell(dir, first, nil), r.log.String())
	for _, name := range []string{".github/workflows/nictwin.yml", "out/play-skid-1/junit.xml"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	require.NoError(t, r.shell(dir, block(t, string(text), "change"), nil), r.log.String())
	require.Error(t, r.shell(dir, block(t, string(text), "fails"), nil))
	require.Contains(t, r.log.String(), "reproduce: nictwin/bin/nictwin play")
}
