package rnic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// A READ that waits for a context must have freed its space in the receive buffer, so that it does
// not block other packets; a WRITE must occupy it until its bytes are in memory.
func TestReadsLeaveTheReceiveBuffer(t *testing.T) {
	const hold, n = simcore.Millisecond / 2, 4
	for _, o := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write} {
		spec := DefaultSpec()
		one := spec
		one.Contexts = Contexts{Endpoint: 1, Hold: hold}
		r := newBF2(t, 2, spec, one)
		a, b := r.hosts[0].qp(rnicspec.RC, hst), r.hosts[1].qp(rnicspec.RC, hst)
		connect(a, b, 1024)
		local, remote := a.h.alloc(hst, 4096), b.h.alloc(hst, 4096)
		for range n {
			a.put(rnicspec.WQE{Opcode: o, Flags: sig, Length: 512, LocalVA: local, LocalKey: keyH, RemoteVA: remote,
				RemoteKey: keyH})
		}
		a.ring()
		require.NoError(t, r.e.RunUntil(r.e.Now()+hold/4))
		nic := r.hosts[1].nic
		require.Equal(t, n, nic.rx.ops, "one has the context, the others wait")
		require.Equal(t, n-1, nic.contexts.waiting[hst].Len())
		require.Equal(t, Levels{RxBytes: nic.rx.held}, nic.Levels())
		require.Equal(t, Levels{Sends: n}, r.hosts[0].nic.Levels())
		if o == rnicspec.Read {
			require.Zero(t, nic.rx.held)
		} else {
			require.Greater(t, nic.rx.held, n*512)
		}
		require.NoError(t, r.e.RunUntil(r.e.Now()+5*hold))
		require.Zero(t, nic.rx.held)
		require.Zero(t, r.hosts[0].nic.Levels())
	}
}
