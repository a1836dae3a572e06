package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/observe/result"
)

// Emulate holds the settings of the command that serves a device behind an emulation shell.
type Emulate struct {
	DUTBuild
	LinkText    string // --link
	Listen      string // address
	TokenFile   string
	AllowRemote bool
}

// NewEmulate returns the default settings.
func NewEmulate() *Emulate { return &Emulate{LinkText: emulation.LinkSim} }

// Run builds the device and serves one session. Canceling the context ends it.
func (e *Emulate) Run(ctx context.Context, dut string) (result.DUT, error) {
	var errs []error
	link, err := emulation.ParseLink(e.LinkText)
	if err != nil {
		errs = append(errs, fmt.Errorf("--link: %w", err))
	} else if link == nil {
		errs = append(errs, errors.New("no link given: want --link sim"))
	}
	errs = append(errs, e.checkAddress(), e.checkToken(ctx))
	if err := errors.Join(errs...); err != nil {
		return result.DUT{Name: dut}, &UsageError{err}
	}
	return e.with(dut, func(m *manifest.Manifest, d *result.DUT) error {
		dev, err := link.Build(m, build.Options{Log: e.Log, Context: ctx})
		if err != nil {
			return err
		}
		d.Built = built(dev)
		return e.serve(ctx, dev)
	})
}

// checkAddress refuses an address that the agent cannot wait at, before anything is built.
func (e *Emulate) checkAddress() error {
	if e.Listen == "" {
		return errors.New("no address given: want --listen unix:PATH or tcp:A.B.C.D:PORT")
	}
	if err := rtlbridge.CheckAddress(e.Listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	path, local := strings.CutPrefix(e.Listen, "unix:")
	remote := !local && !netip.MustParseAddrPort(strings.TrimPrefix(e.Listen, "tcp:")).Addr().IsLoopback()
	switch {
	case remote && !e.AllowRemote:
		return fmt.Errorf("--listen %s: other machines can reach it, and token and traffic are not encrypted; take an "+
			"address of 127.0.0.0/8, or add --allow-remote", e.Listen)
	case !remote && e.AllowRemote:
		return errors.New("--allow-remote: has no effect without --listen on a tcp address off 127.0.0.0/8")
	case local:
		return checkSocket(path)
	}
	return nil
}

// checkSocket refuses a path where no socket can be: in no folder, or that of a file.
func checkSocket(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("--listen unix:%s: want a path in a folder that exists", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("--listen unix:%s: is a file or folder: want a name that is free", path)
	}
	return nil
}

// checkToken refuses a token file that the agent would refuse, before anything is built.
func (e *Emulate) checkToken(ctx context.Context) error {
	if e.TokenFile == "" {
		return errors.New("no token given: want --token-file FILE")
	}
	info, err := os.Stat(e.TokenFile)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: is no regular file", e.TokenFile)
	}
	if err == nil {
		_, err = tokenIn(ctx, e.TokenFile)
	}
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	return nil
}

// usageStatus is the exit status of a device that refuses its arguments.
const usageStatus = 2

// serve runs the agent until its client ends the session.
func (e *Emulate) serve(ctx context.Context, dev *build.Device) error {
	args := []string{"--listen", e.Listen, "--token-file", e.TokenFile, "--until-input-ends"}
	if e.AllowRemote {
		args = append(args, "--allow-remote")
	}
	const patience = 5 * time.Second // for the agent to end its board
	c := exec.CommandContext(ctx, dev.Binary, append(args, dev.Args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = patience
	// The agent ends with this program, however that ends, as its standard input does.
	if _, err := c.StdinPipe(); err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	out := &agentOutput{log: e.Log}
	c.Stderr = out
	c.Stdout = &agentWaits{out, fmt.Sprintf("dut %s: waits for a client at %s\n", dev.Manifest.Name, e.Listen)}
	err := c.Run()
	ended, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed && ended.ExitCode() == usageStatus:
		first, _, _ := strings.Cut(out.words.String(), "\n")
		return Usagef("%s", first)
	case err != nil:
		return &protocol.InfraError{Device: dev.Manifest.Name, Op: "serving a client", LastWords: out.words.String(),
			Err: err}
	}
	return nil
}

// agentOutput keeps and logs what an agent writes to standard error.
type agentOutput struct {
	mu    sync.Mutex // guards log, too
	words strings.Builder
	log   io.Writer // may be nil
}

func (o *agentOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.words.Write(b)
	if o.log != nil {
		_, _ = o.log.Write(b)
	}
	return len(b), nil
}

// agentWaits logs a text once the agent writes to standard output, which says that it listens.
type agentWaits struct {
	out  *agentOutput
	text string
}

func (w *agentWaits) Write(b []byte) (int, error) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	if w.out.log != nil {
		_, _ = io.WriteString(w.out.log, w.text)
	}
	w.text = ""
	return len(b), nil
}
