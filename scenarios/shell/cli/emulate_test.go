package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/shell/home/hometest"
)

// TestEmulateServes checks that a session ends well with its client, and that both the client and the command learn
// which board failed and how. No socket is left.
func TestEmulateServes(t *testing.T) {
	home, err := hometest.Find()
	require.NoError(t, err)
	m, err := manifest.Load(home.Path("fifo"))
	require.NoError(t, err)
	good, err := emulation.Build(m, emulation.DefaultOptions(), build.Options{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "%x", [32]byte{1}), 0o600))
	for _, x := range []struct{ board, hash, fault string }{
		{good.Args[1], good.Args[3], ""},
		{"/bin/true", good.Args[3], "link: the board has closed it"},
		{good.Args[1], "00", "board: it was built from something else: its hash is " + good.Args[3]},
	} {
		dev, socket, log := *good, filepath.Join(t.TempDir(), "here"), &strings.Builder{}
		dev.Args = []string{"--board", x.board, "--board-hash", x.hash}
		e, served := NewEmulate(), make(chan error, 1)
		e.Listen, e.TokenFile, e.Log = "unix:"+socket, file, log
		go func() { served <- e.serve(t.Context(), &dev) }()
		err := session(t, e.Listen)
		if x.fault == "" {
			require.NoError(t, err)
			require.NoError(t, <-served)
			require.Equal(t, "dut fifo: waits for a client at unix:"+socket+"\n", log.String())
			continue
		}
		require.ErrorContains(t, err, x.fault)
		var infra *protocol.InfraError
		require.ErrorAs(t, <-served, &infra)
		require.Contains(t, infra.LastWords, x.fault)
		require.NoFileExists(t, socket)
	}
}

// TestEmulateAddresses checks that addresses at which the agent could not listen are refused before anything is built.
func TestEmulateAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("file", nil, 0o600))
	for _, x := range []struct {
		listen, fault string
		remote        bool
	}{
		{"unix:free", "", false},
		{"unix:none/free", "--listen unix:none/free: want a path in a folder that exists", false},
		{"unix:file", "--listen unix:file: is a file or folder: want a name that is free", false},
		{"unix:free", "--allow-remote: has no effect without --listen on a tcp address", true},
		{"tcp:127.9.9.9:7", "", false},
		{"tcp:127.0.0.1:7", "--allow-remote: has no effect", true},
		{"tcp:0.0.0.0:7", "--listen tcp:0.0.0.0:7: other machines can reach it", false},
		{"tcp:0.0.0.0:7", "", true},
	} {
		e := Emulate{Listen: x.listen, AllowRemote: x.remote}
		if err := e.checkAddress(); x.fault == "" {
			require.NoError(t, err, x.listen)
		} else {
			require.ErrorContains(t, err, x.fault)
		}
	}
}

// session runs a few cycles of a device that is about to listen at an address.
func session(t *testing.T, address string) error {
	t.Helper()
	c, err := rtlbridge.Dial(address, rtlbridge.DialOptions{Token: [32]byte{1}})
	for err != nil && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
		c, err = rtlbridge.Dial(address, rtlbridge.DialOptions{Token: [32]byte{1}})
	}
	require.NoError(t, err)
	defer c.Close()
	if err = c.Start(c.NewStart(1)); err == nil {
		err = c.SendRun(100)
	}
	if err == nil {
		_, err = c.Recv()
	}
	if err == nil {
		err = c.Close()
	}
	return err
}
