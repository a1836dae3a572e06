package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest/manifesttest"
)

func TestManifest(t *testing.T) {
	m, err := Parse("dut.yaml", []byte(manifesttest.Good))
	require.NoError(t, err)
	require.Equal(t, 16, m.Resets[0].Cycles)
	b, err := Bind(m, goodPorts(t))
	require.NoError(t, err)
	require.Equal(t, 8, b.Streams[0].DataBytes)
	require.Equal(t, 16, b.Streams[1].SideBytes)
	require.Equal(t, "m_valid", b.Streams[1].Valid.Member)
}

// TestManifestFaults changes one line and checks that the fault is reported with its line.
func TestManifestFaults(t *testing.T) {
	for _, x := range []struct{ from, to, want string }{
		{"top: m", "top: m\ntopp: n", `dut.yaml:3: unknown field "topp"`},
		{"top: m", "top: m\nverilator_flags: [-O3, --lint-only]",
			`dut.yaml:3: verilator_flags: --lint-only is not for a manifest`},
		{"top: m", "top: m\nverilator_flags: [--threads 2]",
			`dut.yaml:3: verilator_flags: "--threads 2" is an option and its value: give them as two entries`},
		{"top: m", "top: m\nverilator_flags: [\n  --stats,\n  dpi.cpp]",
			`dut.yaml:5: verilator_flags: dpi.cpp: only the design's own sources`},
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
		{"0x1f", `"017"`, `dut.yaml:15: tie_offs.mode: constant "017": 15 in YAML 1.1`},
		{"top: m", "top: m\nparameters: {DEPTH: '010'}", `dut.yaml:3: parameters.DEPTH: "010": 8 in YAML 1.1`},
		{"busy: busy", "busy: idle", `dut.yaml:17: busy: "idle" is not in observe`},
		{"observe: [busy]", "observe: [busy, busy]", "dut.yaml:16: observe: busy is given twice"},
		{"name: x", "name: [", "dut.yaml:"},
		{"name: x", "name: \xd4", "dut.yaml: is no YAML: "},
		{"busy: busy", "busy: busy\n---\nname: y", "more than one YAML document"},
	} {
		text := strings.Replace(manifesttest.Good, x.from, x.to, 1)
		require.NotEqual(t, manifesttest.Good, text, "%s", x.from)
		_, err := Parse("dut.yaml", []byte(text))
		require.ErrorContains(t, err, x.want)
	}
	_, err := Parse("dut.yaml", nil)
	require.ErrorContains(t, err, "is empty")
	_, err = Parse("dut.yaml", []byte("name: a/b\ntop: 1\nclocks: []\n"))
	for _, want := range []string{"name", "top", "sources", "clocks", "streams"} {
		require.ErrorContains(t, err, want, "all faults at once")
	}
}

// TestManifestShapeFaultsStandAlone checks that no fault is reported that only follows from an unknown
// field or a value of a wrong type, whose intended meaning is unknown.
func TestManifestShapeFaultsStandAlone(t *testing.T) {
	for _, x := range []struct{ from, to, want string }{
		{"period_ps: 2500", "period_ps: fast", `dut.yaml:4: clocks[0].period_ps: "fast": needs a whole number`},
		{"period_ps: 2500", "period_ps: 02500",
			`dut.yaml:4: clocks[0].period_ps: "02500": 1344 in YAML 1.1, where a 0 makes it octal, ` +
				`2500 in YAML 1.2: want 1344 or 2500`},
		{"period_ps: 2500", "period_ps: 2_500",
			`dut.yaml:4: clocks[0].period_ps: "2_500": no number in YAML 1.2: want 2500`},
		{"top: m", "top: m\nparameters: {DEPTH: 010}",
			`dut.yaml:3: parameters.DEPTH: "010": 8 in YAML 1.1, where a 0 makes it octal, ` +
				`10 in YAML 1.2: want 8 or 10`},
		{"top: m", "top: m\ndefines: {DEPTH: 0o17}",
			`dut.yaml:3: defines.DEPTH: "0o17": octal numbers are not read: want 15`},
		{"0x1f", "017", `dut.yaml:15: tie_offs.mode: "017": 15 in YAML 1.1, where a 0 makes it octal, ` +
			`17 in YAML 1.2: want 15 or 17`},
		{"top: m", "top: m\nskip_idle: yes", `dut.yaml:3: skip_idle: "yes": needs true or false`},
		{"period_ps: 2500", "period_ps: 2500.5", `dut.yaml:4: clocks[0].period_ps: "2500.5": needs a whole number`},
		{"period_ps: 2500", "period_ps: 99999999999999999999",
			`dut.yaml:4: clocks[0].period_ps: "99999999999999999999": needs a whole number`},
		{"keep_unit: 4", "keep_unit: 4.0", `dut.yaml:12: streams[1].keep_unit: "4.0": needs a whole number`},
		{"prefix: m\n", "prefix: m\n    strides: {tdata: 8.5}\n",
			`dut.yaml:12: streams[1].strides.tdata: "8.5": needs a whole number`},
		{"top: m", "topp: m", `dut.yaml:2: unknown field "topp"`},
		{"observe: [busy]", "observ: [busy]", `dut.yaml:16: unknown field "observ"`},
		{"active: high", "activ: high", `dut.yaml:5: resets[0]: unknown field "activ"`},
		{"sources: [a.sv]", "sources: a.sv", `dut.yaml:3: sources: "a.sv": needs a list`},
		{"top: m", "top: [m]", "dut.yaml:2: top: a list: needs a single value"},
		{"observe: [busy]", "observe: [{busy: 1}]", "dut.yaml:16: observe[0]: a group of fields: needs a single value"},
		{"side: [thdr]", "side: [thdr]\n    ready: maybe",
			`dut.yaml:14: streams[1].ready: "maybe": needs true or false`},
		{"[{signal: clk, period_ps: 2500}]", "[clk]",
			`dut.yaml:4: clocks[0]: "clk": needs fields with values (name: value)`},
		{"name: x", "name: x\nname: y", `dut.yaml:2: mapping key "name" already defined at line 1`},
	} {
		text := strings.Replace(manifesttest.Good, x.from, x.to, 1)
		require.NotEqual(t, manifesttest.Good, text, "%s", x.from)
		_, err := Parse("dut.yaml", []byte(text))
		require.EqualError(t, err, x.want)
	}
	_, err := Parse("dut.yaml", []byte("- a\n"))
	require.ErrorContains(t, err, "dut.yaml:1: a list: want a mapping of fields: name, top, sources")
	_, err = Parse("dut.yaml", []byte("tie_offs: &x {<<: *x}\n\"\": 1\n"))
	require.ErrorContains(t, err, "contains itself")
	text := strings.Replace(manifesttest.Good, "{signal: clk, period_ps: 2500}",
		"{<<: {signal: clk}, period_ps: 0x9c4}", 1)
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err, "merged fields, another base")
	require.EqualValues(t, 2500, m.Clocks[0].PeriodPs)
}

// TestManifestFaultsOfBothKinds checks that faults of shape and of values are reported together, by line,
// but not those that follow from an unknown name or value.
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
		text := manifesttest.Good
		for i := 0; i < len(x.changes); i += 2 {
			require.Contains(t, text, x.changes[i])
			text = strings.Replace(text, x.changes[i], x.changes[i+1], 1)
		}
		_, err := Parse("dut.yaml", []byte(text))
		require.EqualError(t, err, strings.Join(x.want, "\n"))
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add(manifesttest.Good)
	f.Add("streams: [{name: x, lane: -1, lanes: 5}]\ntie_offs: {a: -1}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("dut.yaml", []byte(text))
		if err != nil {
			return
		}
		if _, err := Bind(m, goodPorts(t)); err != nil {
			var me *Error
			require.ErrorAs(t, err, &me)
		}
	})
}

// TestOtherFilesAreNotShown checks that errors show no content of files that are not manifests: it may be
// secret.
func TestOtherFilesAreNotShown(t *testing.T) {
	for _, text := range []string{
		"root:$6$secret:1:\ndaemon:*:secret:\n", "secret:$6$1:1::\n*secret:x\n", "- secret\n",
		"name: x\npassword: secret\ntoken: secret\n", "a: *secret\n",
		"{\"private_key\": \"secret\"}", "secret: [\n", "!!int secret\n", "\"secret\n", "secret: !!float secret\n",
	} {
		m, err := Parse("dut.yaml", []byte(text))
		require.Nil(t, m)
		require.ErrorContains(t, err, "dut.yaml", text)
		require.NotContains(t, err.Error(), "secret", text)
	}
}
