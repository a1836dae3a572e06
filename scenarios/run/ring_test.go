package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run/place"
)

// Workload options that a ring does not support are refused before the run, and the error names the field.
func TestRingRefused(t *testing.T) {
	const ring = onRNICs + "workload: {kind: ring, depth: 16, ring: {alpha: 4, beta: 2, gamma: 3}"
	for _, c := range []struct{ text, want string }{
		{onRNICs + "workload: {kind: ring}",
			"f.yaml:5: workload.kind: conflicts with a value that the " +
				"file does not set: workload.ring.alpha 32: want 1 to 7, as one of the 8 slots stays free"},
		{onRNICs + "workload: {kind: ring, depth: 1}",
			"f.yaml:5: workload.depth 1: of workload.kind ring it is " +
				"the slots of each ring: want 2 to 4096"},
		{onRNICs + "workload: {ring: {beta: 2}}",
			"f.yaml:5: workload.ring: kind send has no ring: want " +
				"kind ring"},
		{ring + ", inline: true}",
			"f.yaml:5: workload.inline: kind ring makes requests by " +
				"itself: want false"},
		{ring + ", batch: 2}",
			"f.yaml:5: workload.batch: kind ring makes requests by " +
				"itself: want 1"},
		{ring + ", transport: uc}",
			"f.yaml:5: workload.kind ring: workload.transport uc does " +
				"not support it"},
		{ring + ", sizes: [8, 0]}", "f.yaml:5: workload.sizes[1] 0: ring over rc takes 1 to"},
		{ring + ", immediate: true}",
			"f.yaml:5: workload.immediate: kind ring has no SENDs: " +
				"want false"},
		{ring + ", low_latency: true}", "f.yaml:5: workload.low_latency"},
		{ring + ", offset: 4}\nsweep: {tail: [poll_last]}",
			"f.yaml:6: sweep: case x:tail=poll_last: workload.offset " +
				"4: slots have words with workload.ring.tail poll_last: want a multiple of 8"},
		{ring + ", misuse: {what: remote_key}}",
			"f.yaml:5: workload.misuse: kind ring makes requests by " +
				"itself: want none"},
		{ring + ", payload: reused}",
			"f.yaml:5: workload.payload: kind ring makes requests by " +
				"itself: want fresh"},
		{ring + "}\nsweep: {tail: [write_imm]}",
			"f.yaml:6: sweep: case x:tail=write_imm: " +
				"workload.ring.alpha 4: with workload.ring.tail write_imm"},
		{ring + "}\nsweep: {head: [poke]}",
			`f.yaml:6: sweep: case x:head=poke: workload.ring.head "poke": want push or pull`},
		{ring + "}\nsweep: {depth: [4]}",
			"f.yaml:6: sweep: case x:depth=4: workload.ring.alpha 4: " +
				"want 1 to 3"},
		{ring + ", shared_receive: true, any_order: true}",
			"f.yaml:5: workload.shared_receive: kind ring takes no " +
				"receive requests"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
}

// A ring needs a core that polls, and queue pairs with room for its requests. A stack that lacks either is refused, and
// the error says which.
func TestRingNeeds(t *testing.T) {
	c := caseOf(t, "board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nworkload: {kind: ring, depth: 128}")
	_, err := c.Play(t.Context(), Options{NIC: device.Model})
	require.ErrorContains(t, err, "its applications run on no core that can poll memory")
	c = caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: ring, depth: 4000, "+
		"ring: {alpha: 1, beta: 1}}")
	_, err = c.Play(t.Context(), Options{NIC: device.Model})
	require.ErrorContains(t, err, "a ring with depth 4000 and beta 1 has up to 8011 requests in flight, and a queue "+
		"pair here allows 4096")
}

// The ring's reader takes a message when the tail announces it, and reports bytes that are wrong at that time with
// their offset.
func TestRingReaderSeesWrongBytes(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {kind: ring, sizes: [64], count: 40, depth: 16, ring: {alpha: 4, beta: 4, "+
		"gamma: 4}}")
	o := Options{NIC: device.Model}
	first := mem.Bus(nicspec.EndpointHost, place.HostFrom)
	w, err := newWorld(t.Context(), c, &o)
	require.NoError(t, err)
	x := w.rack.Servers[1].Cards[0].Memory
	_, err = x.Watch(first, 1, func(uint64, int) { require.NoError(t, x.Write(first+10, []byte{0xee})) })
	require.NoError(t, err)
	p := &Played{Case: c}
	require.NoError(t, w.play(p))
	require.NoError(t, w.close())
	require.NotEmpty(t, p.Findings)
	require.Equal(t, "byte", p.Findings[0].Field)
	require.Contains(t, p.Findings[0].Text, "message 0 (64 B): byte 10 at ")
}

// A full ring does not hang if its reader receives too few further messages to report its head: the writer requests the
// head by a flush.
func TestStarvedRing(t *testing.T) {
	p, err := caseOf(t, onRNICs+"workload: {kind: ring, sizes: [64], count: 30, depth: 4, ring: {alpha: 2, beta: 1, "+
		"gamma: 3}}").Play(t.Context(), Options{NIC: device.Model})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}

// A core never sees a word of a ring's slot partly written, whatever the slot's address.
func TestRingWordsLandWhole(t *testing.T) {
	for _, x := range []string{"sizes: [1023], depth: 16, ring: {aligned: false, tail: poll_last, ",
		"sizes: [8], offset: 8, depth: 70, ring: {tail: poll_message, ",
		"sizes: [5], depth: 40, ring: {aligned: false, tail: poll_message, "} {
		p, err := caseOf(t, onRNICs+"workload: {kind: ring, count: 600, "+x+"alpha: 1, beta: 1, gamma: 5, elastic: "+
			"false}}").Play(t.Context(), Options{NIC: device.Model})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
	}
}

// Receive requests are posted before the first message, even if the pipe has no room for all of them at once. Without
// that, rnr_retry 0 would fail.
func TestRingsBeginWithReceives(t *testing.T) {
	p, err := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 1}}]\n"+
		"workload: {kind: ring, rnr_retry: 0, sizes: [8], count: 120, depth: 60, queue_pairs: 6, both_ways: true, "+
		"ring: {alpha: 1, beta: 1, gamma: 10, tail: write_imm, elastic: false}}").Play(t.Context(),
		Options{NIC: device.Model})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}

// Receive requests of a ring that are flushed are reported as completion errors of the receive queue.
func TestRingReaderDies(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {kind: ring, sizes: [64], count: 200, depth: 16, timeout: 4, retries: 3, ring: "+
		"{alpha: 2, beta: 2, gamma: 4, tail: write_imm, elastic: false}}\n"+
		"faults: {wire: {rules: [{do: loss, opcode: 10, psn: 2, psns: 10000, attempts: 1000}]}}\n"+
		"expect: {errors: [{at: server, queue: send, status: retry_exc_err, at_most: 1}, {at: server, queue: send, "+
		"status: wr_flush_err}, {at: server, queue: receive, status: wr_flush_err, at_most: 1}]}")
	p, err := c.Play(t.Context(), Options{NIC: device.Model})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}
