package pipelines

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

var (
	jenkinsStep = regexp.MustCompile(`(?s)\bsh '''(.*?)'''|\bsh '([^'\n]*)'|` +
		`\bstash name: ["']([^"']*)["'], includes: '([^']*)'|\bunstash '([^']*)'`)
	jenkinsVariable = regexp.MustCompile(`(?m)^\s*(?:environment \{ )?([A-Z_]+) = ["']([^"']*)["']`)
	jenkinsMatrix   = regexp.MustCompile(`axis \{ name 'SHARD'; values ([^}]*) \}`)
	jenkinsWord     = regexp.MustCompile(`'([^']*)'`)
)

// jenkins plays the steps of a Jenkinsfile: those before the matrix, those of the matrix for each shard, and those in
// section `post`, which run even after a failure.
func (r *runner) jenkins(file string) (errs []error) {
	text, err := os.ReadFile(file)
	require.NoError(r.t, err)
	before, rest, ok := strings.Cut(string(text), "matrix {")
	require.True(r.t, ok)
	i := strings.LastIndex(rest, "\n  post {")
	require.Positive(r.t, i)
	shards := jenkinsWord.FindAllStringSubmatch(jenkinsMatrix.FindStringSubmatch(rest)[1], -1)
	require.NotEmpty(r.t, shards)
	dir := r.workspace()
	require.NoError(r.t, r.shell(dir, "git init -q", nil)) // as the checkout leaves it
	if exists(r.store) {
		copyTree(r.t, r.store, dir) // Jenkins keeps the workspace of the previous build
	}
	env := map[string]string{"WORKSPACE": dir}
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	add(r.steps(dir, before, env))
	for _, m := range shards {
		if len(errs) > 0 && !strings.HasPrefix(errs[0].Error(), "shard") {
			break
		}
		env["SHARD"] = m[1]
		if err := r.steps(dir, rest[:i], env); err != nil {
			errs = append(errs, fmt.Errorf("shard %s: %w", m[1], err))
		}
		delete(env, "SHARD")
		delete(env, "NICTWIN_SHARD")
	}
	require.NoError(r.t, os.RemoveAll(filepath.Join(dir, "shards")), "the shards come from stashes alone")
	add(r.steps(dir, rest[i:], env))
	collect(r.t, dir, []string{"page", "shards"}, r.kept)
	return errs
}

// steps runs the steps in a part of a Jenkinsfile. After a failure it runs only those of the section
// `post`.
func (r *runner) steps(dir, part string, env map[string]string) (failed error) {
	for _, m := range jenkinsVariable.FindAllStringSubmatch(part, -1) {
		env[m[1]] = os.Expand(m[2], func(name string) string { return env[name] })
	}
	post := strings.Index(part, "post {")
	for _, at := range jenkinsStep.FindAllStringSubmatchIndex(part, -1) {
		if failed != nil && (post < 0 || at[0] < post) {
			continue
		}
		word := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return part[at[2*i]:at[2*i+1]]
		}
		stash := os.Expand(word(3), func(name string) string { return env[name] })
		switch {
		case stash != "":
			collect(r.t, dir, []string{strings.TrimSuffix(word(4), "/**")}, filepath.Join(r.kept, "stash", stash))
		case word(5) != "":
			copyTree(r.t, filepath.Join(r.kept, "stash", word(5)), dir)
		default:
			if err := r.shell(dir, word(1)+word(2), env); err != nil {
				failed = fmt.Errorf("%s: %w", strings.TrimSpace(word(1)+word(2)), err)
			}
		}
	}
	return failed
}
