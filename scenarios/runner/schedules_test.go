package runner

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// schedule is a scenario drawn from a seed: a workload, and a wire that loses, doubles, disorders and damages what it carries.
func schedule(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0x7363686564))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	kind := pick("send", "write", "read", "write_imm", "echo", "atomics")
	sizes := fmt.Sprintf("[%d, %d]", 1+r.IntN(300), 1+r.IntN(6000))
	if kind == "atomics" {
		sizes = "[8]"
	}
	fmt.Fprintf(&b, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: %d, data: {recovery: %d, receive: %s}}}]\n",
		1<<r.IntN(3), r.IntN(2), pick("in_cache", "naive"))
	depth := 1 + r.IntN(8)
	fmt.Fprintf(&b, "workload: {kind: %s, queue_pairs: %d, count: %d, depth: %d, sizes: %s, mtu: %s, timeout: 5, both_ways: %v, signal_every: %d, seed: %d",
		kind, 1+r.IntN(3), 10+r.IntN(20), depth, sizes, pick("256", "1024", "4096"), r.IntN(2) == 0, 1+r.IntN(min(3, depth)), seed)
	if kind == "send" && r.IntN(2) == 0 {
		b.WriteString(", receives: 1") // receivers that are not ready
	}
	chance := func() float64 { return float64(r.IntN(30)) / 1000 }
	fmt.Fprintf(&b, "}\nfaults: {wire: {seed: %d, chances: {loss: %g, duplication: %g, disorder: %g, corruption: %g}}}\n", 1+seed, chance(), chance(), chance(), chance())
	return b.String()
}

// Whatever a wire does, every message comes once, in order and intact, and no referee finds anything: ten schedules here, a thousand
// with NICTWIN_LONG (make test-all).
func TestBoardSchedules(t *testing.T) {
	n := 10
	if os.Getenv("NICTWIN_LONG") != "" {
		n = 1000
	}
	for seed := range n {
		text := schedule(uint64(seed))
		p, err := caseOf(t, text).Play(t.Context(), optionsFor(t, "model"))
		require.NoError(t, err, text)
		require.True(t, p.Pass(), "%s\n%s", text, texts(p))
	}
}
