package run

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/format/wire"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/place"
)

// Byte offsets in a frame of Solar over IPv4.
const (
	solarOpcode = 14 + 20 + 8
	solarPSN    = solarOpcode + 9
	solarHead   = solarOpcode + 12
	solarBlock  = solarHead + 16
	solarTail   = 12
)

// Every packet that leaves either NIC is as the Solar transport specifies: it has a block with its address and its
// CRC-32C, computed here independently of the stack, and a correct ICRC.
func TestSolarOnTheWire(t *testing.T) {
	for _, nic := range []string{device.Model, device.RTL} {
		count := map[byte]int{}
		o := optionsFor(t, nic)
		o.Observe = func(_ int, nic board.NIC) {
			nic.Observe(func(c boundary.Crossing) {
				if c.Kind != boundary.FrameOut {
					return
				}
				f := c.Frame.Data
				require.Equal(t, wire.OK, wire.VerifyFrameICRC(f).Verdict)
				op, pad := f[solarOpcode], int(f[solarOpcode+1]>>4&3)
				count[op]++
				if op == 0xcb {
					return
				}
				end := int(binary.BigEndian.Uint16(f[16:])) + 14 - 4 - pad
				block, tail := f[solarBlock:end-solarTail], f[end-solarTail:end]
				length := binary.BigEndian.Uint32(f[solarHead+12:])
				require.Contains(t, []byte{0xc8, 0xc9, 0xca}, op)
				if op == 0xc9 {
					require.Empty(t, block)
				} else {
					require.Len(t, block, int(length))
					require.Equal(t, crc32.Checksum(block, crc32.MakeTable(crc32.Castagnoli)),
						binary.LittleEndian.Uint32(tail), "PSN %x", f[solarPSN:solarPSN+3])
				}
				require.LessOrEqual(t, int(length), 4096)
				at := binary.BigEndian.Uint64(tail[4:])
				require.True(t, at >= mem.Bus(nicspec.EndpointHost, place.HostFrom) &&
					at+uint64(length) <= mem.Bus(nicspec.EndpointHost, place.HostFrom+place.HostBytes), "%#x", at)
			})
		}
		for _, kind := range []string{"write", "read"} {
			p, err := caseOf(t, onSolar+"workload: {transport: solar, kind: "+kind+", sizes: [4096, 9000, 3], count: "+
				"12, mtu: 4096}").Play(t.Context(), o)
			require.NoError(t, err)
			require.True(t, p.Pass(), texts(p))
		}
		const blocks = 4 * (1 + 3 + 1)
		require.Equal(t, map[byte]int{0xc8: blocks, 0xc9: blocks, 0xca: blocks, 0xcb: blocks}, count, nic)
	}
}

const onSolar = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2}}]\n"

// If the receiving NIC corrupts a byte after its ICRC check, Solar finds it by the block's CRC, retransmits the block
// and gives the application the right bytes. RC does not find it. The referee reports the NIC in both cases.
func TestSolarFindsWhatTheNICChanges(t *testing.T) {
	for _, x := range []struct {
		transport, kind string
		server          int // server whose NIC corrupts the blocks that it receives
		spoiled         bool
	}{{"solar", "write", 1, false}, {"solar", "read", 0, false}, {"rc", "write", 1, true}, {"rc", "read", 0, true}} {
		o, n := optionsFor(t, device.Model), 0
		o.Observe = func(server int, nic board.NIC) {
			nic.Observe(func(c boundary.Crossing) {
				if server != x.server || c.Kind != boundary.TLPOut || len(c.TLP.Data) < 200 {
					return
				}
				h, err := c.TLP.Header()
				require.NoError(t, err)
				if to, _ := mem.Split(h.Address); to != nicspec.EndpointArm || h.Kind != tlp.MWr {
					return
				}
				if n++; n == 20 {
					c.TLP.Data[100] ^= 1
				}
			})
		}
		p, err := caseOf(t, onSolar+"workload: {transport: "+x.transport+", kind: "+x.kind+", sizes: [4096], count: "+
			"12, mtu: 4096}").Play(t.Context(), o)
		require.NoError(t, err)
		require.Greater(t, n, 20)
		application := firstOf(p, func(f *result.Finding) bool { return f.Domain == result.Application })
		referee := firstOf(p, func(f *result.Finding) bool { return f.Domain != result.Application })
		require.Equal(t, x.spoiled, application != nil, "%s %s: %s", x.transport, x.kind, texts(p))
		require.NotNil(t, referee, "%s %s: the referee saw nothing", x.transport, x.kind)
		if !x.spoiled {
			require.Equal(t, 12, p.Result.Messages)
		}
	}
}

// Workload options that Solar does not support are refused, and the error names the field.
func TestSolarRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{onSolar + "workload: {transport: solar}",
			"f.yaml:5: workload.transport: conflicts with a value that the " +
				"file does not set: workload.kind send: " +
				"workload.transport solar does not support it: want write or read, or " +
				"workload.transport rc"},
		{onSolar + "workload: {transport: solar, kind: atomics, sizes: [8]}",
			"f.yaml:5: workload.kind atomics: workload.transport solar does not support it: want write or read, or " +
				"workload.transport rc"},
		{onSolar + "workload: {transport: solar, kind: write_imm}",
			"f.yaml:5: workload.kind write_imm: workload.transport solar does not support it"},
		{onSolar + "workload: {transport: solar, kind: write, signal_every: 2}",
			"f.yaml:5: workload.signal_every 2: requests of solar end in any order"},
		{onSolar + "workload: {transport: solar, kind: write, receives: 3}",
			"f.yaml:5: workload.receives 3: transport solar takes no receive requests: want 0"},
		{onSolar + "workload: {transport: solar, kind: read, misuse: {what: remote_key}}",
			"f.yaml:5: workload.misuse: over solar a refused request fails alone and others continue: want none"},
		{onSolar + "workload: {transport: solar, kind: write, low_latency: true}",
			"f.yaml:5: workload.low_latency: low-latency queue pairs support only SENDs over rc"},
		{onSolar + "workload: {transport: solar, kind: write, shared_receive: true}",
			"f.yaml:5: workload.shared_receive: kind write takes no receive requests: want false"},
		{"board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nworkload: {transport: solar, kind: write}",
			"f.yaml:4: stacks[0].kind rnic: it has no transport solar: want flexins, or another workload.transport"},
		{"board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nworkload: {kind: write}\nsweep: {transport: [rc, " +
			"solar]}",
			"f.yaml:6: sweep: case x:transport=solar: stacks[0].kind rnic: it has no " +
				"transport solar"},
		{onSolar + "workload: {transport: solr}",
			`f.yaml:5: workload.transport "solr": want rc, uc, ud, raw, solar or udp`},
		{"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}, {kind: rnic}]\nworkload: {transport: solar, " +
			"kind: write, queue_pairs: 2}", "stacks[1].kind rnic: it has no transport solar"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
}
