package rtlbridge

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/protocol"
)

// TestSilenceIsCountedInNaps checks that a device is given up after a number of naps, however long each of
// them took: this program may have been stopped during one.
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
		for range 2 * naps { // twice as many, since a nap that a signal ends early counts for less
			if err = link.sleep(false, "silent"); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, protocol.ErrTimeout)
		require.ErrorContains(t, err, "(silent for 8ms)")
		require.NoError(t, link.close())
	}
}

// TestNoWakeUpIsLost passes one byte back and forth between two sides that always sleep. A nap would find
// the byte even without a wake-up, but a device sleeps without naps and would sleep for ever.
func TestNoWakeUpIsLost(t *testing.T) {
	const rounds = 100_000
	memory, file, err := newRings()
	require.NoError(t, err)
	defer file.Close()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	here, err := newTransport(fds[0], memory, naps*time.Hour)
	require.NoError(t, err)
	there, err := newTransport(fds[1], &rings{mem: memory.mem, out: ringAt(memory.mem, 1), in: ringAt(memory.mem, 0)},
		naps*time.Hour)
	require.NoError(t, err)
	here.spins, there.spins = false, false
	defer unix.Close(fds[1])
	defer func() { require.NoError(t, here.close()) }()

	reached, done := new(atomic.Int64), make(chan error, 2)
	pass := func(side *transport, first bool) {
		b := []byte{0}
		for i := range int64(rounds) {
			side.arm(0)
			if first || i > 0 {
				if err := side.write(b); err != nil {
					done <- err
					return
				}
			}
			if _, err := side.read(b); err != nil {
				done <- err
				return
			}
			reached.Store(i)
		}
		done <- side.write(b)
	}
	go pass(there, false)
	go pass(here, true)
	for range 2 {
		for before := int64(-1); ; before = reached.Load() {
			select {
			case err := <-done:
				require.NoError(t, err)
			case <-time.After(10 * time.Second):
				require.NotEqual(t, before, reached.Load(), "both sides sleep")
				continue
			}
			break
		}
	}
}

// TestSpinningNeedsAProcessorToSpare checks that no receive spins if there are as many devices as
// processors: it would take a processor from a device.
func TestSpinningNeedsAProcessorToSpare(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fds[1])
	link, err := newTransport(fds[0], nil, naps*time.Millisecond)
	require.NoError(t, err)
	defer func() { require.NoError(t, link.close()) }()
	link.spins = true
	futile := func() bool { // reports whether a spin found nothing and makes further receives block at once
		link.rest, link.penalty = 0, 0
		_, err := link.spinRead(make([]byte, 1), time.Since(link.epoch))
		require.Equal(t, errEmpty, err)
		return link.penalty > 0
	}
	const many = 1 << 20
	children.Add(many)
	require.False(t, futile(), "every processor has a device")
	children.Add(-many)
	if int(children.Load()) < runtime.NumCPU() {
		require.True(t, futile(), "a processor is left")
	}
}
