package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// TestStopHoldsFrames: a pause delays frames until it ends and no longer than necessary, and the
// device is busy while a frame waits [F3, F4, F8].
func TestStopHoldsFrames(t *testing.T) {
	for _, bits := range []int{256, 512, 1024} {
		o := defaultRig()
		o.spec.Parts, o.spec.EthBits = nicspec.PartPause, bits
		r := openedTx(t, o)
		h := r.host
		h.OpenTx(0, 4)
		var cfg [nicspec.PortEntrySize]byte
		(&nicspec.PortEntryFields{RxPause: 1}).Encode(cfg[:])
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TablePortCfg, 0, cfg[:]))
		var came, left int64
		r.trace = func(x boundary.Crossing) {
			switch x.Kind {
			case boundary.FrameIn:
				came = x.Last
			case boundary.FrameOut:
				left = x.First
			}
		}
		var f [nicspec.FrameMin]byte
		const quanta = 4000
		core.BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePause}, [6]byte{}, quanta, &f)
		r.run()
		r.peers[0].send(f[:])
		require.NoError(t, r.eng.RunUntil(r.eng.Now()+simcore.Microsecond))
		require.False(t, r.nic.Busy(), "a stop alone does not make it busy")
		h.PostWqe(0, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
		h.RingTx(0)
		require.NoError(t, r.eng.RunUntil(r.eng.Now()+3*simcore.Microsecond))
		require.True(t, r.nic.Busy())
		require.Zero(t, left)
		r.run()
		stop := int64(quanta * 512 / bits)
		require.GreaterOrEqual(t, left-came, stop)
		require.LessOrEqual(t, left-came, stop+64)
		require.EqualValues(t, 1, r.nic.Regs().Port(nicspec.CntRxPause, 0))
	}
}

// TestStopAndPartOfAnEntry: a queue waits for the end of a stop only if it has blocks to fetch or
// an entry to start. An incomplete entry, already fetched, does not make the device busy [B8],
// [T14].
func TestStopAndPartOfAnEntry(t *testing.T) {
	r := openedTx(t, defaultRig())
	h := r.host
	h.OpenTx(0, 4, func(f *nicspec.TxqEntryFields) { f.PfcClass = 3 })
	var cfg [nicspec.PortEntrySize]byte
	(&nicspec.PortEntryFields{RxPfc: 1 << 3}).Encode(cfg[:])
	require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TablePortCfg, 0, cfg[:]))
	raw := longWqe(0, 3)
	h.PostWqe(0, raw[:128])
	h.RingTx(0)
	r.idle()
	var f [nicspec.FrameMin]byte
	core.BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePriority, TxClasses: 1 << 3}, [6]byte{}, 20000,
		&f)
	r.peers[0].send(f[:])
	r.pass(simcore.Microsecond)
	h.Write32(nicspec.RegCtrl, 3)
	r.pass(simcore.Microsecond)
	require.False(t, r.nic.Busy(), "nothing waits for the end of the stop")
	h.PostWqe(0, raw[128:])
	h.RingTx(0)
	r.pass(3 * simcore.Microsecond)
	require.True(t, r.nic.Busy())
	require.Empty(t, r.peers[0].got)
	r.run()
	r.sent(t, 0, 3)
	require.False(t, r.nic.Busy())
}
