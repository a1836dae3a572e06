package run

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/apps"
)

// TestBytesByClass plays library scenarios whose links carry every class, and checks that the classes of each direction
// add up to the link's own counter (a case with a link that does not has a finding), and that the cables carried the
// payload of all messages.
func TestBytesByClass(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"loss", "hostile-selective", "read-sizes", "raw-frames", "solar", "solar-hostile",
		"low-latency", "low-latency-loss", "rnic-loss", "rnic-echo", "atomics", "spraying", "staged", "congestion",
		"notify", "list-walk", "many-pieces", "flexins-and-rnic"} {
		cases, err := Load(filepath.Join("..", "library", name+".yaml"))
		require.NoError(t, err)
		p, err := cases[len(cases)-1].Play(t.Context(), Options{Stats: StatsFull, Unjudged: true})
		require.NoError(t, err, name)
		require.Empty(t, texts(p), name)
		require.NotEmpty(t, p.Stats.Links, name)
		for _, l := range p.Stats.Links {
			sum := uint64(0)
			for c, n := range l.Classes {
				sum += n
				seen[c] = true
				require.NotEqual(t, "other", c, "%s: %s, %s: %d B", name, l.Where, l.What, n)
			}
			require.Equal(t, l.Total, sum, "%s: %s, %s", name, l.Where, l.What)
		}
		if k := p.Case.Workload.Kind; k != apps.Atomics && name != "raw-frames" { // operands are headers
			require.GreaterOrEqual(t, payloadOf(p.Stats, "Ethernet"), p.Result.Bytes, name)
		}
	}
	for _, c := range []string{"payload", "payload again", "headers", "ACK and CNP", "descriptors", "CQEs", "doorbells",
		"TLP headers", "DLLPs", "other frames"} {
		require.True(t, seen[c], c)
	}
}

// payloadOf sums the payload, retransmitted payload included, of the links whose names begin with a word.
func payloadOf(s *stats.Summary, what string) (n uint64) {
	for _, l := range s.Links {
		if strings.HasPrefix(l.What, what) {
			n += l.Classes["payload"] + l.Classes["payload again"]
		}
	}
	return n
}

// TestPayloadSentAgain checks payload of retransmissions: what a NIC reads again from host memory is what its cable
// carries again, and the payload that is sent for the first time is that of the messages.
func TestPayloadSentAgain(t *testing.T) {
	for _, on := range []string{
		"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n",
		"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data: {recovery: 1}}}]\n",
		onRNICs,
	} {
		for _, kind := range []string{"send", "write", "read"} {
			play := withStatsOnce
			if kind == "write" { // that statistics change nothing is checked for one kind
				play = withStats
			}
			p := play(t, on+"workload: {kind: "+kind+", count: 200, depth: 8, sizes: [3000], mtu: 1024, "+
				"psn: 16777210}\nfaults: {wire: {seed: 3, chances: {loss: 0.02}}}\n")
			at := map[string]stats.LinkBytes{}
			for _, l := range p.Stats.Links {
				at[l.Where+" "+l.What] = l
			}
			sender := "Server[0]"
			if kind == "read" {
				sender = "Server[1]"
			}
			wire := at["Rack.Cable0 Ethernet from "+sender+".Card.NIC.Eth[0]"].Classes
			pcie := at[sender+" PCIe host to card"].Classes
			if on == onRNICs {
				pcie = at[sender+" PCIe host to NIC"].Classes
			}
			require.Positive(t, wire["payload again"], "%s%s", on, kind)
			require.Equal(t, wire["payload again"], pcie["payload again"], "%s%s", on, kind)
			require.EqualValues(t, 200*3000, wire["payload"], "%s%s", on, kind)
			require.EqualValues(t, 200*3000, pcie["payload"], "%s%s", on, kind)
		}
	}
}

// TestMiscountIsFound checks that a class with a byte too many on any link is a finding.
func TestMiscountIsFound(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {count: 20, sizes: [100]}\n")
	links := 0
	for i := 0; i == 0 || i < links; i++ {
		o := Options{Stats: StatsFull}
		w, err := newWorld(t.Context(), c, &o)
		require.NoError(t, err)
		links = len(w.watching.Links)
		l := w.watching.Links[i]
		miscounted := false
		o.Step = func(int) {
			if !miscounted {
				l.Count(0, 1)
				miscounted = true
			}
		}
		p := &Played{Case: c}
		require.NoError(t, w.play(p))
		require.NoError(t, w.close())
		require.Len(t, p.Findings, 1, l.What)
		require.Equal(t, result.Run, p.Findings[0].Domain)
		require.Contains(t, p.Findings[0].Text, l.Where+", "+l.What+": the classes add up to")
	}
	require.Greater(t, links, 4)
}
