package cli

import (
	"fmt"
	"io/fs"
	"math"
	"syscall"
	"testing"

	"nictwin/scenarios/observe/result"

	"github.com/stretchr/testify/require"
)

func TestLimits(t *testing.T) {
	const none, gb = math.MaxUint64, 1 << 30
	require.NoError(t, tooLow(none, none, 64, caseNeeds(2)))
	require.NoError(t, tooLow(4*gb, minFiles, 2, programNeeds))
	err := tooLow(gb, none, 1, programNeeds)
	require.EqualError(t, err, "the limit on address space (ulimit -v) is 1048576 kB: want 3178496 kB or more; raise "+
		"it where nictwin is started")
	require.Equal(t, result.Infrastructure, Decide(t.Context(), err, false))
	require.True(t, SaysAll(err))
	require.Error(t, tooLow(4*gb, none, 64, programNeeds), "each of many programs takes its part")
	err = tooLow(gb, 8, 1, caseNeeds(2))
	require.ErrorContains(t, err, "the limit on address space")
	require.ErrorContains(t, err, "the limit on open files (ulimit -n) is 8: want 40 or more")
	require.EqualError(t, tooLow(none, 50, 2, caseNeeds(2)), "the limit on open files (ulimit -n) is 50: want 56 or "+
		"more; raise it where nictwin is started")
	// A case of 16 servers takes as much as eight of two.
	require.NoError(t, tooLow(minAddressSpace+1*gb, 40+16*8-16, 1, caseNeeds(16)))
	require.ErrorContains(t, tooLow(none, 40+16*8-17, 1, caseNeeds(16)), "is 151: want 152 or more")
	require.ErrorContains(t, tooLow(minAddressSpace+1*gb-1, none, 1, caseNeeds(16)), "address space")
	require.ErrorContains(t, tooLow(minAddressSpace+1*gb, none, 2, caseNeeds(16)), "want 5242880 kB or more")
}

// Running out of file descriptors is never reported as a mistake of the user, even if it happens while the command line
// is checked.
func TestOutOfFiles(t *testing.T) {
	for _, c := range []struct {
		cause syscall.Errno
		hint  string
	}{
		{syscall.EMFILE, "\nthe limit on open files (ulimit -n) is "},
		{syscall.ENFILE, "\nthe whole system has no more open files: "},
		{syscall.ENOMEM, ""},
	} {
		err := Explain(Usagef("--out x: %w; choose another folder", &fs.PathError{Op: "open", Path: "x", Err: c.cause}))
		require.Equal(t, result.Infrastructure, Decide(t.Context(), err, false), c.cause.Error())
		require.ErrorContains(t, err, c.hint)
		require.Equal(t, err, Explain(fmt.Errorf("%w", err)).(interface{ Unwrap() error }).Unwrap(), "once is enough")
	}
	other := fmt.Errorf("x: %w", syscall.ENOSPC)
	require.Equal(t, other, Explain(other))
	require.NoError(t, Explain(nil))
}
