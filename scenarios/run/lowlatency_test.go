package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A workload or stack that cannot use low-latency queue pairs is refused, and the error names the field.
func TestLowLatencyRefused(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\n"
	const four = head + "stacks: [{kind: flexins, flexins: {low_latency_qps: 4}}]\n"
	for _, c := range []struct{ text, want string }{
		{head + "stacks: [{kind: flexins}]\nworkload: {low_latency: true}",
			"f.yaml:5: workload.low_latency: conflicts with a value that the file does not set: " +
				"stacks[0].flexins.low_latency_qps 0: with workload.low_latency, server 0 has 1 queue pairs: want " +
				"that many or more"},
		{four + "workload: {low_latency: true, queue_pairs: 3, both_ways: true}",
			"stacks[0].flexins.low_latency_qps 4: with workload.low_latency, server 0 has 6 queue pairs"},
		{head + "stacks: [{kind: flexins, flexins: {low_latency_qps: 65}}]",
			"f.yaml:4: stacks[0].flexins.low_latency_qps 65: want 0 to 64, the NIC's credit accounts"},
		{head + "stacks: [{kind: rnic}]\ndevices: [{kind: rnic, model: connectx6}]\nworkload: {low_latency: true}",
			"stacks[0].kind rnic: it has no low-latency queue pairs: want flexins, or workload.low_latency false"},
		{four + "workload: {low_latency: true, kind: write}",
			"f.yaml:5: workload.low_latency: kind write has no SENDs that a low-latency queue pair could carry: " +
				"want false"},
		{four + "workload: {low_latency: true, transport: uc}",
			"workload.low_latency: low-latency queue pairs support only SENDs over rc"},
		{four + "workload: {low_latency: true, pieces: 2}", "workload.low_latency: each receive request is one piece"},
		{four + "workload: {low_latency: true, shared_receive: true}",
			"workload.low_latency: each receive request is one piece"},
		{four + "workload: {low_latency: true, sizes: [1025]}",
			"workload.low_latency: a message is one packet: want workload.sizes up to workload.mtu 1024, or false"},
		{four + "workload: {low_latency: true, sizes: [3997], mtu: 4096}",
			"stacks[0].flexins.data.pipe.log_lines 6: a pipe of so many lines takes low-latency messages of 3996 B " +
				"at most, workload.sizes has 3997: want more"},
		{four + "workload: {low_latency: true, misuse: {what: short_receive}}",
			"workload.misuse.what short_receive: a low-latency queue pair refuses to post it"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte(text))
		require.ErrorContains(t, err, want)
	}
	const bytes = four + "workload: {low_latency: true, notice: bytes"
	for _, c := range []struct{ text, want string }{
		{four + "workload: {notice: bytes}",
			"f.yaml:5: workload.notice bytes: only the device of a low-latency queue pair writes messages to buffers " +
				"in the order in which they were posted: want workload.low_latency true, or completion"},
		{bytes + ", sizes: [8, 7]}",
			"f.yaml:5: workload.sizes[1] 7: with workload.notice bytes a message ends with its number and a sum: " +
				"want 8 or more"},
		{four + "workload: {notice: bits}", `f.yaml:5: workload.notice "bits": want completion or bytes`},
		{four + "workload: {notice: bytes, kind: read}",
			"f.yaml:5: workload.notice: kind read takes no messages from buffers of receive requests: want completion"},
		{bytes + ", kind: reflector}\nfaults: {wire: {seed: 1}}",
			"f.yaml:5: workload.notice bytes: with faults.wire a packet that its transport refuses may have the " +
				"bytes of a later message"},
		{bytes + ", memory: gpu}",
			"f.yaml:5: workload.notice bytes: applications poll memory of their host alone: want workload.memory host"},
	} {
		_, err := Parse("f.yaml", []byte(c.text))
		require.ErrorContains(t, err, c.want)
	}
	for _, text := range []string{
		bytes + ", kind: echo}\nfaults: {wire: {seed: 1}}", bytes + ", kind: reflector, sizes: [8]}",
		four + "workload: {low_latency: true, queue_pairs: 4, sizes: [0, 1024]}",
		head + "stacks: [{kind: flexins, flexins: {low_latency_qps: 1, data: {pipe: {log_lines: 7}}}}]\nworkload: " +
			"{low_latency: true, sizes: [4096], mtu: 4096}",
	} {
		_, err := Parse("f.yaml", []byte(text))
		require.NoError(t, err)
	}
}

// Misuse of a low-latency queue pair gives the same completion errors as misuse of an ordinary one.
func TestLowLatencyMisuse(t *testing.T) {
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 1, "+
		"low_latency_qps: 1}}]\n"+
		"workload: {low_latency: true, count: 8, sizes: [100], misuse: {what: local_key, message: 5}}\n"+
		"expect: {errors: [{at: client, queue: send, status: loc_prot_err, at_most: 1}, {at: client, queue: send, "+
		"status: wr_flush_err}]}")
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}
