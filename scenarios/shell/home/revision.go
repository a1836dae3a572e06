package home

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitPatience limits the time of a call of git.
const gitPatience = 10 * time.Second

// Revision returns the commit that the home is a work tree of, and whether anything under verilator/ differs from that
// commit. It returns nothing if the commit is unknown: the home is no work tree, verilator/ is not in its commit, or
// git is missing or refuses.
//
// A home may come from anybody, with a git configuration that names programs to run. So git only lists the contents of
// the commit, which runs none of these programs, and it may not fetch missing objects. The files are compared here,
// because git would run filters on them.
func (h Home) Revision(ctx context.Context) (id string, modified bool) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	text, err := h.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", false
	}
	id = strings.TrimSpace(string(text))
	list, err := h.git(ctx, "ls-tree", "-r", "-z", id, "--", tree)
	if err != nil {
		return "", false
	}
	blobs := blobs(list)
	if blobs[filepath.ToSlash(mark)] == "" {
		return "", false // the home lies inside a work tree of something else
	}
	return id, !h.is(blobs)
}

func (h Home) git(ctx context.Context, args ...string) ([]byte, error) {
	safe := []string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never",
		"--no-pager", "--no-optional-locks"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = h.Dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") { // variables such as those set for a hook that runs this program
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0")
	cmd.WaitDelay = time.Second
	return cmd.Output()
}

// blobs parses the output of `git ls-tree -z` (mode, type and hash, a tab, the path) into hashes by path.
func blobs(list []byte) map[string]string {
	all := map[string]string{}
	for line := range bytes.SplitSeq(list, []byte{0}) {
		about, path, ok := strings.Cut(string(line), "\t")
		if w := strings.Fields(about); ok && len(w) == 3 {
			all[path] = w[2]
		}
	}
	return all
}

// is reports whether the files under verilator/ are exactly those in a commit, given as hashes by path.
func (h Home) is(blobs map[string]string) bool {
	seen := 0
	err := filepath.WalkDir(filepath.Join(h.Dir, tree), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(h.Dir, path)
		if err != nil {
			return err
		}
		want := blobs[filepath.ToSlash(rel)]
		if want == "" || want != blob(path, d.Type(), len(want)) {
			return fmt.Errorf("%s is another", rel)
		}
		seen++
		return nil
	})
	return err == nil && seen == len(blobs)
}

// blob returns git's hash of a file or link, with the given number of hexadecimal digits; empty if git stores no such
// file, or if it cannot be read.
func blob(path string, kind fs.FileMode, digits int) string {
	var text []byte
	var err error
	switch kind {
	case 0:
		text, err = os.ReadFile(path)
	case fs.ModeSymlink:
		var to string
		to, err = os.Readlink(path)
		text = []byte(to)
	default:
		return ""
	}
	if err != nil {
		return ""
	}
	var sum hash.Hash = sha1.New() // git prescribes the algorithm
	if digits == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(text))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil))
}
