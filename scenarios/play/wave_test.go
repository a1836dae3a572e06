package play

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/waves"
	"nictwin/scenarios/observe/waves/fst"
)

// A failing run leaves a waveform of the cycles around the failure, which contains every signal that its view names.
func TestWave(t *testing.T) {
	m, err := manifest.Load("testdata/axi_ram")
	require.NoError(t, err)
	m, err = m.WithParameters(map[string]string{"BUG": "1"})
	require.NoError(t, err)
	s, err := ReadSpec(m)
	require.NoError(t, err)
	policy, err := waves.Parse("fail")
	require.NoError(t, err)
	o := Options{Manifest: m, Spec: s, Seed: 1, Runs: 20, Stall: -1, NoShrink: true, Wave: policy, WaveDir: t.TempDir(),
		Variant: build.VariantSpeed, Log: os.Stderr}
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	w := r.Wave
	require.NotNil(t, w)
	require.LessOrEqual(t, w.From, r.Failed.Result.Failure.Cycle)
	f, err := fst.Read(w.FST)
	require.NoError(t, err)
	require.EqualValues(t, -12, f.Scale, "picoseconds, as reports have them")
	v := waves.View{Manifest: m, Period: 2500}
	at := v.Time(r.Failed.Result.Failure.Cycle)
	require.LessOrEqual(t, simcore.Ps(f.Start), at)
	require.GreaterOrEqual(t, simcore.Ps(f.End), at)
	text, err := os.ReadFile(w.SaveFile)
	require.NoError(t, err)
	shown := 0
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "TOP.") {
			require.Contains(t, f.Signals, l)
			shown++
		}
	}
	require.Equal(t, 2+19+10, shown, "clock, reset, fields and handshakes of five channels")
	require.Contains(t, string(text), "[markername] Adifference")

	o.Wave, err = waves.Parse("0.5us:1us")
	require.NoError(t, err)
	o.Seed, o.Runs, o.Manifest = 1, 1, m
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, 200, r.Wave.From)
	require.EqualValues(t, 400, r.Wave.To)
	f, err = fst.Read(r.Wave.FST)
	require.NoError(t, err)
	require.GreaterOrEqual(t, simcore.Ps(f.Start), v.Time(199))
	require.LessOrEqual(t, simcore.Ps(f.End), v.Time(401))
}
