package sweep

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/sim/specfile"
)

type part struct {
	N    int      `yaml:"n"`
	Wait int64    `yaml:"wait_ps"`
	Some []string `yaml:"some"`
}

type spec struct {
	Parts []part          `yaml:"parts"`
	One   part            `yaml:"one"`
	By    map[string]part `yaml:"by"`
	Opt   *part           `yaml:"opt"`
}

var old = []Old{{Name: "second", Path: "one.n"}, {Name: "first", Path: "parts.n"}}

func read(t *testing.T, text string, s *spec) (Axes, error) {
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &n))
	axes, err := Parse(n.Content[0], old)
	require.NoError(t, err)
	return axes.Read("f.yaml", s, nil, func(f *specfile.Field) string {
		if f.Path == "one.some" {
			return "not that"
		}
		return ""
	})
}

// Every combination is set, the last axis fastest, and the spec that the axes were read for stays as it is.
func TestCombinations(t *testing.T) {
	s := &spec{Parts: make([]part, 2)}
	axes, err := read(t, "{opt: [null, {n: 3, some: [a, b]}], parts.wait: [2ns], first: [5, 6], second: []}", s)
	require.NoError(t, err)
	require.True(t, axes.Sets("parts"))
	require.True(t, axes.Sets("opt.n"))
	require.False(t, axes.Sets("one.n"), "no values")
	var names []string
	var got []spec
	at := make([]int, len(axes))
	for more := true; more; more = axes.Next(at) {
		c := specfile.Clone(s)
		name, err := axes.Set("f.yaml", c, at)
		require.NoError(t, err)
		names, got = append(names, name), append(got, *c)
	}
	require.Equal(t, []string{":first=5:opt=null:wait=2ns", ":first=5:opt=n+3+some+a+b:wait=2ns",
		":first=6:opt=null:wait=2ns", ":first=6:opt=n+3+some+a+b:wait=2ns"}, names)
	require.Equal(t, spec{Parts: []part{{N: 6, Wait: 2000}, {N: 6, Wait: 2000}},
		Opt: &part{N: 3, Some: []string{"a", "b"}}}, got[3])
	require.Equal(t, &spec{Parts: make([]part, 2)}, s)
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{one.some: [[a]]}":         "f.yaml:1: sweep.one.some: not that",
		"{by.x.n: [1]}":             "f.yaml:1: sweep.by.x.n: by has no fields, and no x",
		"{opt.n: [1]}":              "f.yaml:1: sweep.opt.n: want opt, whose n it sets",
		"{one.n: [a]}":              `f.yaml:1: sweep.one.n[0]: "a": want a whole number`,
		"{second: [1], one: [{}]}":  "f.yaml:1: sweep.one: second in line 1 sets one.n, too",
		"{third: [1]}":              "such field: want a path such as workload.depth, or one of second, first",
		"{parts.wait: [2ns, 2000]}": `f.yaml:1: sweep.parts.wait[1]: "2000": no unit`,
	} {
		_, err := read(t, text, &spec{Parts: make([]part, 1)})
		require.ErrorContains(t, err, want, text)
	}
}
