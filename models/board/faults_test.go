package board

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

// A cable whose faults match no frame must be as fast as a plain one; a rule applies only to the
// cables that it names.
func TestCablesWithFaults(t *testing.T) {
	for _, network := range []string{"kind: back_to_back, latency_ps: 10000",
		"kind: switch, latency_ps: 10000, switch: {preset: cut-through}"} {
		play := func(faults string) (got [][]byte, at simcore.Ps, l *lab) {
			l = newLab(t,
				"name: Lab\nservers: [{preset: bf2, name: A}, {preset: bf2, name: B}]\nnetwork: {"+network+faults+"}")
			got, at = l.frames(100)
			require.NoError(t, l.rack.Err())
			return got, at, l
		}
		all, end, plain := play("")
		none, atZero, l := play(", faults: {seed: 7}")
		require.True(t, reflect.DeepEqual(all, none))
		require.Equal(t, end, atZero)
		require.Len(t, l.rack.Cables, len(plain.rack.Cables))
		require.Nil(t, plain.rack.Cables[0].Wire)
		want := append(append([][]byte(nil), all[:4]...), all[5:]...)
		some, _, l := play(", faults: {rules: [{do: loss, class: other, ordinal: 4, cable: 0}, {do: loss, class: " +
			"other, ordinal: 5, cable: 1}]}")
		require.True(t, reflect.DeepEqual(want, some))
		require.EqualValues(t, 1, l.rack.Cables[0].Wire.Count(inject.FromDevice).Lost)
		require.Zero(t, l.rack.Cables[1].Wire.Count(inject.FromDevice).In)
	}
}

func TestFaultSpecsNameEveryField(t *testing.T) {
	for _, x := range [][2]string{
		{"{kind: open, faults: {}}", "f.yaml:2: network.faults: want none: a network of kind open has no cables"},
		{"{kind: back_to_back, loss: {}, faults: {}}",
			"f.yaml:2: network.loss: want none beside network.faults, whose chances.loss loses frames, too"},
		{"{kind: back_to_back, faults: {chances: {ecn: 1}}}",
			"f.yaml:2: network.faults.chances.ecn 1: want 0 or more, less than 1"},
		{"{kind: back_to_back, faults: {rules: [{do: lose}]}}",
			`f.yaml:2: network.faults.rules[0].do "lose": want one of loss, duplication, disorder, corruption, ` +
				`ecn`},
		{"{faults: {rules: [{do: loss}, {do: ecn, cable: 2}]}}",
			"f.yaml:2: network.faults.rules[1].cable 2: want 0 to 1, a cable of the network"},
	} {
		text, want := x[0], x[1]
		_, err := ParseRack("f.yaml", []byte("preset: bf3-pair\nnetwork: "+text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// The example of faults in docs/board.md must be a valid board file.
func TestFaultsOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/board.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(text), "### Faults")
	require.True(t, ok)
	_, after, _ = strings.Cut(after, "```yaml\n")
	sample, _, ok := strings.Cut(after, "```")
	require.True(t, ok)
	s, err := ParseRack("board.md", []byte("preset: bf3-pair\n"+sample))
	require.NoError(t, err)
	require.Len(t, s.Network.Faults.Rules, 5)
}
