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

	"nictwin/rtlbridge/protocol"
)

var update = flag.Bool("update", false, "rewrite the byte vectors")

const vectorFile = "testdata/vectors.txt"

// vector is a frame's bytes and the result that a decoder must give: a description, or the class of the
// fault.
type vector struct {
	name, side string // side: who sends it, "client" or "device"
	frame      []byte
	want       string
}

func testStart() *protocol.Start {
	return &protocol.Start{
		Seed: 0x1122334455667788, Watchdog: 1000, PeriodPs: 909, Poison: true,
		Streams: []protocol.StreamStart{{StallPercent: 25, BurstLog2: 3, Credits: -1}, {Credits: -1, MaxBytes: 4096},
			{StallPercent: 100, Credits: 5}, {Credits: -1}},
		Clocks: []protocol.ClockStart{{PeriodPs: 3333, PhasePs: 111}},
		Ties:   []protocol.TieValue{{Index: 0, Value: 9}},
	}
}

// testIdleStart returns a START whose streams idleStreams describes.
func testIdleStart(m protocol.IdleMode) *protocol.Start {
	return &protocol.Start{Seed: 5, PeriodPs: 2500, Idle: m,
		Streams: []protocol.StreamStart{{Credits: -1}, {Credits: -1}, {Credits: -1}, {Credits: -1}},
		Clocks:  []protocol.ClockStart{{PeriodPs: 3333, PhasePs: 0}}}
}

const idleStreams = " stream=0/0/4294967295/16384 stream=0/0/4294967295/16384 stream=0/0/4294967295/16384 " +
	"stream=0/0/4294967295/16384 clock=3333+0"

func testRun() []byte {
	b := make([]byte, protocol.HeadBytes+protocol.RunBytes)
	b = protocol.AppendTransaction(b, 0, 70, nil, frame(5, 1))
	b = protocol.AppendTransaction(b, 1, 71, frame(16, 2), nil)
	b = protocol.AppendTransaction(b, 1, 72, frame(16, 3), frame(12, 4))
	b = protocol.AppendTransaction(b, 3, 73, frame(3, 6), nil)
	b = protocol.AppendCredit(b, 2, 99, 3)
	protocol.PutHead(b, protocol.FrameRun, len(b)-protocol.HeadBytes)
	protocol.PutRun(b[protocol.HeadBytes:], 1, 64, 64, 5)
	return b
}

// testReset returns a RUN with a reset before a transaction.
func testReset() []byte {
	b := make([]byte, protocol.HeadBytes+protocol.RunBytes)
	b = protocol.AppendReset(b, 130)
	b = protocol.AppendTransaction(b, 0, 140, nil, frame(5, 1))
	protocol.PutHead(b, protocol.FrameRun, len(b)-protocol.HeadBytes)
	protocol.PutRun(b[protocol.HeadBytes:], 2, 128, 64, 2)
	return b
}

func testInput() []byte {
	b := make([]byte, protocol.HeadBytes+protocol.InputBytes)
	b = protocol.AppendTransaction(b, 0, 70, nil, frame(64, 1))
	protocol.PutHead(b, protocol.FrameInput, len(b)-protocol.HeadBytes)
	binary.LittleEndian.PutUint32(b[protocol.HeadBytes:], 1)
	return b
}

func testRan() ([]byte, *protocol.Ran, []protocol.Record) {
	r := &protocol.Ran{Index: 3, Start: 192, Cycles: 60, Flags: protocol.RanPartial, RTLNs: 123456,
		Observed: []protocol.Observed{{Value: 1, LastNonzero: 252}}}
	recs := []protocol.Record{
		{Kind: protocol.EventIn, Stream: 1, Flags: protocol.InBegin | protocol.InEnd, Ordinal: 7, First: 193,
			Last: 193},
		{Kind: protocol.EventOut, Stream: 2, Ordinal: 8, First: 200, Last: 203, Side: []byte{1, 2}, Data: frame(77, 5)},
		{Kind: protocol.EventViolation, Stream: 2, Rule: protocol.RuleKeepGap, Ordinal: 8, First: 203, Last: 13},
		{Kind: protocol.EventHeld, First: 220, Last: 230},
		{Kind: protocol.EventRest, First: 204, Last: 250},
		{Kind: protocol.EventHeld, Stream: 2, First: 204, Last: 251},
	}
	return appendRan(nil, r, recs), r, recs
}

// goodVectors returns a vector for every frame, made by this side's encoders.
func goodVectors() []vector {
	token := [32]byte{0: 0xaa, 31: 0xbb}
	ran, _, _ := testRan()
	idleHello := testHello()
	idleHello.SkipIdle = true
	stop := make([]byte, protocol.HeadBytes)
	protocol.PutHead(stop, protocol.FrameStop, 0)
	return []vector{
		{"open", "client", protocol.AppendOpen(nil, &token), "OPEN versions=3-3 token=aa" + strings.Repeat("00", 30) +
			"bb"},
		{"start", "client", protocol.AppendStart(nil, testStart(), false),
			"START seed=1234605616436508552 watchdog=1000 period=909 flags=1" +
				" stream=25/3/4294967295/16384 stream=0/0/4294967295/4096 stream=100/0/5/16384 " +
				"stream=0/0/4294967295/16384 clock=3333+111 tie=0:9"},
		{"start-skip-idle", "client", protocol.AppendStart(nil, testIdleStart(protocol.IdleSkip), true),
			"START seed=5 watchdog=0 period=2500 flags=2" + idleStreams},
		{"start-check-idle", "client", protocol.AppendStart(nil, testIdleStart(protocol.IdleCheck), true),
			"START seed=5 watchdog=0 period=2500 flags=4" + idleStreams},
		{"start-evaluate-idle", "client", protocol.AppendStart(nil, testIdleStart(protocol.IdleEvaluate), true),
			"START seed=5 watchdog=0 period=2500 flags=0" + idleStreams},
		{"run", "client", testRun(), "RUN index=1 start=64 cycles=64 T0@70[/" + hx(frame(5, 1)) + "] T1@71[" +
			hx(frame(16, 2)) +
			"/] T1@72[" + hx(frame(16, 3)) + "/" + hx(frame(12, 4)) + "] T3@73[" + hx(frame(3, 6)) + "/] C2@99[3]"},
		{"reset", "client", testReset(), "RUN index=2 start=128 cycles=64 R@130 T0@140[/" + hx(frame(5, 1)) + "]"},
		{"input", "client", testInput(), "INPUT T0@70[/" + hx(frame(64, 1)) + "]"},
		{"stop", "client", stop, "STOP"},
		{"hello-idle", "device", appendHello(nil, idleHello), "HELLO version=3 period=2500 max=67108864 busy=0 hash=" +
			hx(testHello().BuildHash[:]) +
			" clk:2500 aux:3333 eth_in:axis/false/true/1/64/0/0 tlp_in:tlp/false/true/4/128/16/0/thdr:128 " +
			"eth_out:axis/true/true/1/64/2/0/tuser:9 req:record/false/false/0/0/3/1/addr:12/go:1 skip_idle " +
			"observe=busy:1 tie=defect_i:4"},
		{"hello", "device", appendHello(nil, testHello()), "HELLO version=3 period=2500 max=67108864 busy=0 hash=" +
			hx(testHello().BuildHash[:]) +
			" clk:2500 aux:3333 eth_in:axis/false/true/1/64/0/0 tlp_in:tlp/false/true/4/128/16/0/thdr:128 " +
			"eth_out:axis/true/true/1/64/2/0/tuser:9 req:record/false/false/0/0/3/1/addr:12/go:1 observe=busy:1 " +
			"tie=defect_i:4"},
		{"ran-still", "device",
			appendRan(nil, &protocol.Ran{Start: 64, Cycles: 64, Flags: protocol.RanQuiet | protocol.RanStill,
				Observed: []protocol.Observed{{Value: 0, LastNonzero: 3}}}, nil),
			"RAN index=0 start=64 cycles=64 flags=9 rtl=0 observed=0:3"},
		{"ran", "device", ran,
			"RAN index=3 start=192 cycles=60 flags=2 rtl=123456 observed=1:252 1.1.3.0#7@193-193[/] " +
				"2.2.0.0#8@200-203[0102/" + hx(frame(77, 5)) + "] 3.2.0.6#8@203-13[/] 5.0.0.0#0@220-230[/] " +
				"4.0.0.0#0@204-250[/] 5.2.0.0#0@204-251[/]"},
		{"error", "device",
			appendError(nil, &protocol.DeviceError{Code: protocol.CodeAssert, Cycle: 77, Text: "level above depth"}),
			"ERROR code=5 cycle=77 level above depth"},
	}
}

func hx(b []byte) string { return hex.EncodeToString(b) }

// badVectors returns frames with one fault each.
func badVectors() []vector {
	var out []vector
	good := map[string]vector{}
	for _, v := range goodVectors() {
		good[v.name] = v
	}
	bad := func(name, of string, f protocol.Fault, change func(b []byte) []byte) {
		b := change(append([]byte(nil), good[of].frame...))
		if f != protocol.FaultFrameType && f != protocol.FaultLimit || len(b) >= protocol.HeadBytes &&
			int(binary.LittleEndian.Uint32(b)) <= protocol.MaxFrameBytes {
			binary.LittleEndian.PutUint32(b, uint32(len(b)-protocol.HeadBytes))
		}
		out = append(out, vector{name, good[of].side, b, "!" + string(f)})
	}
	set := func(at int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], v); return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	grow := func(b []byte) []byte { return append(b, make([]byte, 8)...) }
	const h = protocol.HeadBytes
	bad("open-magic", "open", protocol.FaultMagic, set(h, 0))
	bad("open-version", "open", protocol.FaultVersion, set(h+8, 9, 0, 9, 0))
	bad("open-version-1", "open", protocol.FaultVersion, set(h+8, 1, 0, 1, 0))
	bad("open-version-2", "open", protocol.FaultVersion, set(h+8, 2, 0, 2, 0))
	bad("open-reserved", "open", protocol.FaultValue, set(h+12, 1))
	bad("open-short", "open", protocol.FaultTruncated, cut(8))
	bad("open-long", "open", protocol.FaultTrailing, grow)
	bad("head-type", "open", protocol.FaultFrameType, set(4, 99))
	bad("head-reserved", "open", protocol.FaultValue, set(6, 1))
	bad("head-length", "open", protocol.FaultLimit, set(0, 8, 0, 0, 0xff))
	bad("start-short", "start", protocol.FaultTruncated, cut(8))
	bad("start-long", "start", protocol.FaultTrailing, grow)
	bad("start-period", "start", protocol.FaultValue, set(h+16, 1, 0))
	bad("start-long-period", "start", protocol.FaultValue, set(h+20, 1))
	bad("start-version-1", "start", protocol.FaultValue, func(b []byte) []byte { return append(b[:h+16], b[h+24:]...) })
	bad("start-flags", "start", protocol.FaultValue, set(h+24, 8))
	bad("start-both-idle", "start", protocol.FaultValue, set(h+24, 7))
	bad("start-streams", "start", protocol.FaultStream, set(h+28, 2))
	bad("start-stall", "start", protocol.FaultValue, set(h+32, 101))
	bad("start-burst", "start", protocol.FaultValue, set(h+33, 17))
	bad("start-credit-in", "start", protocol.FaultStream, set(h+36, 1))
	bad("start-max", "start", protocol.FaultLimit, set(h+40, 0, 0, 0, 1))
	bad("start-tie", "start", protocol.FaultValue, set(h+32+64+16, 1))
	bad("start-clock", "start", protocol.FaultValue, set(h+32+64, 1, 0))
	bad("start-phase", "start", protocol.FaultValue, set(h+32+64+8, 0xff, 0xff))
	bad("run-no-cycles", "run", protocol.FaultLimit, set(h+16, 0))
	bad("run-many-cycles", "run", protocol.FaultLimit, set(h+16, 0, 0, 0xff, 0))
	bad("run-short", "run", protocol.FaultTruncated, cut(8))
	bad("run-long", "run", protocol.FaultTrailing, grow)
	bad("run-record-type", "run", protocol.FaultValue, set(h+24, 4))
	bad("reset-stream", "reset", protocol.FaultValue, set(h+24+1, 1))
	bad("run-stream", "run", protocol.FaultStream, set(h+25, 4))
	bad("run-out-stream", "run", protocol.FaultStream, set(h+25, 2))
	bad("run-side", "run", protocol.FaultStream, set(h+26, 1))
	bad("run-data-limit", "run", protocol.FaultLimit, set(h+28, 0, 0, 1))
	bad("run-no-data", "run", protocol.FaultStream, set(h+28, 0))
	bad("run-padding", "run", protocol.FaultValue, set(h+24+16+5, 1))
	bad("run-unit", "run", protocol.FaultStream, set(h+24+16+8+4, 3))
	bad("run-credits", "run", protocol.FaultLimit,
		func(b []byte) []byte { binary.LittleEndian.PutUint32(b[len(b)-12:], 0); return b })
	bad("input-reserved", "input", protocol.FaultValue, set(h+4, 1))
	bad("hello-magic", "hello", protocol.FaultMagic, set(h, 0))
	bad("hello-version", "hello", protocol.FaultVersion, set(h+8, 4))
	bad("hello-version-2", "hello", protocol.FaultVersion, set(h+8, 2))
	bad("hello-version-1", "hello", protocol.FaultVersion, set(h+8, 1))
	bad("hello-short", "hello", protocol.FaultTruncated, cut(8))
	bad("hello-long", "hello", protocol.FaultTrailing, grow)
	bad("hello-streams", "hello", protocol.FaultLimit, set(h+10, 200))
	bad("hello-unit", "hello", protocol.FaultValue, set(h+64+48+2, 3))
	bad("hello-kind", "hello", protocol.FaultValue, set(h+64+48, 4))
	bad("hello-stream-clock", "hello", protocol.FaultValue, set(h+64+48+14, 2))
	bad("hello-clocks", "hello", protocol.FaultLimit, set(h+48, 9))
	bad("hello-no-clock", "hello", protocol.FaultLimit, set(h+48, 0))
	bad("hello-field", "hello", protocol.FaultValue, set(h+64+48+24+24, 1))
	bad("hello-beat", "hello", protocol.FaultLimit, set(h+64+48+4, 0, 0xff))
	bad("hello-period", "hello", protocol.FaultValue, set(h+64, 0, 0))
	bad("ran-flags", "ran", protocol.FaultValue, set(h+20, 16))
	bad("ran-observed", "ran", protocol.FaultValue, set(h+36, 2))
	bad("ran-short", "ran", protocol.FaultTruncated, cut(8))
	bad("ran-long", "ran", protocol.FaultTrailing, grow)
	bad("ran-cycles", "ran", protocol.FaultLimit, set(h+16, 0, 0, 0xff))
	bad("ran-kind", "ran", protocol.FaultValue, set(h+56, 6))
	bad("ran-held", "ran", protocol.FaultValue, set(h+56, 5))
	bad("ran-held-ordinal", "ran", protocol.FaultValue, func(b []byte) []byte { b[len(b)-24] = 1; return b })
	bad("ran-rest", "ran", protocol.FaultValue, set(h+56, 4))
	bad("ran-in-flags", "ran", protocol.FaultValue, set(h+58, 0))
	bad("ran-in-on-output", "ran", protocol.FaultStream, set(h+57, 2))
	bad("ran-stream", "ran", protocol.FaultStream, set(h+57, 4))
	bad("ran-data", "ran", protocol.FaultLimit, set(h+56+32+4, 0, 0, 0xff))
	bad("error-code", "error", protocol.FaultValue, set(h, 0))
	bad("error-text", "error", protocol.FaultLimit, set(h+4, 0, 0xff))
	bad("error-short", "error", protocol.FaultTruncated, cut(8))
	bad("error-long", "error", protocol.FaultTrailing, grow)
	return out
}

// describeDevice decodes a frame sent by a device and returns its description; the C++ test does the same
// for frames sent by a client.
func describeDevice(b []byte) (string, error) {
	t, n, err := protocol.ParseHead(b)
	if err != nil {
		return "", err
	}
	if n != len(b)-protocol.HeadBytes {
		return "", protocol.ProtoErr(t, protocol.FaultTruncated, "frame")
	}
	body := b[protocol.HeadBytes:]
	var s strings.Builder
	switch t {
	case protocol.FrameHello:
		h, err := protocol.DecodeHello(body)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&s, "HELLO version=%d period=%d max=%d busy=%d hash=%s", h.Version, h.PeriodPs, h.MaxFrame, h.Busy,
			hx(h.BuildHash[:]))
		for _, x := range h.Clocks {
			fmt.Fprintf(&s, " %s:%d", x.Name, x.PeriodPs)
		}
		for _, x := range h.Streams {
			fmt.Fprintf(&s, " %s:%v/%v/%v/%d/%d/%d/%d", x.Name, x.Kind, x.Out, x.Ready, x.KeepUnit, x.DataBytes,
				x.SideBytes, x.Clock)
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
	case protocol.FrameRan:
		return describeRan(body)
	case protocol.FrameError:
		e, err := protocol.DecodeError(body)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&s, "ERROR code=%d cycle=%d %s", e.Code, e.Cycle, e.Text)
	default:
		return "", protocol.ProtoErr(t, protocol.FaultFrameType, "not from a device")
	}
	return s.String(), nil
}

func describeRan(body []byte) (string, error) {
	var s strings.Builder
	var r protocol.Ran
	if err := protocol.DecodeRan(body, testHello(), &r); err != nil {
		return "", err
	}
	fmt.Fprintf(&s, "RAN index=%d start=%d cycles=%d flags=%d rtl=%d", r.Index, r.Start, r.Cycles, r.Flags, r.RTLNs)
	for _, o := range r.Observed {
		fmt.Fprintf(&s, " observed=%d:%d", o.Value, o.LastNonzero)
	}
	var e protocol.Record
	for {
		ok, err := r.Next(&e)
		if err != nil {
			return "", err
		}
		if !ok {
			return s.String(), nil
		}
		fmt.Fprintf(&s, " %d.%d.%d.%d#%d@%d-%d[%x/%x]", e.Kind, e.Stream, e.Flags, e.Rule, e.Ordinal, e.First, e.Last,
			e.Side, e.Data)
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

// TestVectors checks that both encoding and decoding agree with the bytes on file.
func TestVectors(t *testing.T) {
	made := append(goodVectors(), badVectors()...)
	if *update {
		s := "# Frames of docs/bridge.md: name, sender, bytes, what a decoder makes of them or the class of the " +
			"fault.\n" +
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
		var pe *protocol.ProtocolError
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
			compiler := exec.Command(cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror",
				"-fsanitize=address,undefined",
				"-fno-sanitize-recover=all", "-I", harness, "-o", bin, filepath.Join(harness, "tests", name+".cpp"))
			out, err := compiler.CombinedOutput()
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
		if len(b) < protocol.HeadBytes {
			return
		}
		if _, err := describeDevice(b); err != nil {
			var pe *protocol.ProtocolError
			if !errors.As(err, &pe) {
				t.Fatalf("%T: %v", err, err)
			}
		}
	})
}
