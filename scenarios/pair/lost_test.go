package pair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// misbehave acts as a second process that fails in the given way in quantum 3, or before the first quantum.
func misbehave(how string) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	c, err := newConn(context.Background(), sideFD, "the first process", time.Minute)
	must(err)
	if how == "dies early" {
		os.Exit(5)
	}
	must(greet(c))
	for range 2 { // the messages JOB and FRAMES
		_, _, err := c.message()
		must(err)
	}
	must(c.sendMessage(kindReady, nil))
	for n := range uint64(3) {
		must(c.sendMessage(kindQuantum, appendState(nil, n, state{progress: n}, 0)))
		_, err := c.expect(kindQuantum)
		must(err)
	}
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	case "stalls":
		select {}
	case "skips":
		must(c.sendMessage(kindQuantum, appendState(nil, 9, state{}, 0)))
	case "babbles":
		must(c.send([]byte("what is this")))
	case "late":
		r := someRecords[0]
		r.at = 0
		must(c.sendMessage(kindQuantum, quantumOf(3, state{}, r)))
	case "gives up":
		must(c.sendMessage(kindError, []byte("server B: its NIC is on fire")))
	}
	_, _ = io.Copy(io.Discard, os.NewFile(sideFD, "socket")) // until the first process ends this one
	os.Exit(0)
}

// A failure of the other process is reported with its name and the quantum, within the limit. Without limits, the first
// process would hang.
func TestLostPeers(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"dies early", `^server Server\[1\] \(process \d+\) before the first quantum: ended: exit status 5$`},
		{"dies", `^server Server\[1\] \(process \d+\) in quantum 3: ended: exit status 7: out of luck$`},
		{"stalls", `^server Server\[1\] \(process \d+\) in quantum 3: silent for 300ms`},
		{"skips", `in quantum 3: protocol: QUANTUM 9: want 3`},
		{"babbles", `in quantum 3: protocol: message of type \d+: want 1 to`},
		{"late", `in quantum 3: QUANTUM 3: record 0 of 1: etherlink: .*a frame that departed at 0 ps is reported at ` +
			`.*: want it within the latency`},
		{"gives up", `server B: its NIC is on fire`},
	} {
		o := pair(t, "bf3", 100)
		o.Processes, o.Program = 2, []string{os.Args[0], c.how}
		if c.how == "stalls" {
			o.Limit = 300 * time.Millisecond
		}
		_, err := Run(t.Context(), o)
		require.Error(t, err, c.how)
		require.Regexp(t, c.want, err.Error(), c.how)
	}
	o := pair(t, "bf3", 10)
	o.Processes, o.Program = 2, []string{"/nonexistent/program"}
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "starting the second process")
}

// A canceled run ends, even while its peer stalls.
func TestCanceled(t *testing.T) {
	for _, program := range [][]string{nil, {os.Args[0], "stalls"}} {
		ctx, cancel := context.WithCancel(t.Context())
		o := pair(t, "bf3", 1_000_000)
		o.Processes, o.Program = 2, program
		o.Limit = 2 * time.Second
		go cancel()
		_, err := Run(ctx, o)
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
	}
}

// Two processes that send each other more than the kernel buffers do not deadlock.
func TestFullBuffers(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	done := make(chan error, 2)
	for _, fd := range fds {
		go func() {
			c, err := newConn(context.Background(), fd, "the other", time.Minute)
			if err == nil {
				err = c.sendMessage(kindReport, make([]byte, maxFrame))
			}
			if err == nil {
				_, err = c.expect(kindReport)
			}
			done <- err
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

// The exchange allocates nothing in steady state.
func TestExchangeAllocatesNothing(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	mine, err := newConn(t.Context(), fds[0], "the other", time.Minute)
	require.NoError(t, err)
	echo, err := newConn(t.Context(), fds[1], "the one", time.Minute)
	require.NoError(t, err)
	take := func(record) error { return nil }
	var b []byte
	exchange := func() {
		b = append(b[:0], 0, 0, 0, 0, 0, 0, 0, 0)
		b = appendState(b, 1, state{}, len(someRecords))
		for i := range someRecords {
			b = appendRecord(b, &someRecords[i])
		}
		_ = putHead(b, 0, kindQuantum)
		_ = mine.send(b)
		p, err := echo.expect(kindQuantum)
		if err == nil {
			_, _, err = parseQuantum(p, testCables, take)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for range 2000 {
		exchange()
	}
	require.Zero(t, testing.AllocsPerRun(2000, exchange))
}
