package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest/manifesttest"
)

func goodPorts(t *testing.T) []PinPort {
	ports, err := ParsePorts(strings.NewReader(manifesttest.Header))
	require.NoError(t, err)
	return ports
}

// TestBindFaults changes one port and checks that the fault is reported with the manifest's line and the
// port.
func TestBindFaults(t *testing.T) {
	for _, x := range []struct {
		port   string
		change func(*PinPort)
		want   string
	}{
		{"s_tdata", func(p *PinPort) { p.Name = "s_data" }, "dut.yaml:7: stream in: tdata: module m has no port " +
			"s_tdata (did you mean m_tdata?)"},
		{"s_tdata", func(p *PinPort) { p.Dir = "out" }, "dut.yaml:7: stream in: tdata: port s_tdata is an output of " +
			"the module and must be an input"},
		{"s_tdata", func(p *PinPort) { p.Width = 63 }, "whole bytes"},
		{"s_tkeep", func(p *PinPort) { p.Width = 2 }, "tkeep has 2 bits of 1 bytes each, tdata has 8 bytes"},
		{"m_tlast", func(p *PinPort) { p.Width = 2 }, "dut.yaml:11: stream out: tlast: port m_tlast gives 2 bits per " +
			"lane and must give 1"},
		{"m_valid", func(p *PinPort) { p.Array = "[4]" }, "dut.yaml:14: stream out: tvalid: port m_valid is an " +
			"unpacked array [4]"},
		{"clk", func(p *PinPort) { p.Name = "clock" }, "dut.yaml:4: the clock: module m has no port clk"},
		{"rst", func(p *PinPort) { p.Width = 2 }, "dut.yaml:5: a reset: port rst has 2 bits and must have 1"},
		{"mode", func(p *PinPort) { p.Width = 4 }, "dut.yaml:15: tie-off mode: 0x1f needs 5 bits, the port has 4"},
		{"busy", func(p *PinPort) { p.Width = 65 }, "dut.yaml:16: observe: port busy has 65 bits"},
		{"busy", func(p *PinPort) { p.Dir = "in" }, "input busy (1 bits) of module m is bound to nothing"},
		{"m_thdr", func(p *PinPort) { p.Width = 4096 }, "512 side-band bytes, the limit is 256"},
		{"busy", func(p *PinPort) { p.Dir = "inout" }, "inout, which is not supported"},
	} {
		m, err := Parse("dut.yaml", []byte(manifesttest.Good))
		require.NoError(t, err)
		ports := goodPorts(t)
		for i := range ports {
			if ports[i].Name == x.port {
				x.change(&ports[i])
			}
		}
		_, err = Bind(m, ports)
		require.ErrorContains(t, err, x.want)
		var me *Error
		require.ErrorAs(t, err, &me)
	}
}

func TestLanes(t *testing.T) {
	text := strings.ReplaceAll(manifesttest.Good, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: in, kind: axis, dir: in, prefix: s, lane: 0, lanes: 2}\n  - {name: in1, kind: axis, dir: in, prefix: "+
			"s, lane: 1, lanes: 2, strides: {tkeep: 6}}")
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	ports := goodPorts(t)
	for i := range ports {
		if strings.HasPrefix(ports[i].Name, "s_") {
			ports[i].Width *= 2
		}
	}
	_, err = Bind(m, ports)
	require.ErrorContains(t, err, "tkeep has 6 bits")
	m.Streams[1].Strides = nil
	b, err := Bind(m, ports)
	require.NoError(t, err)
	require.Equal(t, 64, b.Streams[1].Data.Lsb)
	require.Equal(t, 1, b.Streams[1].ReadyF.Lsb)
	m.Streams[1].Lane = 0
	_, err = Bind(m, ports)
	require.ErrorContains(t, err, "port s_tdata[0] is driven by stream in: tdata and by stream in1: tdata")
	require.ErrorContains(t, err, "input s_tdata of module m: of its 2 lanes, s_tdata[1] are bound to nothing")
}

// TestUnboundLanes checks that every lane of an input port that no stream drives is reported, since it
// would stay at zero; the ready pins of output streams are inputs, too.
func TestUnboundLanes(t *testing.T) {
	text := strings.ReplaceAll(manifesttest.Good, "prefix: s}", "prefix: s, lane: 1, lanes: 4}")
	text = strings.ReplaceAll(text, "prefix: m\n", "prefix: m\n    lane: 0\n    lanes: 2\n")
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	ports := goodPorts(t)
	for i := range ports {
		switch {
		case strings.HasPrefix(ports[i].Name, "s_"):
			ports[i].Width *= 4
		case strings.HasPrefix(ports[i].Name, "m_"):
			ports[i].Width *= 2
		}
	}
	_, err = Bind(m, ports)
	require.ErrorContains(t, err, "dut.yaml:6: input s_tdata of module m: of its 4 lanes, s_tdata[0], s_tdata[2], "+
		"s_tdata[3] are bound to nothing")
	require.ErrorContains(t, err, "input s_tvalid")
	require.ErrorContains(t, err, "input m_tready of module m: of its 2 lanes, m_tready[1] are bound to nothing")
	require.NotContains(t, err.Error(), "s_tready", "an output")
	m.TieOffs["s_tdata"] = "0"
	_, err = Bind(m, ports)
	require.ErrorContains(t, err, "port s_tdata is driven by lanes of streams and by tie-off")
}

// TestLaneCountsDiffer checks that two streams on one port must have the same number of lanes.
func TestLaneCountsDiffer(t *testing.T) {
	text := strings.ReplaceAll(manifesttest.Good, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: in, kind: axis, dir: in, prefix: s, lane: 0, lanes: 2}\n  - {name: in1, kind: axis, dir: in, prefix: "+
			"s, lane: 1, lanes: 4}")
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	_, err = Bind(m, goodPorts(t))
	require.ErrorContains(t, err, "stream in1: tdata: port s_tdata has 4 lanes here and 2 in a stream before")
}
