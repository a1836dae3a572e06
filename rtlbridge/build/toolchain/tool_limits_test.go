package toolchain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestLimitsOfToolRuns checks that a run to inspect a design has less time than a build, and that the
// memory limit of both is set by a variable.
func TestLimitsOfToolRuns(t *testing.T) {
	require.Less(t, LookLimits.Time, BuildLimits.Time/5)
	for text, want := range map[string]uint64{"": 8 << 30, "16": 16 << 30} {
		t.Setenv(ToolMemoryVar, text)
		l, err := BuildLimits.Complete()
		require.NoError(t, err)
		require.Equal(t, want, l.Memory)
	}
	for _, text := range []string{"0", "-1", "8G", "99999999"} {
		t.Setenv(ToolMemoryVar, text)
		_, err := RunTool("x", t.TempDir(), "true")
		var wrong *SettingError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, "NICTWIN_TOOL_GB="+text+": want")
	}
}

// TestLimitsBelowTools checks that limits apply to all child processes of a tool, and that these end with
// it.
func TestLimitsBelowTools(t *testing.T) {
	dir := t.TempDir()
	run := func(ctx context.Context, script string) (string, error) {
		l := ToolLimits{Memory: 1 << 40, File: 1 << 20, Time: time.Minute}
		return ToolRun{Ctx: ctx, Limits: l, Step: "x", Dir: dir}.Run("sh", "-c", script)
	}
	const held = "until [ $(ulimit -t) = 120 ] && [ $(ulimit -c) = 0 ]; do :; done; "
	out, err := run(t.Context(), held+"sh -c 'ulimit -c; ulimit -v; ulimit -f'")
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1073741824", "2048"}, strings.Fields(out))
	_, err = run(t.Context(), held+"head -c 2000000 /dev/zero >x")
	require.Error(t, err)
	info, err := os.Stat(filepath.Join(dir, "x"))
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, info.Size())

	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	fds := make(chan int, 1)
	go func() {
		name := filepath.Join(dir, "pid")
		for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
			runtime.Gosched()
		}
		text, err := os.ReadFile(name)
		pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
		fd, openErr := unix.PidfdOpen(pid, 0)
		assert.NoError(t, errors.Join(err, convErr, openErr))
		fds <- fd
		cancel(stop)
	}()
	_, err = run(ctx, "sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000'; true")
	require.ErrorIs(t, err, stop)
	fd := <-fds
	defer unix.Close(fd)
	ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	// A signal takes effect some time after it was sent.
	_, err = unix.Poll(ended, int(time.Minute.Milliseconds()))
	require.NoError(t, err)
	require.NotZero(t, ended[0].Revents&unix.POLLIN, "what the tool had started runs on")
}

// TestFirstBytes checks the limit on the output of a tool.
func TestFirstBytes(t *testing.T) {
	f := FirstBytes{Most: 5}
	for range 3 {
		n, err := f.Write([]byte("abc"))
		require.NoError(t, err)
		require.Equal(t, 3, n)
	}
	require.Equal(t, "abcab", f.String())
}
