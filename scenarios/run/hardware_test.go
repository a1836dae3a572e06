package run

import (
	"fmt"
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
		"{kind: rnic, rnic: {cc: {kind: bbr}}}":                 `f.yaml:4: stacks[0].rnic.cc.kind "bbr": want none, dcqcn`,
		"{kind: rnic, rnic: {cc: {dcqcn: {gain_inverse: 0}}}}":  "rnic.cc.dcqcn.gain_inverse 0: want",
		"{kind: rnic, rnic: {cc: {dctcp: {gain_inverse: -1}}}}": "rnic.cc.dctcp.gain_inverse -1: want",
		"{kind: flexins, rnic: {cc: {kind: dcqcn}}}":            "stacks[0].rnic: stack flexins has other options",
		"{kind: udp, rnic: {cc: {kind: dcqcn}}}":                "stack udp has other options",
	} {
		_, err := Parse("f.yaml", []byte(head+"stacks: ["+text+"]"))
		require.ErrorContains(t, err, want)
	}
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
