package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/home"
)

// commands are what this program can do.
var commands = []command{replayCommand, playCommand, fuzzCommand, blocksCommand, coverageCommand, boardCommand,
	runCommand, pairCommand, sideCommand, dutCommand, benchCommand, versionCommand}

func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "nictwin",
		Short:         "Proves that a SmartNIC in RTL does what its Go twin says",
		Long:          rootHelp,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.begin(c) },
		RunE: func(c *cobra.Command, args []string) error {
			if !version || len(args) > 0 {
				return refuse(c, args)
			}
			return a.version()
		},
		Args: cobra.ArbitraryArgs,
		// an unknown command is the news, not its flags
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
	root.Flags().BoolVar(&version, "version", false, "show what nictwin version shows")
	root.PersistentFlags().Bool("json", false, "print exactly one JSON object on stdout")
	root.PersistentFlags().StringVar(&a.home, "home", "", "folder of nictwin's files (default: $NICTWIN_HOME, else "+
		"the one that the program lies in)")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var wrong *pflag.InvalidValueError
		if errors.As(err, &wrong) {
			return wrongValue("--"+wrong.GetFlag().Name+" ", wrong.GetFlag(), wrong.GetValue())
		}
		return &cli.UsageError{Err: err}
	})
	root.SetOut(a.people())
	root.SetErr(a.stderr)
	for _, c := range a.commands {
		root.AddCommand(c(a))
	}
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd("any") // cobra makes it when there are words to complete, else not at all
	group(root)
	prepare(root)
	return root
}

const rootHelp = `Plays traffic through a SmartNIC, in RTL or its Go model, and has a referee judge every crossing of its boundary.

Exit codes: 0 pass, 1 mismatch, 2 usage or configuration, 3 infrastructure (a tool is missing, the device died),
130 interrupted. Flags of settings can be given by the environment, too: --max-gap by NICTWIN_MAX_GAP.`

// prepare makes commands that only hold others refuse words they do not know. Words that a command does not take are a
// matter of usage.
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

// noArgs refuses words that are no flags.
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

// begin is called when flags and arguments have been parsed: the environment fills in what no flag has set.
func (a *app) begin(c *cobra.Command) error {
	a.name = strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
	var err error
	if a.json, err = c.Flags().GetBool("json"); err != nil {
		return err
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := envName(f.Name)
		value := os.Getenv(name)
		if f.Changed && isEmpty(f) && err == nil { // a variable that a script has not set
			err = cli.Usagef("--%s: is empty: leave it out, or say what it is", f.Name)
		}
		if f.Changed || value == "" || err != nil || excluded(c, f) {
			return
		}
		if f.Value.Set(value) != nil {
			err = wrongValue(name+"=", f, value)
		}
	})
	return err
}

// isEmpty reports whether a flag has no text where it wants some.
func isEmpty(f *pflag.Flag) bool {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return len(list.GetSlice()) == 0
	}
	return f.Value.Type() == "string" && f.Value.String() == ""
}

// wrongValue says what a flag takes that does not take a value.
func wrongValue(name string, f *pflag.Flag, value string) error {
	want := map[string]string{
		"bool": "true or false", "int": "a whole number, at most 2^63 - 1",
		"uint64": "a whole number from 0 to 2^64 - 1", "uint32": "a whole number from 0 to 2^32 - 1",
		"float64": "a number", "duration": "a time with its unit, such as 90s or 1m30s",
	}[f.Value.Type()]
	if want == "" {
		want = f.Usage
	}
	return cli.Usagef("%s%q: want %s", name, value, want)
}

// excluded reports whether the environment has no say on a flag, or a flag that was given speaks against it.
func excluded(c *cobra.Command, f *pflag.Flag) bool {
	switch f.Name {
	case "help", "json", "home": // the last has its own search, which names the variable in its errors
		return true
	case "no-artifacts":
		return c.Flags().Changed("out")
	}
	return false
}

func envName(flag string) string {
	return "NICTWIN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// wantsJSON looks for --json before flags are parsed: an error in them must come as JSON, too. Shells that complete a
// command line with --json in it want words.
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

// again is the command line that does the same once more, wherever the settings came from. Flags named in always are
// in it even when they have their default, those that are idle never.
func (a *app) again(c *cobra.Command, args []string, idle cli.Idle, always ...string) string {
	words := append([]string{a.program}, strings.Fields(a.name)...)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if idle[f.Name] != "" {
			return
		}
		value := f.Value.String()
		if f.Name == "home" && value == "" {
			value = os.Getenv(home.Env)
		}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(s.GetSlice(), ",")
			if value == "" {
				return
			}
		} else if value == f.DefValue && !slices.Contains(always, f.Name) {
			return
		}
		switch {
		case f.Name == "json" || f.Name == "help":
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
