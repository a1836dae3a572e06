package rtlbridge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
)

// TestTunedBuildDoesTheSame checks that a tuned build is made with a recording, is later found without one,
// and behaves like the speed build.
func TestTunedBuildDoesTheSame(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	var rec bytes.Buffer
	o := loopOptions{latency: 800_000, stall: 20, credits: 3, first: 50, total: 90}
	o.record = &rec
	want, err := runLoop(t, d, o)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "inputs")
	require.NoError(t, os.WriteFile(file, rec.Bytes(), 0o644))

	cache := t.TempDir()
	made := func(training string) (*build.Device, error) {
		return build.Build(d.Manifest, build.Options{Variant: build.VariantTuned, Training: training, CacheDir: cache})
	}
	_, err = made("")
	require.ErrorIs(t, err, build.ErrNotTuned)
	_, err = made(fifoManifest)
	require.ErrorContains(t, err, "training: ")
	require.ErrorContains(t, err, "no whole frame at byte 0")
	tuned, err := made(file)
	require.NoError(t, err)
	require.False(t, tuned.Cached)
	require.NotEqual(t, d.Hash, tuned.Hash)
	again, err := made("")
	require.NoError(t, err)
	require.True(t, again.Cached)

	o.record = nil
	got, err := runLoop(t, again, o)
	require.NoError(t, err)
	require.Equal(t, want.digest, got.digest)
	require.Equal(t, want.arrived, got.arrived)

	_, err = build.Build(d.Manifest, build.Options{Variant: build.VariantSpeed, Training: file})
	require.ErrorContains(t, err, "want variant tuned, got speed")
}
