package rtlbridge

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// openSeconds, maxApplicants and namedRefusals are the limits of verilator/harness/admission.hpp.
const (
	openSeconds   = 5
	maxApplicants = 16
	namedRefusals = 32
)

// late is the message to a client that does not complete its OPEN frame in time. Clients of a test that is
// itself paused get it, too.
var late = fmt.Sprintf("no complete OPEN frame within %d s", openSeconds)

// listener is a listening device under test, with its standard error.
type listener struct {
	t       *testing.T
	address string
	cmd     *exec.Cmd
	words   *bufio.Scanner
	pipe    *os.File // the read end of the standard error of the listener
	stderr  *os.File // the write end, kept open so that reading never ends
}

func startListener(t *testing.T, d *build.Device, at string, token [32]byte) *listener {
	t.Helper()
	require.NoError(t, os.WriteFile("token", fmt.Appendf(nil, "%x\n", token), 0o600))
	cmd := exec.Command(d.Binary, "--listen", at, "--token-file", "token")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	words, stderr, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); words.Close(); stderr.Close() })
	b := &listener{t: t, cmd: cmd, pipe: words, words: bufio.NewScanner(words), stderr: stderr}
	_, err = fmt.Fscanf(out, "listening %s\n", &b.address)
	require.NoError(t, err)
	return b
}

// connect returns a client that has sent nothing yet.
func (b *listener) connect() net.Conn {
	b.t.Helper()
	network, at, _ := strings.Cut(b.address, ":")
	c, err := net.Dial(network, at)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	return c
}

// says reads the device's next line on standard error and compares it.
func (b *listener) says(want string) {
	b.t.Helper()
	require.True(b.t, b.words.Scan(), "the device says nothing more: want %q", want)
	require.Regexp(b.t, `^refused (127\.0\.0\.1:\d+|process \d+ of user \d+): `, b.words.Text())
	require.Regexp(b.t, want+"|"+late, b.words.Text())
}

// refuses checks that a client gets an ERROR frame, after which its connection ends.
func (b *listener) refuses(c net.Conn, code protocol.ErrorCode, want string) {
	b.t.Helper()
	typ, body, err := readFrame(c)
	require.NoError(b.t, err)
	require.Equal(b.t, protocol.FrameError, typ)
	e, err := protocol.DecodeError(body)
	require.NoError(b.t, err)
	if e.Text != late {
		require.Equal(b.t, code, e.Code)
		require.Contains(b.t, e.Text, want)
	}
	rest, _ := io.ReadAll(c) // the error is not checked: a reset of the connection ends the reading as well
	require.Empty(b.t, rest)
}

// plays runs a complete session of a client with the token.
func (b *listener) plays(token [32]byte) {
	b.t.Helper()
	c, err := Dial(b.address, DialOptions{Token: token})
	require.NoError(b.t, err)
	require.NoError(b.t, c.Start(c.NewStart(1)))
	require.NoError(b.t, c.SendRun(100))
	_, err = c.Recv()
	require.NoError(b.t, err)
	require.NoError(b.t, c.Close())
}

// TestRudeClients checks that clients without the token are refused and reported by name, and that the
// device keeps listening.
func TestRudeClients(t *testing.T) {
	token := [32]byte{1, 2, 3}
	good, other := protocol.AppendOpen(nil, &token), protocol.AppendOpen(nil, &[32]byte{1, 2, 4})
	spoilt := func(at int, value byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = value
		return b
	}
	first := spoilt(protocol.HeadBytes+8, 1)
	first[protocol.HeadBytes+10] = 1
	d, path := fifo(t, build.VariantSpeed), socketPath(t)
	for _, at := range []string{"unix:" + path, "tcp:127.0.0.1:0"} {
		b := startListener(t, d, at, token)
		for _, x := range []struct {
			sent []byte
			code protocol.ErrorCode
			want string
		}{
			{other, protocol.CodeToken, "wrong token"},
			{append(other, make([]byte, 30_000)...), protocol.CodeToken, "wrong token"},
			{[]byte("GET / HTTP/1.1\r\n\r\n"), protocol.CodeProtocol, "OPEN frame refused: value"},
			{spoilt(4, byte(protocol.FrameRun)), protocol.CodeProtocol, "OPEN frame refused: frame-type"},
			{spoilt(protocol.HeadBytes, 'n'), protocol.CodeProtocol, "OPEN frame refused: magic"},
			{spoilt(protocol.HeadBytes+8, 9), protocol.CodeVersion, "the client speaks 9 to 3, this device 3"},
			{first, protocol.CodeVersion, "the client speaks 1 to 1, this device 3"},
			{spoilt(protocol.HeadBytes+12, 1), protocol.CodeProtocol, "OPEN frame refused: value"},
			{binary.LittleEndian.AppendUint64(nil, 0xfffffff8|uint64(protocol.FrameOpen)<<32), protocol.CodeLimit,
				"OPEN frame refused: limit"},
		} {
			c := b.connect()
			_, err := c.Write(x.sent)
			require.NoError(t, err)
			b.refuses(c, x.code, x.want)
			b.says(x.want)
		}
		gone := b.connect()
		if tcp, ok := gone.(*net.TCPConn); ok {
			require.NoError(t, tcp.SetLinger(0)) // closing sends a reset: the peer's address is unknown from then on
		}
		require.NoError(t, gone.Close())
		b.says("it closed the connection after 0 of the 56 bytes of an OPEN frame")
		c := b.connect()
		_, err := c.Write(good[:20])
		require.NoError(t, err)
		require.NoError(t, c.Close())
		b.says("it closed the connection after 20 of the 56 bytes of an OPEN frame")
		b.plays(token)
		require.NoError(t, b.stderr.Close())
		require.False(t, b.words.Scan(), b.words.Text())
	}
}

// TestIdleClients checks that a client that does not send its OPEN frame in time is refused, however it spreads
// its bytes, and that no other client waits for it.
func TestIdleClients(t *testing.T) {
	token := [32]byte{1, 2, 3}
	d := fifo(t, build.VariantSpeed)
	t.Chdir(t.TempDir())
	b := startListener(t, d, "tcp:127.0.0.1:0", token)
	drips, idle := b.connect(), b.connect()
	go func() {
		for _, one := range protocol.AppendOpen(nil, &token) {
			if _, err := drips.Write([]byte{one}); err != nil {
				return
			}
			time.Sleep(openSeconds * time.Second / 40)
		}
	}()
	for _, c := range []net.Conn{drips, idle} { // bytes that arrive meanwhile do not extend the time
		b.refuses(c, protocol.CodeProtocol, late)
		b.says(late)
		require.Contains(t, b.words.Text(), c.LocalAddr().String())
	}

	crowd := make([]net.Conn, maxApplicants+3)
	for i := range crowd {
		crowd[i] = b.connect()
	}
	for _, c := range crowd[:3] {
		b.refuses(c, protocol.CodeLimit, "too many clients without an OPEN frame")
	}
	b.plays(token)
	for _, c := range crowd[4:] { // the fourth had to make room for the client with the token
		b.refuses(c, protocol.CodeLimit, "another client has the session")
	}
}

// TestNobodyReadsWhatAListeningDeviceSays checks that clients without the token can neither end the device
// nor block it when its standard error is closed or full.
func TestNobodyReadsWhatAListeningDeviceSays(t *testing.T) {
	token := [32]byte{1, 2, 3}
	wrong := protocol.AppendOpen(nil, &[32]byte{1, 2, 4})
	d := fifo(t, build.VariantSpeed)
	t.Chdir(t.TempDir())
	for name, spoil := range map[string]func(t *testing.T, b *listener){
		"closed": func(t *testing.T, b *listener) {
			require.NoError(t, b.stderr.Close())
			require.NoError(t, b.pipe.Close())
		},
		"full": func(t *testing.T, b *listener) { fill(t, b.stderr) },
		"nearly full": func(t *testing.T, b *listener) {
			fill(t, b.stderr)
			_, err := io.ReadFull(b.pipe, make([]byte, 4096)) // room for one page
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := startListener(t, d, "tcp:127.0.0.1:0", token)
			spoil(t, b)
			for range 3 * namedRefusals {
				c := b.connect()
				_, err := c.Write(wrong)
				require.NoError(t, err)
				b.refuses(c, protocol.CodeToken, "wrong token")
			}
			b.plays(token)
			require.NoError(t, b.cmd.Wait())
		})
	}
}

// fill writes to a pipe until it accepts nothing more. It leaves the pipe in blocking mode: a further
// writer would wait.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd := int(pipe.Fd())
	require.NoError(t, syscall.SetNonblock(fd, true))
	for _, size := range []int{4096, 1} {
		var err error
		for err == nil {
			_, err = syscall.Write(fd, make([]byte, size))
		}
		require.ErrorIs(t, err, syscall.EAGAIN)
	}
	require.NoError(t, syscall.SetNonblock(fd, false))
}

// TestRefusalsAreCounted checks that a client that connects again and again cannot fill a disk with lines.
func TestRefusalsAreCounted(t *testing.T) {
	token := [32]byte{1, 2, 3}
	wrong := protocol.AppendOpen(nil, &[32]byte{1, 2, 4})
	d := fifo(t, build.VariantSpeed)
	t.Chdir(t.TempDir())
	b := startListener(t, d, "tcp:127.0.0.1:0", token)
	for range 5 * namedRefusals {
		c := b.connect()
		_, err := c.Write(wrong)
		require.NoError(t, err)
		b.refuses(c, protocol.CodeToken, "wrong token")
	}
	b.plays(token)
	require.NoError(t, b.stderr.Close())
	for range namedRefusals {
		b.says("wrong token")
	}
	for _, n := range []int{2 * namedRefusals, 4 * namedRefusals} {
		require.True(t, b.words.Scan())
		require.Regexp(t, fmt.Sprintf(`^refused %d clients in all, the last one 127\.0\.0\.1:\d+: `, n), b.words.Text())
	}
	require.False(t, b.words.Scan(), b.words.Text())
}

// TestLimitsOfAdmission checks that the limits named by the tests and docs/bridge.md are those of the harness.
func TestLimitsOfAdmission(t *testing.T) {
	text, err := os.ReadFile("../verilator/harness/admission.hpp")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("kOpenSeconds = %d;", openSeconds))
	require.Contains(t, string(text), fmt.Sprintf("kMaxApplicants = %d;", maxApplicants))
	require.Contains(t, string(text), fmt.Sprintf("kNamedRefusals = %d;", namedRefusals))
	page, err := os.ReadFile("../docs/bridge.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("%d seconds from being accepted", openSeconds))
	require.Contains(t, string(page), fmt.Sprintf("%d clients", maxApplicants))
	require.Contains(t, string(page), fmt.Sprintf("first %d clients that are refused", namedRefusals))
}
