package flexins

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/flexins/node"
	"nictwin/stack/verbs"
)

// poller is an application that polls its buffers for messages of 64 B, instead of waiting for completions. A message
// begins with its number and ends with the low byte of it, so that it is complete when its end is there. The poller
// discards messages that it has already had, and delays those that arrive early.
type poller struct {
	t       *testing.T
	core    interface{ Load(uint64, []byte) error }
	at      uint64 // address of the buffers
	buffers int
	seen    map[uint32]bool
	next    uint32 // next message to deliver
	again   int    // number of polls that found a message delivered before
	early   int    // number of messages that arrived before one sent earlier
}

const polledBytes = 64

func polledMessage(n uint32) []byte {
	b := make([]byte, polledBytes)
	binary.LittleEndian.PutUint32(b, n)
	for i := 4; i < polledBytes; i++ {
		b[i] = byte(n) + byte(i)
	}
	b[polledBytes-1] = byte(n)
	return b
}

func (p *poller) look() bool {
	found := false
	b := make([]byte, polledBytes)
	for i := range p.buffers {
		require.NoError(p.t, p.core.Load(p.at+uint64(i)*polledBytes, b))
		n := binary.LittleEndian.Uint32(b)
		if n == 0 || b[polledBytes-1] != b[0] {
			continue
		}
		require.Equal(p.t, polledMessage(n), b, "message whose last byte has arrived")
		if n < p.next || p.seen[n] {
			p.again++
			continue
		}
		if n > p.next {
			p.early++
		}
		p.seen[n], found = true, true
	}
	for p.seen[p.next] {
		delete(p.seen, p.next)
		p.next++
	}
	return found
}

// TestFlexinsLowLatencyPolled checks that an application that polls its buffers gets every message before its
// completion, on a wire that loses, duplicates and reorders. By the number in
// each message, the application recognizes packets that the stack discards later.
func TestFlexinsLowLatencyPolled(t *testing.T) {
	s := node.DefaultSpec()
	s.DataCores, s.LowLatency = 1, 1
	faults := &inject.WireSpec{Chances: inject.Chances{Loss: 0.05, Duplication: 0.1, Disorder: 0.1, Corruption: 0.05}}
	b, nodes, _, rack := newNodesOn(t, s, false, func(r *board.RackSpec) { r.Network.Faults = faults })
	c := connectLow(t, b, polledBytes)
	core, err := rack.Cards()[1].Memory.Host(nicspec.EndpointHost).Core(0, 0)
	require.NoError(t, err)
	const window, messages = 8, 160
	p := &poller{t: t, core: core, at: c.Sides[1].Base, buffers: window, seen: map[uint32]bool{}, next: 1}
	loop, err := core.Add(cpu.LoopSpec{Name: "application", Poll: 62}, func(*cpu.Core) bool { return p.look() })
	require.NoError(t, err)
	_, err = loop.Watch(p.at, p.buffers*polledBytes)
	require.NoError(t, err)
	recv := func(i uint64) {
		_, err := c.qp[1].PostRecv(
			[]verbs.RecvWR{{ID: i,
				SGEs: []verbs.SGE{{Addr: p.at + i*polledBytes, Length: polledBytes, LKey: c.mr[1].LKey}}}})
		require.NoError(t, err)
	}
	for i := range uint64(window) {
		recv(i)
	}
	completed := uint32(0)
	for n := uint32(1); n <= messages; n += window {
		for k := range uint32(window) {
			_, err := c.qp[0].PostSend([]verbs.SendWR{{Opcode: verbs.WRSend,
				Flags: verbs.SendInline | verbs.SendSignaled, Inline: polledMessage(n + k)}})
			require.NoError(t, err)
		}
		require.NoError(t, c.Settle())
		require.Equal(t, n+window, p.next)
		wcs := make([]verbs.WC, 2*window)
		k, err := c.cq[0].Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, window, k)
		k, err = c.cq[1].Poll(wcs)
		require.NoError(t, err)
		for _, w := range wcs[:k] {
			require.Equal(t, verbs.WCSuccess, w.Status)
			got := make([]byte, polledBytes)
			require.NoError(t, c.Sides[1].Memory.Read(p.at+w.ID*polledBytes, got))
			completed++
			require.Equal(t, polledMessage(completed), got)
			recv(w.ID)
		}
	}
	loop.Stop()
	require.EqualValues(t, messages, completed)
	require.Positive(t, nodes[1].Stats().Returned)
	require.Positive(t, p.again)
	require.Positive(t, p.early)
	t.Logf("%d messages, %d packets landed in vain, %d looks at messages that were early, %d at such as it had had",
		messages, nodes[1].Stats().Returned, p.early, p.again)
}
