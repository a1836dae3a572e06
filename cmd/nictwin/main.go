package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nictwin/scenarios/cli"
	"nictwin/scenarios/inorder"
	"nictwin/scenarios/result"
)

func main() { os.Exit(start(commands, grace)) }

// start runs the program with the given commands and returns its exit code.
func start(commands []command, grace time.Duration) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	heed(cancel, grace)
	a := &app{program: os.Args[0], stdout: &output{w: newEscaper(os.Stdout, os.Args)}, stderr: newEscaper(os.Stderr, os.Args), commands: commands}
	return a.main(ctx, os.Args[1:])
}

// command makes one of the program's commands.
type command func(a *app) *cobra.Command

// app is one run of the program.
type app struct {
	program  string
	stdout   *output
	stderr   io.Writer
	commands []command
	json     bool
	home     string

	name     string         // of the command
	running  bool           // flags and arguments were understood
	outcome  result.Outcome // set by a command that knows better than its error tells
	told     bool           // the command has told people how it ended
	toldHome bool           // and with which home
	object   result.Object
}

// output remembers that writing failed: a result that nobody got is none.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// say writes formatted text. Errors are not lost: output keeps those of stdout, and nobody could be told of others.
func say(w io.Writer, format string, a ...any) { _, _ = fmt.Fprintf(w, format, a...) }

// people is where results for people go: not to stdout if scripts read that.
func (a *app) people() io.Writer {
	if a.json {
		return a.stderr
	}
	return a.stdout
}

func (a *app) main(ctx context.Context, args []string) (exit int) {
	a.json = wantsJSON(args)
	err := cli.Explain(a.execute(ctx, args))
	out := a.outcome
	if out == result.Pass {
		out = cli.Classify(ctx, err)
		if err != nil && !a.running && out == result.Infrastructure {
			out = result.Usage // cobra's own errors
		}
	}
	if out == result.Interrupted {
		err = cli.ErrInterrupted // whatever else it led to
	}
	if p, ok := err.(*panicError); ok {
		out = result.Infrastructure
		say(a.stderr, "%s\n", p.stack)
	}
	a.tellHome(out, err)
	if err != nil && !a.told {
		a.complain(out, err)
	}
	if a.json {
		a.object.Command = a.name
		a.object.End(out, err)
		if err := a.object.WriteLine(a.stdout); err != nil {
			a.complain(result.Infrastructure, err)
		}
	} else if a.stdout.err != nil {
		a.complain(result.Infrastructure, fmt.Errorf("writing the result: %w", a.stdout.err))
	}
	if a.stdout.err != nil && out == result.Pass {
		out = result.Infrastructure
	}
	return out.Exit()
}

// complain tells people on stderr what went wrong.
func (a *app) complain(out result.Outcome, err error) {
	who := strings.TrimSpace("nictwin " + a.name)
	text := err.Error()
	if e, ok := a.stderr.(*escaper); ok {
		text = e.names.Replace(text) // before it is taken apart into lines
	}
	for line := range strings.Lines(text) {
		say(a.stderr, "%s: %s\n", who, strings.TrimRight(line, "\n"))
	}
	if out == result.Usage {
		say(a.stderr, "%s: see %s --help\n", who, who)
	}
}

// panicError is a mistake in this program.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

func (a *app) execute(ctx context.Context, args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
			if of, ok := p.(*inorder.Panic); ok { // of one of several goroutines
				err = &panicError{of.Value, of.Stack}
			}
			a.outcome = result.Infrastructure
			a.told = false
		}
	}()
	root := a.root()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	if a.name == "" && c != nil && c != root {
		a.name = strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
	}
	return err
}
