package pipelines

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

type gitlab struct {
	Stages    []string
	Default   struct{ Image string }
	Variables map[string]string
	Jobs      map[string]glJob `yaml:",inline"`
}

type glJob struct {
	Stage, When, Timeout string
	Parallel             int
	Cache                struct {
		Key   string
		Paths []string
	}
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Artifacts    struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

// gitlab plays a pipeline, stage by stage. It returns the errors of jobs.
func (r *runner) gitlab(file string) (errs []error) {
	p := gitlab{}
	strict(r.t, file, &p)
	require.Equal(r.t, "recursive", p.Variables["GIT_SUBMODULE_STRATEGY"])
	for _, stage := range p.Stages {
		failed := len(errs) > 0
		for name, j := range p.Jobs {
			if j.Stage != stage || failed && j.When != "always" {
				continue
			}
			for i := 1; i <= max(j.Parallel, 1); i++ {
				if err := r.glJob(&p, &j, i); err != nil {
					errs = append(errs, fmt.Errorf("job %s %d: %w", name, i, err))
				}
			}
		}
	}
	return errs
}

func (r *runner) glJob(p *gitlab, j *glJob, index int) error {
	dir, env := r.workspace(), maps.Clone(p.Variables)
	if exists(r.kept) {
		copyTree(r.t, r.kept, dir)
	}
	env["GITLAB_CI"], env["CI_PROJECT_DIR"] = "true", dir
	env["CI_NODE_INDEX"], env["CI_NODE_TOTAL"] = fmt.Sprint(index), fmt.Sprint(max(j.Parallel, 1))
	cache := filepath.Join(r.store, j.Cache.Key)
	if j.Cache.Key != "" && exists(cache) {
		copyTree(r.t, cache, dir)
	}
	err := r.shell(dir, strings.Join(append(j.BeforeScript, j.Script...), "\n"), env)
	if j.Cache.Key != "" && !exists(cache) {
		collect(r.t, dir, j.Cache.Paths, cache)
	}
	if err == nil || j.Artifacts.When == "always" {
		collect(r.t, dir, j.Artifacts.Paths, r.kept)
		for kind, pattern := range j.Artifacts.Reports {
			collect(r.t, dir, []string{pattern}, filepath.Join(r.t.TempDir(), kind))
		}
	}
	return err
}
