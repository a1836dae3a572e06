package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestEachLane checks that a stream with the key "lanes" and without the key "lane" becomes one stream for each
// lane, coupled to the same lane of other streams.
func TestEachLane(t *testing.T) {
	text := strings.ReplaceAll(manifesttest.Good, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: head, kind: record, dir: in, prefix: h, fields: [data], lanes: 2}\n  - {name: in, kind: axis, dir: "+
			"in, prefix: s, lanes: 2, after: head}")
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	var names, after []string
	for _, s := range m.Streams {
		names, after = append(names, fmt.Sprintf("%s %d/%d", s.Name, s.Lane, s.Lanes)), append(after, s.After)
	}
	require.Equal(t, []string{"head0 0/2", "head1 1/2", "in0 0/2", "in1 1/2", "out 0/0"}, names)
	require.Equal(t, []string{"", "", "head0", "head1", ""}, after)

	_, err = Parse("dut.yaml", []byte(strings.Replace(text, "lanes: 2}", "lanes: 3}", 1)))
	require.ErrorContains(t, err, `dut.yaml:8: stream in0: after "head": needs an input stream`)
	_, err = Parse("dut.yaml", []byte(strings.Replace(text, "prefix: s, lanes: 2", "prefix: s, lanes: 65", 1)))
	require.ErrorContains(t, err, "dut.yaml:8: stream in: lane 0 of 65: lanes needs 1 to")
	_, err = Parse("dut.yaml", []byte(strings.ReplaceAll(text, "name: out", "name: in1")))
	require.ErrorContains(t, err, "stream in1 is given twice")
}

// TestEachLaneOfAXI checks that an AXI port with lanes becomes one port for each lane: all channels of one,
// then those of the next.
func TestEachLaneOfAXI(t *testing.T) {
	text := strings.ReplaceAll(manifesttest.Good, "{name: in, kind: axis, dir: in, prefix: s}",
		"{name: s, kind: axil, dir: in, prefix: s, lanes: 2, strides: {awaddr: 16}}")
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	var names []string
	for _, s := range m.Streams {
		names = append(names, fmt.Sprintf("%s %d/%d", s.Name, s.Lane, s.Lanes))
	}
	require.Equal(t, []string{
		"s0.aw 0/2", "s0.w 0/2", "s0.b 0/2", "s0.ar 0/2", "s0.r 0/2", "s1.aw 1/2", "s1.w 1/2", "s1.b 1/2", "s1.ar 1/2",
		"s1.r 1/2", "out 0/0",
	}, names)
	require.Equal(t, "s_awvalid", m.Streams[5].Pin("valid"))
	require.Equal(t, map[string]int{"awaddr": 16}, m.Streams[5].Strides)
	require.Empty(t, m.Streams[6].Strides)
}
