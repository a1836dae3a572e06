package windows

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// device is a set of registers, with their history as package windows keeps it.
type device struct {
	regs *core.Regs
	seen *Receive
}

func newDevice() *device {
	regs := core.NewRegs(nicspec.DefaultBuild())
	return &device{regs, NewReceive(regs)}
}

// write writes pairs of register offset and value in a cycle.
func (d *device) write(cycle int64, words ...[2]uint32) {
	for _, w := range words {
		d.regs.Write32(w[0], w[1])
		d.seen.Written(d.regs, cycle)
	}
}

// enter writes a table entry in a cycle.
func (d *device) enter(cycle int64, t nicspec.Table, i int, entry []byte) {
	for k := range len(entry) / 4 {
		d.regs.Write32(nicspec.RegTblData(k),
			uint32(entry[4*k])|uint32(entry[4*k+1])<<8|uint32(entry[4*k+2])<<16|uint32(entry[4*k+3])<<24)
	}
	d.write(cycle, [2]uint32{nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(nicspec.TableOpWrite, t, i))})
}

func ctrl(rx bool) [2]uint32 {
	var c nicspec.CtrlReg
	c.SetRxEnable(rx)
	return [2]uint32{nicspec.RegCtrl, uint32(c)}
}

func rxDefault(action nicspec.Action, queue uint32) [2]uint32 {
	var v nicspec.RxDefaultReg
	v.SetAction(uint32(action))
	v.SetQueue(queue)
	v.SetRssLog(8)
	return [2]uint32{nicspec.RegRxDefault, uint32(v)}
}

// at returns a UDP frame over IPv4 whose first and last beat came in these cycles.
func at(first, last int64) *Frame {
	data := make([]byte, nicspec.FrameMin)
	copy(data[12:], []byte{8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 9, 17})
	for i := 26; i < len(data); i++ {
		data[i] = byte(i)
	}
	return &Frame{Span: Span{First: first, Last: last}, Data: data}
}

// outcomes returns the possible outcomes for a frame: numbers of queues, or -1 for a drop.
func (d *device) outcomes(f *Frame) (queues []int) {
	all, _ := d.seen.Verdicts(f, nil)
	for i := range all {
		q := int(all[i].Queue)
		if all[i].Drop != core.NoDrop {
			q = -1
		}
		queues = append(queues, q)
	}
	return queues
}

// For VisibleCycles after a write, a frame may be processed under the old or the new value, independently for
// each write.
func TestReceiveIsMixedOfOldAndNew(t *testing.T) {
	const on, moved, late = 1000, 1010, 1000 + nicspec.VisibleCycles
	d := newDevice()
	d.write(0, rxDefault(nicspec.ActionQueue, 1))
	d.write(on, ctrl(true))
	d.write(moved, rxDefault(nicspec.ActionQueue, 2))
	for _, c := range []struct {
		name        string
		first, last int64
		want        []int
	}{
		{"long before", on - nicspec.VisibleCycles - 1, on - nicspec.VisibleCycles - 1, []int{-1}},
		{"both under way", on, on, []int{-1, 1, 2}},
		{"the gate is open for sure", late + 1, late + 1, []int{1, 2}},
		{"all is over", moved + nicspec.VisibleCycles + 1, moved + nicspec.VisibleCycles + 1, []int{2}},
		{"a frame as long as the windows", 500, 5000, []int{-1, 1, 2}},
	} {
		require.ElementsMatch(t, c.want, d.outcomes(at(c.first, c.last)), c.name)
	}
	require.False(t, d.seen.Sure(moved+nicspec.VisibleCycles))
	require.True(t, d.seen.Sure(moved+nicspec.VisibleCycles+1))
}

// A write that does not change the receive configuration opens no window.
func TestReceiveOfOtherWrites(t *testing.T) {
	d := newDevice()
	d.write(10, ctrl(true))
	var tx nicspec.CtrlReg
	tx.SetRxEnable(true)
	tx.SetTxEnable(true)
	d.write(500, [2]uint32{nicspec.RegCtrl, uint32(tx)}, [2]uint32{nicspec.RegScratch, 7}, rxDefault(0, 0), ctrl(true))
	before := d.seen.Sure(500)
	d.write(600, [2]uint32{nicspec.RegScratch, 8}, ctrl(true))
	require.True(t, d.seen.Sure(600))
	require.Equal(t, d.seen.Sure(500), before)
}

// For a frame that is too long, only the checks of [R2] and their settings matter.
func TestGates(t *testing.T) {
	d := newDevice()
	d.write(1000, ctrl(true))
	open := func(s Span) (closed, open int) {
		d.seen.Gates(s, func(c *core.Config) {
			if c.Gate(nicspec.FrameMin) == core.NoDrop {
				open++
			} else {
				closed++
			}
		})
		return closed, open
	}
	closed, opened := open(Span{1000, 1000})
	require.Equal(t, []int{1, 1}, []int{closed, opened})
	closed, opened = open(Span{2000, 2000})
	require.Equal(t, []int{0, 1}, []int{closed, opened})
}

// A read of TBL_CMD with busy 0 ends the windows of rules written before it was accepted, and no others.
func TestCloseRules(t *testing.T) {
	d := newDevice()
	d.write(0, rxDefault(nicspec.ActionQueue, 1), ctrl(true))
	rule := make([]byte, nicspec.RuleEntrySize)
	(&nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 3}).Encode(rule)
	d.enter(1000, nicspec.TableRule, 0, rule)
	require.ElementsMatch(t, []int{1, 3}, d.outcomes(at(1030, 1030)))
	d.seen.CloseRules(1000, 1020)
	require.ElementsMatch(t, []int{1, 3}, d.outcomes(at(1030, 1030)), "the read was accepted with the write")
	d.write(1005, ctrl(true), rxDefault(nicspec.ActionQueue, 2))
	d.seen.CloseRules(1001, 1020)
	require.Equal(t, []int{3}, d.outcomes(at(1021, 1021)))
	require.False(t, d.seen.Sure(1021), "RX_DEFAULT is no table")
	require.True(t, d.seen.Sure(1005+nicspec.VisibleCycles+1))
}

// A history keeps the latest values, however many were written.
func TestHistoryForgets(t *testing.T) {
	var h history[int]
	for i := range 10 * maxValues {
		h.record(i+1, int64(100*i))
		require.LessOrEqual(t, len(h), maxValues+1)
	}
	require.Equal(t, 10*maxValues, h.now())
	require.Equal(t, int64(math.MinInt64), h.record(h.now(), 1<<40))
	var met []int
	end := int64(100 * (10*maxValues - 1))
	h.each(Span{end, end}, func(v int) { met = append(met, v) })
	require.Equal(t, []int{10*maxValues - 1, 10 * maxValues}, met)
}
