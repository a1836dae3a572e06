package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortKindFaults(t *testing.T) {
	const head = "name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: clk, period_ps: 10}]\nstreams:\n"
	const in = "- {name: a, kind: record, dir: in, prefix: a, fields: [x]}\n"
	for _, x := range []struct{ text, want string }{
		{head + "- {name: a, kind: record, dir: in, side: [x]}", "dut.yaml:6: stream a: kind record has no side"},
		{head + "- {name: a, kind: axis, dir: in, prefix: p, fields: [x]}",
			"dut.yaml:6: stream a: kind axis has no fields"},
		{head + "- {name: a, kind: level, dir: out, fields: [x]}", "dut.yaml:6: stream a: a level is an input"},
		{head + "- {name: a, kind: level, dir: in}", "dut.yaml:6: stream a: a level needs fields"},
		{head + "- {name: a, kind: record, dir: in, prefix: a, fields: [x, valid]}",
			`dut.yaml:6: stream a: "valid" in fields is not a new role name`},
		{head + "- {name: a, kind: record, dir: in, prefix: a, clock: c}",
			`dut.yaml:6: stream a: clock "c" is not in clocks`},
		{head + "- {name: a, kind: record, dir: in, prefix: a, ready_answers: true}",
			"dut.yaml:6: stream a: ready_answers is for outputs with a ready"},
		{head + "- {name: a, kind: record, dir: in, prefix: a, fields_late: true}",
			"dut.yaml:6: stream a: fields_late is for records out of the device"},
		{head + "- {name: a, kind: axis, dir: out, prefix: a, fields_late: true}",
			"dut.yaml:6: stream a: fields_late is for records out of the device"},
		{head + `- {name: a, kind: record, dir: in, prefix: a, fields: [x], signals: {x: "!y"}}`,
			`dut.yaml:6: stream a: signals.x: "!y": ! (active low) is for valid and ready alone`},
		{head + `- {name: a, kind: record, dir: in, prefix: a, signals: {ready: "!!full"}}`,
			`dut.yaml:6: stream a: signals.ready: "!!full" is not a port name`},
		{head + in + "- {name: b, kind: record, dir: in, prefix: b, after: c}",
			`dut.yaml:7: stream b: after "c": needs an input stream`},
		{head + "- {name: b, kind: record, dir: in, prefix: b, with: a}\n" + in,
			`dut.yaml:6: stream b: with "a": needs a stream listed before it`},
		{head + in + "tie_rest: x", "dut.yaml:7: tie_rest: constant"},
		{head + in + "skip_idle: true\nbusy: b\nobserve: [b]\nclocks: []", "already defined"},
		{"name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: c, period_ps: 1}]\nstreams:\n" + in,
			"period_ps 1: needs 2"},
	} {
		_, err := Parse("dut.yaml", []byte(x.text))
		require.ErrorContains(t, err, x.want)
	}
}

// TestAXIPorts checks that an AXI port becomes five records; extra fields are added, missing ones left out, and errors
// keep the lines of the file.
func TestAXIPorts(t *testing.T) {
	const head = "name: x\ntop: m\nsources: [a.sv]\nclocks: [{signal: clk, period_ps: 10}]\nstreams:\n"
	m, err := Parse("dut.yaml", []byte(head+
		"- {name: s, kind: axi4, dir: in, prefix: s_axi, fields: [awprot], omit: [awid, bid, arid, rid], signals: "+
		"{wdata: data, wvalid: go}}\n"+
		"- {name: c, kind: axil, dir: out}\n- {name: q, kind: level, dir: in, fields: [q]}\n"))
	require.NoError(t, err)
	require.Len(t, m.Streams, 11)
	aw, w, b := m.Streams[0], m.Streams[1], m.Streams[2]
	require.Equal(t, []string{"s.aw", "in", "record"}, []string{aw.Name, aw.Dir, aw.Kind})
	require.Equal(t, []string{"awaddr", "awlen", "awsize", "awburst", "awprot"}, aw.Fields)
	require.Equal(t, []string{"s_axi_awvalid", "s_axi_awready", "s_axi_awaddr"},
		[]string{aw.Pin("valid"), aw.Pin("ready"), aw.Pin("awaddr")})
	require.Equal(t, []string{"go", "data", "s_axi_wstrb"}, []string{w.Pin("valid"), w.Pin("wdata"), w.Pin("wstrb")})
	require.Equal(t, []string{"out", "bresp"}, append([]string{b.Dir}, b.Fields...))
	r := m.Streams[9]
	require.Equal(t, []string{"c.r", "in", "rdata", "rresp"}, append([]string{r.Name, r.Dir}, r.Fields...))
	require.Equal(t, "rvalid", r.Pin("valid"))
	require.Equal(t, 8, m.Line("streams[10].fields"))
	for _, x := range []struct{ text, want string }{
		{"- {name: s, kind: axi4, dir: in, fields: [prot]}",
			`dut.yaml:6: stream s: field "prot": needs a name that begins with its channel`},
		{"- {name: s, kind: axil, dir: in, omit: [awid]}",
			`dut.yaml:6: stream s: omit "awid": kind axil has awaddr, wdata`},
		{"- {name: s, kind: axil, dir: in, ready: false}",
			"dut.yaml:6: stream s: kind axil has " + "name, kind, dir"},
		{"- {name: s, kind: axil, dir: both}", `dut.yaml:6: stream s.aw: dir "both"`},
		{"- {name: s, kind: axil, dir: in}\n- {name: a, kind: tdm, dir: in}",
			`dut.yaml:7: stream a: kind "tdm" is not supported; axis, tlp, record, level, axi4, axil`},
		{"- {name: s, kind: record, dir: in, omit: [x]}",
			"dut.yaml:6: stream s: omit is for " + "kinds axi4 and axil"},
	} {
		_, err := Parse("dut.yaml", []byte(head+x.text))
		require.ErrorContains(t, err, x.want)
	}
}
