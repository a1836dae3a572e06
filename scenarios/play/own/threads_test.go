package own

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// busiest finds the thread that runs, so that it gets the signal that asks for a trace.
func TestBusiestThread(t *testing.T) {
	var id atomic.Int64
	var over atomic.Bool
	defer over.Store(true)
	go func() {
		runtime.LockOSThread()
		id.Store(int64(unix.Gettid()))
		for !over.Load() {
		}
	}()
	for id.Load() == 0 || busiest(os.Getpid()) != int(id.Load()) {
		time.Sleep(20 * time.Millisecond) // until the other thread has used the most processor time
	}
}

// For a sleeping process all elapsed time counts; for a working one, the processor time that it gets, but at least a
// twentieth of the elapsed time.
func TestAge(t *testing.T) {
	asleep, _, err := started(t, "sleep", "60")
	require.NoError(t, err)
	a := age{pid: asleep}
	for a.passed(poll) != poll {
		time.Sleep(time.Millisecond) // until the kernel reports the process as asleep
	}

	works, end, err := started(t, "sh", "-c", "while :; do :; done")
	require.NoError(t, err)
	b := age{pid: works}
	b.passed(0)
	var sum time.Duration
	for range 10 {
		d := b.passed(poll)
		require.GreaterOrEqual(t, d, poll/least)
		require.LessOrEqual(t, d, poll)
		sum += d
	}
	require.Less(t, sum, 10*poll, "looks that follow each other at once are no time of a processor")
	end()
	require.Equal(t, poll, b.passed(poll), "there is none any more")
}

// The name of a program in /proc/PID/stat may contain spaces and brackets.
func TestReadThread(t *testing.T) {
	file := t.TempDir() + "/stat"
	require.NoError(t, os.WriteFile(file, []byte("42 (a) S 1 (b) D 1 2 3 4 5 6 7 8 9 10 250 50 0 0"), 0o644))
	x, ok := readThread(file)
	require.True(t, ok)
	require.Equal(t, thread{id: 42, state: 'D', used: 3 * time.Second}, x)
	require.NoError(t, os.WriteFile(file, []byte("42 (a) S 1"), 0o644))
	_, ok = readThread(file)
	require.False(t, ok)
}

// started starts a command that is killed when the test ends or end is called.
func started(t *testing.T, name string, arg ...string) (pid int, end func(), err error) {
	c := exec.Command(name, arg...)
	if err := c.Start(); err != nil {
		return 0, nil, err
	}
	end = sync.OnceFunc(func() {
		_ = c.Process.Kill() // fails if it has ended
		_ = c.Wait()         // returns the signal as an error
	})
	t.Cleanup(end)
	return c.Process.Pid, end, nil
}
