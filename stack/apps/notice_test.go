package apps

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/stack/verbs"
)

// newPolling returns the server of a flow of SENDs that polls bytes, with its receive requests posted.
func newPolling(t require.TestingT, count, depth int) (*server, *notice, flat) {
	spec := DefaultSpec()
	spec.LowLatency, spec.Notice, spec.Sizes = true, NoticeBytes, []int{40, 8, 9, 200}
	spec.Count, spec.Depth, spec.Receives = count, depth, depth
	require.NoError(t, spec.Validate())
	memory := make(flat, 1<<16)
	s := &side{run: &Run{spec: &spec}, Side: Side{Core: memory, Memory: memory}, want: make([]byte, 256),
		got: make([]byte, 256)}
	x := &server{end: &end{spec: &spec, side: s, total: count}}
	x.role = x
	r := arena{next: 0, end: 1 << 16}
	a, err := r.alloc(depth, 200, 1, 0)
	require.NoError(t, err)
	require.NoError(t, a.fillGuards(memory))
	x.recvs = &receives{end: x.end, side: s, pool: &pool{area: a, memory: true, total: count}, spec: &spec,
		slots: depth, post: func([]verbs.RecvWR) (int, error) { return 1, nil }}
	x.allocateNotice()
	x.recvs.makeBatch()
	x.recvs.begin()
	return x, x.notice, memory
}

// TestWholeMessagesAreTaken writes the bytes of messages in any order, as nothing promises one: a message is taken when
// the last of its bytes is there, and not before, whether its completion comes or not.
func TestWholeMessagesAreTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const depth = 3
		x, n, memory := newPolling(t, 12, depth)
		for m := range 12 {
			b, slot := make([]byte, x.spec.size(m)), m%depth
			x.message(b, request, m)
			at := x.recvs.area.pieceAddr(slot, 0)
			parts := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "parts")
			for i, part := range parts {
				from, to := part*len(b)/4, (part+1)*len(b)/4
				if string(memory[at:][:len(b)]) != string(b) {
					require.False(t, n.step(), "part %d of %v of message %d", i, parts, m)
				}
				copy(memory[at+uint64(from):], b[from:to])
			}
			if rapid.Bool().Draw(t, "polled") {
				require.True(t, n.step(), "message %d", m)
				require.False(t, n.step(), "it is taken once")
			}
			x.endRecv(&verbs.WC{ID: recvBit | uint64(m)<<slotBits | uint64(slot), Opcode: verbs.WCRecv,
				ByteLen: uint32(len(b))})
			require.Equal(t, []int{m + 1, m + 1, m + 1}, []int{x.next, n.taken, x.messages})
		}
		require.Nil(t, x.firstFault)
		require.True(t, x.done())
	})
}

// TestMessagesOutOfTurn delivers a packet twice, so that it takes a second buffer: the messages behind it are not in
// the buffers whose turn it is, and are taken by their completions.
func TestMessagesOutOfTurn(t *testing.T) {
	x, n, memory := newPolling(t, 4, 4)
	put := func(m, slot int) {
		b := make([]byte, x.spec.size(m))
		x.message(b, request, m)
		copy(memory[x.recvs.area.pieceAddr(slot, 0):], b)
	}
	end := func(m, slot, bytes int) {
		x.endRecv(&verbs.WC{ID: recvBit | uint64(slot), Opcode: verbs.WCRecv, ByteLen: uint32(bytes)})
	}
	put(0, 0)
	require.True(t, n.step())
	put(0, 1) // again
	require.False(t, n.step())
	put(1, 2)
	require.False(t, n.step(), "the buffer in turn has another message")
	require.Equal(t, 1, n.taken)
	end(0, 0, 40)
	end(1, 2, 8)
	require.Equal(t, []int{2, 1}, []int{n.taken, n.early})
	put(2, 3)
	end(2, 3, 9)
	require.Equal(t, 3, n.taken)
	put(3, 1)
	require.True(t, n.step(), "the buffer in turn, with a new message")
	end(3, 1, 200)
	require.Nil(t, x.firstFault)
	require.True(t, x.done())

	x, n, memory = newPolling(t, 4, 4)
	x.spec.Kind, x.full = Reflector, true // its answers wait
	put(0, 0)
	put(1, 1) // message 1, before its turn, so that the transport refuses it
	for range 2 {
		require.True(t, n.step())
	}
	end(0, 0, 40)
	require.Nil(t, x.firstFault)
	end(1, 2, 8) // again
	require.Contains(t, x.firstFault.Text, "message 1 was taken from buffer 1, which the device may write again, and "+
		"came in buffer 2")
	x, _, _ = newPolling(t, 4, 4)
	end(0, 0, 39)
	require.Contains(t, x.firstFault.Text, "message 0 came with 39 B: expected 40")
	x, _, memory = newPolling(t, 4, 4)
	put(0, 0)
	memory[x.recvs.area.pieceAddr(0, 0)+7] ^= 1
	require.False(t, x.notice.step(), "a wrong byte: its sum is wrong")
	end(0, 0, 40)
	require.Contains(t, x.firstFault.Text, "message 0 (40 B): byte 7 at")
}
