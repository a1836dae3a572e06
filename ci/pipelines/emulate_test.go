package pipelines

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// runner is a CI system with a user's repository.
type runner struct {
	t       *testing.T
	nictwin string            // checkout of this repository
	repo    string            // the user's repository
	store   string            // caches, by key
	kept    string            // artifacts, by name
	env     map[string]string // overrides variables of the pipeline
	log     bytes.Buffer
}

// root is the top folder of this repository.
func root(t *testing.T) string {
	_, file, _, _ := runtime.Caller(0)
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(file), "..", ".."))
	require.NoError(t, err)
	return dir
}

// checkout returns a folder like this repository in which the program is not yet built.
func checkout(t *testing.T) string {
	dir := t.TempDir()
	entries, err := os.ReadDir(root(t))
	require.NoError(t, err)
	for _, e := range entries {
		if !slices.Contains([]string{".git", "bin", "out"}, e.Name()) {
			require.NoError(t, os.Symlink(filepath.Join(root(t), e.Name()), filepath.Join(dir, e.Name())))
		}
	}
	return dir
}

// workspace returns a new workspace: the user's repository, with nictwin as a submodule.
func (r *runner) workspace() string {
	dir := r.t.TempDir()
	copyTree(r.t, r.repo, dir)
	require.NoError(r.t, os.Symlink(r.nictwin, filepath.Join(dir, "nictwin")))
	return dir
}

// copyTree copies the files of a folder that the other folder does not have yet.
func copyTree(t *testing.T, from, to string) {
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path) // path is below from
		at := filepath.Join(to, rel)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case exists(at):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o755)
	})
	require.NoError(t, err)
}

// shell runs a script as CI systems do: it ends at the first command that fails.
func (r *runner) shell(dir, script string, env map[string]string) error {
	const limit = "600" // seconds
	cmd := exec.CommandContext(r.t.Context(), "timeout", limit, "bash", "--noprofile", "--norc", "-eo", "pipefail",
		"-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &r.log, &r.log
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !slices.ContainsFunc([]string{"NICTWIN_", "GITHUB_", "GITLAB_", "CI"},
			func(ours string) bool { return strings.HasPrefix(name, ours) }) {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	for _, set := range []map[string]string{env, r.env} {
		for name, value := range set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd.Run()
}

// strict parses YAML; a field that the type does not have is an error.
func strict(t *testing.T, file string, to any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(to), file)
}

// collect copies the files of a workspace that match the patterns. A folder that matches is copied whole.
func collect(t *testing.T, dir string, patterns []string, to string) {
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, p))
		require.NoError(t, err)
		for _, path := range found {
			rel, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				copyTree(t, path, filepath.Join(to, rel))
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(to, rel), text, 0o644))
		}
	}
}

// pageBlock matches a named code block of a page.
var pageBlock = regexp.MustCompile("(?ms)^```(\\w+) ([\\w./-]+)\n(.*?)^```")

// tutorial returns the user's repository as docs/ci.md builds it: before or after the change that the page makes to a
// file.
func tutorial(t *testing.T, change bool) string {
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "ci.md"))
	require.NoError(t, err)
	for _, m := range pageBlock.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "sh" {
			continue
		}
		path := filepath.Join(dir, m[2])
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(m[3]), 0o644))
	}
	if change {
		r := &runner{t: t}
		require.NoError(t, r.shell(dir, block(t, string(text), "change"), nil), r.log.String())
	}
	return dir
}

// block returns the commands in the code block of a page that has this name.
func block(t *testing.T, page, name string) string {
	for _, m := range pageBlock.FindAllStringSubmatch(page, -1) {
		if m[1] == "sh" && m[2] == name {
			return m[3]
		}
	}
	require.Fail(t, "no commands", "docs/ci.md has no block sh %s", name)
	return ""
}
