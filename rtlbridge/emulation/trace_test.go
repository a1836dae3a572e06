package emulation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// sample is the cycle and the values of a device's output when a beat was offered.
type sample struct {
	cycle uint64
	value uint64
}

// readTrace returns the values of a signal in a VCD, by cycle from the first sample on.
func readTrace(t *testing.T, file, signal string, period uint64) (from uint64, values []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var code, now string
	var at uint64
	begun := false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 4 && f[0] == "$var" && f[4] == signal:
			code = f[3]
		case line[0] == '#':
			var time uint64
			_, err := fmt.Sscanf(line, "#%d", &time)
			require.NoError(t, err)
			if !begun {
				from, begun = time/period, true
			} else {
				for ; at < time/period; at++ {
					values = append(values, now)
				}
			}
			at = time / period
		case line[0] == 'b' && f[1] == code:
			now = f[0][1:]
		case (line[0] == '0' || line[0] == '1') && strings.TrimSpace(line[1:]) == code:
			now = line[:1]
		}
	}
	require.NotEmpty(t, code, "%s: no signal %s", file, signal)
	return from, values
}

// TestTrace checks that the trace buffer holds the pins' values of each cycle, from the chosen cycle on, when it is
// full and when a run ends before, and that it changes no result.
func TestTrace(t *testing.T) {
	t.Parallel()
	m := write(t, talking, passingManifest)
	direct, err := build.Build(m, build.Options{})
	require.NoError(t, err)
	const shape = "sim,depth=1,trace=qv+d+qd,samples=64"
	for _, x := range []struct{ from, run, want int }{{90, 300, 64}, {0, 30, 30}} {
		file := filepath.Join(t.TempDir(), "trace.vcd")
		link, err := ParseLink(fmt.Sprintf("%s,from=%d,file=%s", shape, x.from, file))
		require.NoError(t, err)
		agent, err := link.Build(m, build.Options{})
		require.NoError(t, err)
		want, got := beatsOf(t, direct, x.run), beatsOf(t, agent, x.run)
		require.Equal(t, want, got)
		const period = 2000
		from, valid := readTrace(t, file, "qv", period)
		_, values := readTrace(t, file, "qd", period)
		require.Equal(t, uint64(x.from), from)
		require.Len(t, valid, x.want)
		offered := map[uint64]uint64{}
		for _, b := range want {
			offered[b.cycle] = b.value
		}
		seen := 0
		for i, v := range valid {
			value, is := offered[from+uint64(i)]
			require.Equal(t, is, v == "1", "cycle %d", int(from)+i)
			if is {
				require.Equal(t, fmt.Sprintf("%08b", value), values[i], "cycle %d", int(from)+i)
				seen++
			}
		}
		require.Positive(t, seen)
	}
	for trace, fault := range map[string]string{
		"qv+none": "dut.yaml:2: trace: t has no port \"none\": want some of ",
		"qv+ck":   "dut.yaml:2: trace: ck is a clock",
		"qv+d+qv": "dut.yaml:2: trace: qv is named twice",
	} {
		o := DefaultOptions()
		o.Trace = trace
		_, err := Build(m, o, build.Options{})
		require.ErrorContains(t, err, fault)
	}
	link, err := ParseLink(shape + ",file=/proc/trace.vcd")
	require.NoError(t, err)
	broken, err := link.Build(m, build.Options{})
	require.NoError(t, err)
	c, err := rtlbridge.Launch(broken, rtlbridge.LaunchOptions{})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Start(c.NewStart(1)))
	require.NoError(t, c.SendRun(1))
	_, err = c.Recv()
	require.ErrorContains(t, err, "trace: /proc/trace.vcd: ")
}

// TestTraceIsLost checks that a session fails at its end where its trace cannot be written, or where the board has
// stopped: the client waits for long enough to learn so.
func TestTraceIsLost(t *testing.T) {
	t.Parallel()
	m := write(t, talking, passingManifest)
	for name, fault := range map[string]string{"folder": "/trace.vcd: No such file", "board": "nothing new for 6 s"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "removed")
			require.NoError(t, os.Mkdir(dir, 0o755))
			link, err := ParseLink("sim,depth=1,trace=qv+d+qd,samples=64,file=" + filepath.Join(dir, "trace.vcd"))
			require.NoError(t, err)
			agent, err := link.Build(m, build.Options{})
			require.NoError(t, err)
			d, about := behind(t, agent, "pass")
			c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{})
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.Start(c.NewStart(1)))
			require.NoError(t, c.SendRun(30))
			_, err = c.Recv()
			require.NoError(t, err)
			if pid, _ := relayed(about); name == "board" {
				require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
			} else {
				require.NoError(t, os.Remove(dir))
			}
			require.ErrorContains(t, c.Close(), fault)
		})
	}
}

// beatsOf sends beats to the talking device, and returns those that come out.
func beatsOf(t *testing.T, d *build.Device, cycles int) (all []sample) {
	t.Helper()
	c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Start(c.NewStart(1)))
	for n := range 40 {
		require.NoError(t, c.Add(0, uint64(7*n), []byte{byte(n)}, nil))
	}
	require.NoError(t, c.SendRun(uint32(cycles)))
	ran, err := c.Recv()
	require.NoError(t, err)
	var e protocol.Record
	for ok := true; ok; {
		ok, err = c.Next(ran, &e)
		require.NoError(t, err)
		if ok && e.Kind == protocol.EventOut {
			all = append(all, sample{e.Last, uint64(e.Side[0])})
		}
	}
	require.NoError(t, c.Close())
	return all
}
