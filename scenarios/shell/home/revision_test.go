package home

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs git in a folder and returns its output.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git",
		append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"},
			args...)...)
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	return strings.TrimSpace(string(text))
}

func committed(t *testing.T, format string) (dir, id string) {
	t.Helper()
	dir = someHome(t)
	require.NoError(t, os.Symlink("a", filepath.Join(dir, tree, "link")))
	git(t, dir, "init", "-q", "--object-format="+format)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "x")
	return dir, git(t, dir, "rev-parse", "HEAD")
}

func TestRevision(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir, id := committed(t, format)
		file := filepath.Join(dir, tree, "duts", "a", Manifest)
		check := func(modified bool, why string) {
			t.Helper()
			got, is := Home{dir}.Revision(t.Context())
			require.Equal(t, id, got)
			require.Equal(t, modified, is, why)
		}
		check(false, "as it was committed")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), []byte("x"), 0o644))
		check(false, "what is beside verilator/ does not count")
		require.NoError(t, os.WriteFile(file, []byte("x"), 0o644))
		check(true, "changed")
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		check(false, "changed back")
		require.NoError(t, os.Remove(file))
		check(true, "removed")
		require.NoError(t, os.Symlink("dut", file))
		check(true, "a link instead")
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, tree, "more.sv"), nil, 0o644))
		check(true, "a file more")
	}
}

func TestRevisionUnknown(t *testing.T) {
	plain := someHome(t)
	none := func(dir, why string) {
		t.Helper()
		id, modified := Home{dir}.Revision(t.Context())
		require.Empty(t, id, why)
		require.False(t, modified, why)
	}
	none(plain, "no work tree")
	git(t, plain, "init", "-q")
	none(plain, "no commit")
	git(t, plain, "commit", "-q", "--allow-empty", "-m", "x")
	none(plain, "a work tree that does not have it")
	dir, _ := committed(t, "sha1")
	t.Setenv("PATH", t.TempDir())
	none(dir, "no git")
}

// Revision runs no program that the home's git configuration names, and ignores environment variables, as set in a
// hook, that point to another tree.
func TestRevisionRunsNothing(t *testing.T) {
	dir, id := committed(t, "sha1")
	ran := filepath.Join(t.TempDir(), "ran")
	trap := filepath.Join(t.TempDir(), "trap")
	require.NoError(t, os.WriteFile(trap, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
	for _, name := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.x.clean",
		"filter.x.process", "diff.x.textconv", "diff.external"} {
		git(t, dir, "config", name, trap)
	}
	for _, name := range []string{"post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755))
		require.NoError(t, os.Symlink(trap, filepath.Join(dir, ".git", "hooks", name)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("* filter=x diff=x\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, tree, "more.sv"), nil, 0o644))
	t.Setenv("GIT_DIR", t.TempDir())
	got, modified := Home{dir}.Revision(t.Context())
	require.Equal(t, id, got)
	require.True(t, modified)
	require.NoFileExists(t, ran)

	// Missing objects are not fetched: fetching would run the transport that the configuration names.
	t.Setenv("GIT_DIR", "")
	require.NoError(t, os.Unsetenv("GIT_DIR"))
	git(t, dir, "config", "--unset", "core.fsmonitor")
	git(t, dir, "config", "extensions.partialClone", "origin")
	git(t, dir, "config", "core.repositoryFormatVersion", "1")
	git(t, dir, "config", "remote.origin.url", "ext::"+trap)
	git(t, dir, "config", "protocol.ext.allow", "always")
	git(t, dir, "config", "remote.origin.promisor", "true")
	sum := git(t, dir, "rev-parse", "HEAD^{tree}")
	require.NoError(t, os.Remove(filepath.Join(dir, ".git", "objects", sum[:2], sum[2:])))
	got, _ = Home{dir}.Revision(t.Context())
	require.Empty(t, got)
	require.NoFileExists(t, ran)
}
