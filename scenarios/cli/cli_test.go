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
	"nictwin/rtlbridge"
	"nictwin/scenarios/board"
	"nictwin/scenarios/capture"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/home"
	"nictwin/scenarios/replay"
)

func TestClassify(t *testing.T) {
	infra := &rtlbridge.InfraError{Err: rtlbridge.ErrClosed}
	stuck := &replay.StuckError{}
	usage := &replay.UsageError{Err: errors.New("x")}
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{nil, Pass},
		{stuck, Mismatch},
		{boundary.Breach("Q4", "an event"), Mismatch},
		{&root.RegError{Err: boundary.Breach("G2", "status UR")}, Mismatch},
		{&root.RegError{Err: root.ErrNoTag}, Infrastructure},
		{errors.Join(boundary.Breach("P2", "x"), infra), Infrastructure},
		{usage, Usage},
		{Usagef("x"), Usage},
		{&capture.Error{Err: errors.New("x")}, Usage},
		{&rtlbridge.ManifestError{}, Usage},
		{&rtlbridge.RefusedError{}, Usage},
		{&rtlbridge.DesignError{}, Usage},
		{&home.NotFoundError{}, Usage},
		{&home.UnknownError{}, Usage},
		{&home.UntrustedError{}, Usage},
		{&board.FitError{Err: errors.New("x")}, Usage},
		{errors.Join(&board.FitError{Err: errors.New("x")}, infra), Infrastructure},
		{rtlbridge.ErrNotTuned, Usage},
		{infra, Infrastructure},
		{&rtlbridge.BuildError{}, Infrastructure},
		{errors.Join(stuck, &fuzz.CrashError{Value: "x"}), Infrastructure},
		{rtlbridge.ErrToolMissing, Infrastructure},
		{&fs.PathError{Op: "write", Path: "x", Err: errors.New("no space")}, Infrastructure},
		{errors.New("never seen before"), Infrastructure},
		{errors.Join(stuck, infra), Infrastructure},
		{errors.Join(usage, infra), Infrastructure},
		{errors.Join(stuck, usage), Usage},
		{context.Canceled, Interrupted},
		{errors.Join(infra, context.Canceled), Interrupted},
	} {
		require.Equal(t, c.want, Classify(t.Context(), c.err), "%v", c.err)
		if c.err != nil {
			require.Equal(t, c.want, Classify(t.Context(), fmt.Errorf("wrapped: %w", c.err)), "%v", c.err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	require.Equal(t, Interrupted, Classify(ctx, infra), "a device that dies of the same signal")
	require.Equal(t, Pass, Classify(ctx, nil), "a run that had ended already")
}

func TestOutcomes(t *testing.T) {
	exits := map[Outcome]int{Pass: 0, Mismatch: 1, Usage: 2, Infrastructure: 3, Interrupted: 130}
	for o, want := range exits {
		require.Equal(t, want, o.Exit())
		require.Equal(t, []string{"pass", "mismatch", "usage", "infrastructure", "interrupted"}[o], o.String())
	}
}

// A run that broke off is a mismatch if the referee had one before, unless the device died.
func TestJudge(t *testing.T) {
	odd, infra := errors.New("odd"), &rtlbridge.InfraError{Err: rtlbridge.ErrClosed}
	good, bad := &replay.Result{Pass: true, Checked: 1}, &replay.Result{Checked: 1, Mismatches: 1}
	for _, c := range []struct {
		res  *replay.Result
		err  error
		want Outcome
	}{
		{good, nil, Pass}, {bad, nil, Mismatch}, {bad, odd, Mismatch}, {good, odd, Infrastructure},
		{bad, infra, Infrastructure}, {nil, odd, Infrastructure}, {nil, Usagef("x"), Usage},
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
	var o Object
	o.End(Pass, nil)
	o.add(&replay.Result{
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
	require.NoError(t, isSummary(line.Bytes()))
}

func TestReplayOnTheModel(t *testing.T) {
	cap, err := filepath.Abs("../captures/softroce/ud_send6.pcap")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	r := NewReplay()
	r.NIC, r.Captures, r.Seed = "model", []string{cap}, 3
	e := r.Run(t.Context())
	require.NoError(t, e.Err)
	require.Equal(t, Pass, e.Outcome)
	require.Equal(t, filepath.Join("out", "replay-model-both-3"), e.Object.Artifacts)
	text, err := os.ReadFile(filepath.Join(e.Object.Artifacts, Summary))
	require.NoError(t, err)
	var o Object
	require.NoError(t, json.Unmarshal(text, &o))
	require.Equal(t, e.Object, o)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	r = NewReplay()
	r.NIC, r.Captures, r.NoArtifacts = "model", []string{cap}, true
	e = r.Run(ctx)
	require.Equal(t, Interrupted, e.Outcome)
	require.ErrorIs(t, e.Err, ErrInterrupted)
	require.Equal(t, "interrupted", e.Object.Result)
}
