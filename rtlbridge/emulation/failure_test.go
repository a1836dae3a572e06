package emulation

import (
	"fmt"
	"math/rand/v2"
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

// behind returns an agent whose board is reached through a relay, and the file that the relay writes.
func behind(t *testing.T, agent *build.Device, mode string) (d *build.Device, file string) {
	t.Helper()
	dir, x := t.TempDir(), *agent
	file = filepath.Join(dir, "relay")
	board := filepath.Join(dir, "board")
	script := fmt.Sprintf("#!/bin/sh\n%s=%s %s='%s' %s='%s' exec '%s' \"$@\"\n", relayMode, mode, relayBoard,
		agent.Args[1], relayFile, file, os.Args[0])
	require.NoError(t, os.WriteFile(board, []byte(script), 0o755))
	x.Args = append([]string{"--board", board}, agent.Args[2:]...)
	return &x, file
}

// TestBoardsThatFail checks that a board that cannot be started, ends or was built from something else is an error of
// the infrastructure, and that the error says which.
func TestBoardsThatFail(t *testing.T) {
	direct, agent := lanes(t)
	board, hash := agent.Args[1], agent.Args[3]
	file := record(t, direct, 1, recordedQuanta).file
	for _, x := range []struct{ mode, board, hash, fault string }{
		{"", "/bin/true", hash, "link: the board has closed it"},
		{"", "/no/such/board", hash, "board: /no/such/board: No such file or directory"},
		{"", board, strings.Repeat("0", len(hash)), "board: it was built from something else: its hash is " + hash},
		{"unplug", "", "", "link: the board has closed it; its program ended with status 3"},
		{"kill", "", "", "link: the board has closed it; its program was ended by signal 9"},
	} {
		t.Run(x.mode+filepath.Base(x.board), func(t *testing.T) {
			t.Parallel()
			broken := *agent
			broken.Args = []string{"--board", x.board, "--board-hash", x.hash}
			if x.mode != "" {
				d, _ := behind(t, agent, x.mode)
				broken = *d
			}
			words, err := played(&broken, file)
			require.Error(t, err)
			require.Contains(t, words, x.fault)
		})
	}
}

// played plays a recording, and returns what the agent writes to standard output and standard error.
func played(d *build.Device, file string) (string, error) {
	c := exec.Command(d.Binary, append([]string{"--playback", file}, d.Args...)...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestSessionsEnd checks that a client learns that a board ended, stopped, was reset or answers nonsense:
// its own limit, which blames the device, does not come first. A failed link is no crash of the device.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	_, agent := lanes(t)
	for mode, fault := range map[string]string{
		"unplug":   "the board has closed it",
		"mute":     "the board has not answered for 6 s",
		"freeze":   "the board has sent nothing new for 8 s",
		"nonsense": "bytes that are no frames",
		"flood":    "bytes that are no frames",
		"reset":    "the board was reset",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d, _ := behind(t, agent, mode)
			c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{})
			require.NoError(t, err)
			defer c.Close()
			err = c.Start(c.NewStart(1))
			for quanta := 0; err == nil; quanta++ {
				require.Less(t, quanta, 1000, "the session goes on")
				if err = c.SendRun(recordedCycles); err == nil {
					_, err = answer(c)
				}
			}
			var infra *protocol.InfraError
			require.ErrorAs(t, err, &infra)
			require.False(t, infra.Crashed())
			var said *protocol.DeviceError
			require.ErrorAs(t, err, &said)
			require.Equal(t, protocol.CodeLink, said.Code)
			require.ErrorContains(t, err, "(link): link: ")
			require.ErrorContains(t, err, fault)
		})
	}
}

// answer receives all frames of a quantum, and returns their number.
func answer(c *rtlbridge.Conn) (frames int, err error) {
	for {
		ran, err := c.Recv()
		frames++
		var e protocol.Record
		for ok := true; ok && err == nil; {
			ok, err = c.Next(ran, &e)
		}
		if err != nil || ran.Flags&protocol.RanMore == 0 {
			return frames, err
		}
	}
}

// TestLongQuantum checks that a quantum may take longer than the client's limit on a slow link: the agent reports what
// has happened so far.
func TestLongQuantum(t *testing.T) {
	t.Parallel()
	direct, agent := lanes(t)
	slow, _ := behind(t, agent, "narrow")
	const limit, longCycles = 2500 * time.Millisecond, 1000
	digests := map[uint64]bool{}
	for _, d := range []*build.Device{direct, slow} {
		file, err := os.Create(filepath.Join(t.TempDir(), "run"))
		require.NoError(t, err)
		defer file.Close()
		c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{Timeout: limit, Record: file})
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.Start(c.NewStart(1)))
		rnd := rand.New(rand.NewPCG(1, 1))
		for i, x := range c.Hello().Streams {
			for n := 0; !x.Out && n < longCycles; n += recordedCycles {
				require.NoError(t, c.Add(i, uint64(n), side(&x, rnd), data(&x, rnd)))
			}
		}
		require.NoError(t, c.SendRun(longCycles))
		frames, err := answer(c)
		require.NoError(t, err)
		if d == slow {
			require.Greater(t, frames, 3) // one a second: it took longer than the limit
		}
		require.NoError(t, c.Close())
		got, err := build.Playback(t.Context(), direct, file.Name())
		require.NoError(t, err)
		digests[got.Digest] = true
	}
	require.Len(t, digests, 1)
}

// TestSlowBoard checks that a link whose round trips take longer than the agent's timers carries the same run, and that
// little is sent twice.
func TestSlowBoard(t *testing.T) {
	t.Parallel()
	direct, agent := lanes(t)
	const quanta = 2
	file := record(t, direct, 4, quanta).file
	want, err := build.Playback(t.Context(), direct, file)
	require.NoError(t, err)
	sent := map[string]int{}
	for _, mode := range []string{"pass", "slow"} {
		d, about := behind(t, agent, mode)
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
	t.Parallel()
	direct, agent := lanes(t)
	file := record(t, direct, 1, 2).file
	gone := func(about string) {
		until(t, func() bool {
			pid, _ := relayed(about)
			return pid != 0 && ended(pid)
		})
	}
	d, about := behind(t, agent, "stay")
	_, err := played(d, file)
	require.NoError(t, err)
	gone(about)

	d, about = behind(t, agent, "freeze")
	c := exec.Command(d.Binary, append([]string{"--playback", record(t, direct, 1, recordedQuanta).file}, d.Args...)...)
	require.NoError(t, c.Start())
	until(t, func() bool { pid, _ := relayed(about); return pid != 0 })
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	gone(about)
}
