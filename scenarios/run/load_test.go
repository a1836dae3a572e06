package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// loaded returns a scenario of two BlueField-2, whose Arm cores have no cache below their own: the first one's DRAM has
// the given loads.
func loaded(stack, loads string) string {
	return "board:\n  servers:\n  - name: A\n    preset: bf2-cores\n    cards: [{preset: bf2-cores, switch: {arm: " +
		"{loads: [" + loads + "]}}}]\n  - {preset: bf2-cores, name: B}\n  network: {kind: back_to_back}\n" + stack
}

// A load of the Arm's DRAM makes round trips over the FlexiNS stack longer, the more the higher it is, and changes
// nothing else. The run comes to rest beside a load that never ends, and beside one that has not begun.
func TestLoadsSlowAStackDown(t *testing.T) {
	const stack = "stacks: [{kind: flexins, flexins: {data_cores: 1}}]\n" +
		"workload: {kind: ping_pong, count: 30, depth: 1, sizes: [1024]}"
	play := func(loads string) *Played {
		var rack *board.Rack
		c := caseOf(t, loaded(stack, loads))
		p, err := c.Play(t.Context(), Options{Traffic: func(r *board.Rack, _ bool) { rack = r }})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		for _, h := range rack.Cards()[0].Memory.Loads(nicspec.EndpointArm) {
			require.Equal(t, loads != late && loads != later, h.Issued > 0)
		}
		return p
	}
	idle := play("")
	before := idle.Traffic
	for _, gbps := range []int{60, 120, 180, 220} {
		load := fmt.Sprintf("{rate: {bytes: %d, ps: 8000}, in_flight: 256, write_permille: 300}", gbps)
		p := play(load)
		require.Greater(t, p.Traffic, before, "%d Gbps", gbps)
		require.Equal(t, idle.Digest, p.Digest)
		require.Equal(t, p.Sim, play(load).Sim, "the same run again")
		before = p.Traffic
	}
	require.Greater(t, before, 2*idle.Traffic, "the channel carries 204.8 Gbps")
	// CPL_TIMEOUT allows for the load even before it begins. Writing the register takes time, so that the traffic
	// begins at another phase of the polling loops, and takes slightly more or less time.
	p := play(late)
	require.InEpsilon(t, int64(idle.Traffic), int64(p.Traffic), 0.01)
	require.Equal(t, idle.Digest, p.Digest)
	require.Equal(t, p.Traffic, play(later).Traffic, "loads that have not begun take no time")
	require.Less(t, p.Sim, simcore.Second)
}

// The default of a timeout does not wait for a load: its bound, every access of the load before each of a message, made
// timeouts and limits of minutes. A board's own loads count as little as those of the scenario.
func TestTimeoutsWaitForNoLoad(t *testing.T) {
	const stack = "stacks: [{kind: flexins, flexins: {data_cores: 1}}]\nworkload: {count: 30, sizes: [1024]}\n"
	const most = "{rate: {bytes: 220, ps: 8000}, in_flight: 4096}"
	idle := caseOf(t, loaded(stack, ""))
	for _, text := range []string{loaded(stack, most),
		loaded(stack, "") + "load: {at: dram, of: arm, rate: 27GB/s}\n"} {
		c := caseOf(t, text)
		require.Equal(t, idle.timeout(), c.timeout())
		require.Equal(t, idle.AllWorkloads()[0].RetransmitAfter(), c.AllWorkloads()[0].RetransmitAfter())
		require.Less(t, c.limits().quiet, simcore.Second)
		require.Greater(t, c.limits().quiet, idle.limits().quiet, "an exchange may still wait")
		require.Len(t, c.Board.All(), 2)
	}
	taken := caseOf(t, loaded(stack, "")+"load: [{at: cores, of: arm, until: 10ms}, "+
		"{server: 1, at: cores, of: arm, from: 1s, until: 1005ms}]\n")
	require.Equal(t, idle.limits().quiet+15*simcore.Millisecond, taken.limits().quiet, "the time without cores")
	own := caseOf(t, loaded(stack, most))
	own.timeout()
	require.NotEmpty(t, own.Board.All()[0].Cards[0].Switch.Arm.Loads, "the case keeps its loads")
}

// Loads that begin long after the traffic has ended.
const (
	late  = "{from_ps: 10000000000000}"
	later = "{from_ps: 20000000000000}"
)

// A background load that its memory cannot have is refused by an error that names the load's field.
func TestLoadsRefused(t *testing.T) {
	const stack = "stacks: [{kind: flexins}]"
	const at = "f.yaml:7: board.servers[0].cards[0].switch.arm.loads[0]"
	for loads, want := range map[string]string{
		"{socket: 1}":              at + ".socket 1: want 0 to 0, a socket of the machine",
		"{offset: 0x3fffffff}":     at + ".offset 1073741823: want its 67108864 B (span_bytes) inside the",
		"{span_bytes: 0x80000000}": at + ".span_bytes: conflicts",
		"{write_permille: 1001}":   at + ".write_permille 1001: want 0 to 1000",
		"{rate: {ps: 0}}":          at + ".rate 100 bytes in 0 ps: want 1 to 2^30 bytes",
		"{from_ps: 9, until_ps: 8}": at + ".until_ps 8ps: want 0 for no end, or " +
			"board.servers[0].cards[0].switch.arm.loads[0].from_ps or more: 9ps",
		"{from: 1ms, until: 500us}": at + ".until 500us: want 0 for no end, or " +
			"board.servers[0].cards[0].switch.arm.loads[0].from or more: 1ms",
		"{rate: 99999Gbps}":       at + ".rate 99999 bytes in 8000 ps: want 10000 Gbps at most",
		"{rate: 123.4567891Gbps}": at + `.rate: "123.4567891Gbps": cannot be held as whole bytes`,
		"{offset: 99GiB}":         at + ".offset 106300440576: want its 67108864 B",
		"{gigabytes: 9}":          at + ".gigabytes: no such field: want one of ",
		"{base: 9}":               at + ".base: no such field: want one of rate, write_permille",
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+loaded(stack, loads)))
		require.ErrorContains(t, err, want)
	}
}
