package play

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/ref"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// demux plays the demultiplexer. `play` is the section play of its manifest; `own` is its reference, or nil.
func demux(t *testing.T, play string, own ref.Reference, runs int, keep []Span) (*Report, error) {
	t.Helper()
	m, err := manifest.Load("testdata/demux")
	require.NoError(t, err)
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(play), &n))
	m.Play = *n.Content[0]
	s, err := ReadSpec(m)
	require.NoError(t, err)
	r, err := Play(t.Context(), Options{
		Manifest: m, Spec: s, Reference: own, Seed: 1, Runs: runs, Stall: -1, Keep: keep, Variant: build.VariantSpeed,
		Log: os.Stderr,
	})
	require.Nil(t, r.Failed)
	return r, err
}

// A check proves nothing about a stream that had no transactions in any run: the campaign fails. It only warns if some
// runs had transactions there, or if the user chose the transactions to play.
func TestSilentStreams(t *testing.T) {
	const route = "check: route, by: to, out: [m0, m1]"
	r, err := demux(t, "{"+route+"}", nil, 4, nil)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
	_, err = demux(t, "{"+route+", inputs: {s: {fields: {to: 0}}}}", nil, 4, nil)
	require.ErrorContains(t, err, "dut.yaml:")
	require.ErrorContains(t, err, "play.check output m1: nothing was expected and nothing came in 4 runs: want "+
		"inputs that reach")
	r, err = demux(t, "{"+route+", count: 1}", nil, 8, nil)
	require.NoError(t, err)
	require.Regexp(t, "^output m0: nothing was expected and nothing came in [1-7] of 8 runs$", r.Warnings[0])
	require.Len(t, r.Warnings, 2)
	r, err = demux(t, "{"+route+"}", nil, 1, []Span{{0, 0}})
	require.NoError(t, err, "a run of one transaction that was told to be played again")
	require.Len(t, r.Warnings, 1)
	require.Regexp(t, "^output m[01]: nothing was expected and nothing came in one run$", r.Warnings[0])
	r, err = demux(t, "{check: rules, inputs: {s: {fields: {to: 0}}}}", nil, 4, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"output m1 gave nothing in 4 runs, so its rules were not checked"}, r.Warnings)
}

// A reference has to compare outputs, by package ref or on its own; listening to an output is not enough.
func TestReferencesThatDoNotCompare(t *testing.T) {
	expects := func(p *ref.Player) {
		p.On("s", func(m *ref.Msg) {
			if m.U("to") == 0 {
				p.Expect("m0", ref.Fields{"data": m.U("data")}, nil)
			}
		})
	}
	r, err := demux(t, "{}", expects, 4, nil)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.Regexp(t, "^output m1: the reference does not look at it: [0-9]+ transactions were not compared$",
		r.Warnings[0])
	expected := r.Compared

	looks := func(p *ref.Player) { expects(p); p.On("m1", func(m *ref.Msg) { _ = m.U("data") }) }
	r, err = demux(t, "{}", looks, 4, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"the reference looks at m1 and compares nothing of what comes there"}, r.Warnings)
	require.Equal(t, expected, r.Compared)

	compares := func(p *ref.Player) {
		expects(p)
		var want []uint64
		p.On("s", func(m *ref.Msg) {
			if m.U("to") == 1 {
				want = append(want, m.U("data"))
			}
		})
		p.On("m1", func(m *ref.Msg) {
			if len(want) == 0 || want[0] != m.U("data") {
				p.Wrong(m, "data", "what came in", "something else")
				return
			}
			want = want[1:]
		})
	}
	r, err = demux(t, "{}", compares, 4, nil)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
	require.Equal(t, 400, r.Compared)

	counts := func(p *ref.Player) {
		n := 0
		p.On("s", func(m *ref.Msg) { n++ })
		p.On("m0", func(m *ref.Msg) { n-- })
		p.On("m1", func(m *ref.Msg) { n-- })
		p.End(func() {
			if n != 0 {
				p.Fail(ref.Failure{Field: "count", Expected: "0", Got: "another"})
			}
		})
	}
	r, err = demux(t, "{}", counts, 4, nil)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)

	for _, empty := range []ref.Reference{
		func(p *ref.Player) {},
		func(p *ref.Player) { p.On("s", func(*ref.Msg) {}) },
		func(p *ref.Player) { p.On("m0", func(*ref.Msg) {}); p.On("m1", func(m *ref.Msg) { m.U("data") }) },
	} {
		_, err = demux(t, "{}", empty, 2, nil)
		require.ErrorContains(t, err, "the reference expected nothing and compared nothing in 2 runs")
		require.ErrorContains(t, err, "evidence_test.go:")
	}
}

// An output may stay silent if the reference declares that it must; another output that the reference covers may not.
func TestReferencesOfSilentOutputs(t *testing.T) {
	const section = "{inputs: {s: {fields: {to: 0}}}}"
	own := func(more func(p *ref.Player)) ref.Reference {
		return func(p *ref.Player) {
			p.On("s", func(m *ref.Msg) {
				out := []string{"m0", "m1"}[m.U("to")]
				p.Expect(out, ref.Fields{"data": m.U("data")}, nil)
			})
			more(p)
		}
	}
	r, err := demux(t, section, own(func(p *ref.Player) {}), 3, nil)
	require.NoError(t, err, "it has never spoken of m1")
	require.Equal(t, []string{"output m1: nothing was expected and nothing came in 3 runs"}, r.Warnings)
	_, err = demux(t, section, own(func(p *ref.Player) { p.On("m1", func(*ref.Msg) {}) }), 3, nil)
	require.ErrorContains(t, err, "evidence_test.go:")
	require.ErrorContains(t, err, "output m1: nothing was expected and nothing came in 3 runs")
	r, err = demux(t, section, own(func(p *ref.Player) { p.Nothing("m1") }), 3, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"output m1: nothing was expected and nothing came in 3 runs"}, r.Warnings)
}
