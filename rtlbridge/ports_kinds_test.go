package rtlbridge

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// kinds launches the device with a port of every kind.
func kinds(t *testing.T) *Conn {
	t.Helper()
	m, err := LoadManifest("../verilator/duts/ports")
	require.NoError(t, err)
	d, err := Build(m, BuildOptions{Variant: VariantSpeed, Log: os.Stderr})
	require.NoError(t, err)
	return launch(t, d, LaunchOptions{})
}

// kindRun is what came of a run: outputs by stream, and the observed counts of what was driven wrongly.
type kindRun struct {
	outs   map[string][][]byte
	ins    map[string][]uint64 // cycles
	faults []uint64
}

func runKinds(t *testing.T, c *Conn, quanta int, cycles uint32) kindRun {
	t.Helper()
	r := kindRun{outs: map[string][][]byte{}, ins: map[string][]uint64{}}
	for range quanta {
		require.NoError(t, c.SendRun(cycles))
		ran, err := c.Recv()
		require.NoError(t, err)
		var e Record
		for {
			ok, err := c.Next(ran, &e)
			require.NoError(t, err)
			if !ok {
				break
			}
			name := c.Hello().Streams[e.Stream].Name
			switch e.Kind {
			case EventOut:
				r.outs[name] = append(r.outs[name], append([]byte(nil), e.Side...))
			case EventIn:
				r.ins[name] = append(r.ins[name], e.Last)
			case EventViolation:
				t.Fatalf("%s: %v", name, e.Rule)
			}
		}
		r.faults = nil
		for _, o := range ran.Observed {
			r.faults = append(r.faults, o.Value)
		}
	}
	return r
}

// A record has its fields, a level stays, an acknowledge comes in the cycle of its request and never without, coupled streams
// keep to their order, under stalls of every stream.
func TestPortKinds(t *testing.T) {
	c := kinds(t)
	at := map[string]int{}
	for i, s := range c.Hello().Streams {
		at[s.Name] = i
	}
	require.Equal(t, []Signal{{"addr", 12}, {"write", 1}, {"mode", 3}}, c.Hello().Streams[at["rsp"]].Fields)
	for _, stall := range []int{0, 30, 90} {
		s := c.NewStart(uint64(7 + stall))
		s.Poison = true
		for i, x := range c.Hello().Streams {
			if x.Ready || !x.Out {
				s.Streams[i].StallPercent = stall
			}
		}
		s.Streams[at["mode"]].StallPercent = 0
		require.NoError(t, c.Start(s))
		const n = 40
		require.NoError(t, c.Add(at["mode"], 0, []byte{5}, nil))
		for i := range n {
			require.NoError(t, c.Add(at["req"], 0, []byte{byte(i), byte(i >> 4 & 0xf), byte(i & 1)}, nil))
			beats := 1 + i%5
			require.NoError(t, c.Add(at["hdr"], 0, []byte{byte(beats)}, nil))
			pay := make([]byte, beats)
			for k := range pay {
				pay[k] = byte(beats - k)
			}
			require.NoError(t, c.Add(at["pay"], 0, nil, pay))
			require.NoError(t, c.Add(at["left"], uint64(10*i), []byte{byte(i)}, nil))
			require.NoError(t, c.Add(at["right"], uint64(10*i), []byte{byte(i)}, nil))
		}
		for range 3 {
			require.NoError(t, c.Add(at["kick"], 0, nil, nil))
		}
		r := runKinds(t, c, 1, 20_000)
		require.Equal(t, []uint64{0, 0, 0}, r.faults, "stray acknowledges, early payload, records apart, at %d%%", stall)
		require.Len(t, r.outs["rsp"], n)
		for i, got := range r.outs["rsp"] {
			require.Equal(t, []byte{byte(i), byte(i >> 4 & 0xf), byte(i & 1), 5}, got)
		}
		require.Len(t, r.ins["pay"], n+n*4/5, "each packet's first and last beat, or its only one")
		ticks := r.outs["tick"]
		last := ticks[len(ticks)-1]
		require.EqualValues(t, 3, le.Uint16(last[2:]), "pulses in the other clock's domain")
		require.InDelta(t, 20_000*2500/3700, int(le.Uint16(last)), 8, "cycles of the other clock")
	}
}

// Results do not depend on the quantum, with two clocks either.
func TestClocksAndQuanta(t *testing.T) {
	c := kinds(t)
	run := func(quanta int, cycles uint32) kindRun {
		s := c.NewStart(3)
		s.Clocks[0] = ClockStart{PeriodPs: 901, PhasePs: 17}
		require.NoError(t, c.Start(s))
		for i := range 20 {
			require.NoError(t, c.Add(1, uint64(11*i), []byte{byte(i), 0, 0}, nil))
		}
		return runKinds(t, c, quanta, cycles)
	}
	once := run(1, 600)
	require.Equal(t, once, run(600, 1))
	require.Len(t, once.outs["rsp"], 20)
}

func TestPortKindFaults(t *testing.T) {
	const head = "name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: clk, period_ps: 10}]\nstreams:\n"
	const in = "- {name: a, kind: record, dir: in, prefix: a, fields: [x]}\n"
	for text, want := range map[string]string{
		head + "- {name: a, kind: record, dir: in, side: [x]}":                                  "dut.yaml:6: stream a: kind record has no side",
		head + "- {name: a, kind: axis, dir: in, prefix: p, fields: [x]}":                       "dut.yaml:6: stream a: kind axis has no fields",
		head + "- {name: a, kind: level, dir: out, fields: [x]}":                                "dut.yaml:6: stream a: a level is an input",
		head + "- {name: a, kind: level, dir: in}":                                              "dut.yaml:6: stream a: a level needs fields",
		head + "- {name: a, kind: record, dir: in, prefix: a, fields: [x, valid]}":              `dut.yaml:6: stream a: "valid" in fields is not a new role name`,
		head + "- {name: a, kind: record, dir: in, prefix: a, clock: c}":                        `dut.yaml:6: stream a: clock "c" is not in clocks`,
		head + "- {name: a, kind: record, dir: in, prefix: a, ready_answers: true}":             "dut.yaml:6: stream a: ready_answers is for outputs with a ready",
		head + "- {name: a, kind: record, dir: in, prefix: a, fields_late: true}":               "dut.yaml:6: stream a: fields_late is for records out of the device",
		head + "- {name: a, kind: axis, dir: out, prefix: a, fields_late: true}":                "dut.yaml:6: stream a: fields_late is for records out of the device",
		head + `- {name: a, kind: record, dir: in, prefix: a, fields: [x], signals: {x: "!y"}}`: `dut.yaml:6: stream a: signals.x: "!y": ! (active low) is for valid and ready alone`,
		head + `- {name: a, kind: record, dir: in, prefix: a, signals: {ready: "!!full"}}`:      `dut.yaml:6: stream a: signals.ready: "!!full" is not a port name`,
		head + in + "- {name: b, kind: record, dir: in, prefix: b, after: c}":                   `dut.yaml:7: stream b: after "c": needs an input stream`,
		head + "- {name: b, kind: record, dir: in, prefix: b, with: a}\n" + in:                  `dut.yaml:6: stream b: with "a": needs a stream that stands before it`,
		head + in + "tie_rest: x": "dut.yaml:7: tie_rest: constant",
		head + in + "skip_idle: true\nbusy: b\nobserve: [b]\nclocks: []":                         "already defined",
		"name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: c, period_ps: 1}]\nstreams:\n" + in: "period_ps 1: needs 2",
	} {
		_, err := ParseManifest("dut.yaml", []byte(text))
		require.ErrorContains(t, err, want)
	}
}

// An AXI port is five records; what it has beside the usual fields is added, what it lacks is left out, and errors keep the
// lines of the file.
func TestAXIPorts(t *testing.T) {
	const head = "name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: clk, period_ps: 10}]\nstreams:\n"
	m, err := ParseManifest("dut.yaml", []byte(head+
		"- {name: s, kind: axi4, dir: in, prefix: s_axi, fields: [awprot], omit: [awid, bid, arid, rid], signals: {wdata: data, wvalid: go}}\n"+
		"- {name: c, kind: axil, dir: out}\n- {name: q, kind: level, dir: in, fields: [q]}\n"))
	require.NoError(t, err)
	require.Len(t, m.Streams, 11)
	aw, w, b := m.Streams[0], m.Streams[1], m.Streams[2]
	require.Equal(t, []string{"s.aw", "in", "record"}, []string{aw.Name, aw.Dir, aw.Kind})
	require.Equal(t, []string{"awaddr", "awlen", "awsize", "awburst", "awprot"}, aw.Fields)
	require.Equal(t, []string{"s_axi_awvalid", "s_axi_awready", "s_axi_awaddr"}, []string{aw.pin("valid"), aw.pin("ready"), aw.pin("awaddr")})
	require.Equal(t, []string{"go", "data", "s_axi_wstrb"}, []string{w.pin("valid"), w.pin("wdata"), w.pin("wstrb")})
	require.Equal(t, []string{"out", "bresp"}, append([]string{b.Dir}, b.Fields...))
	r := m.Streams[9]
	require.Equal(t, []string{"c.r", "in", "rdata", "rresp"}, append([]string{r.Name, r.Dir}, r.Fields...))
	require.Equal(t, "rvalid", r.pin("valid"))
	require.Equal(t, 8, m.line("streams[10].fields"))
	for text, want := range map[string]string{
		"- {name: s, kind: axi4, dir: in, fields: [prot]}":                  `dut.yaml:6: stream s: field "prot": needs a name that begins with its channel`,
		"- {name: s, kind: axil, dir: in, omit: [awid]}":                    `dut.yaml:6: stream s: omit "awid": kind axil has awaddr, wdata`,
		"- {name: s, kind: axil, dir: in, ready: false}":                    "dut.yaml:6: stream s: kind axil has name, kind, dir",
		"- {name: s, kind: axil, dir: both}":                                `dut.yaml:6: stream s.aw: dir "both"`,
		"- {name: s, kind: axil, dir: in}\n- {name: a, kind: tdm, dir: in}": `dut.yaml:7: stream a: kind "tdm" is not supported; axis, tlp, record, level, axi4, axil`,
		"- {name: s, kind: record, dir: in, omit: [x]}":                     "dut.yaml:6: stream s: omit is for kinds axi4 and axil",
	} {
		_, err := ParseManifest("dut.yaml", []byte(head+text))
		require.ErrorContains(t, err, want)
	}
}

// A reset in the middle of traffic drops what was under way, and what comes behind it is as after power-up.
func TestReset(t *testing.T) {
	m, err := LoadManifest("../verilator/duts/fifo")
	require.NoError(t, err)
	d, err := Build(m, BuildOptions{Variant: VariantSpeed, Log: os.Stderr})
	require.NoError(t, err)
	c := launch(t, d, LaunchOptions{})
	for _, at := range []uint64{0, 1, 7, 23, 40} {
		run := func(quanta int, cycles uint32) kindRun {
			require.NoError(t, c.Start(c.NewStart(at)))
			for i := range 10 {
				require.NoError(t, c.Add(0, 0, []byte{byte(i), 0, 0, 0}, make([]byte, 300)))
			}
			require.NoError(t, c.Reset(at))
			require.NoError(t, c.Add(0, 0, []byte{99, 0, 0, 0}, make([]byte, 65)))
			return runKinds(t, c, quanta, cycles)
		}
		r := run(1, 200)
		outs := r.outs["out"]
		require.NotEmpty(t, outs)
		require.Equal(t, []byte{99, 0, 0, 0}, outs[len(outs)-1])
		require.LessOrEqual(t, len(outs), 1+int(at)/5, "five beats each")
		require.Equal(t, r, run(200, 1), "whatever the quantum")
	}
}
