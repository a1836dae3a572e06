package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/lockfile"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/observe/result"
)

// writerFunc is an io.Writer that calls a function with the text.
type writerFunc func(text string)

func (w writerFunc) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// A run that waits for the lock of its coverage file says so. If it is then interrupted, it saves its hits in another
// file and leaves the coverage file alone.
func TestInterruptedWhileTheHitsAreLocked(t *testing.T) {
	dir := t.TempDir()
	hits := filepath.Join(dir, "hits.json")
	before := "{\"schema\":1,\"hits\":{}}"
	require.NoError(t, os.WriteFile(hits, []byte(before), 0o644))
	lock, err := os.Create(hits + ".lock")
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	require.NoError(t, lockfile.Sign(lock))

	f := NewFuzz()
	f.NIC, f.Runs, f.Ports, f.Coverage, f.Out = device.Model, 1, 1, hits, filepath.Join(dir, "out")
	ctx, cancel := context.WithCancelCause(t.Context())
	var said strings.Builder
	f.Log = writerFunc(func(text string) {
		said.WriteString(text)
		if strings.Contains(text, "nictwin fuzz: waiting for "+lockfile.Me()+", which has locked "+hits+".lock\n") {
			cancel(ErrInterrupted)
		}
	})
	e := f.Run(ctx)
	require.Equal(t, 130, e.Outcome.Exit(), said.String())
	require.ErrorIs(t, e.Err, ErrInterrupted)
	text, err := os.ReadFile(hits)
	require.NoError(t, err)
	require.Equal(t, before, string(text))
	apart, err := filepath.Glob(hits + ".apart-*")
	require.NoError(t, err)
	require.Len(t, apart, 1)
	require.Contains(t, said.String(), "the hits of this run are in "+apart[0])
	kept := coverage.New()
	require.NoError(t, kept.Load(apart[0]))
	r := kept.Report(coverage.NewUniverse(e.Result.Sizes))
	require.Positive(t, r.Hit)
	require.Equal(t, r.Hits, e.Report.Hits)
	require.FileExists(t, filepath.Join(f.Out, result.CoverageFile))
}
