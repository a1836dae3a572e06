package pipelines

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Defaults    struct{ Run struct{ Shell string } }
	Env         map[string]string
	Jobs        map[string]ghJob
}

type ghJob struct {
	Needs     string
	If        string
	RunsOn    string `yaml:"runs-on"`
	Container string
	Timeout   int `yaml:"timeout-minutes"`
	Strategy  struct {
		FailFast bool `yaml:"fail-fast"`
		Matrix   map[string][]int
	}
	Env   map[string]string
	Steps []ghStep
}

type ghStep struct {
	Name, ID, If, Run, Uses string
	With                    map[string]string
}

// github plays a workflow: all jobs, each after those that its key `needs` names. It returns the errors of jobs.
func (r *runner) github(file string) (errs []error) {
	w := workflow{}
	strict(r.t, file, &w)
	require.Equal(r.t, "bash", w.Defaults.Run.Shell)
	done := map[string]bool{}
	for len(done) < len(w.Jobs) {
		before := len(done)
		for name, j := range w.Jobs {
			if done[name] || j.Needs != "" && !done[j.Needs] {
				continue
			}
			done[name] = true
			if len(errs) > 0 && j.Needs != "" && j.If != "always()" {
				continue
			}
			shards := j.Strategy.Matrix["shard"]
			if len(shards) == 0 {
				shards = []int{0}
			}
			for _, shard := range shards {
				if err := r.ghJob(&w, &j, shard, len(shards)); err != nil {
					errs = append(errs, fmt.Errorf("job %s %d: %w", name, shard, err))
				}
			}
		}
		require.Greater(r.t, len(done), before, "jobs that need each other")
	}
	return errs
}

// ghState is a job in progress.
type ghState struct {
	*runner
	dir    string
	env    map[string]string // of the job
	values map[string]string // values of expressions, by their text
	saved  [][2]string       // caches to save: path and key
}

func (r *runner) ghJob(w *workflow, j *ghJob, shard, of int) (failed error) {
	s := &ghState{runner: r, dir: r.workspace(), env: maps.Clone(w.Env), values: map[string]string{
		"matrix.shard": fmt.Sprint(shard), "strategy.job-total": fmt.Sprint(of)}}
	for name, value := range j.Env {
		s.env[name] = s.expand(value)
	}
	s.env["GITHUB_ACTIONS"], s.env["GITHUB_WORKSPACE"] = "true", s.dir
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(r.t.TempDir(), "summary.md")
	for i := range j.Steps {
		step := &j.Steps[i]
		require.Contains(r.t, []string{"", "always()"}, step.If, "a condition that is not emulated")
		if failed != nil && step.If == "" {
			continue
		}
		if err := s.step(step); err != nil {
			failed = errors.Join(failed, fmt.Errorf("step %q: %w", step.Name+step.Uses, err))
		}
	}
	for _, c := range s.saved {
		to := filepath.Join(r.store, c[1])
		if _, err := os.Stat(to); failed == nil && err != nil {
			copyTree(r.t, filepath.Join(s.dir, c[0]), to)
		}
	}
	return failed
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces expressions.
func (s *ghState) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(x string) string {
		name := expression.FindStringSubmatch(x)[1]
		value, ok := s.values[name]
		require.True(s.t, ok, "an expression that is not emulated: %s", name)
		return value
	})
}

func (s *ghState) step(step *ghStep) error {
	if step.Run != "" {
		return s.script(step)
	}
	with := map[string]string{}
	for name, value := range step.With {
		with[name] = s.expand(value)
	}
	switch action, _, _ := strings.Cut(step.Uses, "@"); action {
	case "actions/checkout":
		require.Equal(s.t, map[string]string{"submodules": "true"}, with)
	case "actions/cache":
		if from := filepath.Join(s.store, with["key"]); exists(from) {
			copyTree(s.t, from, filepath.Join(s.dir, with["path"]))
		}
		s.saved = append(s.saved, [2]string{with["path"], with["key"]})
	case "actions/upload-artifact":
		if exists(filepath.Join(s.dir, with["path"])) {
			copyTree(s.t, filepath.Join(s.dir, with["path"]), filepath.Join(s.kept, with["name"]))
		}
	case "actions/download-artifact":
		found, err := filepath.Glob(filepath.Join(s.kept, with["pattern"]))
		require.NoError(s.t, err)
		for _, from := range found {
			copyTree(s.t, from, filepath.Join(s.dir, with["path"], filepath.Base(from)))
		}
	default:
		require.Fail(s.t, "an action that is not emulated", step.Uses)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// script runs the commands of a step, and keeps the outputs and variables that it sets for later steps.
func (s *ghState) script(step *ghStep) error {
	env := maps.Clone(s.env)
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH"} {
		env[name] = filepath.Join(s.t.TempDir(), name)
	}
	err := s.shell(s.dir, s.expand(step.Run), env)
	for _, line := range lines(s.t, env["GITHUB_OUTPUT"]) {
		name, value, _ := strings.Cut(line, "=")
		s.values["steps."+step.ID+".outputs."+name] = value
	}
	for _, line := range lines(s.t, env["GITHUB_ENV"]) {
		name, value, _ := strings.Cut(line, "=")
		s.env[name] = value
	}
	for _, line := range lines(s.t, env["GITHUB_PATH"]) {
		s.env["PATH"] = line + ":" + os.Getenv("PATH")
	}
	return err
}

// lines returns the lines of a file; none if it does not exist.
func lines(t require.TestingT, path string) []string {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
