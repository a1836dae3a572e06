package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// TestRawQueue checks that a raw queue names the registers and the table of its kind, and that slots and completion
// entries wrap around the rings, and indices past 65535.
func TestRawQueue(t *testing.T) {
	for _, c := range []struct {
		tx             bool
		kind           string
		table          nicspec.Table
		doorbell, slot uint64
	}{
		{false, "receive", nicspec.TableRxq, uint64(nicspec.RegRxDoorbell(7)), nicspec.RxDescBytes},
		{true, "transmit", nicspec.TableTxq, uint64(nicspec.RegTxDoorbell(7)), nicspec.WqeBytes},
	} {
		q := NewRawQueue(c.tx, 7, 2)
		q.Base, q.CQ = 0x10000, 0x20000
		require.Equal(t, c.kind, q.Kind())
		require.Equal(t, c.table, q.Table())
		require.EqualValues(t, c.doorbell, q.Doorbell())
		cqe := make([]byte, nicspec.CqeBytes)
		q.PI, q.CQI = 0xfffa, 0xfffa // slot 2 of lap 16382
		for i := range uint64(12) {
			at := (2 + i) % 4
			require.Equal(t, q.Base+at*c.slot, q.NextSlot())
			require.Equal(t, q.CQ+at*nicspec.CqeBytes, q.NextCqe())
			now := (0xfffa+i)/4%2 == 0 // laps have phase 1 and 0 alternately
			nicspec.RxCqe(cqe).SetPhase(!now)
			require.False(t, q.Take(cqe), "an entry of the lap before")
			nicspec.RxCqe(cqe).SetPhase(now)
			require.True(t, q.Take(cqe))
		}
		require.Equal(t, [2]uint16{6, 6}, [2]uint16{q.PI, q.CQI})
	}
}

// TestTargetDefault checks that a target is encoded without checks, even if SetDefault would refuse it.
func TestTargetDefault(t *testing.T) {
	for _, c := range []struct {
		to   Target
		want uint32
	}{
		{Target{}, 0}, {ToQueue(3), 1<<16 | 3}, {ToGroup(0x20, 8), 8<<24 | 2<<16 | 0x20},
		{ToQueue(0xffff), 1<<16 | 0xffff}, {ToGroup(0xff07, 15), 15<<24 | 2<<16 | 0xff07},
	} {
		require.Equal(t, c.want, uint32(c.to.Default()), "%+v", c.to)
	}
}
