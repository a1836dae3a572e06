package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/replay"
)

func TestOutcomes(t *testing.T) {
	exits := map[result.Outcome]int{result.Pass: 0, result.Mismatch: 1, result.Usage: 2, result.Infrastructure: 3,
		result.Interrupted: 130}
	for o, want := range exits {
		require.Equal(t, want, o.Exit())
		require.Equal(t, []string{"pass", "mismatch", "usage", "infrastructure", "interrupted"}[o], o.String())
	}
}

// A shell splits the output of Quote into the original words.
func TestQuoteRoundTrip(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z '"$\\!*?~#&;|<>()`+"`"+`\n\t=,.:/-]{0,12}|[^\x00]{0,6}`), 1,
			5).Draw(t, "words")
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "\x00", "")
		}
		out, err := exec.Command(sh, "-c", `printf '%s\0' `+Quote(words)).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(words, "\x00")+"\x00", string(out))
	})
	require.Equal(t, "nictwin replay --speed 2.5 a/b_c.pcap",
		Quote([]string{"nictwin", "replay", "--speed", "2.5", "a/b_c.pcap"}))
}

func TestObjectHasEveryField(t *testing.T) {
	var o result.Object
	o.End(result.Pass, nil)
	addReplay(&o, &replay.Result{
		Seed: 1<<64 - 1, Digest: "d", Wall: 1500 * time.Millisecond,
		Rx: &replay.RxResult{In: 3, Delivered: 1, Drops: []replay.Drop{{Cause: "RUNT", Count: 2}}},
	})
	var line bytes.Buffer
	require.NoError(t, o.WriteLine(&line))
	require.Equal(t, 1, strings.Count(line.String(), "\n"))
	var got map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(line.Bytes(), &got))
	for _, f := range []string{"schema", "result", "seed", "digest", "build", "checked", "mismatches", "cycles",
		"sim_ps", "wall_s", "artifacts"} {
		require.Contains(t, got, f)
	}
	require.Equal(t, "18446744073709551615", string(got["seed"]))
	require.Equal(t, "1.5", string(got["wall_s"]))
	require.Contains(t, string(got["rx"]), `"drops":{"RUNT":2}`)
	require.NotContains(t, got, "tx")
	require.NoError(t, result.IsSummary(line.Bytes()))
}

func TestReplayOnTheModel(t *testing.T) {
	cap, err := filepath.Abs("../../captures/softroce/ud_send6.pcap")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	r := NewReplay()
	r.NIC, r.Captures, r.Seed = "model", []string{cap}, 3
	e := r.Run(t.Context())
	require.NoError(t, e.Err)
	require.Equal(t, result.Pass, e.Outcome)
	require.Equal(t, filepath.Join("out", "replay-model-both-3"), e.Object.Artifacts)
	text, err := os.ReadFile(filepath.Join(e.Object.Artifacts, result.Summary))
	require.NoError(t, err)
	var o result.Object
	require.NoError(t, json.Unmarshal(text, &o))
	require.Equal(t, e.Object, o)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	r = NewReplay()
	r.NIC, r.Captures, r.NoArtifacts = "model", []string{cap}, true
	e = r.Run(ctx)
	require.Equal(t, result.Interrupted, e.Outcome)
	require.ErrorIs(t, e.Err, ErrInterrupted)
	require.Equal(t, "interrupted", e.Object.Result)
}
