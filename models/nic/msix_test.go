package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

func TestModerator(t *testing.T) {
	for _, c := range []struct {
		name   string
		v      Vector
		event  int64 // cycle of an Event, 0: none
		closes int64
		want   []int64 // due after the entries of cycles 1000, 1100, 1200
	}{
		{"none", Vector{}, 0, 0, []int64{Never, Never, Never}},
		{"every entry", Vector{Addr: 4}, 0, 0, []int64{1000, 1000, 1000}},
		{"two", Vector{Addr: 4, Count: 2}, 0, 0, []int64{Never, 1100, 1100}},
		{"many", Vector{Addr: 4, Count: 0xffff}, 0, 0, []int64{Never, Never, Never}},
		{"by time", Vector{Addr: 4, Count: 9, Cycles: 2}, 0, 0, []int64{1128, 1128, 1128}},
		{"count before time", Vector{Addr: 4, Count: 2, Cycles: 2}, 0, 0, []int64{1128, 1100, 1100}},
		{"time without count", Vector{Addr: 4, Cycles: 2}, 0, 0, []int64{1000, 1000, 1000}},
		{"Event", Vector{Addr: 4, Count: 9}, 1100, 0, []int64{Never, 1100, 1100}},
		{"disabled", Vector{Addr: 4, Count: 9}, 0, 1150, []int64{Never, Never, 1150}},
		{"disabled before", Vector{Addr: 4, Count: 9}, 0, 900, []int64{1000, 1000, 1000}},
	} {
		var m Moderator
		closed := false
		for i, want := range c.want {
			cycle := 1000 + 100*int64(i)
			if c.closes != 0 && !closed && c.closes < cycle {
				m.Close(c.closes)
				closed = true
			}
			m.Wrote(&c.v, c.event == cycle, cycle)
			require.Equal(t, want, m.DueAt(), "%s, entry %d", c.name, i)
		}
		m.Sent()
		require.Equal(t, int64(Never), m.DueAt(), c.name)
		require.Zero(t, m.Unreported(), c.name)
	}
}

func TestMessageFields(t *testing.T) {
	entry := func(addr uint64) []byte {
		b := make([]byte, 64)
		(&nicspec.TxqEntryFields{Enable: 1, LogSize: 2, RingBase: 64, CqBase: 128, MsixAddr: addr, MsixData: 7, ModCount: 8, ModCycles: 9}).Encode(b)
		return b
	}
	spec := DefaultSpec()
	spec.Parts = nicspec.PartMsix
	for _, table := range []nicspec.Table{nicspec.TableTxq, nicspec.TableRxq} {
		for addr, want := range map[uint64]nicspec.TableStatus{
			0: nicspec.TableStatusOk, 4: nicspec.TableStatusOk, 6: nicspec.TableStatusBadValue, 1 << 63: nicspec.TableStatusOk,
		} {
			b := entry(addr)
			b[8] = 1 // pay_buf_size
			r := NewRegs(spec)
			require.Equal(t, want, r.commit(table, 1, b).Status, "%v %#x", table, addr)
			if want != nicspec.TableStatusOk {
				continue
			}
			r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpRead, table, 1))
			got := r.staged()
			require.Equal(t, b[32:48], got[32:48])
		}
	}
}

// messages are as many as entries, or fewer, the timer runs while the device is
// else idle, and it is busy till then [M5].
func TestMessagesLeave(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartMsix
	r := openedRx(t, o)
	var left, due []int64
	r.nic.Observe(func(x boundary.Crossing) {
		if x.Kind != boundary.TLPOut {
			return
		}
		switch h := tlp.Parse(&x.TLP.Hdr); {
		case h.Kind == tlp.MWr && h.Address == 0xfee0_0000:
			require.Equal(t, []byte{0x78, 0x56, 0x34, 0x12}, x.TLP.Data)
			left = append(left, x.Last)
		case h.Kind == tlp.MWr && h.Address >= rxCq(0):
			due = append(due, x.Last)
		}
	})
	r.host.openRx(0, 4, func(f *nicspec.RxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = 0xfee0_0000, 0x1234_5678, 3, 100
	})
	for i := range 8 {
		r.host.post(0, 0, 0x7000_0000+uint64(i)*0x4000)
	}
	r.host.ringRx(0)
	r.run()
	for i := range 4 {
		r.peers[0].send(pattern(100, uint64(i)))
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+2*simcore.Microsecond))
	require.Len(t, due, 4)
	require.Len(t, left, 1)
	require.Greater(t, left[0], due[2])
	require.True(t, r.nic.Busy())
	r.idle()
	require.Len(t, left, 2)
	require.GreaterOrEqual(t, left[1], due[3]+6400)
	require.Less(t, left[1], due[3]+6410)
	require.EqualValues(t, 2, r.nic.Regs().Dev(nicspec.CntMsix))
}
