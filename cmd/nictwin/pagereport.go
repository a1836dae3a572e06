package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/report"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func reportCommand(a *app) *cobra.Command {
	r := &cli.Report{}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Make an HTML page of the artifacts of runs",
		Long: `Makes one self-contained page, report.html, of folders that runs left with --out: verdict, findings with
the crossings around them, what was compared, figures, latencies and coverage; report.json is for scripts.
Several folders are shown side by side, such as the same input on the RTL and on the model; with --merge
they are shards of one run. The exit code does not depend on the verdict.`,
		Example: `  nictwin report out/demo --out out/page
  nictwin report out/demo out/demo-model --out out/page --against last/page
  nictwin report --merge shard-1 shard-2 shard-3 --out out/page`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no folder of artifacts given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.Out, "out", "", "folder for the report: new, empty, or one of artifacts (required)")
	f.BoolVar(&r.Overwrite, "overwrite", false, "accept any folder as --out")
	f.StringVar(&r.Against, "against", "", "folder of an earlier report, or of artifacts, to compare with")
	f.BoolVar(&r.Merge, "merge", false, "the folders are shards of one run: of one command, revision and RTL")
	f.StringSliceVar(&r.Coverage, "rtl-coverage", nil, "folders of RTL coverage to show, as runs with --rtl-coverage "+
		"fill them")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Dirs = args
		rep, err := r.Make()
		if rep != nil {
			r.Describe(&a.object, rep)
		}
		if err == nil {
			a.showPage(rep, r.Out)
		}
		return err
	}
	return c
}

// showPage prints a summary of a report page, and the path of its file.
func (a *app) showPage(rep *report.Report, dir string) {
	w := a.human()
	for _, r := range rep.Runs {
		say(w, "%s: %s, %d compared, %d mismatches\n", r.Name, r.Object.Result, r.Object.Checked, r.Object.Mismatches)
	}
	for _, text := range a.object.Warnings {
		say(a.stderr, "warning: %s\n", text)
	}
	if x := rep.Against; x != nil {
		say(w, "against %s: %d kinds of findings are new, %d gone\n", x.Folder, len(x.New), len(x.Gone))
	}
	say(w, "report    %s\n", filepath.Join(dir, result.PageFile))
}
