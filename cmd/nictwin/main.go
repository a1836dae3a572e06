package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/inorder"
	"nictwin/scenarios/shell/pipeline"
)

func main() { os.Exit(start(commands, grace)) }

// start runs the program with the given commands and returns its exit code.
func start(commands []command, grace time.Duration) int { return newApp(commands).run(grace) }

// newApp returns the program with the given commands.
func newApp(commands []command) *app {
	return &app{program: os.Args[0], stdout: &output{w: newEscaper(os.Stdout, os.Args)},
		stderr: newEscaper(os.Stderr, os.Args), commands: commands}
}

// run executes the program's command line and returns its exit code.
func (a *app) run(grace time.Duration) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	handleSignals(cancel, grace)
	return a.main(ctx, os.Args[1:])
}

// command is the constructor of one of the program's commands.
type command func(a *app) *cobra.Command

// app is one run of the program.
type app struct {
	program  string
	stdout   *output
	stderr   io.Writer
	commands []command
	json     bool
	home     string

	name   string           // name of the command
	bundle *pipeline.Played // the bundle that is played; nil: none

	bundleDUT string // name or manifest of the device for a bundle of play

	ended     *cli.Ended // the command's verdict; if nil, its error decides the exit code
	reported  bool       // the verdict has been printed
	homeShown bool       // the line about the home has been printed
	object    result.Object
}

// output is a writer that remembers its first error: a run whose result could not be written has failed.
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

// say writes formatted text. It ignores errors: the type output remembers those of stdout, and nobody would read those
// of stderr.
func say(w io.Writer, format string, a ...any) { _, _ = fmt.Fprintf(w, format, a...) }

// human returns the writer of results for people: stderr if --json takes stdout, else stdout.
func (a *app) human() io.Writer {
	if a.json {
		return a.stderr
	}
	return a.stdout
}

func (a *app) main(ctx context.Context, args []string) (exit int) {
	a.json = wantsJSON(args)
	err := cli.Explain(a.execute(ctx, args))
	if a.bundle != nil {
		err = errors.Join(err, a.bundle.Close())
	}
	out := cli.Decide(ctx, err, false)
	if a.ended != nil {
		out = a.ended.Outcome
	}
	if out == result.Interrupted {
		err = cli.ErrInterrupted // hides the errors that the interrupt caused
	}
	if p, ok := err.(*cli.PanicError); ok {
		say(a.stderr, "%s\n", p.Stack)
	}
	a.showHome(out, err)
	if err != nil && !a.reported {
		a.printError(out, err)
		a.showFailure(cli.Failure(ctx, out, err, nil))
	}
	unwritten := a.stdout.err
	if a.json {
		a.object.Command = a.name
		a.object.End(out, err)
		if a.ended == nil {
			a.object.Failure = cli.Failure(ctx, out, err, nil)
		}
		unwritten = a.object.WriteLine(a.stdout)
	}
	if unwritten != nil {
		unwritten = fmt.Errorf("writing the result: %w", unwritten)
		a.printError(result.Infrastructure, unwritten)
		out = cli.Decide(ctx, errors.Join(err, unwritten), out == result.Mismatch)
	}
	return out.Exit()
}

// printError prints an error on stderr, and points to --help if the usage was wrong.
func (a *app) printError(out result.Outcome, err error) {
	who := strings.TrimSpace("nictwin " + a.name)
	text := err.Error()
	if e, ok := a.stderr.(*escaper); ok {
		text = e.names.Replace(text) // before the text is split into lines
	}
	for line := range strings.Lines(text) {
		say(a.stderr, "%s: %s\n", who, strings.TrimRight(line, "\n"))
	}
	if out == result.Usage {
		say(a.stderr, "%s: see %s --help\n", who, who)
	}
}

// showFailure prints the kind of failure after an error, except for an interruption, whose error names it.
func (a *app) showFailure(k result.Kind) {
	if k != "" && k != result.BySignal {
		say(a.stderr, "%s: failure %s\n", strings.TrimSpace("nictwin "+a.name), k.Text())
	}
}

// execute runs the command that args name, and turns a panic into an error.
func (a *app) execute(ctx context.Context, args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			wrong := &cli.PanicError{Value: p, Stack: debug.Stack()}
			if of, ok := p.(*inorder.Panic); ok { // it occurred in one of several goroutines
				wrong = &cli.PanicError{Value: of.Value, Stack: of.Stack}
			}
			err, a.ended, a.reported = wrong, nil, false
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
