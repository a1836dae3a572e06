package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the home, and the versions of program, contract and protocols",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.version()
		},
	}
}

// version prints the versions of this program and the home that it would use. A missing home is an error only if the
// user named one.
func (a *app) version() error {
	p := cli.Place{Home: a.home}
	home := "none: "
	err := p.Find()
	switch {
	case err != nil && a.home != "":
		return err
	case err != nil:
		home += err.Error()
	default:
		home = p.Used.String()
	}
	a.object.Version, a.object.Home, a.homeShown = result.ThisVersion(), p.Used, true
	if !a.json {
		say(a.stdout, "%vhome %s\n", a.object.Version, home)
	}
	return nil
}
