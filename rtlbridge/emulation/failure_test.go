package emulation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// lanes builds a device with streams of all directions, and the agent of its shell.
func lanes(t *testing.T) (direct, agent *build.Device) {
	t.Helper()
	m := load(t, "fifo/lanes.yaml")
	direct, err := build.Build(m, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	agent, err = Build(m, DefaultOptions(), build.Options{Log: os.Stderr})
	require.NoError(t, err)
	return direct, agent
}

// behind returns an agent whose board is reached through a relay, the file that the relay writes, and the environment
// that it needs.
func behind(t *testing.T, agent *build.Device, mode string) (d *build.Device, file string, env []string) {
	t.Helper()
	x := *agent
	file = filepath.Join(t.TempDir(), "relay")
	x.Args = append([]string{"--board", os.Args[0]}, agent.Args[2:]...)
	return &x, file, []string{relayMode + "=" + mode, relayBoard + "=" + agent.Args[1], relayFile + "=" + file}
}

// TestBoardsThatFail checks that a board that cannot be started, ends, stops, is reset, answers nonsense or was built
// from something else is an error of the infrastructure, soon, and that the error says which.
func TestBoardsThatFail(t *testing.T) {
	direct, agent := lanes(t)
	board, hash := agent.Args[1], agent.Args[3]
	file := record(t, direct, 1, recordedQuanta).file
	for _, x := range []struct{ mode, board, hash, fault string }{
		{"", "/bin/true", hash, "link: the board"},
		{"", "/no/such/board", hash, "board: /no/such/board: No such file or directory"},
		{"mute", "", "", "link: the board does not answer within 10 s"},
		{"", board, strings.Repeat("0", len(hash)), "board: it was built from something else: its hash is " + hash},
		{"unplug", "", "", "link: the board has ended; its program ended with status 3"},
		{"kill", "", "", "link: the board has ended; its program was ended by signal 9"},
		{"freeze", "", "", "link: the board has sent nothing new for 10 s"},
		{"nonsense", "", "", "link: the board has sent nothing new for 10 s"},
		{"reset", "", "", "link: the board was reset"},
	} {
		t.Run(x.mode+filepath.Base(x.board), func(t *testing.T) {
			t.Parallel()
			broken := *agent
			broken.Args = []string{"--board", x.board, "--board-hash", x.hash}
			var env []string
			if x.mode != "" {
				d, _, e := behind(t, agent, x.mode)
				broken, env = *d, e
			}
			words, err := played(&broken, file, env)
			require.Error(t, err)
			require.Contains(t, words, x.fault)
		})
	}
}

// played plays a recording, and returns what the agent writes to standard output and standard error.
func played(d *build.Device, file string, env []string) (string, error) {
	c := exec.Command(d.Binary, append([]string{"--playback", file}, d.Args...)...)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestLinkFailureIsNoCrash checks that a session ends with an error of the link, which blames no device.
func TestLinkFailureIsNoCrash(t *testing.T) {
	_, agent := lanes(t)
	d, _, env := behind(t, agent, "unplug")
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{})
	require.NoError(t, err)
	defer c.Close()
	err = c.Start(c.NewStart(1))
	for range 1000 {
		if err == nil {
			err = c.SendRun(recordedCycles)
		}
		if err == nil {
			_, err = c.Recv()
		}
	}
	var infra *protocol.InfraError
	require.ErrorAs(t, err, &infra)
	require.False(t, infra.Crashed())
	var said *protocol.DeviceError
	require.ErrorAs(t, err, &said)
	require.Equal(t, protocol.CodeLink, said.Code)
	require.ErrorContains(t, err, "(link): link: the board has ended")
}

// TestSlowBoard checks that a link whose round trips take longer than the agent's timers carries the same run, and that
// little is sent twice.
func TestSlowBoard(t *testing.T) {
	direct, agent := lanes(t)
	const quanta = 4
	file := record(t, direct, 4, quanta).file
	want, err := build.Playback(t.Context(), direct, file)
	require.NoError(t, err)
	sent := map[string]int{}
	for _, mode := range []string{"pass", "slow"} {
		d, about, env := behind(t, agent, mode)
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		got, err := build.Playback(t.Context(), d, file)
		require.NoError(t, err)
		require.Equal(t, want.Digest, got.Digest)
		until(t, func() bool { _, sent[mode] = relayed(about); return sent[mode] != 0 })
	}
	require.Less(t, sent["slow"], 3*sent["pass"])
}

// until waits for a condition, two minutes or a little more at most.
func until(t *testing.T, there func() bool) {
	t.Helper()
	for range 12_000 {
		if there() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

// ended reports whether a process has ended. It may still wait for its parent to ask for its status: where the parent
// ended first, a container's first process may never do so.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// TestBoardsEnd checks that no board outlives its agent: neither one that does not end by itself, nor one whose agent
// is killed.
func TestBoardsEnd(t *testing.T) {
	direct, agent := lanes(t)
	file := record(t, direct, 1, 2).file
	gone := func(about string) {
		until(t, func() bool {
			pid, _ := relayed(about)
			return pid != 0 && ended(pid)
		})
	}
	d, about, env := behind(t, agent, "stay")
	_, err := played(d, file, env)
	require.NoError(t, err)
	gone(about)

	d, about, env = behind(t, agent, "freeze")
	c := exec.Command(d.Binary, append([]string{"--playback", record(t, direct, 1, recordedQuanta).file}, d.Args...)...)
	c.Env = append(os.Environ(), env...)
	require.NoError(t, c.Start())
	until(t, func() bool { pid, _ := relayed(about); return pid != 0 })
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	gone(about)
}
