package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func emulateCommand(a *app) *cobra.Command {
	e := cli.NewEmulate()
	c := &cobra.Command{
		Use:   "emulate DUT",
		Short: "Serve a device behind an emulation shell to one client",
		Long: `Builds a device with the emulation shell around it, waits for a client at an address, and serves it
until it ends its session: nictwin replay --connect, or another program that speaks the bridge's protocol. To
the client the device is one like any other; cycles and digests are those of the bridge (docs/emulation.md).`,
		Example: `  (umask 077; openssl rand -hex 32 > token)
  nictwin emulate nic --listen unix:nic.sock --token-file token &
  until [ -S nic.sock ]; do sleep 1; done
  nictwin replay --connect unix:nic.sock --token-file token CAPTURE...`,
		Args:              dutArgs,
		ValidArgsFunction: completeDUTs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("%d devices given: want one", len(args))
			}
			e.Home, e.Log = a.home, a.stderr
			d, err := e.Run(c.Context(), args[0])
			a.object.DUTs, a.object.Home, a.object.Link = []result.DUT{d}, e.Used, e.LinkText
			return err
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&e.Listen, "listen", "", "address to wait at: unix:PATH, or tcp:A.B.C.D:PORT (needed)")
	f.StringVar(&e.TokenFile, "token-file", "", "file with the token that the client must have: 64 hexadecimal "+
		"digits, readable by its owner alone (needed)")
	f.BoolVar(&e.AllowRemote, "allow-remote", false, "take an address off 127.0.0.0/8: token and traffic cross the "+
		"network unencrypted")
	linkFlag(c, &e.LinkText)
	return c
}
