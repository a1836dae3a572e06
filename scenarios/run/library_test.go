package run

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run/workload"
	"nictwin/scenarios/shell/inorder"
)

var update = flag.Bool("update", false, "write the results of the library anew")

const library = "../library"

// libraryFiles returns the scenarios of the library.
func libraryFiles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(library, "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), 60)
	return list
}

// Every scenario of the library is named after its file and passes on the Go NIC with several playing at a time; its
// results equal those recorded in results.txt. Statistics are taken, so that an impossible stamp fails a run.
func TestLibrary(t *testing.T) {
	var cases []*Case
	for _, file := range libraryFiles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "# "), "%s: begins with what it shows", file)
		list, err := Load(file)
		require.NoError(t, err)
		for _, c := range list {
			require.Equal(t, filepath.Base(file), c.Spec.Name+".yaml")
		}
		cases = append(cases, list...)
	}
	type played struct {
		*Played
		err error
	}
	var all strings.Builder
	o := Options{NIC: device.Model, Stats: StatsSummary}
	require.NoError(t, (&inorder.List[played]{
		Count: len(cases), Most: runtime.GOMAXPROCS(0),
		Cost: func(i int) int64 { return cases[i].Cost(&o) },
		Do: func(ctx context.Context, i int) played {
			p, err := cases[i].Play(ctx, o)
			if p != nil && p.Result != nil {
				p.Result.Streams = nil
			}
			return played{p, err}
		},
		Take: func(i int, p played) {
			require.NoError(t, p.err)
			require.True(t, p.Pass(), "%s: %s", cases[i].Name, texts(p.Played))
			all.WriteString(outcome(p.Played))
		},
	}).Run(t.Context()))
	require.Greater(t, len(cases), 200)
	path := filepath.Join(library, "results.txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), all.String(), "results do not depend on NIC, stack or time: -update if a scenario "+
		"was changed or added")
}

// outcome formats a case as a line of results.txt. Workloads with an end are left out: how many messages they have
// depends on timing.
func outcome(p *Played) string {
	messages, all := p.Result.Messages, p.Case.AllWorkloads()
	timed := func(w *workload.Spec) bool { return w.End != nil }
	if slices.ContainsFunc(all, timed) {
		messages = slices.DeleteFunc(all, timed).Messages()
	}
	return fmt.Sprintf("%s %d messages %d lost %s\n", p.Case.Name, messages, p.Result.Lost, p.Digest[:16])
}

// Every scenario of the library has the same results on RTL as on the Go NIC, and no referee has a finding. The test
// plays the first case of each scenario, or all cases if NICTWIN_LONG is set (make test-all), as many at a time as
// there are processors.
func TestLibraryOnRTL(t *testing.T) {
	results, err := os.ReadFile(filepath.Join(library, "results.txt"))
	require.NoError(t, err)
	o, played, long := optionsFor(t, device.RTL), 0, os.Getenv("NICTWIN_LONG") != ""
	for _, file := range libraryFiles(t) {
		list, err := Load(file)
		require.NoError(t, err)
		if !long {
			list = list[:1]
		}
		for _, c := range list {
			if !c.Judged() {
				continue
			}
			played++
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				p, err := c.Play(t.Context(), o)
				require.NoError(t, err)
				require.True(t, p.Pass(), "%s: %s", c.Name, texts(p))
				require.Contains(t, "\n"+string(results), "\n"+outcome(p))
				require.Equal(t, device.RTL, p.NICs[0].Device)
			})
		}
	}
	require.GreaterOrEqual(t, played, 60)
}
