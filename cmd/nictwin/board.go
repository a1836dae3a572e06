package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/shell/cli"
)

func boardCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "board",
		Short: "Show boards: cards and servers with their links, caches and memories",
	}
	c.AddCommand(boardShowCommand(a))
	return c
}

func boardShowCommand(a *app) *cobra.Command {
	b, yaml := &cli.Board{}, false
	c := &cobra.Command{
		Use:   "show SPEC",
		Short: "Draw a board",
		Long: `Draws the board of a YAML file or preset, with its sizes and latencies, as text; --svg also writes a picture.
--yaml and --json print every field with its value instead, with defaults and presets filled in. Both outputs
are valid board files.`,
		Example: `  nictwin board show bf3
  nictwin board show lab.yaml --svg lab.svg
  nictwin board show bf3 --yaml > mine.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("%d boards given: want one file or preset", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return cli.BoardNames(), cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().StringVar(&b.SVG, "svg", b.SVG, "file for the picture, as SVG")
	c.Flags().BoolVar(&b.Overwrite, "overwrite", false, "let --svg replace a file that is not a picture of a board")
	c.Flags().BoolVar(&yaml, "yaml", yaml, "print every field as YAML instead of drawing")
	c.RunE = func(c *cobra.Command, args []string) error {
		b.Spec = args[0]
		if b.Overwrite && b.SVG == "" && c.Flags().Changed("overwrite") {
			return cli.Usagef("--overwrite: has no effect without --svg: want it, or leave it out")
		}
		x, err := b.Show()
		if err != nil {
			return err
		}
		a.object.Board = x.JSON
		text := x.Text
		if yaml {
			text = string(x.YAML)
		}
		say(a.human(), "%s", text)
		return nil
	}
	return c
}
