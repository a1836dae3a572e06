package rtlbridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const goodManifest = `name: x
top: m
sources: [a.sv]
clocks: [{signal: clk, period_ps: 2500}]
resets: [{signal: rst, active: high}]
streams:
  - {name: in, kind: axis, dir: in, prefix: s}
  - name: out
    kind: tlp
    dir: out
    prefix: m
    keep_unit: 4
    side: [thdr]
    signals: {tvalid: m_valid}
tie_offs: {mode: 0x1f}
observe: [busy]
busy: busy
`

func goodPorts() []PinPort {
	return []PinPort{
		{Name: "clk", Dir: "in", Width: 1, Member: "clk"}, {Name: "rst", Dir: "in", Width: 1, Member: "rst"},
		{Name: "s_tdata", Dir: "in", Width: 64, Member: "s_tdata"}, {Name: "s_tkeep", Dir: "in", Width: 8, Member: "s_tkeep"},
		{Name: "s_tlast", Dir: "in", Width: 1, Member: "s_tlast"}, {Name: "s_tvalid", Dir: "in", Width: 1, Member: "s_tvalid"},
		{Name: "s_tready", Dir: "out", Width: 1, Member: "s_tready"},
		{Name: "m_tdata", Dir: "out", Width: 64, Member: "m_tdata"}, {Name: "m_tkeep", Dir: "out", Width: 2, Member: "m_tkeep"},
		{Name: "m_tlast", Dir: "out", Width: 1, Member: "m_tlast"}, {Name: "m_valid", Dir: "out", Width: 1, Member: "m_valid"},
		{Name: "m_tready", Dir: "in", Width: 1, Member: "m_tready"}, {Name: "m_thdr", Dir: "out", Width: 128, Member: "m_thdr"},
		{Name: "mode", Dir: "in", Width: 5, Member: "mode"}, {Name: "busy", Dir: "out", Width: 1, Member: "busy"},
	}
}

func TestManifest(t *testing.T) {
	m, err := ParseManifest("dut.yaml", []byte(goodManifest))
	require.NoError(t, err)
	require.Equal(t, 16, m.Resets[0].Cycles)
	b, err := bind(m, goodPorts())
	require.NoError(t, err)
	require.Equal(t, 8, b.Streams[0].DataBytes)
	require.Equal(t, 16, b.Streams[1].SideBytes)
	require.Equal(t, "m_valid", b.Streams[1].Valid.Member)
}

// TestManifestFaults changes one line and wants the fault named with its line.
func TestManifestFaults(t *testing.T) {
	for _, x := range []struct{ from, to, want string }{
		{"top: m", "top: m\ntopp: n", `dut.yaml:3: unknown field "topp"`},
		{"top: m", "top: m\nverilator_flags: [-O3, --lint-only]", `dut.yaml:3: verilator_flags: --lint-only is not for a manifest`},
		{"top: m", "top: m\nverilator_flags: [--threads 2]", `dut.yaml:3: verilator_flags: "--threads 2" is an option and its value: give them as two entries`},
		{"top: m", "top: m\nverilator_flags: [\n  --stats,\n  dpi.cpp]", `dut.yaml:5: verilator_flags: dpi.cpp: only the design's own sources`},
		{"name: x", "name: a/b", `dut.yaml:1: name "a/b"`},
		{"sources: [a.sv]", "sources: []", "dut.yaml:3: sources"},
		{"[{signal: clk, period_ps: 2500}]", "[{signal: clk, period_ps: 0}]", "dut.yaml:4: period_ps 0"},
		{"dir: out", "dir: out\n    clock: clk2", `dut.yaml:11: stream out: clock "clk2" is not in clocks`},
		{"active: high", "active: up", `dut.yaml:5: reset rst: active "up": needs high or low`},
		{"kind: tlp", "kind: chi", `dut.yaml:9: stream out: kind "chi" is not supported`},
		{"dir: out", "dir: both", `dut.yaml:10: stream out: dir "both"`},
		{"keep_unit: 4", "keep_unit: 2", "dut.yaml:12: stream out: keep_unit 2"},
		{"side: [thdr]", "side: [tdata]", `dut.yaml:13: stream out: "tdata" in side is not a new role name`},
		{"{tvalid: m_valid}", "{valid: m_valid}", `dut.yaml:14: stream out: signals: role "valid"`},
		{"name: out", "name: in", "dut.yaml:8: stream in is given twice"},
		{"prefix: m\n", "lane: 2\n    lanes: 2\n", "dut.yaml:11: stream out: lane 2 of 2"},
		{"    prefix: m\n", "", "stream out: prefix is needed"},
		{"0x1f", "up", `dut.yaml:15: tie_offs.mode: constant "up"`},
		{"busy: busy", "busy: idle", `dut.yaml:17: busy: "idle" is not in observe`},
		{"observe: [busy]", "observe: [busy, busy]", "dut.yaml:16: observe: busy is given twice"},
		{"name: x", "name: [", "dut.yaml:"},
		{"name: x", "name: \xd4", "dut.yaml: is no YAML: "},
		{"busy: busy", "busy: busy\n---\nname: y", "more than one YAML document"},
	} {
		text := strings.Replace(goodManifest, x.from, x.to, 1)
		require.NotEqual(t, goodManifest, text, "%s", x.from)
		_, err := ParseManifest("dut.yaml", []byte(text))
		require.ErrorContains(t, err, x.want)
	}
	_, err := ParseManifest("dut.yaml", nil)
	require.ErrorContains(t, err, "is empty")
	_, err = ParseManifest("dut.yaml", []byte("name: a/b\ntop: 1\nclocks: []\n"))
	for _, want := range []string{"name", "top", "sources", "clocks", "streams"} {
		require.ErrorContains(t, err, want, "all faults at once")
	}
}

// What was meant by an unknown field or a value of a wrong type is not known: no fault that follows from it is told.
func TestManifestShapeFaultsStandAlone(t *testing.T) {
	for _, x := range []struct{ from, to, want string }{
		{"period_ps: 2500", "period_ps: fast", `dut.yaml:4: clocks[0].period_ps: "fast": needs a whole number`},
		{"period_ps: 2500", "period_ps: 2500.5", `dut.yaml:4: clocks[0].period_ps: "2500.5": needs a whole number`},
		{"period_ps: 2500", "period_ps: 99999999999999999999", `dut.yaml:4: clocks[0].period_ps: "99999999999999999999": needs a whole number`},
		{"keep_unit: 4", "keep_unit: 4.0", `dut.yaml:12: streams[1].keep_unit: "4.0": needs a whole number`},
		{"prefix: m\n", "prefix: m\n    strides: {tdata: 8.5}\n", `dut.yaml:12: streams[1].strides.tdata: "8.5": needs a whole number`},
		{"top: m", "topp: m", `dut.yaml:2: unknown field "topp"`},
		{"observe: [busy]", "observ: [busy]", `dut.yaml:16: unknown field "observ"`},
		{"active: high", "activ: high", `dut.yaml:5: resets[0]: unknown field "activ"`},
		{"sources: [a.sv]", "sources: a.sv", `dut.yaml:3: sources: "a.sv": needs a list`},
		{"top: m", "top: [m]", "dut.yaml:2: top: a list: needs a single value"},
		{"observe: [busy]", "observe: [{busy: 1}]", "dut.yaml:16: observe[0]: a group of fields: needs a single value"},
		{"side: [thdr]", "side: [thdr]\n    ready: maybe", `dut.yaml:14: streams[1].ready: "maybe": needs true or false`},
		{"[{signal: clk, period_ps: 2500}]", "[clk]", `dut.yaml:4: clocks[0]: "clk": needs fields with values (name: value)`},
		{"name: x", "name: x\nname: y", `dut.yaml:2: mapping key "name" already defined at line 1`},
	} {
		text := strings.Replace(goodManifest, x.from, x.to, 1)
		require.NotEqual(t, goodManifest, text, "%s", x.from)
		_, err := ParseManifest("dut.yaml", []byte(text))
		require.EqualError(t, err, x.want)
	}
	_, err := ParseManifest("dut.yaml", []byte("- a\n"))
	require.EqualError(t, err, "dut.yaml:1: a list: needs fields with values (name: value)")
	_, err = ParseManifest("dut.yaml", []byte("tie_offs: &x {<<: *x}\n\"\": 1\n"))
	require.ErrorContains(t, err, "contains itself")
	text := strings.Replace(goodManifest, "{signal: clk, period_ps: 2500}", "{<<: {signal: clk}, period_ps: 0x9c4}", 1)
	m, err := ParseManifest("dut.yaml", []byte(text))
	require.NoError(t, err, "merged fields, another base")
	require.EqualValues(t, 2500, m.Clocks[0].PeriodPs)
}

// Faults of shape and of values are told together, by line; not what follows from a name or a value that is not known.
func TestManifestFaultsOfBothKinds(t *testing.T) {
	for _, x := range []struct{ changes, want []string }{
		{[]string{"name: x", "name: a/b", "period_ps: 2500", "period_ps: fast", "active: high", "active: up"}, []string{
			`dut.yaml:1: name "a/b": needs 1 to 64 letters, digits, '_', '.' or '-'`,
			`dut.yaml:4: clocks[0].period_ps: "fast": needs a whole number`,
			`dut.yaml:5: reset rst: active "up": needs high or low`}},
		{[]string{"name: x", "nam: x", "dir: out", "dir: both", "keep_unit: 4", "keep_unit: four"}, []string{
			`dut.yaml:1: unknown field "nam"`,
			`dut.yaml:12: streams[1].keep_unit: "four": needs a whole number`}},
		{[]string{"name: in", "name: /", "kind: tlp", "kinds: tlp", "busy: busy", "busy: idle"}, []string{
			`dut.yaml:7: stream name "/": needs 1 to 64 letters, digits, '_', '.' or '-'`,
			`dut.yaml:9: streams[1]: unknown field "kinds"`,
			`dut.yaml:17: busy: "idle" is not in observe`}},
		{[]string{"name: x", "name: a/b", "observe: [busy]", "observe: busy"}, []string{
			`dut.yaml:1: name "a/b": needs 1 to 64 letters, digits, '_', '.' or '-'`,
			`dut.yaml:16: observe: "busy": needs a list`}},
		{[]string{"top: m", "top: [m]", "name: x", "name: x\nname: y"}, []string{
			`dut.yaml:3: top: a list: needs a single value`,
			`dut.yaml:2: mapping key "name" already defined at line 1`}},
	} {
		text := goodManifest
		for i := 0; i < len(x.changes); i += 2 {
			require.Contains(t, text, x.changes[i])
			text = strings.Replace(text, x.changes[i], x.changes[i+1], 1)
		}
		_, err := ParseManifest("dut.yaml", []byte(text))
		require.EqualError(t, err, strings.Join(x.want, "\n"))
	}
}

// TestBindFaults changes one port and wants the fault named with the manifest's line and the port.
func TestBindFaults(t *testing.T) {
	for _, x := range []struct {
		port   string
		change func(*PinPort)
		want   string
	}{
		{"s_tdata", func(p *PinPort) { p.Name = "s_data" }, "dut.yaml:7: stream in: tdata: module m has no port s_tdata (did you mean m_tdata?)"},
		{"s_tdata", func(p *PinPort) { p.Dir = "out" }, "dut.yaml:7: stream in: tdata: port s_tdata is an output of the module and must be an input"},
		{"s_tdata", func(p *PinPort) { p.Width = 63 }, "whole bytes"},
		{"s_tkeep", func(p *PinPort) { p.Width = 2 }, "tkeep has 2 bits of 1 bytes each, tdata has 8 bytes"},
		{"m_tlast", func(p *PinPort) { p.Width = 2 }, "dut.yaml:11: stream out: tlast: port m_tlast gives 2 bits per lane and must give 1"},
		{"m_valid", func(p *PinPort) { p.Array = "[4]" }, "dut.yaml:14: stream out: tvalid: port m_valid is an unpacked array [4]"},
		{"clk", func(p *PinPort) { p.Name = "clock" }, "dut.yaml:4: the clock: module m has no port clk"},
		{"rst", func(p *PinPort) { p.Width = 2 }, "dut.yaml:5: a reset: port rst has 2 bits and must have 1"},
		{"mode", func(p *PinPort) { p.Width = 4 }, "dut.yaml:15: tie-off mode: 0x1f needs 5 bits, the port has 4"},
		{"busy", func(p *PinPort) { p.Width = 65 }, "dut.yaml:16: observe: port busy has 65 bits"},
		{"busy", func(p *PinPort) { p.Dir = "in" }, "input busy (1 bits) of module m is bound to nothing"},
		{"m_thdr", func(p *PinPort) { p.Width = 4096 }, "512 side-band bytes, the limit is 256"},
		{"busy", func(p *PinPort) { p.Dir = "inout" }, "inout, which is not supported"},
	} {
		m, err := ParseManifest("dut.yaml", []byte(goodManifest))
		require.NoError(t, err)
		ports := goodPorts()
		for i := range ports {
			if ports[i].Name == x.port {
				x.change(&ports[i])
			}
		}
		_, err = bind(m, ports)
		require.ErrorContains(t, err, x.want)
		var me *ManifestError
		require.ErrorAs(t, err, &me)
	}
}

func TestLanes(t *testing.T) {
	text := strings.ReplaceAll(goodManifest, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: in, kind: axis, dir: in, prefix: s, lane: 0, lanes: 2}\n  - {name: in1, kind: axis, dir: in, prefix: s, lane: 1, lanes: 2, strides: {tkeep: 6}}")
	m, err := ParseManifest("dut.yaml", []byte(text))
	require.NoError(t, err)
	ports := goodPorts()
	for i := range ports {
		if strings.HasPrefix(ports[i].Name, "s_") {
			ports[i].Width *= 2
		}
	}
	_, err = bind(m, ports)
	require.ErrorContains(t, err, "tkeep has 6 bits")
	m.Streams[1].Strides = nil
	b, err := bind(m, ports)
	require.NoError(t, err)
	require.Equal(t, 64, b.Streams[1].Data.Lsb)
	require.Equal(t, 1, b.Streams[1].ReadyF.Lsb)
	m.Streams[1].Lane = 0
	_, err = bind(m, ports)
	require.ErrorContains(t, err, "port s_tdata[0] is driven by stream in: tdata and by stream in1: tdata")
	require.ErrorContains(t, err, "input s_tdata of module m: of its 2 lanes, s_tdata[1] are bound to nothing")
}

// Lanes that no stream drives would stay at zero; every one is named, and the ready lanes of outputs are inputs, too.
func TestUnboundLanes(t *testing.T) {
	text := strings.ReplaceAll(goodManifest, "prefix: s}", "prefix: s, lane: 1, lanes: 4}")
	text = strings.ReplaceAll(text, "prefix: m\n", "prefix: m\n    lane: 0\n    lanes: 2\n")
	m, err := ParseManifest("dut.yaml", []byte(text))
	require.NoError(t, err)
	ports := goodPorts()
	for i := range ports {
		switch {
		case strings.HasPrefix(ports[i].Name, "s_"):
			ports[i].Width *= 4
		case strings.HasPrefix(ports[i].Name, "m_"):
			ports[i].Width *= 2
		}
	}
	_, err = bind(m, ports)
	require.ErrorContains(t, err, "dut.yaml:6: input s_tdata of module m: of its 4 lanes, s_tdata[0], s_tdata[2], s_tdata[3] are bound to nothing")
	require.ErrorContains(t, err, "input s_tvalid")
	require.ErrorContains(t, err, "input m_tready of module m: of its 2 lanes, m_tready[1] are bound to nothing")
	require.NotContains(t, err.Error(), "s_tready", "an output")
	m.TieOffs["s_tdata"] = "0"
	_, err = bind(m, ports)
	require.ErrorContains(t, err, "port s_tdata is driven by lanes of streams and by tie-off")
}

// Two streams must agree on how many lanes a port has.
func TestLaneCountsDiffer(t *testing.T) {
	text := strings.ReplaceAll(goodManifest, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: in, kind: axis, dir: in, prefix: s, lane: 0, lanes: 2}\n  - {name: in1, kind: axis, dir: in, prefix: s, lane: 1, lanes: 4}")
	m, err := ParseManifest("dut.yaml", []byte(text))
	require.NoError(t, err)
	_, err = bind(m, goodPorts())
	require.ErrorContains(t, err, "stream in1: tdata: port s_tdata has 4 lanes here and 2 in a stream before")
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, f := range []string{"b.sv", "a.sv", "sub/c.sv", "sub/d.sv", "sub/inc/x.svh"} {
		write(f, "")
	}
	write("top.f", "// comment\na.sv\n-f sub/more.f\n*.sv # all\n")
	write("sub/more.f", "+incdir+inc\n+define+A=1+B\nd.sv\nc.sv\n")
	m := &Manifest{Path: filepath.Join(dir, "dut.yaml"), Sources: []string{"top.f", "b.sv"}}
	s, err := m.expandSources()
	require.NoError(t, err)
	var names []string
	for _, f := range s.files {
		names = append(names, m.rel(f))
	}
	require.Equal(t, []string{"a.sv", "sub/d.sv", "sub/c.sv", "b.sv"}, names)
	require.Equal(t, []string{"A=1", "B"}, s.defines)
	require.Equal(t, []string{filepath.Join(dir, "sub/inc")}, s.incDirs)

	write("loop.f", "-f loop.f\n")
	write("bad.f", "x.sv\n--trace\n")
	m.Sources = []string{"loop.f", "bad.f", "none*.sv", "sub", "/dev/zero", "/proc/self/maps", "pipe.f"}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.f"), 0o600))
	for i := range 12 {
		write(fmt.Sprintf("twice%d.f", i), strings.Repeat(fmt.Sprintf("-f twice%d.f\n", i+1), 3))
	}
	write("twice12.f", "a.sv\n")
	_, err = m.expandSources()
	require.Error(t, err)
	m.Sources = append(m.Sources, "twice0.f")
	_, err = m.expandSources()
	for _, want := range []string{"sub is no regular file", "/dev/zero is no regular file", "/proc/self/maps is no regular file or folder", "pipe.f is no regular file of at most", "does it include itself?", "more than 1000 file lists", "bad.f:1: no file matches", `bad.f:2: option "--trace"`, "no file matches " + dir} {
		require.ErrorContains(t, err, want)
	}
}

func TestMissingTools(t *testing.T) {
	m, err := LoadManifest(fifoManifest)
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	_, err = Build(m, BuildOptions{})
	require.ErrorIs(t, err, ErrToolMissing)
	require.EqualError(t, err, "tool missing: verilator is not installed; install it with: apt-get install verilator")
}

func TestBuildFailures(t *testing.T) {
	dir := t.TempDir()
	o := BuildOptions{CacheDir: dir, HarnessDir: "../verilator/harness"}
	put := func(rtl string) *Manifest {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "m.sv"), []byte(rtl), 0o644))
		m, err := ParseManifest(filepath.Join(dir, "dut.yaml"), []byte(strings.Replace(goodManifest, "a.sv", "m.sv", 1)))
		require.NoError(t, err)
		return m
	}
	_, err := Build(put("module m(input clk);\n  assign x = ;\nendmodule\n"), o)
	var de *DesignError
	require.ErrorAs(t, err, &de)
	require.ErrorContains(t, err, "verilating m: the design has 1 error\n%Error: m.sv:2:14: syntax error")
	_, err = Build(put("module n;\nendmodule\n  module automatic k(input clk);\nendmodule\n// module x\n"), o)
	var me *ManifestError
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, `dut.yaml:2: top "m": the sources have no such module; they have k, n`)
	odd := put("module m(input clk);\nendmodule\n")
	odd.VerilatorFlags = []string{"--stats", "-fno-nosuch"}
	_, err = Build(odd, o)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator_flags: Verilator has no option -fno-nosuch")
	odd.VerilatorFlags = []string{"-Wno-nosuch"}
	_, err = Build(odd, o)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator_flags: Verilator has no option -Wno-nosuch")
	_, err = Build(put("module m(input clk);\nendmodule\n"), o)
	require.ErrorContains(t, err, "manifest does not fit module m")
	require.ErrorContains(t, err, "module m has no port s_tdata")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hidden.svh"), []byte("// x\n"), 0o644))
	_, err = Build(put("`include \"hidden.svh\"\nmodule m(input clk);\nendmodule\n"), o)
	require.ErrorContains(t, err, "hidden.svh, which the manifest does not name")
	_, err = Build(put("module m; endmodule"), BuildOptions{Variant: "fast"})
	require.ErrorContains(t, err, `build variant "fast" is not known`)
	_, err = LoadManifest(filepath.Join(dir, "none"))
	require.True(t, errors.Is(err, os.ErrNotExist))
}

func TestCheck(t *testing.T) {
	m, err := LoadManifest(fifoManifest)
	require.NoError(t, err)
	c, err := Check(t.Context(), m, true)
	require.NoError(t, err)
	require.Len(t, c.Ports, 17)
	require.Empty(t, c.Warnings)
	m.Sources[0] = m.abs(m.Sources[0])
	m.Path = filepath.Join(t.TempDir(), "dut.yaml")
	m.VerilatorFlags = []string{"--stats"}
	_, err = Check(t.Context(), m, true)
	require.NoError(t, err)
	left, err := os.ReadDir(m.Dir())
	require.NoError(t, err)
	require.Empty(t, left, "what an option has Verilator write is not left beside the manifest")
}

func FuzzParseManifest(f *testing.F) {
	f.Add(goodManifest)
	f.Add("streams: [{name: x, lane: -1, lanes: 5}]\ntie_offs: {a: -1}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseManifest("dut.yaml", []byte(text))
		if err != nil {
			return
		}
		if _, err := bind(m, goodPorts()); err != nil {
			var me *ManifestError
			require.ErrorAs(t, err, &me)
		}
	})
}
