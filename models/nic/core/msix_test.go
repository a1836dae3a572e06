package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

func TestModerator(t *testing.T) {
	for _, c := range []struct {
		name   string
		v      Vector
		event  int64 // cycle in which an Event is written, 0: no Event
		closes int64
		want   []int64 // cycle in which the message is due, after each of the entries of cycles 1000, 1100, 1200
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
		(&nicspec.TxqEntryFields{Enable: 1, LogSize: 2, RingBase: 64, CqBase: 128, MsixAddr: addr, MsixData: 7,
			ModCount: 8, ModCycles: 9}).Encode(b)
		return b
	}
	spec := nicspec.DefaultBuild()
	spec.Parts = nicspec.PartMsix
	for _, table := range []nicspec.Table{nicspec.TableTxq, nicspec.TableRxq} {
		for addr, want := range map[uint64]nicspec.TableStatus{
			0: nicspec.TableStatusOk, 4: nicspec.TableStatusOk, 6: nicspec.TableStatusBadValue,
			1 << 63: nicspec.TableStatusOk,
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
