package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/specfile"
)

// The first and the last case of every scenario of the library can be written as a file of its own, which gives the
// same case.
func TestCasesAreWritten(t *testing.T) {
	all, short := 0, 0
	for _, file := range libraryFiles(t) {
		list, err := Load(file)
		require.NoError(t, err)
		if len(list) > 2 {
			list = []*Case{list[0], list[len(list)-1]}
		}
		for _, c := range list {
			s := c.Alone()
			text, err := s.YAML()
			require.NoError(t, err, c.Name)
			again, err := Parse(file, text)
			require.NoError(t, err, "%s:\n%s", c.Name, text)
			require.Len(t, again, 1, c.Name)
			want, err := specfile.Marshal(&c.Spec)
			require.NoError(t, err)
			got, err := specfile.Marshal(&again[0].Spec)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), c.Name)
			if all++; len(text) < 800 {
				short++
			}
		}
	}
	require.Greater(t, short, all*3/4) // most files are short: only boards that are no preset take many lines
}
