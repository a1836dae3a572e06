package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/ref"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/shell/home/hometest"
)

// deviceWith returns the manifest of one of our own devices, with another section `play`.
func deviceWith(t *testing.T, dut, play string) *manifest.Manifest {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	m, err := manifest.Load(filepath.Join(h.Dir, "verilator", "duts", dut))
	require.NoError(t, err)
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(play), &n))
	m.Play = *n.Content[0]
	return m
}

// options returns options that play a device with the given section `play`.
func options(t *testing.T, dut, play string) Options {
	t.Helper()
	m := deviceWith(t, dut, play)
	s, err := ReadSpec(m)
	require.NoError(t, err)
	return Options{Manifest: m, Spec: s, Seed: 1, Runs: 1, Stall: -1, Variant: build.VariantSpeed, Log: os.Stderr}
}

// A correct FIFO passes, the same options give the same digest, and every bin of the inputs' coverage is hit.
func TestIdentity(t *testing.T) {
	o := options(t, "fifo", "{check: identity, count: 60}")
	o.Runs = 12
	a, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Nil(t, a.Failed)
	require.EqualValues(t, 60*12, a.Compared)
	b, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, a.Digest, b.Digest)
	in := a.Cover.Streams[0]
	for what, n := range map[string]int{"one beat": in.OneBeat, "whole": in.WholeBeats, "part": in.PartBeat,
		"close": in.BackToBack} {
		require.Positive(t, n, what)
	}
	require.Empty(t, a.Cover.Empty())
}

// Each built-in defect of the FIFO is found and reported with the expected value; the shortened run has at most three
// transactions and reproduces the failure.
func TestDefects(t *testing.T) {
	for defect, want := range []string{
		1: "tvalid withdrawn before the beat was taken", 2: "tdata changed while stalled", 3: "tkeep is not contiguous",
		4: "tkeep is not full before the last beat", 5: "offered beat not taken", 6: "defect 6 asked for", 7: "",
		8: "byte 0: expected",
	} {
		if defect == 0 {
			continue
		}
		t.Run(fmt.Sprint(defect), func(t *testing.T) {
			o := options(t, "fifo", fmt.Sprintf("{check: identity, count: 60, patience: 2000, longest: 4096, "+
				"tie_offs: {defect_i: %d}}", defect))
			var trace strings.Builder
			o.Runs, o.Trace = 20, &trace
			r, err := Play(t.Context(), o)
			require.NoError(t, err)
			require.NotNil(t, r.Failed)
			f := r.Failed
			require.LessOrEqual(t, f.Kept, 3, "%v", f.Result.Failure)
			require.ErrorContains(t, f.Result.Failure, want)
			o.Seed, o.Runs, o.Keep, o.Stall, o.NoGap, o.Cut, o.NoShrink = f.Run.Seed, 1, f.Run.Keep, f.Run.Stall,
				f.Run.NoGap, f.Run.Cut, true
			again, err := Play(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, f.Result.Failure, again.Failed.Result.Failure, "the run that was told shows it again")
		})
	}
}

// After a reset in the middle of traffic, nothing of the earlier transactions counts. A reference must handle resets.
func TestResets(t *testing.T) {
	o := options(t, "fifo", "{check: identity, count: 60, resets: 1..4}")
	var trace strings.Builder
	o.Runs = 16
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	if r.Failed != nil {
		t.Fatal(r.Failed.Result.Failure)
	}
	require.Less(t, r.Compared, 16*60, "what was under way is lost")
	require.Greater(t, r.Compared, 16*30)
	o = options(t, "fifo", "{count: 60, resets: 4}")
	o.Runs, o.Trace = 6, &trace
	o.Reference = func(p *ref.Player) {}
	_, err = Play(t.Context(), o)
	require.ErrorContains(t, err, "play.resets the reference has no OnReset")
	held := 0
	o.Reference = func(p *ref.Player) {
		p.On("in", func(m *ref.Msg) { held++ })
		p.On("out", func(m *ref.Msg) { held-- })
		p.OnReset(func() { held = 0; p.Fail(ref.Failure{Field: "reset", Expected: "none", Got: "one"}) })
	}
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, "reset", r.Failed.Result.Failure.Field)
	require.Contains(t, trace.String(), "reset")
}

// A reference of a few lines finds faults that the rules of streams do not show.
func TestReference(t *testing.T) {
	own := func(p *ref.Player) {
		p.On("in", func(m *ref.Msg) { p.Expect("out", ref.Fields{"tuser": m.U("tuser")}, m.Data) })
	}
	o := options(t, "fifo", "{count: 40}")
	o.Runs, o.Reference = 4, own
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Nil(t, r.Failed)
	require.Equal(t, OwnCheck, r.Check)
	o = options(t, "fifo", "{count: 40, tie_offs: {defect_i: 8}}")
	o.Runs, o.Reference = 4, own
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, r.Failed.Kept)
	o.Reference = func(p *ref.Player) { p.On("in", func(m *ref.Msg) { m.U("tuse") }) }
	_, err = Play(t.Context(), o)
	require.ErrorContains(t, err, `play_test.go`)
	require.ErrorContains(t, err, `stream in has no field "tuse": it has [tuser]`)
}

// Records, levels, coupled streams and pulses reach a device unharmed, with and without stalls.
func TestEveryKindOfPort(t *testing.T) {
	const play = `{count: 40, inputs: {mode: {every: 50..200}, hdr: {fields: {beats: bytes of pay}},
      left: {fields: {tag: count}}, right: {fields: {tag: count}}, kick: {gap: 1..50}}, clocks: {aux_clk_i: 900..5000}}`
	o := options(t, "ports", play)
	o.Runs = 6
	o.Reference = func(p *ref.Player) {
		p.Draw("pay", func() (ref.Fields, []byte) { // bytes that count down
			b := make([]byte, 1+p.Rand().IntN(9))
			for i := range b {
				b[i] = byte(len(b) - i)
			}
			return nil, b
		})
		p.On("req", func(m *ref.Msg) { p.Expect("rsp", ref.Fields{"addr": m.U("addr"), "write": m.U("write")}, nil) })
		p.End(func() {
			for _, name := range []string{"stray_o", "early_o", "apart_o"} {
				if n := p.Observed(name); n != 0 {
					p.Fail(ref.Failure{Field: name, Expected: "0", Got: fmt.Sprint(n)})
				}
			}
		})
	}
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	if r.Failed != nil {
		t.Fatal(r.Failed.Result.Failure)
	}
	require.Empty(t, r.Cover.Empty())
}

func TestSectionFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{check: same}": `play.check "same": want identity, route, memory, rules or ` +
			`reference`,
		"{chek: x}":                    "play.chek: no such field: want one of check, in, out",
		"{count: 0}":                   "play.count 0: want 1 to 100000",
		"{stall: 0..100}":              "play.stall want percentages of 0 to 95",
		"{stall: 9..1}":                `"9..1": the range ends before it begins`,
		"{inputs: {x: {}}}":            `play.inputs.x "x": the manifest has no such stream of direction in`,
		"{inputs: {in: {bytes: any}}}": "play.inputs.in.bytes want numbers",
		"{drops: some}":                `"some": want none, whole`,
		"{drops: {above: 5}}":          "play.drops.above 5: it is for drops that are whole",
		"{parameters: {Nope: ['1']}}":  "the manifest's parameters have no Nope",
		"{clocks: {c: 1..2}}":          `"c": the manifest has no such clock`,
		"{check: route}":               "play.by is missing",
		"{latency: {out: any}}":        "want one range of cycles",
		"{latency: {out: 1..9 step 2}}": "play.latency.out a latency has no steps: want a range such as " +
			"2..40",
		"{inputs: {in: {edges: [{at: 1}]}}}":      "want start and length",
		"{tie_offs: {q: 1}}":                      "the manifest's tie_offs have no q",
		"{tie_offs: {q: count * 0}}":              `"count * 0": want count * N`,
		"{inputs: {in: {fields: {tuser: what}}}}": `play.inputs.in.fields.tuser: "what": want a number`,
	} {
		_, err := ReadSpec(deviceWith(t, "fifo", text))
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "dut.yaml:", text)
	}
	for text, want := range map[string]string{
		"{inputs: {in: {fields: {user: 1}}}}":               "the stream has no such field: it has [tuser]",
		"{inputs: {in: {fields: {tuser: 0..0x1ffffffff}}}}": "does not fit into 32 bits",
		"{inputs: {in: {fields: {tuser: bytes of in}}}}":    "want a stream of packets that is coupled",
		"{check: reference}":                                "none is given: name its folder by --ref",
		"{check: route, by: to}":                            `stream in has no field "to"`,
		"{check: identity, rename: {tuser: other}}":         `stream out has no field "other"`,
		"{check: identity, drops: {when: {bad: 1}}}":        "stream in has no such field",
		"{tie_offs: {defect_i: 16}}":                        "play.tie_offs.defect_i 16 does not fit into 4 bits",
	} {
		_, err := Play(t.Context(), options(t, "fifo", text))
		require.ErrorContains(t, err, want, text)
	}
}

// A correct AXI memory passes under overlapping bursts of every kind; each of its built-in bugs is found.
func TestMemory(t *testing.T) {
	m, err := manifest.Load("testdata/axi_ram")
	require.NoError(t, err)
	for bug, want := range []string{"", "rdata byte", "rdata byte",
		"expected a beat to stay as it is until it is taken, got a field changed while stalled"} {
		with, err := m.WithParameters(map[string]string{"BUG": fmt.Sprint(bug)})
		require.NoError(t, err)
		s, err := ReadSpec(with)
		require.NoError(t, err)
		r, err := Play(t.Context(), Options{Manifest: with, Spec: s, Seed: 1, Runs: 80, Stall: -1,
			Variant: build.VariantSpeed, Log: os.Stderr})
		require.NoError(t, err)
		if bug == 0 {
			require.Nil(t, r.Failed)
			require.Greater(t, r.Compared, 10_000)
			continue
		}
		require.NotNil(t, r.Failed, "bug %d", bug)
		require.ErrorContains(t, r.Failed.Result.Failure, want)
		require.LessOrEqual(t, r.Failed.Kept, 20)
	}
}
