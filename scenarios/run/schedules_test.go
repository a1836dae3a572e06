package run

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
)

// wrongEnd is the section "expect" of a scenario in which a client names memory that does not exist. It lists the
// errors that must occur.
const wrongEnd = `expect:
  errors:
  - {at: client, queue: send, status: rem_access_err}
  - {at: client, queue: send, status: wr_flush_err}
`

// schedule draws a scenario from a seed: a workload, and cables that lose, duplicate, reorder and corrupt packets.
func schedule(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0x7363686564))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	kind := pick("send", "write", "read", "write_imm", "echo", "atomics")
	sizes := fmt.Sprintf("[%d, %d]", 1+r.IntN(300), 1+r.IntN(6000))
	if kind == "atomics" {
		sizes = "[8]"
	}
	fmt.Fprintf(&b, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: %d, data: "+
		"{recovery: %d, receive: %s}}}]\n",
		1<<r.IntN(3), r.IntN(2), pick("in_cache", "naive"))
	depth, both, wrong := 1+r.IntN(8), r.IntN(2) == 0, (kind == "write" || kind == "read") && r.IntN(3) == 0
	if wrong {
		depth += 4 // so that some requests are flushed
	}
	fmt.Fprintf(&b, "workload: {kind: %s, queue_pairs: %d, count: %d, depth: %d, sizes: %s, mtu: %s, timeout: 5, "+
		"both_ways: %v, signal_every: %d, seed: %d",
		kind, 1+r.IntN(3), 10+r.IntN(20), depth, sizes, pick("256", "1024", "4096"), both && !wrong,
		1+r.IntN(min(3, depth)), seed)
	switch kind {
	case "send", "write_imm":
		if r.IntN(3) > 0 {
			b.WriteString(", receives: 1") // receivers are often not ready
		}
	}
	if wrong { // a misused queue pair ends with an error that is known beforehand
		fmt.Fprintf(&b, ", misuse: {what: %s, message: %d}", pick("remote_key", "remote_bounds"), r.IntN(8))
	}
	chance := func() float64 { return float64(r.IntN(30)) / 1000 }
	loss, corruption := chance(), chance()
	if wrong { // lose and corrupt nothing: if the NAK were lost, the error would be another one
		loss, corruption = 0, 0
	}
	fmt.Fprintf(&b, "}\nfaults: {wire: {seed: %d, chances: {loss: %g, duplication: %g, disorder: %g, corruption: "+
		"%g}}}\n", 1+seed, loss, chance(), chance(), corruption)
	if wrong {
		b.WriteString(wrongEnd)
	}
	return b.String()
}

// Whatever the cables do to packets, every message arrives once, in order and intact, or its queue pair ends with the
// error that the scenario provokes, and no referee has a finding. Ten schedules are played, a thousand with
// NICTWIN_LONG (make test-all).
func TestBoardSchedules(t *testing.T) {
	n := 10
	if os.Getenv("NICTWIN_LONG") != "" {
		n = 1000
	}
	var struck inject.WireCount
	waiting, wrong := 0, 0
	for seed := range n {
		text := schedule(uint64(seed))
		o := optionsFor(t, "model")
		o.Traffic = func(rack *board.Rack, settled bool) {
			for _, c := range rack.Cables {
				if settled && c.Wire != nil {
					for _, d := range []inject.Direction{inject.FromDevice, inject.ToDevice} {
						n := c.Wire.Count(d)
						struck.Lost, struck.Duplicated = struck.Lost+n.Lost, struck.Duplicated+n.Duplicated
						struck.Held, struck.Corrupted = struck.Held+n.Held, struck.Corrupted+n.Corrupted
					}
				}
			}
		}
		p, err := caseOf(t, text).Play(t.Context(), o)
		require.NoError(t, err, text)
		require.True(t, p.Pass(), "%s\n%s", text, texts(p))
		waiting += strings.Count(text, "receives: 1")
		wrong += strings.Count(text, "misuse")
	}
	t.Logf("%d schedules: %+v, %d with slow receivers, %d that end in an error", n, struck, waiting, wrong)
	for _, times := range []uint64{struck.Lost, struck.Duplicated, struck.Held, struck.Corrupted} {
		require.Positive(t, times)
	}
	require.Positive(t, waiting)
	require.Positive(t, wrong)
}
