package runner

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirst(t *testing.T) {
	cases, err := Load(os.Getenv("SCN"))
	require.NoError(t, err)
	for _, c := range cases {
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		for _, f := range p.Findings {
			t.Log(c.Name, f.Text)
		}
		t.Log(c.Name, p.Digest(), p.Traffic, p.Sim, p.Wall, p.Result.Messages)
	}
}
