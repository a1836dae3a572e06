package rtlbridge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/protocol"
)

// A device is given up after so many naps, however long each of them took: this program may have been stopped in one.
func TestSilenceIsCountedInNaps(t *testing.T) {
	memory, file, err := newRings()
	require.NoError(t, err)
	defer file.Close()
	for _, shared := range []*rings{nil, memory} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		defer unix.Close(fds[1])
		link, err := newTransport(fds[0], shared, naps*time.Millisecond)
		require.NoError(t, err)
		link.arm(2 * time.Millisecond)
		for range naps + 2 {
			require.NoError(t, link.sleep(false, "silent"))
		}
		for range 2 * naps { // a nap that a signal ends early counts for less
			if err = link.sleep(false, "silent"); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, protocol.ErrTimeout)
		require.ErrorContains(t, err, "(silent for 8ms)")
		require.NoError(t, link.close())
	}
}
