package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/stack/flexins/data"
)

// ECN marks slow down the senders with congestion control, and no others.
func TestCongestionSlows(t *testing.T) {
	list, err := Load(library + "/congestion.yaml")
	require.NoError(t, err)
	none := simcore.Ps(0)
	for _, c := range list[:4] { // the cases of kind send
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		switch c.stack(0).FlexiNS.Data.CC.Kind {
		case data.CongestionNone:
			none = p.Traffic
		case data.DCQCN, data.DCTCP:
			require.Greater(t, p.Traffic, none*5/4, c.Name)
		}
	}
}

// A switch marks frames that join a long queue; it marks none if no sender reacts to marks.
func TestSwitchMarks(t *testing.T) {
	list, err := Load(library + "/congested-switch.yaml")
	require.NoError(t, err)
	for _, c := range list {
		w, err := newWorld(t.Context(), c, &Options{})
		require.NoError(t, err)
		require.NoError(t, w.play(&Played{Case: c}))
		marked := uint64(0)
		for i := range 4 {
			marked += w.rack.Switch.Counters(i).Marked
		}
		require.Equal(t, c.stack(0).FlexiNS.Data.CC.Kind != data.CongestionNone, marked > 0, c.Name)
		t.Logf("%s: %d marked", c.Name, marked)
		require.NoError(t, w.close())
	}
}

// Spraying and congestion control are refused with bad settings or without what they require, and the error names the
// fields.
func TestSprayRefused(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\n"
	for _, c := range []struct{ text, want string }{
		{"stacks: [{kind: flexins, flexins: {data: {spray: true}}}]",
			"f.yaml:4: stacks[0].flexins.data.spray true with stacks[0].flexins.data.recovery 0, go-back-N, which " +
				"counts every overtaken packet as lost: want stacks[0].flexins.data.recovery 1"},
		{"stacks: [{kind: flexins}]\nsweep: {spray: [false, true]}", "flexins.data.spray true with"},
		{"stacks: [{kind: flexins, flexins: {data: {spray_ports: 1}}}]",
			"f.yaml:4: stacks[0].flexins.data.spray_ports 1: want 2 to 16384"},
		{"stacks: [{kind: flexins, flexins: {data: {cc: {kind: bbr}}}}]",
			`stacks[0].flexins.data.cc.kind "bbr": want none, fixed, dcqcn or dctcp`},
		{"stacks: [{kind: flexins, flexins: {data: {cc: {rate_bps: 0}}}}]",
			"stacks[0].flexins.data.cc.rate_bps 0bps: want"},
		{"stacks: [{kind: flexins, flexins: {data: {cc: {dcqcn: {line_bps: 0}}}}}]",
			"stacks[0].flexins.data.cc.dcqcn.line_bps 0bps: want"},
		{"stacks: [{kind: flexins, flexins: {data: {cc: {dctcp: {gain_inverse: 0}}}}}]",
			"stacks[0].flexins.data.cc.dctcp.gain_inverse 0: want"},
		{"stacks: [{kind: flexins}]\nexpect: {least: 2ns, within_ps: 1000}",
			"expect.least 2ns: want 0 or more, and expect.within_ps"},
		{"stacks: [{kind: flexins, flexins: {data: {cc: {catch_up_ps: 2000000000000}}}}]",
			"stacks[0].flexins.data.cc.catch_up_ps 2s: want 0ps to 1ms"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte(head+text))
		require.ErrorContains(t, err, want)
	}
}

// Traffic that ends before expect.least is a finding.
func TestLeastTime(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {count: 4}\nexpect: {least: 1ms}")
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Contains(t, texts(p), "expect.least: time of the traffic: expected 1ms at least, got")
}
