package rtlbridge

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the byte vectors")

const vectorFile = "testdata/vectors.txt"

// A vector is a frame's bytes and what a decoder must make of it: a description, or the class of the fault.
type vector struct {
	name, side string // side: who sends it, "client" or "device"
	frame      []byte
	want       string
}

func testStart() *Start {
	return &Start{
		Seed: 0x1122334455667788, Watchdog: 1000, PeriodPs: 909, Poison: true,
		Streams: []StreamStart{{StallPercent: 25, BurstLog2: 3, Credits: -1}, {Credits: -1, MaxBytes: 4096}, {StallPercent: 100, Credits: 5}, {Credits: -1}},
		Clocks:  []ClockStart{{3333, 111}},
		Ties:    []TieValue{{0, 9}},
	}
}

// testIdleStart has the streams described by idleStreams.
func testIdleStart(m IdleMode) *Start {
	return &Start{Seed: 5, PeriodPs: 2500, Idle: m, Streams: []StreamStart{{Credits: -1}, {Credits: -1}, {Credits: -1}, {Credits: -1}},
		Clocks: []ClockStart{{3333, 0}}}
}

const idleStreams = " stream=0/0/4294967295/16384 stream=0/0/4294967295/16384 stream=0/0/4294967295/16384 stream=0/0/4294967295/16384 clock=3333+0"

func testRun() []byte {
	b := make([]byte, headBytes+runBytes)
	b = appendTransaction(b, 0, 70, nil, frame(5, 1))
	b = appendTransaction(b, 1, 71, frame(16, 2), nil)
	b = appendTransaction(b, 1, 72, frame(16, 3), frame(12, 4))
	b = appendTransaction(b, 3, 73, frame(3, 6), nil)
	b = appendCredit(b, 2, 99, 3)
	putHead(b, FrameRun, len(b)-headBytes)
	putRun(b[headBytes:], 1, 64, 64, 5)
	return b
}

// testReset is a RUN with a reset before a transaction.
func testReset() []byte {
	b := make([]byte, headBytes+runBytes)
	b = appendReset(b, 130)
	b = appendTransaction(b, 0, 140, nil, frame(5, 1))
	putHead(b, FrameRun, len(b)-headBytes)
	putRun(b[headBytes:], 2, 128, 64, 2)
	return b
}

func testInput() []byte {
	b := make([]byte, headBytes+inputBytes)
	b = appendTransaction(b, 0, 70, nil, frame(64, 1))
	putHead(b, FrameInput, len(b)-headBytes)
	binary.LittleEndian.PutUint32(b[headBytes:], 1)
	return b
}

func testRan() ([]byte, *Ran, []Record) {
	r := &Ran{Index: 3, Start: 192, Cycles: 60, Flags: RanPartial, RTLNs: 123456, Observed: []Observed{{1, 252}}}
	recs := []Record{
		{Kind: EventIn, Stream: 1, Flags: InBegin | InEnd, Ordinal: 7, First: 193, Last: 193},
		{Kind: EventOut, Stream: 2, Ordinal: 8, First: 200, Last: 203, Side: []byte{1, 2}, Data: frame(77, 5)},
		{Kind: EventViolation, Stream: 2, Rule: RuleKeepGap, Ordinal: 8, First: 203, Last: 13},
		{Kind: EventHeld, First: 220, Last: 230},
		{Kind: EventRest, First: 204, Last: 250},
		{Kind: EventHeld, Stream: 2, First: 204, Last: 251},
	}
	return appendRan(nil, r, recs), r, recs
}

// goodVectors are all frames, made by this side's encoders.
func goodVectors() []vector {
	token := [32]byte{0: 0xaa, 31: 0xbb}
	ran, _, _ := testRan()
	idleHello := testHello()
	idleHello.SkipIdle = true
	stop := make([]byte, headBytes)
	putHead(stop, FrameStop, 0)
	return []vector{
		{"open", "client", appendOpen(nil, &token), "OPEN versions=3-3 token=aa" + strings.Repeat("00", 30) + "bb"},
		{"start", "client", appendStart(nil, testStart(), false), "START seed=1234605616436508552 watchdog=1000 period=909 flags=1" +
			" stream=25/3/4294967295/16384 stream=0/0/4294967295/4096 stream=100/0/5/16384 stream=0/0/4294967295/16384 clock=3333+111 tie=0:9"},
		{"start-skip-idle", "client", appendStart(nil, testIdleStart(IdleSkip), true), "START seed=5 watchdog=0 period=2500 flags=2" + idleStreams},
		{"start-check-idle", "client", appendStart(nil, testIdleStart(IdleCheck), true), "START seed=5 watchdog=0 period=2500 flags=4" + idleStreams},
		{"start-evaluate-idle", "client", appendStart(nil, testIdleStart(IdleEvaluate), true), "START seed=5 watchdog=0 period=2500 flags=0" + idleStreams},
		{"run", "client", testRun(), "RUN index=1 start=64 cycles=64 T0@70[/" + hx(frame(5, 1)) + "] T1@71[" + hx(frame(16, 2)) +
			"/] T1@72[" + hx(frame(16, 3)) + "/" + hx(frame(12, 4)) + "] T3@73[" + hx(frame(3, 6)) + "/] C2@99[3]"},
		{"reset", "client", testReset(), "RUN index=2 start=128 cycles=64 R@130 T0@140[/" + hx(frame(5, 1)) + "]"},
		{"input", "client", testInput(), "INPUT T0@70[/" + hx(frame(64, 1)) + "]"},
		{"stop", "client", stop, "STOP"},
		{"hello-idle", "device", appendHello(nil, idleHello), "HELLO version=3 period=2500 max=67108864 busy=0 hash=" + hx(testHello().BuildHash[:]) +
			" clk:2500 aux:3333 eth_in:axis/false/true/1/64/0/0 tlp_in:tlp/false/true/4/128/16/0/thdr:128 eth_out:axis/true/true/1/64/2/0/tuser:9 req:record/false/false/0/0/3/1/addr:12/go:1 skip_idle observe=busy:1 tie=defect_i:4"},
		{"hello", "device", appendHello(nil, testHello()), "HELLO version=3 period=2500 max=67108864 busy=0 hash=" + hx(testHello().BuildHash[:]) +
			" clk:2500 aux:3333 eth_in:axis/false/true/1/64/0/0 tlp_in:tlp/false/true/4/128/16/0/thdr:128 eth_out:axis/true/true/1/64/2/0/tuser:9 req:record/false/false/0/0/3/1/addr:12/go:1 observe=busy:1 tie=defect_i:4"},
		{"ran-still", "device", appendRan(nil, &Ran{Start: 64, Cycles: 64, Flags: RanQuiet | RanStill, Observed: []Observed{{0, 3}}}, nil),
			"RAN index=0 start=64 cycles=64 flags=9 rtl=0 observed=0:3"},
		{"ran", "device", ran, "RAN index=3 start=192 cycles=60 flags=2 rtl=123456 observed=1:252 1.1.3.0#7@193-193[/] " +
			"2.2.0.0#8@200-203[0102/" + hx(frame(77, 5)) + "] 3.2.0.6#8@203-13[/] 5.0.0.0#0@220-230[/] " +
			"4.0.0.0#0@204-250[/] 5.2.0.0#0@204-251[/]"},
		{"error", "device", appendError(nil, &DeviceError{CodeAssert, 77, "level above depth"}), "ERROR code=5 cycle=77 level above depth"},
	}
}

func hx(b []byte) string { return hex.EncodeToString(b) }

// badVectors are frames with one fault each.
func badVectors() []vector {
	var out []vector
	good := map[string]vector{}
	for _, v := range goodVectors() {
		good[v.name] = v
	}
	bad := func(name, of string, f Fault, change func(b []byte) []byte) {
		b := change(append([]byte(nil), good[of].frame...))
		if f != FaultFrameType && f != FaultLimit || len(b) >= headBytes && int(binary.LittleEndian.Uint32(b)) <= MaxFrameBytes {
			binary.LittleEndian.PutUint32(b, uint32(len(b)-headBytes))
		}
		out = append(out, vector{name, good[of].side, b, "!" + string(f)})
	}
	set := func(at int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], v); return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	grow := func(b []byte) []byte { return append(b, make([]byte, 8)...) }
	const h = headBytes
	bad("open-magic", "open", FaultMagic, set(h, 0))
	bad("open-version", "open", FaultVersion, set(h+8, 9, 0, 9, 0))
	bad("open-version-1", "open", FaultVersion, set(h+8, 1, 0, 1, 0))
	bad("open-version-2", "open", FaultVersion, set(h+8, 2, 0, 2, 0))
	bad("open-reserved", "open", FaultValue, set(h+12, 1))
	bad("open-short", "open", FaultTruncated, cut(8))
	bad("open-long", "open", FaultTrailing, grow)
	bad("head-type", "open", FaultFrameType, set(4, 99))
	bad("head-reserved", "open", FaultValue, set(6, 1))
	bad("head-length", "open", FaultLimit, set(0, 8, 0, 0, 0xff))
	bad("start-short", "start", FaultTruncated, cut(8))
	bad("start-long", "start", FaultTrailing, grow)
	bad("start-period", "start", FaultValue, set(h+16, 1, 0))
	bad("start-long-period", "start", FaultValue, set(h+20, 1))
	bad("start-version-1", "start", FaultValue, func(b []byte) []byte { return append(b[:h+16], b[h+24:]...) })
	bad("start-flags", "start", FaultValue, set(h+24, 8))
	bad("start-both-idle", "start", FaultValue, set(h+24, 7))
	bad("start-streams", "start", FaultStream, set(h+28, 2))
	bad("start-stall", "start", FaultValue, set(h+32, 101))
	bad("start-burst", "start", FaultValue, set(h+33, 17))
	bad("start-credit-in", "start", FaultStream, set(h+36, 1))
	bad("start-max", "start", FaultLimit, set(h+40, 0, 0, 0, 1))
	bad("start-tie", "start", FaultValue, set(h+32+64+16, 1))
	bad("start-clock", "start", FaultValue, set(h+32+64, 1, 0))
	bad("start-phase", "start", FaultValue, set(h+32+64+8, 0xff, 0xff))
	bad("run-no-cycles", "run", FaultLimit, set(h+16, 0))
	bad("run-many-cycles", "run", FaultLimit, set(h+16, 0, 0, 0xff, 0))
	bad("run-short", "run", FaultTruncated, cut(8))
	bad("run-long", "run", FaultTrailing, grow)
	bad("run-record-type", "run", FaultValue, set(h+24, 4))
	bad("reset-stream", "reset", FaultValue, set(h+24+1, 1))
	bad("run-stream", "run", FaultStream, set(h+25, 4))
	bad("run-out-stream", "run", FaultStream, set(h+25, 2))
	bad("run-side", "run", FaultStream, set(h+26, 1))
	bad("run-data-limit", "run", FaultLimit, set(h+28, 0, 0, 1))
	bad("run-no-data", "run", FaultStream, set(h+28, 0))
	bad("run-padding", "run", FaultValue, set(h+24+16+5, 1))
	bad("run-unit", "run", FaultStream, set(h+24+16+8+4, 3))
	bad("run-credits", "run", FaultLimit, func(b []byte) []byte { binary.LittleEndian.PutUint32(b[len(b)-12:], 0); return b })
	bad("input-reserved", "input", FaultValue, set(h+4, 1))
	bad("hello-magic", "hello", FaultMagic, set(h, 0))
	bad("hello-version", "hello", FaultVersion, set(h+8, 4))
	bad("hello-version-2", "hello", FaultVersion, set(h+8, 2))
	bad("hello-version-1", "hello", FaultVersion, set(h+8, 1))
	bad("hello-short", "hello", FaultTruncated, cut(8))
	bad("hello-long", "hello", FaultTrailing, grow)
	bad("hello-streams", "hello", FaultLimit, set(h+10, 200))
	bad("hello-unit", "hello", FaultValue, set(h+64+48+2, 3))
	bad("hello-kind", "hello", FaultValue, set(h+64+48, 4))
	bad("hello-stream-clock", "hello", FaultValue, set(h+64+48+14, 2))
	bad("hello-clocks", "hello", FaultLimit, set(h+48, 9))
	bad("hello-no-clock", "hello", FaultLimit, set(h+48, 0))
	bad("hello-field", "hello", FaultValue, set(h+64+48+24+24, 1))
	bad("hello-beat", "hello", FaultLimit, set(h+64+48+4, 0, 0xff))
	bad("hello-period", "hello", FaultValue, set(h+64, 0, 0))
	bad("ran-flags", "ran", FaultValue, set(h+20, 16))
	bad("ran-observed", "ran", FaultValue, set(h+36, 2))
	bad("ran-short", "ran", FaultTruncated, cut(8))
	bad("ran-long", "ran", FaultTrailing, grow)
	bad("ran-cycles", "ran", FaultLimit, set(h+16, 0, 0, 0xff))
	bad("ran-kind", "ran", FaultValue, set(h+56, 6))
	bad("ran-held", "ran", FaultValue, set(h+56, 5))
	bad("ran-held-ordinal", "ran", FaultValue, func(b []byte) []byte { b[len(b)-24] = 1; return b })
	bad("ran-rest", "ran", FaultValue, set(h+56, 4))
	bad("ran-in-flags", "ran", FaultValue, set(h+58, 0))
	bad("ran-in-on-output", "ran", FaultStream, set(h+57, 2))
	bad("ran-stream", "ran", FaultStream, set(h+57, 4))
	bad("ran-data", "ran", FaultLimit, set(h+56+32+4, 0, 0, 0xff))
	bad("error-code", "error", FaultValue, set(h, 0))
	bad("error-text", "error", FaultLimit, set(h+4, 0, 0xff))
	bad("error-short", "error", FaultTruncated, cut(8))
	bad("error-long", "error", FaultTrailing, grow)
	return out
}

// describeDevice decodes what a device sends; the C++ test does the same for what a client sends.
func describeDevice(b []byte) (string, error) {
	t, n, err := parseHead(b)
	if err != nil {
		return "", err
	}
	if n != len(b)-headBytes {
		return "", protoErr(t, FaultTruncated, "frame")
	}
	body := b[headBytes:]
	var s strings.Builder
	switch t {
	case FrameHello:
		h, err := decodeHello(body)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&s, "HELLO version=%d period=%d max=%d busy=%d hash=%s", h.Version, h.PeriodPs, h.MaxFrame, h.Busy, hx(h.BuildHash[:]))
		for _, x := range h.Clocks {
			fmt.Fprintf(&s, " %s:%d", x.Name, x.PeriodPs)
		}
		for _, x := range h.Streams {
			fmt.Fprintf(&s, " %s:%v/%v/%v/%d/%d/%d/%d", x.Name, x.Kind, x.Out, x.Ready, x.KeepUnit, x.DataBytes, x.SideBytes, x.Clock)
			for _, f := range x.Fields {
				fmt.Fprintf(&s, "/%s:%d", f.Name, f.Width)
			}
		}
		if h.SkipIdle {
			s.WriteString(" skip_idle")
		}
		for _, x := range h.Observe {
			fmt.Fprintf(&s, " observe=%s:%d", x.Name, x.Width)
		}
		for _, x := range h.Ties {
			fmt.Fprintf(&s, " tie=%s:%d", x.Name, x.Width)
		}
	case FrameRan:
		return describeRan(body)
	case FrameError:
		e, err := decodeError(body)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&s, "ERROR code=%d cycle=%d %s", e.Code, e.Cycle, e.Text)
	default:
		return "", protoErr(t, FaultFrameType, "not from a device")
	}
	return s.String(), nil
}

func describeRan(body []byte) (string, error) {
	var s strings.Builder
	var r Ran
	if err := decodeRan(body, testHello(), &r); err != nil {
		return "", err
	}
	fmt.Fprintf(&s, "RAN index=%d start=%d cycles=%d flags=%d rtl=%d", r.Index, r.Start, r.Cycles, r.Flags, r.RTLNs)
	for _, o := range r.Observed {
		fmt.Fprintf(&s, " observed=%d:%d", o.Value, o.LastNonzero)
	}
	var e Record
	for {
		ok, err := r.Next(&e)
		if err != nil {
			return "", err
		}
		if !ok {
			return s.String(), nil
		}
		fmt.Fprintf(&s, " %d.%d.%d.%d#%d@%d-%d[%x/%x]", e.Kind, e.Stream, e.Flags, e.Rule, e.Ordinal, e.First, e.Last, e.Side, e.Data)
	}
}

func readVectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	require.NoError(t, err)
	var out []vector
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.SplitN(line, " ", 4); len(f) == 4 && !strings.HasPrefix(line, "#") {
			out = append(out, vector{f[0], f[1], mustHex(t, f[2]), f[3]})
		}
	}
	return out
}

// TestVectors holds both directions to the bytes on file.
func TestVectors(t *testing.T) {
	made := append(goodVectors(), badVectors()...)
	if *update {
		s := "# Frames of docs/bridge.md: name, sender, bytes, what a decoder makes of them or the class of the fault.\n" +
			"# Streams: testHello in fake_test.go and table() in verilator/harness/tests/protocol_test.cpp.\n"
		for _, v := range made {
			s += fmt.Sprintf("%s %s %x %s\n", v.name, v.side, v.frame, v.want)
		}
		require.NoError(t, os.WriteFile(vectorFile, []byte(s), 0o644))
	}
	require.Equal(t, made, readVectors(t), "this side's encoders or the file have changed")
	for _, v := range made {
		if v.side != "device" {
			continue
		}
		got, err := describeDevice(v.frame)
		var pe *ProtocolError
		if errors.As(err, &pe) {
			got = "!" + string(pe.Fault)
		}
		require.Equal(t, v.want, got, v.name)
	}
}

// TestHarnessProtocol builds the C++ side's tests, with sanitizers, and runs them on the same vectors.
func TestHarnessProtocol(t *testing.T) {
	cxx, err := exec.LookPath("g++")
	require.NoError(t, err, "install a compiler with: apt-get install g++")
	harness, err := filepath.Abs("../verilator/harness")
	require.NoError(t, err)
	for name, args := range map[string][]string{"protocol_test": {vectorFile}, "fuzz_protocol": {vectorFile, "60000"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(t.TempDir(), name)
			build := exec.Command(cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
				"-fno-sanitize-recover=all", "-I", harness, "-o", bin, filepath.Join(harness, "tests", name+".cpp"))
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			out, err = exec.Command(bin, args...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}

func FuzzDecodeDevice(f *testing.F) {
	for _, v := range append(goodVectors(), badVectors()...) {
		f.Add(v.frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headBytes {
			return
		}
		if _, err := describeDevice(b); err != nil {
			var pe *ProtocolError
			if !errors.As(err, &pe) {
				t.Fatalf("%T: %v", err, err)
			}
		}
	})
}
