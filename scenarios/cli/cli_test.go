package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/boundary"
	_ "nictwin/models/fixedseed"
	"nictwin/models/root"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/device"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/home"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/result"
	"nictwin/scenarios/traffic/capture"
)

func TestClassify(t *testing.T) {
	infra := &protocol.InfraError{Err: protocol.ErrClosed}
	stuck := &replay.StuckError{}
	usage := &replay.UsageError{Err: errors.New("x")}
	for _, c := range []struct {
		err  error
		want result.Outcome
	}{
		{nil, result.Pass},
		{stuck, result.Mismatch},
		{boundary.Breach("Q4", "an event"), result.Mismatch},
		{&root.RegError{Err: boundary.Breach("G2", "status UR")}, result.Mismatch},
		{&root.RegError{Err: root.ErrNoTag}, result.Infrastructure},
		{errors.Join(boundary.Breach("P2", "x"), infra), result.Infrastructure},
		{usage, result.Usage},
		{Usagef("x"), result.Usage},
		{&capture.Error{Err: errors.New("x")}, result.Usage},
		{&manifest.Error{}, result.Usage},
		{&build.RefusedError{}, result.Usage},
		{&build.DesignError{}, result.Usage},
		{&home.NotFoundError{}, result.Usage},
		{&home.UnknownError{}, result.Usage},
		{&home.UntrustedError{}, result.Usage},
		{&device.FitError{Err: errors.New("x")}, result.Usage},
		{errors.Join(&device.FitError{Err: errors.New("x")}, infra), result.Infrastructure},
		{build.ErrNotTuned, result.Usage},
		{infra, result.Infrastructure},
		{&toolchain.BuildError{}, result.Infrastructure},
		{errors.Join(stuck, &player.CrashError{Value: "x"}), result.Infrastructure},
		{toolchain.ErrToolMissing, result.Infrastructure},
		{&fs.PathError{Op: "write", Path: "x", Err: errors.New("no space")}, result.Infrastructure},
		{errors.New("never seen before"), result.Infrastructure},
		{errors.Join(stuck, infra), result.Infrastructure},
		{errors.Join(usage, infra), result.Infrastructure},
		{errors.Join(stuck, usage), result.Usage},
		{context.Canceled, result.Interrupted},
		{errors.Join(infra, context.Canceled), result.Interrupted},
	} {
		require.Equal(t, c.want, Classify(t.Context(), c.err), "%v", c.err)
		if c.err != nil {
			require.Equal(t, c.want, Classify(t.Context(), fmt.Errorf("wrapped: %w", c.err)), "%v", c.err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	require.Equal(t, result.Interrupted, Classify(ctx, infra), "a device that dies of the same signal")
	require.Equal(t, result.Pass, Classify(ctx, nil), "a run that had ended already")
}

func TestOutcomes(t *testing.T) {
	exits := map[result.Outcome]int{result.Pass: 0, result.Mismatch: 1, result.Usage: 2, result.Infrastructure: 3, result.Interrupted: 130}
	for o, want := range exits {
		require.Equal(t, want, o.Exit())
		require.Equal(t, []string{"pass", "mismatch", "usage", "infrastructure", "interrupted"}[o], o.String())
	}
}

// A run that broke off is a mismatch if the referee had one before, unless the device died.
func TestJudge(t *testing.T) {
	odd, infra := errors.New("odd"), &protocol.InfraError{Err: protocol.ErrClosed}
	good, bad := &replay.Result{Pass: true, Checked: 1}, &replay.Result{Checked: 1, Mismatches: 1}
	for _, c := range []struct {
		res  *replay.Result
		err  error
		want result.Outcome
	}{
		{good, nil, result.Pass}, {bad, nil, result.Mismatch}, {bad, odd, result.Mismatch}, {good, odd, result.Infrastructure},
		{bad, infra, result.Infrastructure}, {nil, odd, result.Infrastructure}, {nil, Usagef("x"), result.Usage},
	} {
		require.Equal(t, c.want, NewReplay().judge(t.Context(), c.res, c.err), "%+v %v", c.res, c.err)
	}
}

// A shell takes a quoted command line apart into the words it was made of.
func TestQuoteRoundTrip(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z '"$\\!*?~#&;|<>()`+"`"+`\n\t=,.:/-]{0,12}|[^\x00]{0,6}`), 1, 5).Draw(t, "words")
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "\x00", "")
		}
		out, err := exec.Command(sh, "-c", `printf '%s\0' `+Quote(words)).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(words, "\x00")+"\x00", string(out))
	})
	require.Equal(t, "nictwin replay --speed 2.5 a/b_c.pcap", Quote([]string{"nictwin", "replay", "--speed", "2.5", "a/b_c.pcap"}))
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
	for _, f := range []string{"schema", "result", "seed", "digest", "build", "checked", "mismatches", "cycles", "sim_ps", "wall_s", "artifacts"} {
		require.Contains(t, got, f)
	}
	require.Equal(t, "18446744073709551615", string(got["seed"]))
	require.Equal(t, "1.5", string(got["wall_s"]))
	require.Contains(t, string(got["rx"]), `"drops":{"RUNT":2}`)
	require.NotContains(t, got, "tx")
	require.NoError(t, result.IsSummary(line.Bytes()))
}

func TestReplayOnTheModel(t *testing.T) {
	cap, err := filepath.Abs("../captures/softroce/ud_send6.pcap")
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
