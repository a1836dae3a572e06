package play

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// OwnError is what is wrong with the folder of a user's reference: what the Go tool says of it, or that there is none.
type OwnError struct {
	Dir  string
	What string
}

func (e *OwnError) Error() string { return fmt.Sprintf("--ref %s: %s", e.Dir, e.What) }

var _ error = (*OwnError)(nil)

// ownLimit is how long the Go tool may take.
const ownLimit = 10 * time.Minute

// maxOwn is how large the files of a reference may be together.
const maxOwn = 4 << 20

// Program builds nictwin with the reference in a folder: one package of Go that has a function Reference(p *ref.Player). The
// checkout at home, whose modules it is built with, is not touched: the Go tool is told to see the folder's files there. The
// program lies in cache, under a name that the folder's path gives. Errors: *OwnError.
func Program(ctx context.Context, home, cache, dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	sources, err := ownSources(abs)
	if err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	name := sha256.Sum256([]byte(home + "\x00" + abs))
	room := filepath.Join(cache, "references", hex.EncodeToString(name[:8]))
	if err := errors.Join(os.RemoveAll(filepath.Join(room, "src")), os.MkdirAll(filepath.Join(room, "src"), 0o755)); err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	replace := map[string]string{}
	for _, f := range sources {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", &OwnError{dir, err.Error()}
		}
		at := filepath.Join(room, "src", filepath.Base(f))
		if err := os.WriteFile(at, append(fmt.Appendf(nil, "//line %s:1\n", f), text...), 0o644); err != nil {
			return "", &OwnError{dir, err.Error()}
		}
		replace[filepath.Join(home, "userref", filepath.Base(f))] = at
	}
	hook := filepath.Join(room, "src", "hook")
	if err := os.WriteFile(hook, []byte(hookText), 0o644); err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	replace[filepath.Join(home, "cmd", "nictwin", "userref_hook.go")] = hook
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	at := filepath.Join(room, "overlay.json")
	if err := os.WriteFile(at, overlay, 0o644); err != nil {
		return "", &OwnError{dir, err.Error()}
	}
	return compile(ctx, home, dir, at, filepath.Join(room, "nictwin"))
}

// hookText gives the program the reference.
const hookText = `package main

import (
	"nictwin/scenarios/cli"
	userref "nictwin/userref"
)

func init() { cli.Reference = userref.Reference }
`

// ownSources are the Go files of a folder, tests left out.
func ownSources(dir string) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, e := range entries {
		if n := e.Name(); strings.HasSuffix(n, ".go") && !strings.HasSuffix(n, "_test.go") && !strings.HasPrefix(n, "_") && !strings.HasPrefix(n, ".") {
			st, err := os.Stat(filepath.Join(dir, n))
			if err != nil {
				return nil, err
			}
			if !st.Mode().IsRegular() {
				return nil, fmt.Errorf("%s is no regular file", n)
			}
			size += st.Size()
			list = append(list, filepath.Join(dir, n))
		}
	}
	switch {
	case len(list) == 0:
		return nil, errors.New("has no Go files: want a package with a function Reference(p *ref.Player)")
	case size > maxOwn:
		return nil, fmt.Errorf("its Go files have %d bytes: want at most %d", size, maxOwn)
	}
	slices.Sort(list)
	return list, nil
}

// compile runs the Go tool.
func compile(ctx context.Context, home, dir, overlay, out string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, ownLimit)
	defer stop()
	args := []string{"build", "-trimpath", "-buildvcs=false", "-overlay", overlay, "-o", out}
	if _, err := os.Stat(filepath.Join(home, "cmd", "nictwin", "entry_"+runtime.GOOS+"_"+runtime.GOARCH+".s")); err == nil {
		args = append(args, "-ldflags=-E=main.entry")
	}
	c := exec.CommandContext(ctx, "go", append(args, "./cmd/nictwin")...)
	c.Dir = home
	c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	c.WaitDelay = time.Second
	text, err := c.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", &OwnError{dir, "the go tool is missing, which builds it: install the version that go.mod of nictwin names"}
	case ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded:
		return "", context.Cause(ctx)
	case ctx.Err() != nil:
		return "", &OwnError{dir, fmt.Sprintf("the go tool took more than %v", ownLimit)}
	case err != nil:
		return "", &OwnError{dir, "does not build:\n" + told(string(text), err)}
	}
	return out, nil
}

// told is what the go tool says, in the user's words.
func told(text string, err error) string {
	var lines []string
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "# "):
			continue
		case strings.Contains(l, "/hook:") && strings.Contains(l, "undefined: userref.Reference"):
			l = "it has no function Reference(p *ref.Player)"
		case strings.Contains(l, "/hook:"):
			l = "its Reference has another type: want func Reference(p *ref.Player)"
		}
		lines = append(lines, "  "+l)
	}
	if len(lines) == 0 {
		return "  " + err.Error()
	}
	return strings.Join(lines, "\n")
}
