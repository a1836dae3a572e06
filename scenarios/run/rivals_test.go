package run

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run/stats"
)

// TestShRingErrors checks that bad options of a shared ring, and workloads that do not fit, are refused by line and
// field.
func TestShRingErrors(t *testing.T) {
	const echo, chunks = "kind: echo", "kind: chunks, sizes: [100KB], depth: 2, queue_pairs: 2"
	for name, x := range map[string]struct{ kind, options, workload, want string }{
		"descriptors": {"shring", "  shring: {descriptors: 1000}", echo,
			"f.yaml:6: stacks[0].shring.descriptors 1000: want a power of two, 4 to 32768"},
		"cycles": {"shring", "  shring: {scan_cycles: -1}", echo,
			"f.yaml:6: stacks[0].shring.scan_cycles -1: want 0 to 1048576"},
		"receive rings": {"shring", "  hostnet: {log_receive: 9}", echo,
			"f.yaml:6: stacks[0].hostnet.log_receive 9: the ring has stacks[0].shring.descriptors: want none"},
		"other stacks": {"ddio", "  shring: {descriptors: 64}", echo,
			"f.yaml:6: stacks[0].shring: stack ddio has no shared ring: want none, or kind shring"},
		"credits": {"shring", "  ceio: {credits: 64}", echo,
			"f.yaml:6: stacks[0].ceio: stack shring has no credits: want none, or kind ceio"},
		"held": {"shring", "  shring: {descriptors: 256}", chunks, "f.yaml:6: stacks[0].shring.descriptors 256: the " +
			"server holds 288 packets of all flows in these buffers: want 384 or more, or fewer chunks by depth"},
		"buffers": {"shring", "  hostnet: {buffer_bytes: 1024}", chunks,
			"f.yaml:6: stacks[0].hostnet.buffer_bytes 1024: frames of workload have up to 1458 B: want that or more"},
		"rules": {"shring", "  shring: {}", "kind: echo, queue_pairs: 65", "f.yaml:8: workload.queue_pairs 65: the " +
			"flows of server 0 take 65 steering rules, and its NIC has 64: want fewer flows, or a build with more"},
		"unknown": {"shring", "  shring: {entries: 5}", echo,
			"f.yaml:6: stacks[0].shring.entries: no such field: want one of descriptors, scan_cycles"},
		"asking": {"shring", "  shring: {}", "kind: echo, from: 0, to: 1",
			"f.yaml:8: workload.from 0: stacks[0].kind of that server is shring, which asks nothing: want a server"},
	} {
		t.Run(name, func(t *testing.T) {
			text := ceioText(x.kind, x.options, x.workload)
			if name == "asking" {
				text = onlyFrom(text)
			}
			_, err := Parse("f.yaml", []byte(text))
			require.ErrorContains(t, err, x.want)
		})
	}
}

// TestShRingIsHeld checks that chunks may hold three quarters of a shared ring, to the last buffer, while losses keep
// them from being whole.
func TestShRingIsHeld(t *testing.T) {
	const loss = "{do: loss, class: other, direction: to_device, ordinal: %d}"
	text := ceioText("shring", "  shring: {descriptors: 256}", "kind: chunks, sizes: [33600], depth: 4, "+
		"queue_pairs: 2, count: 12, chunks: {file: 8}") +
		fmt.Sprintf("faults: {wire: {rules: ["+loss+", "+loss+"]}}\nexpect: {compare: messages}\n", 10, 90)
	p, err := ceioCase(t, text).Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	_, err = Parse("f.yaml", []byte(strings.Replace(text, "33600", "33601", 1)))
	require.ErrorContains(t, err, "the server holds 200 packets of all flows in these buffers: want 267 or more")
}

// TestHostCCErrors checks that bad options of HostCC are refused by line and field.
func TestHostCCErrors(t *testing.T) {
	const echo = "kind: echo"
	for name, x := range map[string]struct{ kind, options, want string }{
		"period":      {"hostcc", "  hostcc: {period: 0ps}", "hostcc.period 0ps: want 1ns to 1s"},
		"occupancy":   {"hostcc", "  hostcc: {occupancy_lines: 0}", "hostcc.occupancy_lines 0: want 1 to"},
		"target":      {"hostcc", "  hostcc: {target_gbps: 0}", "hostcc.target_gbps 0: want 1 to"},
		"gain":        {"hostcc", "  hostcc: {link_gain: 0}", "hostcc.link_gain 0: want 1 to"},
		"levels":      {"hostcc", "  hostcc: {levels: 17}", "hostcc.levels 17: want 0 to 16"},
		"reduce":      {"hostcc", "  hostcc: {reduce: 2s}", "hostcc.reduce 2s: want 0ps to 1s"},
		"sample":      {"hostcc", "  hostcc: {sample: 2ms}", "hostcc.sample 2ms: want 0ps to 1ms"},
		"rate":        {"hostcc", "  hostcc: {rate: 0Gbps}", "hostcc.rate"},
		"throttle":    {"hostcc", "  hostcc: {throttle: some}", `hostcc.throttle "some": want others or all`},
		"mark":        {"hostcc", "  hostcc: {mark: switch}", `hostcc.mark "switch": want header, queue or none`},
		"other stack": {"ddio", "  hostcc: {levels: 2}", "hostcc: stack ddio does not watch its IIO buffer"},
		"credits":     {"hostcc", "  ceio: {credits: 4}", "ceio: stack hostcc has no credits"},
		"shared ring": {"hostcc", "  shring: {descriptors: 4}", "shring: stack hostcc has no shared ring"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(ceioText(x.kind, x.options, echo)))
			require.ErrorContains(t, err, "f.yaml:6: stacks[0]."+x.want)
		})
	}
}

// TestMarksNeedTheirNIC checks that marks by the NIC are refused on builds without what they need.
func TestMarksNeedTheirNIC(t *testing.T) {
	const text = "board: {preset: ce-pair}\nstacks: [{kind: hostcc, hostcc: {mark: queue}}, {kind: udp}]\n" +
		"workload: {kind: echo, transport: udp, from: 1, to: 0, queue_pairs: 33}\n"
	_, err := Parse("f.yaml", []byte("name: f\ndescription: d\n"+text))
	require.ErrorContains(t, err, "f.yaml:4: stacks[0].hostcc.mark queue: the 33 flows of server 0 take two receive "+
		"queues each, and its NIC has 64: want fewer flows, or header")
	c := caseOf(t, strings.Replace(text, ", queue_pairs: 33", "", 1))
	for part, name := range map[nicspec.Cap1Reg]string{nicspec.PartAccounts: "accounts", nicspec.PartEcn: "ecn"} {
		b := nicspec.DefaultBuild()
		b.Parts &^= part
		c.Board.Servers[0].Cards[0].Build = &b
		require.ErrorContains(t, c.Validate(), "stacks[0].hostcc.mark queue: ")
		require.ErrorContains(t, c.Validate(), "no part "+name+": want one with it, or header")
	}
}

// TestHostCCNeedsACore checks that the control loop has a core of its own: the last one of the first socket, which
// flows leave free, and loads of memories as well.
func TestHostCCNeedsACore(t *testing.T) {
	const text = "board: {preset: ce-pair}\nstacks: [{kind: hostcc}, {kind: udp}]\n" +
		"workload: {kind: echo, transport: udp, from: 1, to: 0, queue_pairs: 20}\n"
	c := caseOf(t, text)
	servers := c.rack().Servers
	cores := servers[0].Cards[0].Switch.Host.Host.CPU.Cores
	used, arm := c.net(servers).Busy(0)
	require.False(t, arm)
	require.Len(t, used, cores, "20 flows on all cores but the last one, and that")
	require.Equal(t, cores-1, used[cores-1])
	host := *c.Board.Servers[0].Cards[0].Switch.Host.Host
	host.CPU.Cores, host.CPU.DataCores = 1, 0
	sw := *c.Board.Servers[0].Cards[0].Switch
	sw.Host.Host = &host
	c.Board.Servers[0].Cards[0].Switch = &sw
	require.ErrorContains(t, c.Validate(), "stacks[0].kind hostcc: the server has one core, and its control loop needs")
}

// TestRivalsNeedTheirNIC checks that rivals of CEIO are refused on boards and NICs without what they need.
func TestRivalsNeedTheirNIC(t *testing.T) {
	const head, work = "name: f\ndescription: d\n", "workload: {kind: echo, transport: udp, from: 1, to: 0}\n"
	for text, want := range map[string]string{
		"board: {preset: connectx6-pair}\nstacks: [{kind: shring}, {kind: udp}]\n" + work: "f.yaml:4: " +
			"stacks[0].kind shring: a device of kind rnic is not the contract's NIC: want model, rtl or address",
		"board: {preset: bf3-pair}\nstacks: [{kind: shring}, {kind: udp}]\n" + work: "f.yaml:4: stacks[0].kind " +
			"shring: the board has no cores in the server: want one such as ce-pair",
		"board: {preset: bf3-pair}\nstacks: [{kind: hostcc}, {kind: udp}]\n" + work: "f.yaml:4: stacks[0].kind " +
			"hostcc: the board has no cores in the server: want one such as ce-pair",
	} {
		_, err := Parse("f.yaml", []byte(head+text))
		require.ErrorContains(t, err, want, text)
	}
}

// TestShRingTakesOneQueue checks that a shared ring needs one receive queue for any number of flows.
func TestShRingTakesOneQueue(t *testing.T) {
	c := caseOf(t, "board: {preset: ce-pair}\nstacks: [{kind: shring}, {kind: udp}]\n"+
		"workload: {kind: echo, transport: udp, from: 1, to: 0, queue_pairs: 20, count: 3}\n")
	b := nicspec.DefaultBuild()
	b.NumRxq = 4
	c.Board.Servers[0].Cards[0].Build = &b
	p, err := c.Play(t.Context(), Options{NIC: device.Model})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	c.Stacks[0].Kind = StackDDIO
	require.ErrorContains(t, c.Validate(), "take 20 receive queues, and its NIC has 4")
}

// playStats plays a case of a scenario of the library on the Go NIC and returns its statistics.
func playStats(t *testing.T, name string, number int) *stats.Summary {
	list, err := Load(filepath.Join(library, name+".yaml"))
	require.NoError(t, err)
	p, err := list[number].Play(t.Context(), Options{NIC: device.Model, Stats: StatsFull})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	return p.Stats
}

// TestShRingLibrary checks that each of the eight cores looks at each packet, and that some find no descriptor.
func TestShRingLibrary(t *testing.T) {
	s := playStats(t, "shring-mixed", 0)
	require.Len(t, s.ShRing, 1)
	x, cores := s.ShRing[0], uint64(8)
	require.Equal(t, "Server", x.Server)
	require.EqualValues(t, 6*100+4*36+40, x.Packets)
	require.Equal(t, cores*x.Packets, x.Looked)
	require.Equal(t, (cores-1)*x.Packets, x.Others)
	require.NotZero(t, x.Refills)
	require.Equal(t, "Server", s.Drops[0].Server)
	require.NotZero(t, s.Drops[0].Descriptor, "the ring is short")
	require.Contains(t, s.String(), "shared ring of  packets  entries looked at")
}

// TestHostCCLibrary checks that the control loop throttles the other program, that packets are marked in either way,
// and that the loop gives back what it took.
func TestHostCCLibrary(t *testing.T) {
	for number := range 2 {
		s := playStats(t, "hostcc-mixed", number)
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

// onlyFrom removes the direction from a text whose workload gives another one.
func onlyFrom(text string) string { return strings.Replace(text, "from: 1, to: 0, ", "", 1) }
