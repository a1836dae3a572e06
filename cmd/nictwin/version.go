package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/cli"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of program, contract and protocols",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			a.object.Version = cli.ThisVersion()
			if !a.json {
				say(a.stdout, "%v", a.object.Version)
			}
			return nil
		},
	}
}
