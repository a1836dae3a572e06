package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// misled is FlexiNS with altered completions, which claim something that did not happen.
type misled struct {
	*flexins
	hurt *hurt
}

func (m misled) Context(process int) verbs.Context {
	return bentContext{m.flexins.Context(process), m.hurt}
}

// Applications check that a message invalidated the right key. With raw frames, they check the frame's header.
func TestInvalidationsAndHeadersAreChecked(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	for _, x := range []struct {
		hurt           hurt
		workload, want string
	}{
		{hurt{}, "invalidate: true", ""},
		{hurt{wcs: nth(3, true, change(func(w *verbs.WC) { w.InvKey ^= 1 }))}, "invalidate: true",
			"server of flow 0: message 3: it invalidated key"},
		{hurt{wcs: nth(3, true, change(func(w *verbs.WC) { w.Flags = 0 }))}, "invalidate: true", "(false): expected"},
		{hurt{}, "transport: raw", ""},
		{hurt{wcs: nth(3, true, change(func(w *verbs.WC) { w.ID++ }))}, "transport: raw",
			"server of flow 0: a frame with header 5a5a5a5a5a5a5a5a5a5a5a5a5a5a at"},
	} {
		stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, func(w *world, server int) (Stack, error) {
			s, err := openFlexiNS(w, server)
			if server == 0 {
				return s, err
			}
			return misled{s.(*flexins), &x.hurt}, err
		}}}
		c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: "+
			"2}}]\nworkload: {count: 8, depth: 1, sizes: [100], "+x.workload+"}")
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		if x.want == "" {
			require.True(t, p.Pass(), texts(p))
			require.Equal(t, 8, p.Result.Messages)
			continue
		}
		require.Contains(t, texts(p), x.want)
	}
}
