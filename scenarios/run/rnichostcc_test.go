package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/hardware"
)

// TestRNICHostCCLibrary checks that the control loop throttles the other program and marks packets, and that it gives
// back what it took.
func TestRNICHostCCLibrary(t *testing.T) {
	for number := range 2 {
		s := playStats(t, "rnic-hostcc", number)
		require.Len(t, s.HostCC, 1)
		x := s.HostCC[0]
		require.Equal(t, "Server", x.Server)
		require.NotZero(t, x.Marked)
		require.NotZero(t, x.Raised)
		require.Equal(t, x.Raised, x.Lowered)
		require.Greater(t, x.Samples, x.Raised+x.Lowered)
		require.Less(t, s.Loads[0].Gbps, 50.0, "of 64 that the program asks for")
		require.Contains(t, s.String(), "host control of  samples  highest occupancy")
	}
}

const watched = `board: {preset: ce-pair}
devices: [{kind: rnic, model: connectx7}]
stacks: [{kind: rnic, rnic: {cc: {kind: %[1]s}, hostcc: {occupancy_lines: 2, reduce: 5us, levels: 0, mark: %[2]s}}},
  {kind: rnic, rnic: {cc: {kind: %[1]s}}}]
workload: {kind: %[3]s, sizes: [32KB], count: 40, depth: 4, mtu: 4096, from: 1, to: 0}
`

// TestRNICMarksSlowSenders checks that a full IIO buffer alone slows senders down: by windows that acknowledgements
// shrink, or rates that CNPs lower. Without marks by the NIC they go on at the rate of the link.
func TestRNICMarksSlowSenders(t *testing.T) {
	for _, cc := range []hardware.CongestionKind{hardware.DCTCP, hardware.DCQCN} {
		for _, kind := range []string{"write", "send"} {
			var took [2]simcore.Ps
			for i, mark := range []string{"none", "register"} {
				w, p := playFanIn(t, caseOf(t, fmt.Sprintf(watched, cc, mark, kind)), nil)
				require.True(t, p.Pass(), texts(p))
				took[i] = p.Traffic
				x, marks := w.hostControls()[0], mark == "register"
				require.NotZero(t, x.Samples)
				require.Equal(t, marks, x.Marked > 0)
				require.Equal(t, x.Marked, w.counter(0, rnicspec.CntMarked), "no switch marks")
				require.Equal(t, marks && cc == hardware.DCQCN, w.counter(1, rnicspec.CntCNPsReceived) > 0)
			}
			t.Logf("%s, %s: %v, %v with marks", cc, kind, took[0], took[1])
			require.Greater(t, took[1], took[0]*5/4, "%s, %s", cc, kind)
		}
	}
}

// TestRNICHostCCErrors checks that bad options of HostCC over an RDMA NIC, and boards without what it needs, are
// refused by line and field.
func TestRNICHostCCErrors(t *testing.T) {
	const pair, plain = "preset: ce-pair", "preset: connectx6-pair"
	const cores = "preset: ce-pair, servers: [{preset: bf3-cores, cards: [{preset: bf3-cores, switch: {host: {host: " +
		"{preset: host-ce, cpu: {cores: 2, data_cores: 0}}}}}]}]"
	for name, x := range map[string]struct{ board, options, want string }{
		"period": {pair, "hostcc: {period: 0ps}", ".rnic.hostcc.period 0ps: want 1ns to 1s"},
		"levels": {pair, "hostcc: {levels: 17}", ".rnic.hostcc.levels 17: want 0 to 16"},
		"throttle": {pair, "hostcc: {throttle: some}", `.rnic.hostcc.throttle "some": want others or ` +
			`all`},
		"mark":  {pair, "hostcc: {mark: header}", `.rnic.hostcc.mark "header": want register or none`},
		"field": {pair, "hostcc: {credits: 4}", ".rnic.hostcc.credits: no such field: want one of"},
		"no echo": {pair, "hostcc: {mark: register}, cc: {}", ".rnic.hostcc.mark register: with " +
			"stacks[0].rnic.cc.kind none the NIC tells no sender of marks: want none, or dcqcn or dctcp there"},
		"no cores":  {plain, "hostcc: {}", ".rnic.hostcc: the server has no cores: want none, or a board with cores"},
		"few cores": {cores, "hostcc: {}", ".rnic.hostcc: the first socket of server 0 has 2 cores"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(x.options, ", cc: {}") {
				x.options += ", cc: {kind: dctcp}"
			}
			text := "name: x\ndescription: y\nboard: {" + x.board + "}\ndevices: [{kind: rnic, model: connectx6}]\n" +
				"stacks: [{kind: rnic, rnic: {" + x.options + "}}]\nworkload: {kind: send, processes: 2}\n"
			if x.board == plain {
				text = strings.Replace(text, ", processes: 2", "", 1)
			}
			_, err := Parse("f.yaml", []byte(text))
			require.ErrorContains(t, err, "f.yaml:5: stacks[0]"+x.want)
			require.Equal(t, 1, strings.Count(err.Error(), "hostcc"), "one fault, one error: %v", err)
		})
	}
	const udp = "name: x\ndescription: y\nboard: {preset: ce-pair}\n" +
		"stacks: [{kind: %s, rnic: {hostcc: {}}}, {kind: %s}]\nworkload: {kind: echo, transport: %s, from: 1, to: 0}\n"
	for text, want := range map[string]string{
		fmt.Sprintf(udp, "hostcc", "udp", "udp"): "f.yaml:4: stacks[0].rnic: stack hostcc has other options",
		strings.Replace(fmt.Sprintf(udp, "flexins", "flexins", "rc"), "rnic: {hostcc: {}}", "hostcc: {levels: 2}",
			1): "f.yaml:4: stacks[0].hostcc: stack flexins is not over UDP: want none, or rnic.hostcc with kind rnic",
		fmt.Sprintf(udp, "flexins", "flexins", "rc"): "f.yaml:4: stacks[0].rnic: stack flexins has other options",
	} {
		_, err := Parse("f.yaml", []byte(text))
		require.ErrorContains(t, err, want)
	}
}

// TestRNICMarksNobody checks that marks by the NIC are refused where no sender would learn of them.
func TestRNICMarksNobody(t *testing.T) {
	good := "name: x\ndescription: y\n" + fmt.Sprintf(watched, hardware.DCTCP, "register", "send")
	for name, x := range map[string]struct{ old, new string }{
		"unreliable":   {"from: 1", "from: 1, transport: uc"},
		"deaf senders": {"rnic: {cc: {kind: dctcp}}}", "rnic: {cc: {kind: none}}}"},
	} {
		bad := strings.Replace(good, x.old, x.new, 1)
		_, err := Parse("f.yaml", []byte(bad))
		require.ErrorContains(t, err, "f.yaml:5: stacks[0].rnic.hostcc.mark register: no server with this stack has",
			name)
		_, err = Parse("f.yaml", []byte(strings.Replace(bad, "mark: register", "mark: none", 1)))
		require.NoError(t, err, name)
	}
}

// TestRNICControlCore checks that loads of memories leave the core of the control loop alone.
func TestRNICControlCore(t *testing.T) {
	c := caseOf(t, fmt.Sprintf(watched, hardware.DCTCP, "register", "send"))
	servers := c.rack().Servers
	last := servers[0].Cards[0].Switch.Host.Host.CPU.Cores - 1
	loaded := c.loaded(servers)
	for core := range last + 1 {
		require.Equal(t, core == 0 || core == last, loaded[0].Busy(1, core), "core %d", core)
		require.Equal(t, core == 0, loaded[1].Busy(1, core), "core %d of the client", core)
	}
}
