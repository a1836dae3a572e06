package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/stats"
)

// struckOnWire returns a scenario over UDP whose cable does something to the given frames to the server.
func struckOnWire(kind, workload string, do inject.WireKind, ordinals ...int) string {
	text := strings.Replace(ceioText(kind, "  hostnet: {}", workload), "name: f\ndescription: d\n", "", 1) +
		"faults: {wire: {rules: ["
	for _, n := range ordinals {
		text += fmt.Sprintf("{do: %s, class: other, direction: to_device, ordinal: %d}, ", do, n)
	}
	return text + "]}}\n"
}

// TestStruckDatagrams checks that datagrams which the cable doubles, reorders or breaks are taken once, or counted as
// lost, with statistics.
func TestStruckDatagrams(t *testing.T) {
	const vxlan = "kind: vxlan, count: 100, every: 200ns, queue_pairs: 2"
	for _, kind := range []string{"ceio", "ddio"} {
		for _, do := range []inject.WireKind{inject.WireDuplication, inject.WireDisorder, inject.WireCorruption} {
			text := struckOnWire(kind, vxlan, do, 20, 21, 60)
			want := 200
			if do == inject.WireCorruption {
				text = strings.ReplaceAll(text, "to_device,", "to_device, bit: 440,") + "expect: {lost: {at_most: 3}}\n"
				want = 197
			}
			p, err := caseOf(t, text).Play(t.Context(), Options{Stats: StatsFull})
			require.NoError(t, err)
			require.True(t, p.Pass(), "%s %s: %s", kind, do, texts(p))
			require.Equal(t, want, p.Result.Messages, "%s %s", kind, do)
		}
	}
}

// TestMoreThanTheCablesDid checks that broken, copied and late packets beyond those of the cables are findings.
func TestMoreThanTheCablesDid(t *testing.T) {
	for do, want := range map[inject.WireKind]string{
		inject.WireDuplication: "server Server, server of flow 0: 2 datagrams came again",
		inject.WireDisorder:    "server Server, server of flow 0: 2 datagrams came behind later ones",
		inject.WireCorruption:  "server Server, server of flow 0: 2 packets had wrong lengths, checksums or headers",
	} {
		text := struckOnWire("ceio", "kind: vxlan, count: 50, every: 200ns", do, 20, 30)
		if do == inject.WireCorruption {
			text = strings.ReplaceAll(text, "to_device,", "to_device, bit: 440,") + "expect: {lost: {at_most: 2}}\n"
		}
		c, o := caseOf(t, text), Options{}
		w, err := newWorld(t.Context(), c, &o)
		require.NoError(t, err)
		p := &Played{Case: c}
		require.NoError(t, w.play(p))
		require.Empty(t, p.Findings)
		require.NoError(t, w.close())
		for i := range w.rack.Cables {
			w.rack.Cables[i].Wire = nil // as if the cables had done nothing
		}
		list := w.apps.Findings()
		require.Len(t, list, 1, do)
		require.Equal(t, want, list[0].String())
	}
}

// TestOrderBesideOtherFaults checks that each fault of the cables permits what it may cause, and no more.
func TestOrderBesideOtherFaults(t *testing.T) {
	network := func(do inject.WireKind, class inject.WireClass) *board.NetworkSpec {
		return &board.NetworkSpec{Faults: &inject.WireSpec{Chances: inject.Chances{Disorder: 0.1, Corruption: 0.1},
			Rules: []inject.WireRule{{Do: do, Class: class}}}}
	}
	for do, want := range map[inject.WireKind]hostnet.Cables{
		inject.WireLoss: {}, inject.WireECN: {}, inject.WireDuplication: {Doubles: true},
		inject.WireDisorder: {Reorders: true}, inject.WireCorruption: {},
	} {
		require.Equal(t, want, hostnet.CablesOf(network(do, inject.ClassOther)), do)
		require.Zero(t, hostnet.CablesOf(network(do, inject.ClassRequest)), "%s of RoCE", do)
	}
	require.Zero(t, hostnet.CablesOf(&board.NetworkSpec{Loss: &inject.LossSpec{Share: 0.5}}))
}

// TestDropsAreStatistics checks that frames which NICs drop, strangers, withheld credits and marks are in the table and
// in JSON.
func TestDropsAreStatistics(t *testing.T) {
	play := func(kind, options, workload string) *stats.Summary {
		p, err := ceioCase(t, ceioText(kind, options, workload)).Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		return p.Stats
	}
	const burst = "kind: echo, sizes: [400], count: 200, depth: 128, queue_pairs: 2"
	s := play("ddio", "  hostnet: {log_receive: 3, rx_cycles: 3000}", burst)
	require.Len(t, s.Drops, 2)
	d := s.Drops[0]
	require.Equal(t, "Server", d.Server)
	require.NotZero(t, d.Descriptor)
	require.EqualValues(t, 1, d.NoRule, "the client's announcement")
	require.Regexp(t, fmt.Sprintf(`no descriptor +too long +no rule\s+Server +0 +%d +0 +1`, d.Descriptor), s.String())

	s = play("ceio", "  ceio: {flows: 1, credits: 200, batch: 4, landing: 16, mark_period: 1us}\n"+
		"  hostnet: {log_receive: 6, rx_cycles: 3000}", burst)
	c := s.Credits[0]
	require.EqualValues(t, 200-64, c.Withheld)
	require.EqualValues(t, 1, c.Strangers)
	require.NotZero(t, c.CE)
	require.Regexp(t, fmt.Sprintf(`Server +200 +0 +136 .* %d +%d +1 `, c.Marked, c.CE), s.String())
}
