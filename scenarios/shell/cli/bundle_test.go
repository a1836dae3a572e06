package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/fuzz/generate"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/run"
	"nictwin/scenarios/shell/pipeline"
)

// bundleSchema is the name of the schema of bundle.json.
const bundleSchema = "bundle.json"

// spoiled flips a bit of every frame that leaves the NIC.
func spoiled(c boundary.Crossing) {
	if c.Kind == boundary.FrameOut {
		c.Frame.Data[20] ^= 1
	}
}

// replayed replays on the model: captures, or a bundle.
func replayed(t *testing.T, b *pipeline.Played, change func(*Replay)) *ReplayEnded {
	t.Helper()
	r := NewReplay()
	r.NIC, r.Again, r.Out, r.ShrinkS = device.Model, "nictwin replay …", filepath.Join(t.TempDir(), "out"), 0
	r.Flags = []string{"--nic=model", "--dir=both", "--seed=1"}
	r.Captures = []string{"../../captures/softroce/ud_send6.pcap"}
	if r.Bundle = b; b != nil {
		r.Captures = b.Inputs(bundle.Capture)
	}
	change(r)
	return r.Run(t.Context())
}

// opened opens the bundle that a run has left, and checks that its summary fits the schema and names no path of this
// machine.
func opened(t *testing.T, o *result.Object) *pipeline.Played {
	t.Helper()
	require.NotNil(t, o.Bundle)
	require.Empty(t, o.Bundle.Note)
	b, err := pipeline.OpenBundle(o.Bundle.File, o.Command)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	require.NoError(t, schemaNamed(t, resulttest.Summary).Check(b.Files[bundle.SummaryFile]))
	require.NotContains(t, string(b.Files[bundle.SummaryFile]), "captures/softroce", "nothing of this machine is in it")
	return b
}

// A replay that fails leaves a bundle, which shows the finding again; equal runs leave equal bundles. Once the device
// is right, the bundle does not reproduce.
func TestReplayBundle(t *testing.T) {
	first := replayed(t, nil, func(r *Replay) { r.Observe = spoiled })
	require.Equal(t, result.Mismatch, first.Outcome, "%v", first.Err)
	text, err := os.ReadFile(first.Object.Bundle.File)
	require.NoError(t, err)
	again := replayed(t, nil, func(r *Replay) { r.Observe = spoiled })
	same, err := os.ReadFile(again.Object.Bundle.File)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, same))

	b := opened(t, &first.Object)
	require.Equal(t, []string{"inputs/1-ud_send6.pcap"}, b.Info.WithRole(bundle.Capture))
	require.Equal(t, map[string]int{"packets": 5}, b.Info.Original)
	require.Nil(t, b.Info.DUT, "there is no RTL")
	require.Equal(t, first.Object.Findings[0].Field, b.Info.Finding.Field)

	broken := replayed(t, b, func(r *Replay) { r.Observe = spoiled })
	require.True(t, broken.Object.FromBundle.Reproduced)
	require.Equal(t, []string{b.Path + ":inputs/1-ud_send6.pcap"}, broken.Object.Captures)
	require.Equal(t, broken.Object.Captures[0], broken.Object.Findings[0].Frame.Capture)
	same, err = os.ReadFile(broken.Object.Bundle.File)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, same), "a bundle that reproduces leaves itself")

	fixed := replayed(t, b, func(*Replay) {})
	require.Equal(t, result.Pass, fixed.Outcome)
	require.False(t, fixed.Object.FromBundle.Reproduced)
	require.Nil(t, fixed.Object.Bundle)
	require.Contains(t, fixed.Object.FromBundle.Finding, b.Info.Finding.Field)

	beside := replayed(t, b, func(r *Replay) { r.Observe, r.Out = spoiled, filepath.Dir(b.Path) })
	require.Contains(t, beside.Object.Bundle.Note, "the bundle that was played lies there")
	same, err = os.ReadFile(b.Path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, same))
}

// A bundle holds the shrunk input. A run that plays it leaves a bundle that names the same shrunk size.
func TestBundleIsShrunk(t *testing.T) {
	first := replayed(t, nil, func(r *Replay) {
		r.Observe, r.ShrinkS, r.Loop, r.Flags = spoiled, 60, 20, append(r.Flags, "--loop=20")
	})
	require.NotNil(t, first.Object.Shrunk, "%v", first.Err)
	b := opened(t, &first.Object)
	require.Equal(t, 1, b.Info.Shrunk["packets"])
	require.Equal(t, 100, b.Info.Original["packets"])
	require.Contains(t, b.Info.Flags, "--loop=1")
	require.NotContains(t, b.Info.Flags, "--loop=20")
	require.Equal(t, []string{"inputs/1-shrunk.pcapng"}, b.Info.WithRole(bundle.Capture))
	again := replayed(t, b, func(r *Replay) {
		r.Observe, r.Flags = spoiled, b.Info.Flags
		for _, f := range b.Info.Flags {
			if name, value := bundle.Flag(f); name == "dir" {
				r.Dir = value
			}
		}
	})
	require.True(t, again.Object.FromBundle.Reproduced)
	require.Equal(t, b.Info.Shrunk, opened(t, &again.Object).Info.Shrunk)
}

// The board of a replay is in its bundle, with every field and without devices.
func TestBundleHasTheBoard(t *testing.T) {
	first := replayed(t, nil, func(r *Replay) { r.Observe, r.Board, r.Ports = spoiled, "bf3", 0 })
	require.Equal(t, result.Mismatch, first.Outcome, "%v", first.Err)
	b := opened(t, &first.Object)
	boards := b.Inputs(bundle.Board)
	require.Len(t, boards, 1)
	again := replayed(t, b, func(r *Replay) { r.Observe, r.Board, r.Ports = spoiled, boards[0], 0 })
	require.True(t, again.Object.FromBundle.Reproduced, "%v", again.Err)
	require.Equal(t, first.Object.Digest, again.Object.Digest)
}

// If the inputs cannot be read again, there is no bundle, and a note gives the reason.
func TestNoBundle(t *testing.T) {
	r := NewReplay()
	r.Captures = []string{"-"}
	x := &pipeline.Bundling{Names: map[string]string{}}
	require.Error(t, r.bundle(x, &ReplayEnded{}))
	var e Ended
	dir, err := result.OpenFolder(filepath.Join(t.TempDir(), "out"), false)
	require.NoError(t, err)
	defer dir.Close()
	e.Outcome = result.Mismatch
	w := &work{rtl: func() string { return "" }, bundle: func(*pipeline.Bundling) error { return errors.New("no way") }}
	require.NoError(t, e.bundle(&Common{}, dir, w))
	require.Equal(t, &result.Bundled{Note: "no way"}, e.Object.Bundle)
}

// A run whose device dies or hangs leaves a bundle, too; a run that this machine's limits stop leaves none.
func TestBundleOfACrash(t *testing.T) {
	p := generate.Generate(7, generate.Shape{Sizes: nicspec.DefaultBuild(), Stall: -1})
	for _, c := range []struct {
		err  error
		want bool
	}{{&protocol.InfraError{Device: "nic", Op: "run", Err: protocol.ErrTimeout}, true}, {&LimitError{}, false}} {
		f := NewFuzz()
		f.NIC = device.Model
		e := Ended{Object: result.Object{Command: "fuzz"}}
		e.do(t.Context(), &f.Common, work{
			prepare:  func() (string, error) { return filepath.Join(t.TempDir(), "out"), nil },
			play:     func() error { return c.err },
			differs:  func(error) bool { return false },
			describe: func(*result.Object) {},
			rtl:      func() string { return "" },
			bundle: func(x *pipeline.Bundling) error {
				return f.bundle(x, &fuzz.Result{Broken: &fuzz.Broken{Program: p}})
			},
		})
		require.Equal(t, result.Infrastructure, e.Outcome)
		require.Equal(t, c.want, e.Object.Bundle != nil)
		if !c.want {
			continue
		}
		b := opened(t, &e.Object)
		require.Equal(t, "infrastructure", b.Info.Result)
		require.Nil(t, b.Info.Finding)
		require.Contains(t, b.Info.Error, "the device hangs")
		require.False(t, b.Compare(&result.Object{Result: "pass"}, "").Reproduced)
		require.NotEmpty(t, b.Info.Failure)
		again := &result.Object{Result: "infrastructure", Failure: b.Info.Failure}
		require.True(t, b.Compare(again, "").Reproduced)
		again.Failure = result.OutOfMemory
		require.False(t, b.Compare(again, "").Reproduced, "another failure of the machine")
		b.Info.Finding = &result.Finding{Rule: "S2", Domain: "rx", Field: "x\n::error file=a::forged"}
		require.Equal(t, `[S2] rx x\n::error file=a::forged`, b.Compare(again, "").Finding, "in one line")
	}
}

// A program that failed is played from its bundle, on the board that it had.
func TestFuzzBundle(t *testing.T) {
	seed := rand.New(rand.NewPCG(1, 0)).Uint64() >> 11
	p := generate.Generate(seed, generate.Shape{Sizes: nicspec.DefaultBuild(), Stall: 0})
	p.Board.Card = "bf3"
	text, err := p.JSON()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "program-0.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	f := NewFuzz()
	f.NIC = device.Model
	x := &pipeline.Bundling{Names: map[string]string{}}
	x.Bundle.Info = bundle.Info{}
	require.NoError(t, f.bundle(x, &fuzz.Result{Failures: []result.Failure{{Program: file, Ops: 9, Shrunk: 2}}}))
	dir, err := result.OpenFolder(filepath.Join(t.TempDir(), "out"), false)
	require.NoError(t, err)
	defer dir.Close()
	o := &result.Object{Command: "fuzz",
		Findings: []result.Finding{{Domain: result.Rx, Field: "hdr_len", Text: "x"}}}
	o.End(result.Mismatch, nil)
	require.NoError(t, pipeline.WriteBundle(dir, o, x))
	b := opened(t, o)
	require.Equal(t, []string{"--nic=model"}, b.Info.Flags)
	require.Equal(t, map[string]int{"operations": 2}, b.Info.Shrunk)

	play := func(b *pipeline.Played) *FuzzEnded {
		f := NewFuzz()
		f.NIC, f.Bundle, f.NoArtifacts, f.ProgramFile = device.Model, b, true, b.Inputs(bundle.Program)[0]
		return f.Run(t.Context())
	}
	e := play(b)
	require.Equal(t, result.Pass, e.Outcome, "%v", e.Err)
	require.False(t, e.Object.FromBundle.Reproduced)

	evil, err := program.Load(file)
	require.NoError(t, err)
	evil.Board.Card = "/etc/passwd"
	text, err = evil.JSON()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(b.Inputs(bundle.Program)[0], text, 0o600))
	e = play(b)
	require.Equal(t, result.Usage, e.Outcome)
	require.ErrorContains(t, e.Err, `its program names the board "/etc/passwd"`)
}

// Scenarios that name devices by manifest or address are not bundled, and are refused in bundles: a bundle must not
// choose RTL to be run.
func TestBundlesNameNoDevices(t *testing.T) {
	const text = `{name: x, description: y, board: {preset: bf3-cores-pair}, stacks: [{kind: flexins}], devices: [%s]}`
	for device, want := range map[string]string{
		"{kind: rtl, dut: /tmp/evil/dut.yaml}":                               "dut",
		"{kind: rtl, dut: nic}":                                              "dut",
		"{kind: address, address: 'unix:/x', token_file: /x/y}, {kind: rtl}": "address",
	} {
		cases, err := run.Parse("x.yaml", []byte(fmt.Sprintf(text, device)))
		require.NoError(t, err)
		require.ErrorContains(t, cases[0].Portable(), want)
	}
	cases, err := run.Parse("x.yaml", []byte(fmt.Sprintf(text, "{kind: rtl}")))
	require.NoError(t, err)
	require.NoError(t, cases[0].Portable())
}

// The schema of bundle.json has exactly the fields that the code writes.
func TestBundleSchemaIsTheCode(t *testing.T) {
	s := schemaFile(t, bundleSchema)
	sameShape(t, "bundle", s, reflect.TypeFor[bundle.Info]())
	require.EqualValues(t, bundle.Schema, s["properties"].(map[string]any)["schema"].(map[string]any)["const"])
}
