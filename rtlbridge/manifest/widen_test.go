package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const laneManifest = `name: x
top: m
sources: [a.sv]
parameters: {Ports: 1}
clocks: [{signal: clk, period_ps: 2500}]
streams:
  - {name: in, kind: axis, dir: in, prefix: s}
  - {name: out, kind: axis, dir: out, prefix: m}
`

func parseLanes(t *testing.T, text string) *Manifest {
	t.Helper()
	m, err := Parse("dut.yaml", []byte(text))
	require.NoError(t, err)
	return m
}

func TestWidenMakesLanes(t *testing.T) {
	m := parseLanes(t, laneManifest)
	w, err := m.Widen("Ports", 3, "in")
	require.NoError(t, err)
	require.Equal(t, "3", w.Parameters["Ports"])
	require.Len(t, w.Streams, 4)
	for i, at := range []int{0, 2, 3} {
		s := w.Streams[at]
		require.Equal(t, []any{LaneName("in", i), i, 3, "s", DirIn}, []any{s.Name, s.Lane, s.Lanes, s.Prefix, s.Dir})
	}
	require.Equal(t, m.Line("streams[0]"), w.Line("streams[3].lane"),
		"a fault of a lane is told with the line of its stream")
	require.Equal(t, parseLanes(t, laneManifest), m, "the manifest itself is as it was")
	again, err := w.Widen("Ports", 3, "in")
	require.NoError(t, err)
	require.Same(t, w, again)
	same, err := m.Widen("Ports", 1, "in")
	require.NoError(t, err)
	require.Same(t, m, same)
}

func TestWidenFaults(t *testing.T) {
	m := parseLanes(t, laneManifest)
	_, err := m.Widen("Lanes", 2, "in", "other")
	require.ErrorContains(t, err, "dut.yaml:4: parameter Lanes is not in the manifest")
	require.ErrorContains(t, err, "dut.yaml:6: no stream other, of which 2 lanes are wanted")
	_, err = m.Widen("Ports", 0, "in")
	require.ErrorContains(t, err, "0 lanes: needs 1 to 64")
	m.Streams[0].Lanes = 2
	_, err = m.Widen("Ports", 2, "in")
	require.ErrorContains(t, err, "dut.yaml:7: stream in is one of 2 lanes already, 2 are wanted")
	m.Streams[0].Lanes, m.Streams[1].Name = 0, "in1"
	_, err = m.Widen("Ports", 3, "in")
	require.ErrorContains(t, err, "stream in1 is there already, without the other lanes of in")
}

func TestWithSetsAParameter(t *testing.T) {
	m := parseLanes(t, laneManifest)
	w, err := m.With("Ports", 5)
	require.NoError(t, err)
	require.Equal(t, "5", w.Parameters["Ports"])
	require.Equal(t, parseLanes(t, laneManifest), m, "the manifest itself is as it was")
	same, err := m.With("Ports", 1)
	require.NoError(t, err)
	require.Same(t, m, same)
	_, err = m.With("EthBits", 256)
	require.ErrorContains(t, err, "dut.yaml:4: parameter EthBits is not in the manifest: no build with EthBits 256 "+
		"can be made of it")
}
