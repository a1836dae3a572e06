package run

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a stack that fails with the error that err points to, once a test has set it.
type failing struct {
	*bent
	err *error
}

func (f failing) Err() error { return errors.Join(*f.err, f.bent.Err()) }

// A byte that an application found wrong is a finding even if the stack fails later: one bug may cause both.
func TestWrongBytesBeforeAStackFails(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	var failed error
	loads := 0
	h := &hurt{load: func(_ uint64, b []byte) {
		if loads++; loads == 4 {
			b[100] ^= 0x41
			failed = errors.New("an element that no library writes")
		}
	}}
	stacks = map[StackKind]stackKind{StackRNIC: {fitsRNIC, func(w *world, server int) (Stack, error) {
		s, err := openRNIC(w, server)
		if server == 0 {
			return s, err
		}
		return failing{&bent{s.(*rnic), h}, &failed}, err
	}}}
	p, err := caseOf(t, onRNICs+"workload: {sizes: [256], count: 20}").Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Nil(t, p.Result)
	require.Len(t, p.Findings, 2)
	require.Equal(t, "byte", p.Findings[0].Field)
	require.Contains(t, p.Findings[0].Text, "server of flow 0: message 3 (256 B): byte 100 at")
	require.Equal(t, "stack", p.Findings[1].Field)
	require.Contains(t, p.Findings[1].Text, "an element that no library writes")
}
