package rtlbridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	ossignal "os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/build"
)

// TestListen checks that a client reaches a device started by another process by address and token.
func TestListen(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	path, token, file := socketPath(t), [32]byte{1, 2, 3}, "token"
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf("%x\n", token)), 0o600))
	for _, at := range []string{"unix:" + path, "tcp:127.0.0.1:0"} {
		_, err := Dial(listen(t, d, at, file), DialOptions{Token: token, BuildHash: strings.Repeat("0", 64)})
		require.ErrorContains(t, err, "the device was built as")

		address := listen(t, d, at, file)
		_, err = Dial(address, DialOptions{Token: [32]byte{1, 2, 4}})
		require.ErrorContains(t, err, "wrong token")
		c, err := Dial(address, DialOptions{Token: token, BuildHash: d.HashString()})
		require.NoError(t, err, "the device goes on listening")
		require.NoError(t, c.Start(c.NewStart(1)))
		require.NoError(t, c.SendRun(100))
		r, err := c.Recv()
		require.NoError(t, err)
		require.EqualValues(t, 100, r.Cycles)
		require.NoError(t, c.Close())
	}
	_, err := Dial("http://localhost", DialOptions{})
	require.ErrorContains(t, err, "needs unix:/path or tcp:A.B.C.D:port")
}

func listen(t *testing.T, d *build.Device, at, token string) (address string) {
	t.Helper()
	_, address = listening(t, d, at, token)
	return address
}

// listening starts a device that ends with the test, and returns its address.
func listening(t *testing.T, d *build.Device, at, token string) (p *os.Process, address string) {
	t.Helper()
	cmd := exec.Command(d.Binary, "--listen", at, "--token-file", token)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	_, err = fmt.Fscanf(out, "listening %s\n", &address)
	require.NoError(t, err)
	return cmd.Process, address
}

// TestListenFile checks that the socket's file is removed when a client has come or a signal ends the
// device; a file left by a killed device is replaced, any other file is not.
func TestListenFile(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	path, token := socketPath(t), "token"
	require.NoError(t, os.WriteFile(token, fmt.Appendf(nil, "%x", [32]byte{1}), 0o600))
	gone := func(p *os.Process) {
		t.Helper()
		awaitEnd(p.Pid)
		require.NoFileExists(t, path)
	}
	// A device inherits which signals are ignored here, such as SIGHUP under nohup, but not which are caught.
	caught := make(chan os.Signal, 1)
	ossignal.Notify(caught, syscall.SIGHUP)
	defer ossignal.Stop(caught)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		p, _ := listening(t, d, "unix:"+path, token)
		require.FileExists(t, path)
		require.NoError(t, p.Signal(s))
		gone(p)
	}
	p, address := listening(t, d, "unix:"+path, token)
	c, err := Dial(address, DialOptions{Token: [32]byte{1}})
	require.NoError(t, err)
	require.NoFileExists(t, path, "while its only session goes on")
	require.NoError(t, c.Close())
	gone(p)

	p, _ = listening(t, d, "unix:"+path, token)
	require.NoError(t, p.Kill())
	awaitEnd(p.Pid)
	require.FileExists(t, path, "left behind")
	p, address = listening(t, d, "unix:"+path, token)
	refused := func(what string) {
		t.Helper()
		out, err := exec.Command(d.Binary, "--listen", "unix:"+path, "--token-file", token).CombinedOutput()
		require.Error(t, err, what)
		require.Equal(t, "bind unix:"+path+": Address already in use\n", string(out), what)
	}
	refused("a device that waits keeps its file")
	c, err = Dial(address, DialOptions{Token: [32]byte{1}})
	require.NoError(t, err, "and its client is still to come")
	require.NoError(t, c.Close())
	gone(p)
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	refused("a file that is no socket")
	require.FileExists(t, path)
}

// TestADeviceEndsWithItsInput checks that a device told so ends with its standard input, and leaves no socket.
func TestADeviceEndsWithItsInput(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	path, token := socketPath(t), "token"
	require.NoError(t, os.WriteFile(token, fmt.Appendf(nil, "%x", [32]byte{1}), 0o600))
	c := exec.Command(d.Binary, "--listen", "unix:"+path, "--token-file", token, "--until-input-ends")
	input, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = fmt.Fscanf(out, "listening unix:"+path+"\n")
	require.NoError(t, err)
	require.FileExists(t, path)
	requireOneSignalled(t, c.Process.Pid)
	_, err = input.Write([]byte("input that nobody wants"))
	require.NoError(t, err)
	require.NoError(t, input.Close())
	ended, ok := errors.AsType[*exec.ExitError](c.Wait())
	require.True(t, ok)
	require.Equal(t, syscall.SIGTERM, ended.Sys().(syscall.WaitStatus).Signal())
	require.NoFileExists(t, path)
}

// requireOneSignalled checks that SIGTERM can interrupt one thread of a process alone, the main one, so that it waits
// while that blocks it.
func requireOneSignalled(t *testing.T, pid int) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	require.NoError(t, err)
	require.Greater(t, len(threads), 1, "one waits for the end of the input")
	for _, x := range threads {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, x.Name()))
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(status), "SigBlk:\t")
		require.True(t, found)
		blocked, err := strconv.ParseUint(rest[:16], 16, 64)
		require.NoError(t, err)
		require.Equal(t, x.Name() != strconv.Itoa(pid), blocked>>(syscall.SIGTERM-1)&1 == 1, "thread %s", x.Name())
	}
}

// refusedArguments runs a device with arguments that it must refuse, and returns its message.
func refusedArguments(t *testing.T, d *build.Device, args ...string) string {
	t.Helper()
	out, err := exec.Command(d.Binary, args...).CombinedOutput()
	bad, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "%s: %v", args, err)
	require.Equal(t, 2, bad.ExitCode(), args)
	return string(out)
}

func TestArgumentsOfADevice(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	for _, c := range []struct{ args, wants string }{
		{"", "exactly one of --fd, --listen, --playback is needed"},
		{"--fd", "--fd: needs a value"},
		{"--fd 3 --listen unix:x", "exactly one of --fd, --listen, --playback is needed"},
		{"--fd -1", "--fd -1: needs a number"},
		{"--fd 4294967297", "4294967297 is no number of a file descriptor"},
		{"--playback x --wave-from 1e3", "--wave-from 1e3: needs a number"},
		{"--bogus", "unknown option --bogus"},
		{"--listen tcp:127.0.0.1:0", "--listen needs --token-file FILE"},
		{"--listen tcp:0.0.0.0:0 --token-file t", "--listen tcp:0.0.0.0:0: other machines can reach it"},
		{"--listen tcp:127.0.0.1:0 --allow-remote", "--allow-remote: has no effect without --listen on a tcp address " +
			"off 127.0.0.0/8"},
		{"--fd 3 --allow-remote", "--allow-remote: has no effect"},
		{"--fd 3 --until-input-ends", "--until-input-ends: has no effect without --listen"},
	} {
		out := refusedArguments(t, d, strings.Fields(c.args)...)
		require.Contains(t, out, c.wants, c.args)
		require.Contains(t, out, "usage: dut", c.args)
	}
	help, err := exec.Command(d.Binary, "--help").Output()
	require.NoError(t, err)
	require.Contains(t, string(help), "usage: dut")
	require.Contains(t, string(help), "--allow-remote")
}

// TestFilesOfADevice checks that token and recording must be regular files, and that only its owner may
// have access to the token. The device opens no other kind of file, so it never waits for one.
func TestFilesOfADevice(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	t.Chdir(t.TempDir())
	token := fmt.Appendf(nil, "%x", [32]byte{1})
	require.NoError(t, unix.Mkfifo("pipe", 0o600))
	require.NoError(t, os.Mkdir("folder", 0o700))
	require.NoError(t, os.WriteFile("long", make([]byte, 4097), 0o600))
	require.NoError(t, os.WriteFile("two", append(token, token...), 0o600))
	listening := "--listen tcp:127.0.0.1:0 --token-file "
	for _, c := range []struct{ args, wants string }{
		{listening + "pipe", "--token-file pipe: is a pipe; a regular file is needed"},
		{listening + "folder", "--token-file folder: is a folder"},
		{listening + "/dev/zero", "--token-file /dev/zero: is a device or a socket"},
		{listening + "none", "--token-file none: No such file"},
		{listening + "long", "--token-file long: is longer than 4096 bytes"},
		{listening + "two", "--token-file two: the token needs 64 hexadecimal digits"},
		{"--playback pipe", "playback: pipe: is a pipe"},
		{"--playback folder", "playback: folder: is a folder"},
		{"--playback /dev/zero", "playback: /dev/zero: is a device"},
	} {
		require.Contains(t, refusedArguments(t, d, strings.Fields(c.args)...), c.wants, c.args)
	}
	require.NoError(t, os.WriteFile("token", token, 0o600))
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		require.NoError(t, os.Chmod("token", mode))
		out := refusedArguments(t, d, strings.Fields(listening+"token")...)
		require.Contains(t, out, fmt.Sprintf("token: has mode %04o: only its owner may have access to it; run: chmod "+
			"600", mode))
	}
}
