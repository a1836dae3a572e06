package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func coverageCommand(a *app) *cobra.Command {
	v := &cli.Coverage{}
	holes := 20
	c := &cobra.Command{
		Use:   "coverage DIR...",
		Short: "Show how much of the RTL was exercised",
		Long: `Merges the counts of runs with --rtl-coverage DIR and shows, for each module, the line points (blocks and
branches) that were executed, the bits that toggled both ways, and the holes. --exclude names a reviewed list
of points that no run can hit, with reasons; an exclusion that matches nothing, or was hit after all, is an
error.

With --merge the folders are those of shards: their coverage of RTL, or their artifacts of fuzz. The sum of
lines, bits and bins of the contract is shown and written into a folder. Different builds are refused.`,
		Example: `  nictwin fuzz --runs 200 --rtl-coverage out/cov
  nictwin coverage out/cov --exclude ci/coverage.yaml
  nictwin coverage --merge out/all out/fuzz-rtl-1-1-of-2 out/fuzz-rtl-1-2-of-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no folder of coverage given")
			}
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&v.Merge, "merge", v.Merge, "`FOLDER` for the merged coverage of shards")
	f.StringVar(&v.Exclude, "exclude", v.Exclude, "file of reviewed exclusions, with reasons")
	f.IntVar(&holes, "holes", holes, "holes to show for each module")
	f.Float64Var(&v.MinLines, "min-lines", v.MinLines, "fail below this percentage of line points")
	f.Float64Var(&v.MinBits, "min-bits", v.MinBits, "fail below this percentage of bits")
	c.RunE = func(c *cobra.Command, args []string) error {
		v.Dirs, v.Home, v.Again = args, a.home, a.repeatLine(c, args, nil, nil)
		defer func() { a.object.Home = v.Used }()
		return a.coverage(c, v, holes)
	}
	return c
}

// coverage prints the merged coverage and fails if it is below a minimum.
func (a *app) coverage(c *cobra.Command, v *cli.Coverage, holes int) error {
	r, short, err := v.Report()
	w := a.human()
	if b := v.Bins; b != nil && err == nil {
		a.object.Bins = &result.Covered{Hit: b.Hit, Bins: b.Bins, Share: b.Share, Unreachable: len(b.Unreachable)}
		_ = b.Write(w, false, filepath.Join(v.Merge, result.CoverageFile)) // w remembers the error
	}
	if r == nil {
		return err
	}
	a.object.RTLCoverage, a.object.Findings = r, short
	_ = r.Write(w, holes) // w remembers the error
	for _, s := range result.Texts(short) {
		paint(w, red, "FAIL")
		say(w, "  %s\n", s)
	}
	a.ended = &cli.Ended{Outcome: cli.Decide(c.Context(), err, len(short) > 0)}
	return err
}
