package waves

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/manifest"
)

func TestPolicy(t *testing.T) {
	for text, want := range map[string][2]uint64{
		"always": {
			0, never}, "fail": {600, 1060}, "10:20": {10, 20}, ":20": {0, 20}, "10:": {10, never},
		"2us:3.5us": {800, 1400}, "5000ps:1ms": {2, 400_000},
	} {
		p, err := Parse(text)
		require.NoError(t, err, text)
		from, to, ok := p.Cycles(true, 1000, 2500)
		require.True(t, ok)
		require.Equal(t, want, [2]uint64{from, to}, text)
	}
	p, err := Parse("fail")
	require.NoError(t, err)
	_, _, ok := p.Cycles(false, 0, 2500)
	require.False(t, ok)
	from, _, _ := p.Cycles(true, 3, 2500)
	require.Zero(t, from)
	for text, want := range map[string]string{
		"": "want never, fail, always, or A:B", "sometimes": "want never", ":": "want never", "1:2:3": "want never",
		"a:b": "want never", "-1:2": "want never",
		"9:8": "the window ends before it begins", "1us:1ns": "ends before",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestTimes checks that the view places rising edges where the harness drives them: after reset, and in the middle of
// the cycle of a single clock.
func TestTimes(t *testing.T) {
	m := &manifest.Manifest{Clocks: []manifest.Clock{{Signal: "c"}}, Resets: []manifest.Reset{{Signal: "r", Cycles: 4}}}
	v := &View{Manifest: m, Period: 1000}
	require.Equal(t, simcore.Ps(14_500), v.Time(10))
	m.Clocks = append(m.Clocks, manifest.Clock{Signal: "d"})
	require.Equal(t, simcore.Ps(15_000), v.Time(10))
}

func TestBlocksHaveTheirOwnSignals(t *testing.T) {
	v := View{Manifest: &manifest.Manifest{Clocks: []manifest.Clock{{Signal: "clk", PeriodPs: 2500}}}, Period: 2500}
	v.Blocks = BlocksOf([]string{"TOP.top.u_a"}, []string{"TOP.clk", "TOP.top.u_a.go", "TOP.top.u_a.n[3:0]",
		"TOP.top.u_a.u_b.go", "TOP.top.u_ab.go"})
	require.Equal(t, []Block{{"TOP.top.u_a", []string{"TOP.top.u_a.go", "TOP.top.u_a.n[3:0]"}}}, v.Blocks)
	require.Contains(t, v.SaveFile(), "@200\n-TOP.top.u_a\n@28\nTOP.top.u_a.go\n@22\nTOP.top.u_a.n[3:0]\n")
}
