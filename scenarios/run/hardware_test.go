package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/hardware"
)

// playFanIn plays a case of RDMA NICs that send through a switch to the first one. Function step is called in each
// microsecond of the traffic.
func playFanIn(t *testing.T, c *Case, step func(*world)) (*world, *Played) {
	t.Helper()
	var w *world
	w, err := newWorld(t.Context(), c, &Options{Step: func(int) {
		if step != nil {
			step(w)
		}
	}})
	require.NoError(t, err)
	p := &Played{Case: c}
	require.NoError(t, w.play(p))
	require.NoError(t, w.close())
	return w, p
}

// counter returns a counter of a server's RDMA NIC.
func (w *world) counter(server int, k rnicspec.Counter) uint64 {
	return w.rack.Servers[server].Cards[0].NIC.(interface {
		Counter(rnicspec.Counter) uint64
	}).Counter(k)
}

// Without congestion control, the queue of a switch overflows and senders repeat what it dropped; with DCQCN or DCTCP
// nothing is dropped. Marks, CNPs and what they cause are counted.
func TestFanIn(t *testing.T) {
	list, err := Load(library + "/rnic-congestion.yaml")
	require.NoError(t, err)
	for _, c := range list {
		w, p := playFanIn(t, c, nil)
		kind, retries, got := c.stack(0).RNIC.CC.Kind, uint64(0), uint64(0)
		drops := w.rack.Switch.Dropped(core.None).Frames
		marked, sent := w.counter(0, rnicspec.CntMarked), w.counter(0, rnicspec.CntCNPsSent)
		for i := 1; i < len(w.rack.Servers); i++ {
			retries += w.counter(i, rnicspec.CntRetries)
			got += w.counter(i, rnicspec.CntCNPsReceived)
		}
		t.Logf("%s: %d dropped, %d retries, %d marked, %d CNPs, %.1f Gbps", c.Name, drops, retries, marked, sent,
			p.gbps())
		require.Equal(t, kind == hardware.None, drops > 0, c.Name)
		require.Equal(t, kind == hardware.None, retries > 0, c.Name)
		require.Equal(t, kind != hardware.None, marked > 0, c.Name)
		require.Equal(t, kind == hardware.DCQCN, sent > 0, c.Name)
		require.Equal(t, sent, got, c.Name)
	}
}

// Rates converge: two flows to a port of 10 Gbps, the second of them 1 ms later, get equal parts of the port
// within 10% in the end, and fill it.
func TestFairRates(t *testing.T) {
	const frame, from, to = 4096 + 58, 40 * simcore.Millisecond, 55 * simcore.Millisecond
	for _, cc := range []hardware.CongestionKind{hardware.DCQCN, hardware.DCTCP} {
		var sent [2][2]uint64 // packets of each client, at times from and to
		w, _ := playFanIn(t, caseOf(t, fmt.Sprintf(twoFlows, cc)), func(w *world) {
			for i := range sent {
				n := w.counter(1+i, rnicspec.CntTxPackets)
				if w.engine.Now() <= from {
					sent[0][i] = n
				}
				if w.engine.Now() <= to {
					sent[1][i] = n
				}
			}
		})
		require.Zero(t, w.rack.Switch.Dropped(core.None).Frames, cc)
		var gbps [2]float64
		for i := range gbps {
			gbps[i] = float64(sent[1][i]-sent[0][i]) * frame * 8 / (float64(to-from) / float64(simcore.Nanosecond))
		}
		t.Logf("%s: %.2f and %.2f Gbps", cc, gbps[0], gbps[1])
		require.InEpsilon(t, gbps[0], gbps[1], 0.1, cc)
		require.Greater(t, gbps[0]+gbps[1], 9.0, cc)
	}
}

const twoFlows = `board:
  preset: connectx5-cores-rack
  fleet: {machines: 3, card: {eth: {rate: {bytes: 10, ps: 8000}}}}
  network:
    kind: switch
    switch:
      preset: cut-through
      class_by: none
      classes: [{ecn: {kmin_bytes: 20000, kmax_bytes: 100000, pmax: 0.2}}, {}, {}, {}, {}, {}, {}, {}]
stacks: [{kind: rnic, rnic: {cc: {kind: %s}}}]
workloads:
- {name: early, kind: write, mtu: 4096, sizes: [65536], count: 600, depth: 8, from: 1, to: 0, payload: reused}
- {name: late, kind: write, mtu: 4096, sizes: [65536], count: 600, depth: 8, from: 2, to: 0, payload: reused,
  begin: 1ms}
`

// Options of an RDMA NIC's congestion control are checked by field, and refused for other stacks.
func TestHardwareRefused(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: connectx5-cores-pair}\n"
	for text, want := range map[string]string{
		"{kind: rnic, rnic: {cc: {kind: bbr}}}":                 `f.yaml:4: stacks[0].rnic.cc.kind "bbr": want none`,
		"{kind: rnic, rnic: {cc: {dcqcn: {gain_inverse: 0}}}}":  "rnic.cc.dcqcn.gain_inverse 0: want",
		"{kind: rnic, rnic: {cc: {dctcp: {gain_inverse: -1}}}}": "rnic.cc.dctcp.gain_inverse -1: want",
		"{kind: flexins, rnic: {cc: {kind: dcqcn}}}":            "stacks[0].rnic: stack flexins has other options",
		"{kind: udp, rnic: {cc: {kind: dcqcn}}}":                "stack udp has other options",
	} {
		_, err := Parse("f.yaml", []byte(head+"stacks: ["+text+"]"))
		require.ErrorContains(t, err, want)
		require.Equal(t, 1, strings.Count(err.Error(), want), "one fault, one error")
	}
	_, err := Parse("f.yaml", []byte(head+"stacks: [{kind: rnic, rnic: {cc: {kind: dcqcn, dcqcn: {least: 900Gbps}}}}]"))
	require.ErrorContains(t, err, "f.yaml:4: stacks[0].rnic.cc.dcqcn.least 900Gbps: want 100Gbps at most")
}

const bothStacks = `board: {preset: bf3-cores-pair}
devices: [{kind: model}, {kind: rnic, model: connectx6}]
stacks: [{kind: flexins, flexins: {data: {cc: {kind: %[1]s}}}}, {kind: rnic, rnic: {cc: {kind: %[1]s}}}]
workload: {kind: %[2]s, count: 40, depth: 6, sizes: [9000], both_ways: true}
faults: {wire: {seed: 3, chances: {ecn: 0.1, loss: 0.01}}}
`

// The NIC's congestion control understands that of the software stack: CNPs and marks in acknowledgements pass both
// ways.
func TestCongestionOfBoth(t *testing.T) {
	for _, cc := range []hardware.CongestionKind{hardware.DCQCN, hardware.DCTCP} {
		for _, kind := range []string{"write", "read"} {
			c := caseOf(t, fmt.Sprintf(bothStacks, cc, kind))
			w, p := playFanIn(t, c, nil)
			require.True(t, p.Pass(), texts(p))
			require.NotZero(t, w.counter(1, rnicspec.CntMarked))
			if cc == hardware.DCQCN {
				require.NotZero(t, w.counter(1, rnicspec.CntCNPsReceived), kind)
				require.NotZero(t, w.counter(1, rnicspec.CntCNPsSent), kind)
			}
		}
	}
}

// Chunks run out of credits and are copied, message by message; credits that suffice for every message never do. The
// packets by path add up.
func TestBypass(t *testing.T) {
	for _, x := range []struct {
		accounts, workload, more string
		dry                      bool
	}{
		{"credits: 96, batch: 4", "kind: write_imm, sizes: [100KB], count: 8, depth: 2", "", true},
		{"credits: 96, batch: 4", "kind: write_imm, close_every: 10, sizes: [10KB], count: 75, depth: 20", "", true},
		{"credits: 400, batch: 2", "kind: write_imm, sizes: [20KB], count: 30, depth: 2", "", false},
		{"credits: 0", "kind: send, sizes: [9000], count: 20, depth: 4", "", true},
		{"credits: 8, batch: 2, log_slots: 2", "kind: write_imm, sizes: [50KB], count: 8, depth: 3", "", true},
		{"credits: 8, batch: 1", "kind: echo, sizes: [5000, 300], count: 40, depth: 8, both_ways: true", "", true},
		{"credits: 16", "kind: read, sizes: [5000], count: 20, depth: 4", "", false},
		{"credits: 16, batch: 3", "kind: write_imm, sizes: [30KB], count: 20, depth: 4",
			"faults: {wire: {seed: 5, chances: {loss: 0.02, disorder: 0.02}}}", true},
		{"credits: 16, batch: 3, mark_at: 4", "kind: send, sizes: [30KB], count: 20, depth: 4", "", true},
	} {
		c := caseOf(t, fmt.Sprintf(onAccounts, x.accounts, x.workload, x.more))
		var w *world
		w, err := newWorld(t.Context(), c, &Options{})
		require.NoError(t, err)
		p := &Played{Case: c}
		require.NoError(t, w.play(p), x)
		require.True(t, p.Pass(), "%v: %s", x, texts(p))
		rows := w.creditRows()
		require.NoError(t, w.close())
		require.Len(t, rows, 1, "the client has none")
		require.Equal(t, x.dry, rows[0].Slow > 0, x)
		require.Equal(t, rows[0].Slow, rows[0].Copies, x)
		require.Equal(t, x.dry, rows[0].Resumes > 0, x)
		require.Equal(t, x.dry, rows[0].Exhausted > 0, x)
		if strings.Contains(x.accounts, "mark_at") {
			require.NotZero(t, w.counter(0, rnicspec.CntCNPsSent), x)
			require.NotZero(t, w.counter(1, rnicspec.CntCNPsReceived), x)
		}
	}
}

const onAccounts = `board: {preset: bf3-cores-pair}
devices: [{kind: rnic, model: connectx7}]
stacks: [{kind: rnic, rnic: {cc: {kind: dcqcn}, accounts: {flows: 4, %s}}}, {kind: rnic, rnic: {cc: {kind: dcqcn}}}]
workload: {%s, queue_pairs: 2, from: 1, to: 0}
%s
`

// Accounts that a board or workload cannot have are refused by field.
func TestBypassRefused(t *testing.T) {
	const bf3 = "board: {preset: bf3-cores-pair}\ndevices: [{kind: rnic, model: connectx7}]\n"
	const plain = "board: {preset: connectx6-cores-pair}\n"
	for _, x := range []struct{ head, accounts, workload, want string }{
		{plain, "flows: 1", "kind: send", "stacks[0].rnic.accounts.flows 1: packets without a credit wait"},
		{bf3, "flows: 65", "kind: send", "stacks[0].rnic.accounts.flows 65: want 0 to 64"},
		{bf3, "flows: 4, credits: 3", "kind: send", "stacks[0].rnic.accounts.credits 3: 4 flows have a share each"},
		{bf3, "flows: 4, batch: 0", "kind: send", "stacks[0].rnic.accounts.batch 0: want 1"},
		{bf3, "flows: 64, log_slots: 13", "kind: send", "stacks[0].rnic.accounts.log_slots 13: 64 flows with so many"},
		{bf3, "flows: 1", "kind: send, queue_pairs: 2", "stacks[0].rnic.accounts.flows 1: server 0 has 2 queue pairs"},
		{bf3, "credits: 8", "kind: send", "accounts.credits 8: no queue pair has an account, as stacks[0].rnic."},
		{bf3, "mark_at: 8", "kind: send", "f.yaml:5: stacks[0].rnic.accounts.mark_at 8: no queue pair has an account"},
		{bf3, "flows: 1, log_slots: 3, mark_at: 8", "kind: send", "stacks[0].rnic.accounts.mark_at 8: of a flow's 8 " +
			"slow packets (stacks[0].rnic.accounts.log_slots 3), none finds more than 7 others: want that or less"},
		{bf3 + "load: {server: 0, at: llc, of: arm, rate: 8GB/s, bytes: 590MiB, latency: false}\n",
			"flows: 64, log_slots: 11", "kind: send", "f.yaml:6: stacks[0].rnic.accounts.log_slots 11: 64 flows " +
				"with so many packets of 4096 B each take 536870912 B of the card's memory, of which load leaves"},
		{bf3, "flows: 1", "kind: send, transport: ud", "stacks[0].rnic.accounts.flows 1: queue pairs of RC have"},
		{bf3, "flows: 1", "kind: write", "workload.kind write: with stacks[0].rnic.accounts.flows credits return when"},
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+x.head+"stacks: [{kind: rnic, rnic: {accounts: {"+
			x.accounts+"}}}]\nworkload: {"+x.workload+"}\n"))
		require.ErrorContains(t, err, x.want)
		require.Equal(t, 1, strings.Count(err.Error(), x.want), "once, however many servers there are")
	}
}

// WRITEs that one with immediate data closes are taken with it, over any stack: every message once, the last ones, too,
// and those up to an end in the middle.
func TestCloseEvery(t *testing.T) {
	const flexins = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"
	const flows = "kind: write_imm, close_every: 5, depth: 7, queue_pairs: 2, sizes: [8, 3000]"
	for _, x := range []struct {
		workload string
		messages int // 0: some
	}{
		{"count: 33", 66}, {"count: 33, both_ways: true, signal_every: 3", 132}, {"count: 4, shared_receive: true", 8},
		{"count: 33, payload: reused", 66}, {"count: 4000, signal_every: 2, end: 50us", 0},
	} {
		for _, head := range []string{onRNICs, flexins} {
			p, err := caseOf(t, head+"workload: {"+flows+", "+x.workload+"}").Play(t.Context(), Options{})
			require.NoError(t, err)
			require.True(t, p.Pass(), "%s: %s", x.workload, texts(p))
			if x.messages > 0 {
				require.Equal(t, x.messages, p.Result.Messages, x.workload)
			} else {
				require.Zero(t, p.Result.Messages%10, "a multiple of both periods")
			}
		}
	}
	for text, want := range map[string]string{
		"kind: write_imm, close_every: 0":                "workload.close_every 0: want 1 to",
		"kind: write, close_every: 2":                    "workload.close_every: kind write has no WRITEs that",
		"kind: write_imm, transport: uc, close_every: 2": "workload.close_every 2: want 1, or transport rc",
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+onRNICs+"workload: {"+text+"}"))
		require.ErrorContains(t, err, want)
	}
}

// Shared receive queues, credits, congestion control and HostCC together, drawn at random, over cables with every
// fault: every message comes once, intact and in order, and nothing is left in the NICs.
func TestHardwareDrawn(t *testing.T) {
	fast, slow, marked := uint64(0), uint64(0), uint64(0)
	for seed := range uint64(16) {
		text := drawnHardware(rand.New(rand.NewPCG(seed, 1)))
		w, err := newWorld(t.Context(), caseOf(t, text), &Options{})
		require.NoError(t, err, text)
		p := &Played{Case: w.c}
		require.NoError(t, w.play(p), text)
		require.True(t, p.Pass(), "%s: %s", text, texts(p))
		fast, slow = fast+w.counter(1, rnicspec.CntFast), slow+w.counter(1, rnicspec.CntSlow)
		marked += w.counter(1, rnicspec.CntSelfMarked)
		require.NoError(t, w.close())
	}
	require.NotZero(t, fast)
	require.NotZero(t, slow)
	require.NotZero(t, marked)
}

// drawnHardware returns a scenario of two RDMA NICs with drawn options.
func drawnHardware(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	kind := pick("send", "write_imm", "read", "echo", "reflector", "atomics")
	load := fmt.Sprintf("kind: %s, count: %d, depth: %d, queue_pairs: %d, mtu: %s, both_ways: %v, seed: %d", kind,
		10+r.IntN(30), 1+r.IntN(16), 1+r.IntN(3), pick("256", "1024", "4096"), r.IntN(2) == 0, 1+r.IntN(99))
	if kind == "atomics" {
		load += ", sizes: [8]"
	} else {
		load += fmt.Sprintf(", sizes: [%d, %d]", 8+r.IntN(20_000), 8+r.IntN(3000))
	}
	if kind == "write_imm" {
		load += fmt.Sprintf(", close_every: %d", 1+r.IntN(9))
	}
	if kind == "send" || kind == "write_imm" || kind == "echo" {
		load += fmt.Sprintf(", shared_receive: %v", r.IntN(2) == 0)
	}
	credits, batch, logSlots := pick("0", "12", "40", "120", "1200"), 1+r.IntN(6), 1+r.IntN(7)
	accounts := fmt.Sprintf("flows: 12, credits: %s, batch: %d, log_slots: %d, mark_at: %d", credits, batch, logSlots,
		min(r.IntN(6), 1<<logSlots-1))
	chances := "loss: 0.01, duplication: 0.01, disorder: 0.01, corruption: 0.01, ecn: " + pick("0", "0.1", "0.5")
	cc, faults := pick("none", "dcqcn", "dctcp"), 1+r.IntN(99)
	if r.IntN(2) == 0 {
		accounts += fmt.Sprintf("}, hostcc: {occupancy_lines: %d, occupancy_gain: 2, reduce: %dus", 1+r.IntN(3),
			r.IntN(9))
		if cc == "none" {
			accounts += ", mark: none"
		}
	}
	return fmt.Sprintf("board: {preset: bf3-cores-pair}\ndevices: [{kind: rnic, model: connectx7}]\nstacks: "+
		"[{kind: rnic, rnic: {cc: {kind: %s}, accounts: {%s}}}]\nworkload: {%s}\nfaults: {wire: {seed: %d, "+
		"chances: {%s}}}\n", cc, accounts, load, faults, chances)
}

// In bursts, applications get the same messages in the same order, earlier, and all of them come; what the driver costs
// a core is an option, too.
func TestBursts(t *testing.T) {
	play := func(options string) *Played {
		c := caseOf(t, "board: {preset: connectx6-cores-pair}\nstacks: [{kind: rnic, rnic: {"+options+"}}]\n"+
			"workload: {kind: reflector, count: 300, depth: 64, queue_pairs: 2, sizes: [200]}\n")
		p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		return p
	}
	median := func(p *Played) int64 {
		for _, l := range p.Stats.Latency {
			if l.Measure == "hand_over" {
				return l.P50
			}
		}
		return 0
	}
	all, bursts := play("burst: 0"), play("burst: 4")
	require.Equal(t, all.Digest, bursts.Digest)
	require.Less(t, median(bursts), median(all))
	free := play("core: {build_cycles: 0, take_cycles: 0}")
	require.Equal(t, all.Digest, free.Digest)
	require.Less(t, free.Sim, all.Sim)
	for text, want := range map[string]string{
		"burst: -1":              "stacks[0].rnic.burst -1: want 0 to",
		"core: {poll_cycles: 0}": "stacks[0].rnic.core.poll_cycles 0: want 1 to",
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\ndevices: [{kind: "+
			"rnic, model: connectx7}]\nstacks: [{kind: rnic, rnic: {"+text+"}}]\nworkload: {kind: send}\n"))
		require.ErrorContains(t, err, want)
	}
	const bare = "name: x\ndescription: y\nboard: {preset: connectx6-pair}\nstacks: [{kind: rnic, rnic: {%s}}]\n" +
		"workload: {kind: send}\n"
	for text, want := range map[string]string{
		"burst: 4":               "stacks[0].rnic.burst 4: the server has no cores: want 0, or a board with cores",
		"core: {take_cycles: 1}": "stacks[0].rnic.core: the server has no cores: want none, or a board with cores",
	} {
		_, err := Parse("f.yaml", []byte(fmt.Sprintf(bare, text)))
		require.ErrorContains(t, err, want)
	}
}
