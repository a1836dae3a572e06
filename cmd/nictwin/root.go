package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/home"
	"nictwin/scenarios/shell/shard"
)

// commands lists the program's commands, hidden ones included.
var commands = []command{replayCommand, playCommand, fuzzCommand, blocksCommand, reportCommand, coverageCommand,
	boardCommand, runCommand, pairCommand, sideCommand, dutCommand, emulateCommand, benchCommand, bundleCommand,
	gateCommand, versionCommand}

func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "nictwin",
		Short:         "Checks a SmartNIC in RTL against its Go twin",
		Long:          rootHelp,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, args []string) error { return a.begin(c, args) },
		RunE: func(c *cobra.Command, args []string) error {
			if !version || len(args) > 0 {
				return refuse(c, args)
			}
			return a.version()
		},
		Args: cobra.ArbitraryArgs,
		// Report the unknown command, not its unknown flags.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
	root.Flags().BoolVar(&version, "version", false, "print what nictwin version prints")
	root.PersistentFlags().Bool("json", false, "print exactly one JSON object on stdout")
	root.PersistentFlags().StringVar(&a.home, "home", "", "folder of nictwin's RTL, harness and manifests "+
		"(default: $NICTWIN_HOME, else the one that contains the program)")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var wrong *pflag.InvalidValueError
		if errors.As(err, &wrong) {
			return wrongValue("--"+wrong.GetFlag().Name+" ", wrong.GetFlag(), wrong.GetValue())
		}
		return &cli.UsageError{Err: err}
	})
	root.SetOut(a.human())
	root.SetErr(a.stderr)
	for _, c := range a.commands {
		root.AddCommand(c(a))
	}
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd("any") // without an argument cobra would leave the command out
	group(root)
	wrapFlags(root)
	prepare(root)
	return root
}

const rootHelp = `Plays traffic through a SmartNIC, either its RTL or its Go model, while a referee checks every frame and TLP
that crosses the NIC's boundary.

Exit codes: 0 pass, 1 mismatch, 2 usage or configuration error, 3 infrastructure failure (a tool is missing,
the device died), 130 interrupted. The environment can set flags, too: NICTWIN_MAX_GAP sets --max-gap.`

// prepare makes commands that only have subcommands reject unknown words, and turns cobra's argument errors
// into usage errors.
func prepare(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.Args, c.RunE = cobra.ArbitraryArgs, refuse
	}
	if takes := c.Args; takes != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := takes(c, args); err != nil {
				return &cli.UsageError{Err: err}
			}
			return nil
		}
	}
	for _, s := range c.Commands() {
		prepare(s)
	}
}

// refuse returns the error for a missing or unknown subcommand of c, with those that exist.
func refuse(c *cobra.Command, args []string) error {
	var names []string
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			names = append(names, s.Name())
		}
	}
	slices.Sort(names)
	want := "want " + strings.Join(names, ", ")
	if len(args) == 0 {
		return cli.Usagef("no command given: %s", want)
	}
	return cli.Usagef("unknown command %q: %s", args[0], want)
}

// noArgs rejects positional arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("unknown word %q: %s takes flags only", args[0], c.CommandPath())
	}
	return nil
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.Usagef("no help on %q", strings.Join(args, " "))
			}
			return target.Help()
		},
	}
}

// begin runs after flags and arguments have been parsed, and sets flags that were not given: from a bundle, if one is
// played, else from the environment.
func (a *app) begin(c *cobra.Command, args []string) error {
	a.name = strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
	var err error
	if a.json, err = c.Flags().GetBool("json"); err != nil {
		return err
	}
	if err := a.openBundle(c, args); err != nil {
		return err
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := envName(f.Name)
		value := os.Getenv(name)
		if f.Changed && isEmpty(f) && err == nil { // probably an unset variable in a script
			err = cli.Usagef("--%s: is empty: leave it out, or say what it is", f.Name)
		}
		if f.Changed || value == "" || err != nil || excluded(c, f) || a.bundleSets(c, f.Name) {
			return
		}
		if f.Value.Set(value) != nil {
			err = wrongValue(name+"=", f, value)
		}
	})
	return err
}

// isEmpty reports whether a flag that takes text was given an empty string.
func isEmpty(f *pflag.Flag) bool {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return len(list.GetSlice()) == 0
	}
	return f.Value.Type() == "string" && f.Value.String() == ""
}

// wrongValue returns the error for a value that a flag does not accept; it names the accepted values.
func wrongValue(name string, f *pflag.Flag, value string) error {
	want := map[string]string{
		"bool": "true or false", "int": "a whole number, at most 2^63 - 1",
		"uint64": "a whole number from 0 to 2^64 - 1", "uint32": "a whole number from 0 to 2^32 - 1",
		"float64": "a number", "shard": shard.Want, "duration": "a time with its unit, such as 90s or 1m30s",
	}[f.Value.Type()]
	if want == "" {
		_, want = pflag.UnquoteUsage(f)
	}
	return cli.Usagef("%s%q: want %s", name, value, want)
}

// excluded reports whether the environment must not set a flag: because no variable may set it, or because
// it excludes a flag that was given.
func excluded(c *cobra.Command, f *pflag.Flag) bool {
	switch f.Name {
	case "shard":
		return f.Hidden // a command that refuses every --shard hides the flag, and ignores NICTWIN_SHARD
	case "help", "json", "home": // home.Find reads NICTWIN_HOME itself and names it in its errors
		return true
	case "no-artifacts":
		return c.Flags().Changed("out")
	}
	return false
}

// envName returns the environment variable that sets a flag.
func envName(flag string) string {
	return "NICTWIN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// wantsJSON looks for --json before flags are parsed, so that errors in flags are reported as JSON, too. A shell that
// completes a command line with --json in it gets plain words.
func wantsJSON(args []string) bool {
	on := false
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return false
	}
	for _, w := range args {
		switch v, ok := strings.CutPrefix(w, "--json="); {
		case w == "--":
			return on
		case w == "--json":
			on = true
		case ok:
			on, _ = strconv.ParseBool(v)
		}
	}
	return on
}

// repeatLine returns the command line that repeats this run, with settings from the environment spelled
// out. Flags named in `always` are included even at their default; flags in `idle`, which have no effect, never
// are. `with` replaces the values of some flags.
func (a *app) repeatLine(c *cobra.Command, args []string, with map[string]string, idle cli.Idle,
	always ...string) string {
	words := append([]string{a.program}, strings.Fields(a.name)...)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if with == nil && !f.Changed && a.bundleSets(c, f.Name) {
			return
		}
		value, set := with[f.Name]
		if !set {
			value = valueOf(f)
		}
		_, list := f.Value.(pflag.SliceValue)
		switch {
		case slices.Contains([]string{"json", "help", "wall-limit", "heartbeat"}, f.Name): // do not affect the result
		case idle[f.Name] != "":
		case list && value == "" || !list && value == f.DefValue && !slices.Contains(always, f.Name):
		case f.Value.Type() == "stringToString":
			words = append(words, pairsOf(c, f.Name)...)
		case f.Value.Type() == "bool" && value == "true":
			words = append(words, "--"+f.Name)
		case f.Value.Type() == "bool":
			words = append(words, fmt.Sprintf("--%s=%s", f.Name, value))
		default:
			words = append(words, "--"+f.Name, value)
		}
	})
	for _, w := range args {
		if strings.HasPrefix(w, "-") {
			words = append(words, "--")
			break
		}
	}
	return cli.Quote(append(words, args...))
}

// pairsOf returns the command-line words that set a NAME=VALUE flag as c has it, sorted by name.
func pairsOf(c *cobra.Command, flag string) (words []string) {
	pairs, err := c.Flags().GetStringToString(flag)
	if err != nil {
		panic(err) // the command has no such flag: a mistake in this folder
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		words = append(words, "--"+flag, name+"="+pairs[name])
	}
	return words
}

// valueOf returns the value of a flag as it is written on a command line.
func valueOf(f *pflag.Flag) string {
	if f.Name == "home" && f.Value.String() == "" {
		return os.Getenv(home.Env)
	}
	if s, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(s.GetSlice(), ",")
	}
	return f.Value.String()
}
