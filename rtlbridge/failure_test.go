package rtlbridge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// hangs is the error of a device that sends nothing; hangsSoon, a timeout that makes it occur soon.
const (
	hangs     = "the device hangs"
	hangsSoon = 400 * time.Millisecond
)

// patience returns the timeout for a device that should fail with this cause: a short one if it will be
// silent.
func patience(cause string) time.Duration {
	if cause == hangs {
		return hangsSoon
	}
	return DefaultTimeout
}

// readFrame reads one frame that the client sent.
func readFrame(c net.Conn) (protocol.FrameType, []byte, error) {
	var h [protocol.HeadBytes]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		return 0, nil, err
	}
	t, n, err := protocol.ParseHead(h[:])
	if err != nil {
		return t, nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(c, b)
	return t, b, err
}

// answerRuns returns a device that sends HELLO, ignores START and answers each RUN by reply.
func answerRuns(reply func(c net.Conn, index, start uint64, cycles uint32)) func(net.Conn) {
	return func(c net.Conn) {
		c.Write(appendHello(nil, testHello()))
		for {
			t, b, err := readFrame(c)
			if err != nil || t == protocol.FrameStop {
				return
			}
			if t == protocol.FrameRun {
				reply(c, binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]),
					binary.LittleEndian.Uint32(b[16:]))
			}
		}
	}
}

func goodRan(index, start uint64, cycles uint32) *protocol.Ran {
	return &protocol.Ran{Index: index, Start: start, Cycles: cycles, Flags: protocol.RanQuiet,
		Observed: make([]protocol.Observed, 1)}
}

// TestFakeDevices checks that whatever a device sends, the session ends with an InfraError that names the fault.
func TestFakeDevices(t *testing.T) {
	random := func(c net.Conn) {
		r := rand.New(rand.NewSource(1))
		b := make([]byte, 4096)
		for range 1000 {
			r.Read(b)
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}
	older, newer := testHello(), testHello()
	older.Version, newer.Version = 2, 4
	for _, x := range []struct {
		name   string
		script func(net.Conn)
		cause  string
	}{
		{"closes at once", func(net.Conn) {}, "closed the connection"},
		{"never answers", func(c net.Conn) { io.Copy(io.Discard, c) }, hangs},
		{"random bytes", random, "refused"},
		{"not a device", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, "refused: value"},
		{"another magic", func(c net.Conn) { b := appendHello(nil, testHello()); b[9] ^= 1; c.Write(b) },
			"not a nictwin device"},
		{"older version", func(c net.Conn) { c.Write(appendHello(nil, older)) },
			"refused: version: the device speaks version 2, this program 3"},
		{"newer version", func(c net.Conn) { c.Write(appendHello(nil, newer)) },
			"refused: version: the device speaks version 4, this program 3"},
		{"refuses the version", func(c net.Conn) {
			c.Write(appendError(nil, &protocol.DeviceError{Code: protocol.CodeVersion, Text: "the client speaks 3 to " +
				"3, this device 2"}))
		}, "(version): the client speaks 3 to 3, this device 2"},
		{"endless frame", func(c net.Conn) { c.Write([]byte{0xf8, 0xff, 0xff, 0xff, 2, 0, 0, 0}) },
			"HELLO frame refused: limit"},
		{"hello cut short", func(c net.Conn) { c.Write(appendHello(nil, testHello())[:100]) }, "closed the connection"},
		{"hangs in a run", answerRuns(func(net.Conn, uint64, uint64, uint32) {}), hangs},
		{"dies in a run", answerRuns(func(c net.Conn, _, _ uint64, _ uint32) { c.Close() }), "closed the connection"},
		{"another quantum", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			c.Write(appendRan(nil, goodRan(i+1, s, n), nil))
		}), "where quantum 0 up to cycle 64 was due"},
		{"too few cycles", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			c.Write(appendRan(nil, goodRan(i, s, n-1), nil))
		}), "ended at cycle 63 instead of 64"},
		{"wrong frame", answerRuns(func(c net.Conn, _, _ uint64, _ uint32) { c.Write(appendHello(nil, testHello())) }),
			"a RAN frame was due"},
		{"garbage record", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			c.Write(appendRan(nil, goodRan(i, s, n), []protocol.Record{{Kind: 9}}))
		}), "record type 9"},
		{"unknown stream", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			c.Write(appendRan(nil, goodRan(i, s, n), []protocol.Record{{Kind: protocol.EventIn, Stream: 4}}))
		}), "stream 4 of 4"},
		{"flood of answers", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			r := goodRan(i, s, n)
			r.Flags = protocol.RanMore
			b := appendRan(nil, r, make([]protocol.Record, 0))
			for {
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}), "more than it was asked for"},
		{"more wall time than has passed", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			r := goodRan(i, s, n)
			r.RTLNs = uint64(time.Minute)
			c.Write(appendRan(nil, r, nil))
		}), "RAN frame refused: value: quantum 0: 60000000000 ns of wall time, of which "},
		{"wall time beyond all durations", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			r := goodRan(i, s, n)
			r.RTLNs = 1<<64 - 1
			c.Write(appendRan(nil, r, nil))
		}), "RAN frame refused: value: quantum 0: 18446744073709551615 ns of wall time"},
		{"stops inside a quantum", answerRuns(func(c net.Conn, i, s uint64, n uint32) {
			r := goodRan(i, s, n-5)
			r.Flags = protocol.RanPartial
			c.Write(appendError(appendRan(nil, r, nil), &protocol.DeviceError{Code: protocol.CodeAssert, Cycle: 59,
				Text: "\x1b[2Jlevel\x00 above\xff depth"}))
		}), "?[2Jlevel? above? depth"},
	} {
		t.Run(x.name, func(t *testing.T) {
			err := useDevice(fakeDevice(t, x.script), patience(x.cause))
			var infra *protocol.InfraError
			require.ErrorAs(t, err, &infra)
			require.ErrorContains(t, err, x.cause)
		})
	}
}

// TestPartsRestartTheLimit checks that each part of a quantum's answer gives a slow device the whole limit again.
func TestPartsRestartTheLimit(t *testing.T) {
	const parts = 4
	err := useDevice(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
		for k := range uint32(parts) {
			time.Sleep(hangsSoon / 2)
			r := goodRan(i, s, n/parts*(k+1))
			if k < parts-1 {
				r.Flags = protocol.RanMore
			}
			c.Write(appendRan(nil, r, nil))
		}
	})), hangsSoon)
	require.NoError(t, err)
}

// useDevice runs one quantum of a remote device.
func useDevice(address string, timeout time.Duration) error {
	c, err := Dial(address, DialOptions{Timeout: timeout})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Start(c.NewStart(1)); err != nil {
		return err
	}
	if err := c.SendRun(64); err != nil {
		return err
	}
	for {
		r, err := c.Recv()
		if err != nil {
			return err
		}
		var rec protocol.Record
		for ok := true; ok; {
			if ok, err = c.Next(r, &rec); err != nil {
				return err
			}
		}
		if r.Flags&protocol.RanPartial != 0 {
			return c.WaitStop()
		}
		if r.Flags&protocol.RanMore == 0 {
			return nil
		}
	}
}

// TestFloodWhileSending checks that a device that sends without reading fills this side's memory only up to
// a limit.
func TestFloodWhileSending(t *testing.T) {
	at := fakeDevice(t, func(c net.Conn) {
		c.Write(appendHello(nil, testHello()))
		b := appendRan(nil, goodRan(0, 0, 1), nil)
		for {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	})
	c, err := Dial(at, DialOptions{})
	require.NoError(t, err)
	c.t.maxPend = 1 << 20
	require.NoError(t, c.Start(c.NewStart(1)))
	for i := 0; err == nil && i < 1000; i++ {
		err = c.Add(0, 0, nil, make([]byte, 16<<10))
	}
	require.ErrorIs(t, err, protocol.ErrFlood)
}

// script makes a device process of a shell script.
func script(t *testing.T, text string) *build.Device {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dut")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return &build.Device{Manifest: &manifest.Manifest{Name: "script"}, Binary: path}
}

func TestChildrenThatFail(t *testing.T) {
	for _, x := range []struct{ name, script, cause string }{
		{"dies with a word", "echo out of luck >&2; exit 3", "exit status 3; last words: out of luck"},
		{"floods standard error", "yes flooding flooding flooding | head -c 100000 >&2; exit 3",
			"exit status 3; last words: "},
		{"is silent", "exec sleep infinity", hangs},
		{"speaks nonsense", "echo nonsense nonsense nonsense >&3; exec sleep infinity", "refused"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := Launch(script(t, x.script), LaunchOptions{Timeout: patience(x.cause), Socket: true})
			var infra *protocol.InfraError
			require.ErrorAs(t, err, &infra)
			require.ErrorContains(t, err, x.cause)
			require.Less(t, len(infra.LastWords), 3*lastOutputBytes)
		})
	}
	_, err := Launch(script(t, "while :; do echo nonsense >&3; done"), LaunchOptions{Timeout: hangsSoon})
	require.ErrorIs(t, err, protocol.ErrTimeout, "with shared memory the socket carries nothing but rings")
	_, err = Launch(&build.Device{Manifest: &manifest.Manifest{Name: "gone"}, Binary: "/nonexistent/dut"},
		LaunchOptions{})
	var infra *protocol.InfraError
	require.ErrorAs(t, err, &infra)
}

func TestKilledAndStoppedMidRun(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	for _, x := range []struct {
		sig   syscall.Signal
		cause string
	}{{syscall.SIGKILL, "signal: killed"}, {syscall.SIGSTOP, hangs}} {
		n := 0
		o := loopOptions{latency: 400_000, first: 1000, total: 1000, timeout: patience(x.cause)}
		o.observe = func(e Event) {
			if n++; n == 500 {
				err := syscall.Kill(lastPid, x.sig)
				require.NoError(t, err)
			}
		}
		_, err := runLoop(t, d, o)
		var infra *protocol.InfraError
		require.ErrorAs(t, err, &infra)
		require.ErrorContains(t, err, x.cause)
	}
}

// TestDesignStops checks that the design's last message reaches the caller, after every event before it.
func TestDesignStops(t *testing.T) {
	for _, x := range []struct {
		variant build.Variant
		defect  uint64
		stall   int
		code    protocol.ErrorCode
		text    string
	}{
		{build.VariantSpeed, 6, 0, protocol.CodeAssert, "defect 6 asked for"},
		{build.VariantSpeed, 7, 0, protocol.CodeFinish, "$finish"},
		{build.VariantDebug, 1, 50, protocol.CodeAssert, "m_axis changed while stalled"},
	} {
		ins := 0
		o := loopOptions{latency: 400_000, first: 200, total: 200, stall: x.stall,
			ties: []protocol.TieValue{{Index: 0, Value: x.defect}}}
		o.observe = func(e Event) {
			if e.Kind == protocol.EventIn {
				ins++
			}
		}
		_, err := runLoop(t, fifo(t, x.variant), o)
		var de *protocol.DeviceError
		require.ErrorAs(t, err, &de)
		require.Equal(t, x.code, de.Code)
		require.Contains(t, de.Text, x.text)
		require.Contains(t, de.Text, "axis_fifo.sv:")
		require.Positive(t, ins)
		require.Positive(t, de.Cycle)
	}
}

func TestStreamRules(t *testing.T) {
	for _, x := range []struct {
		defect uint64
		rule   protocol.Rule
	}{
		{1, protocol.RuleValidDropped}, {2, protocol.RuleDataChanged}, {3, protocol.RuleKeepGap},
		{4, protocol.RuleTooLong}, {5, protocol.RuleHangIn},
	} {
		seen := map[protocol.Rule]int{}
		c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
		s := c.NewStart(3)
		s.Streams[1].StallPercent = 50
		s.Watchdog = 1000
		s.Ties = []protocol.TieValue{{Index: 0, Value: x.defect}}
		require.NoError(t, c.Start(s))
		for i := range 40 {
			require.NoError(t, c.Add(0, 0, make([]byte, 4), frame(1500, i)))
		}
		require.NoError(t, c.SendRun(5000))
		r, err := c.Recv()
		require.NoError(t, err)
		var rec protocol.Record
		for ok := true; ok; {
			ok, err = c.Next(r, &rec)
			require.NoError(t, err)
			if ok && rec.Kind == protocol.EventViolation {
				seen[rec.Rule]++
			}
		}
		require.Positive(t, seen[x.rule], "defect %d: %v", x.defect, seen)
		require.LessOrEqual(t, seen[x.rule], 64)
		require.NoError(t, c.Close())
	}
}

// TestDeviceDiesWithItsParent starts this test program again, lets it launch a device and kills it.
func TestDeviceDiesWithItsParent(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	if os.Getenv("RTLBRIDGE_ORPHAN") != "" {
		c, err := Launch(d, LaunchOptions{})
		require.NoError(t, err)
		fmt.Printf("pid %d\n", c.proc.cmd.Process.Pid)
		io.Copy(io.Discard, os.Stdin) // blocks until this process is killed
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDeviceDiesWithItsParent$")
	cmd.Env = append(os.Environ(), "RTLBRIDGE_ORPHAN=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var pid int
	_, err = fmt.Fscanf(out, "pid %d\n", &pid)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	awaitEnd(pid)
}

// awaitEnd waits until a process has ended. If it never does, the time limit of the whole test applies.
func awaitEnd(pid int) {
	for running(pid) {
		time.Sleep(5 * time.Millisecond)
	}
}

// running reports whether a process exists and is not merely waiting to be reaped.
func running(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}
