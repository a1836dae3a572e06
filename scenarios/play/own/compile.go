package own

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"nictwin/models/ref/remote"
	"nictwin/rtlbridge/build/toolchain"
)

// buildTime limits one run of the Go tool.
const buildTime = 10 * time.Minute

// mainFolder is the folder of the program's main package as the Go tool sees it. The names of the reference's files
// begin with userFolder.
var (
	mainFolder = filepath.Join("userref", "process")
	userFolder = "userref" + string(filepath.Separator)
)

// environment makes the Go tool work offline, without a C compiler and for this machine, whatever the user's
// settings.
var environment = []string{
	"GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0", "GO111MODULE=on", "GOOS=" + runtime.GOOS,
	"GOARCH=" + runtime.GOARCH, "GOAMD64=v1",
}

// buildFlags are part of a program's key. The reference itself is not optimized: traces of optimized loops name wrong
// lines.
var buildFlags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=" + remote.Package + "=-N -l"}

// toolchain describes the Go tool as far as it affects a program.
func (b *builder) toolchain() ([]byte, error) {
	text, err := b.goTool("env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GODEBUG",
		"GOFIPS140")
	if err != nil {
		err = b.toolError(err, "go env:\n"+indented(string(text), err))
		if bad, ok := errors.AsType[*FolderError](err); ok { // go env compiles no file, so the folder is not to blame
			err = fmt.Errorf("the Go tool, which builds --ref %s: %s", b.Dir, bad.What)
		}
		return nil, err
	}
	return text, nil
}

// compile builds the program.
func (b *builder) compile(overlay, out string) error {
	src := filepath.Join(filepath.Dir(overlay), sourceFolder) + string(filepath.Separator)
	args := slices.Concat([]string{"build"}, buildFlags,
		[]string{"-overlay", overlay, "-o", out, "./" + filepath.ToSlash(mainFolder)})
	text, err := b.goTool(args...)
	if err != nil {
		return b.toolError(err, "does not build:\n"+b.translated(string(text), src, err))
	}
	return nil
}

// goTool runs the Go tool in the home. When the context ends, or the tool has run for buildTime, it is killed with
// everything that it started.
func (b *builder) goTool(args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(b.ctx, buildTime)
	defer stop()
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = b.Home
	c.Env = append(os.Environ(), environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	out := toolchain.FirstBytes{Most: 1 << 20}
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return bytes.TrimRight([]byte(out.String()), "\n"), err
}

// toolError explains a failure of the Go tool.
func (b *builder) toolError(err error, what string) error {
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: go is not installed, which builds --ref %s: install the version that go.mod of "+
			"nictwin names",
			toolchain.ErrToolMissing, b.Dir)
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return &FolderError{b.Dir, fmt.Sprintf("the go tool took more than %v", buildTime)}
	case !errors.As(err, &failed):
		return fmt.Errorf("go: %w", err)
	case failed.ExitCode() < 0: // ended by a signal
		return fmt.Errorf("go, which builds --ref %s: %w", b.Dir, err)
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if strings.Contains(what, full.Error()) {
			return fmt.Errorf("go, which builds --ref %s: %w:\n%s", b.Dir, full, what)
		}
	}
	return &FolderError{b.Dir, what}
}

// translated rewrites a message of the Go tool so that it names the user's files, instead of their copies in src and of
// their paths in the overlay.
func (b *builder) translated(text, src string, err error) string {
	var lines []string
	dir := filepath.Clean(b.Dir) + string(filepath.Separator)
	// The tool names files relative to its folder where that is shorter.
	if near, err := filepath.Rel(b.Home, src); err == nil && strings.HasPrefix(near, "..") {
		text = strings.ReplaceAll(text, near+string(filepath.Separator), src)
	}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "# "), strings.HasPrefix(l, "package "+remote.Package),
			strings.HasPrefix(l, "\timports "+remote.Package):
			continue // a line that only names the package
		case strings.Contains(l, "undefined: userref.Reference"):
			l = "it has no function Reference(p *ref.Player)"
		case strings.HasPrefix(l, src+hookFile) && strings.Contains(l, "userref.Reference"):
			l = "its Reference has another type: want func Reference(p *ref.Player)"
		}
		if file, ok := strings.CutPrefix(strings.TrimPrefix(l, "\t"), userFolder); ok {
			l = dir + file
		}
		lines = append(lines, strings.ReplaceAll(l, src, dir))
	}
	return indented(strings.Join(lines, "\n"), err)
}

// indented returns the text of an error, with each line indented under a heading.
func indented(text string, err error) string {
	if text == "" {
		return "  " + err.Error()
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
