package run

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/probe/output"
	"nictwin/scenarios/run/stats"
	"nictwin/scenarios/shell/files"
)

// withStats plays a case with statistics, which must not change its events or results.
func withStats(t *testing.T, text string) *Played {
	t.Helper()
	c := caseOf(t, text)
	plain, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Nil(t, plain.Stats)
	p, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	require.Equal(t, plain.Digest, p.Digest)
	require.Equal(t, plain.Sim, p.Sim)
	again, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Equal(t, asJSON(t, p.Stats), asJSON(t, again.Stats), "two runs have equal statistics")
	return p
}

// withStatsOnce plays a case with statistics.
func withStatsOnce(t *testing.T, text string) *Played {
	t.Helper()
	p, err := caseOf(t, text).Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	return p
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// counts returns the number of samples by kind and measure.
func counts(s *stats.Summary) map[string]int64 {
	n := map[string]int64{}
	for _, l := range s.Latency {
		n[l.Kind+" to "+l.Measure] += l.Count
	}
	return n
}

// TestStampsOfEveryKind checks which stamps messages of each kind have, and that none is missing.
func TestStampsOfEveryKind(t *testing.T) {
	const n = 2 * 2 * 40 // flows, messages
	const common = "workload: {queue_pairs: 2, both_ways: true, count: 40, depth: 4, signal_every: 3, sizes: "
	type want = map[string]int64
	sent := func(kind string) want {
		return want{kind + " to wire": n, kind + " to completion": n, kind + " to hand_over": n}
	}
	quiet := func(kind string) want { return want{kind + " to wire": n, kind + " to completion": n} }
	echo := sent("echo")
	for k, v := range sent("echo answer") {
		echo[k] = v
	}
	echo["echo to answer"] = n
	for text, want := range map[string]want{
		"[64, 3000], kind: send}": sent("send"), "[64, 3000], kind: write_imm}": sent("write_imm"),
		"[64, 3000], kind: write}": quiet("write"),
		"[64, 3000], kind: read}":  quiet("read"), "[64, 3000], kind: echo}": echo,
		"[64, 3000], kind: send, transport: uc}": sent("send"),
		"[64, 900], kind: send, transport: ud}":  sent("send"),
	} {
		p := withStats(t, onRNICs+common+text)
		require.Equal(t, want, counts(p.Stats), text)
		require.Equal(t, p.Result.Messages, p.Stats.Total.Messages, text)
		require.Equal(t, p.Result.Bytes, p.Stats.Total.Bytes, text)
		require.Len(t, p.Stats.Flows, 4)
		require.False(t, p.Stats.Total.Converged)
		for _, l := range p.Stats.Latency {
			require.Positive(t, l.P50, "%s: %+v", text, l)
			require.LessOrEqual(t, l.P50, l.P90)
			require.LessOrEqual(t, l.P90, l.Max)
			require.Less(t, simcore.Ps(l.Max), p.Traffic)
		}
	}
}

// TestFirstTransmissionsAreStamped checks that retransmitted packets stamp nothing: with a timeout of a millisecond, a
// message that is sent again completes late, but its stamp from the wire is early. The same holds for READs, whose lost
// responses are requested again.
func TestFirstTransmissionsAreStamped(t *testing.T) {
	for _, kind := range []string{"write", "read"} {
		p := withStats(t, onRNICs+"workload: {kind: "+kind+", count: 200, depth: 4, sizes: [3000], mtu: 1024, "+
			"psn: 16777210}\n"+
			"faults: {wire: {seed: 3, chances: {loss: 0.02}}}\n")
		by := map[string]stats.Latency{}
		for _, l := range p.Stats.Latency {
			by[l.Measure] = l
		}
		require.EqualValues(t, 200, by["wire"].Count)
		require.EqualValues(t, 200, by["completion"].Count)
		require.Greater(t, simcore.Ps(by["completion"].Max), simcore.Millisecond, "a message was lost")
		require.Less(t, simcore.Ps(by["wire"].P50), 2*simcore.Microsecond, kind)
		require.Less(t, simcore.Ps(by["wire"].Max), 10*simcore.Microsecond, kind)
	}
}

// TestFlexiNSStamps checks which times of a message (post, wire, completion, hand-over) are recorded over FlexiNS, also
// for messages that have no request of their own.
func TestFlexiNSStamps(t *testing.T) {
	const on = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {low_latency_qps: 1}}]\n" +
		"workload: {count: 30, "
	const few = ", alpha: 1, beta: 1, gamma: 5, elastic: false, aligned: false}}"
	for text, want := range map[string]map[string]int64{
		"kind: send}": {"send to wire": 30, "send to completion": 30, "send to hand_over": 30},
		"kind: send, low_latency: true, sizes: [64]}": {"send to wire": 30, "send to completion": 30,
			"send to hand_over": 30},
		"kind: ring, depth: 64}":                                 {"ring to wire": 30, "ring to hand_over": 30},
		"kind: ring, depth: 16, ring: {tail: write_imm" + few:    {"ring to wire": 30, "ring to hand_over": 30},
		"kind: ring, depth: 16, ring: {tail: poll_message" + few: {"ring to wire": 30, "ring to hand_over": 30},
		"kind: ring, depth: 16, ring: {head: pull, tail: poll_last" + few: {"ring to wire": 30,
			"ring to hand_over": 30},
		"kind: list_walk, sizes: [64]}": {"list_walk to wire": 30, "list_walk to completion": 30,
			"list_walk to answer": 30},
		"kind: batched_read, sizes: [64, 8192, 192]}": {"batched_read to wire": 30, "batched_read to completion": 30,
			"batched_read to answer": 30},
		"kind: batched_read, by: reads, sizes: [64, 8192, 192]}": {"batched_read to wire": 30,
			"batched_read to completion": 30},
		"kind: list_walk, by: reads, sizes: [64]}": {"list_walk to completion": 30},
		"kind: atomics, sizes: [8]}": {"fetch_add to wire": 10, "fetch_add to completion": 10, "cmp_swap to wire": 20,
			"cmp_swap to completion": 20},
		"kind: write, transport: solar, sizes: [20, 9000]}": {"write to wire": 30, "write to completion": 30},
		"kind: read, transport: solar}":                     {"read to wire": 30, "read to completion": 30},
		"kind: send, transport: raw, sizes: [900]}": {"send to wire": 30, "send to completion": 30,
			"send to hand_over": 30},
		"kind: read, mtu: 256}": {"read to wire": 30, "read to completion": 30},
		"kind: send, transport: ud, depth: 2}": {"send to wire": 30,
			"send to completion": 30, "send to hand_over": 30},
	} {
		require.Equal(t, want, counts(withStats(t, on+text).Stats), text)
	}
}

// TestCablesCarryTheirRate checks that no interval of a series shows more on a cable than its rate, although the NIC
// hands frames over faster.
func TestCablesCarryTheirRate(t *testing.T) {
	at := t.TempDir()
	dir, err := files.OpenFolder(at)
	require.NoError(t, err)
	const server = "{preset: bf3-cores, name: %s, cards: [{preset: bf3-cores, eth: {rate: 10Gbps}}]}"
	c := caseOf(t, "board: {servers: ["+fmt.Sprintf(server, "A")+", "+fmt.Sprintf(server, "B")+"], network: {kind: "+
		"back_to_back}}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: write, queue_pairs: 2, count: 40, depth: 16, sizes: [65536], mtu: 4096}\n")
	p, err := c.Play(t.Context(), Options{Stats: StatsFull, Dir: dir})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	f, err := os.Open(filepath.Join(at, output.Series))
	require.NoError(t, err)
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, errors.Join(err, f.Close()))
	busy := 0
	for _, r := range rows[1:] {
		if !strings.HasPrefix(r[4], "Ethernet") {
			continue
		}
		from, errFrom := strconv.ParseFloat(r[0], 64)
		to, errTo := strconv.ParseFloat(r[1], 64)
		gbps, err := strconv.ParseFloat(r[6], 64)
		require.NoError(t, errors.Join(errFrom, errTo, err))
		const frame = 8 * 4200 * 1000 // time of a frame in picoseconds at 1 Gbit/s: one more may end here
		require.LessOrEqual(t, gbps, 10+frame/(to-from), "%s from %s to %s ps", r[4], r[0], r[1])
		if gbps > 9 {
			busy++
		}
	}
	require.Positive(t, busy)
}

// TestSeriesAmongTheArtifacts checks the files that `--stats full` writes, and their counters against the payload.
func TestSeriesAmongTheArtifacts(t *testing.T) {
	at := t.TempDir()
	dir, err := files.OpenFolder(at)
	require.NoError(t, err)
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: write, queue_pairs: 2, count: 200, sizes: [4096], mtu: 4096}\n")
	p, err := c.Play(t.Context(), Options{Stats: StatsFull, Dir: dir})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	for _, name := range output.Files() {
		text, err := os.ReadFile(filepath.Join(at, name))
		if name == output.Picture("packets") {
			require.ErrorIs(t, err, os.ErrNotExist, "only servers with credits have it")
			continue
		}
		require.NoError(t, err)
		if name != output.Series {
			require.Contains(t, string(text), "time from the begin of the traffic (µs)")
			require.Contains(t, string(text), "Server[0]")
		}
	}
	total := map[string]uint64{}
	for _, x := range p.Stats.Counters {
		total[x.Where+" "+x.What] += x.Total
		if strings.HasPrefix(x.What, "Ethernet") {
			total[x.Unit] += x.Total
		}
	}
	payload := p.Result.Bytes
	require.Greater(t, total["B"], payload, "payload and headers")
	require.Less(t, total["B"], payload+payload/10)
	require.Greater(t, total["Server[0] PCIe host to card"], payload)
	require.Greater(t, total["Server[1] PCIe card to host"], payload)
	require.Less(t, total["Server[0] PCIe Arm to card"], payload/2, "header-only: payload does not pass the Arm")
	require.Positive(t, total["Server[0] Arm core 0"])
	require.NotEmpty(t, p.Stats.Flows[1].Latency)
}
