package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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
	args := []string{"--listen", e.Listen, "--token-file", e.TokenFile}
	if e.AllowRemote {
		args = append(args, "--allow-remote")
	}
	const patience = 5 * time.Second // for the agent to end its board
	c := exec.CommandContext(ctx, dev.Binary, append(args, dev.Args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = patience
	var words strings.Builder
	c.Stderr = &words
	if e.Log != nil {
		c.Stderr = io.MultiWriter(&words, e.Log)
		_, _ = fmt.Fprintf(e.Log, "dut %s: waits for a client at %s\n", dev.Manifest.Name, e.Listen)
	}
	err := c.Run()
	ended, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed && ended.ExitCode() == usageStatus:
		first, _, _ := strings.Cut(words.String(), "\n")
		return Usagef("%s", first)
	case err != nil:
		return &protocol.InfraError{Device: dev.Manifest.Name, Op: "serving a client", LastWords: words.String(),
			Err: err}
	}
	return nil
}
