package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
)

// An MTU that a stack's ports do not support is refused before the run, and the error names the field.
func TestMTURefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{onSolar + "workload: {mtu: 8192}",
			"f.yaml:5: workload.mtu: conflicts with a value that the file does not " +
				"set: stacks[0].flexins.mtu 4096: " +
				"workload.mtu is 8192: want that or more"},
		{"board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nworkload: {mtu: 8192}",
			"f.yaml:5: workload.mtu 8192: ports of stacks of kind rnic have 4096: want that or less"},
		{"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {mtu: 8192}}]\nworkload: {mtu: 8192}",
			"f.yaml:4: stacks[0].flexins.mtu: conflicts with a value that the file does not set: " +
				"stacks[0].flexins.data.payload_bytes 4224: want 8320 or more for stacks[0].flexins.mtu 8192"},
		{onSolar + "sweep: {mtu: [4096, 8192]}",
			"f.yaml:5: sweep: case x:mtu=8192: stacks[0].flexins.mtu 4096: " +
				"workload.mtu is 8192"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
	caseOf(t, onSolar+"workload: {transport: raw, mtu: 8192}")
}

// Packets of every transport can carry 8,192 B of payload in a single frame.
func TestMTU8192(t *testing.T) {
	const stack = "board: {preset: bf3-cores-pair}\naddresses: ipv6\nstacks: [{kind: flexins, flexins: {mtu: 8192, " +
		"data_cores: 2, data: {payload_bytes: 8320}}}]\n"
	for _, nic := range []string{device.Model, device.RTL} {
		for transport, kind := range map[string]string{"rc": "read", "uc": "write", "ud": "send", "solar": "write"} {
			o, longest := optionsFor(t, nic), 0
			o.Observe = func(_ int, nic board.NIC) {
				nic.Observe(func(c boundary.Crossing) {
					if c.Kind == boundary.FrameOut {
						longest = max(longest, len(c.Frame.Data))
					}
				})
			}
			p, err := caseOf(t,
				stack+"workload: {mtu: 8192, sizes: [8192], count: 8, transport: "+transport+", kind: "+kind+"}").Play(
				t.Context(), o)
			require.NoError(t, err)
			require.True(t, p.Pass(), "%s on %s: %s", transport, nic, texts(p))
			require.Equal(t, 8, p.Result.Messages)
			require.Greater(t, longest, 8192+14+40+8+12)
			require.LessOrEqual(t, longest, nicspec.FrameMax)
		}
	}
}
