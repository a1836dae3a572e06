package drivertest

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/stack/driver"
)

// copyEngine copies between memories and invalidates lines.
func copyEngine(b *bench) {
	from, to := b.key(1, nicspec.EndpointArm, 1<<16), b.key(2, nicspec.EndpointHost, 1<<16)
	data := nictest.Pattern(1<<16, 3)
	b.write(from.Bus, data)
	q, ids := b.transmitter(3, 3, nil)
	b.d.Enable(false, true)
	b.must(q.Post(&driver.Copy{Order: driver.Order{ID: 1, Complete: true},
		Dst: driver.Span{Key: to, Off: 100, Len: 5000}, Src: driver.Span{Key: from, Len: 5000}}))
	b.must(q.Post(&driver.Copy{Dst: driver.Span{Key: to, Off: 20000, Len: 12800},
		Src: driver.Span{Key: from, Off: 6400, Len: 12800}, Invalidate: true}))
	b.must(q.Post(&driver.Invalidate{Order: driver.Order{ID: 3, Complete: true},
		Range: driver.Span{Key: from, Off: 64, Len: 640}}))
	b.must(q.Ring())
	b.settle()
	require.Equal(b, []uint32{1, 3}, *ids)
	require.Equal(b, data[:5000], b.read(to.Bus+100, 5000))
	require.Equal(b, data[6400:6400+12800], b.read(to.Bus+20000, 12800))
	require.Len(b, b.Messages, 2)
	require.EqualValues(b, 200, nicspec.InvalidateMsg(b.Messages[0]).Lines())
	require.EqualValues(b, from.Bus+64, nicspec.InvalidateMsg(b.Messages[1]).Addr())
}

// messages checks two queues that share a message vector, whose handler polls both.
func messages(b *bench) {
	var tx [2]*driver.TxQueue
	calls := 0
	v, err := b.d.NewVector(nil, nicspec.EndpointArm, 0xabcd, func() {
		calls++
		tx[0].Poll()
		tx[1].Poll()
	})
	b.must(err)
	var ids [2]*[]uint32
	for i := range tx {
		tx[i], ids[i] = b.transmitter(i, 4, func(c *driver.TxConfig) {
			c.Notice, c.Messages = driver.NoticePoll, driver.Moderation{Vector: v, Count: 4, Cycles: 6400}
		})
	}
	e := nicspec.DecodeTxqEntry(b.entry(nicspec.TableTxq, 1, nicspec.TxqEntrySize))
	require.Equal(b, []int{4, 100, 0xabcd}, []int{int(e.ModCount), int(e.ModCycles), int(e.MsixData)})
	b.d.Enable(false, true)
	for i := range uint32(10) {
		b.must(tx[0].Post(&driver.Nop{Order: driver.Order{ID: i, Complete: true}}))
	}
	b.must(tx[1].Post(&driver.Nop{Order: driver.Order{ID: 99, Complete: true}}))
	b.must(tx[0].Ring())
	b.must(tx[1].Ring())
	b.settle()
	require.Len(b, *ids[0], 10, "the last two by time")
	require.Equal(b, []uint32{99}, *ids[1])
	sent := b.counter(nicspec.CntMsix) // one message may report more than four entries [M3]
	require.Contains(b, []int{3, 4}, sent)
	require.True(b, calls > 0 && calls <= sent)
	b.must(tx[0].Close(nil))
	b.must(tx[1].Close(nil))
	b.settle()
	b.must(v.Close())
}

// memoryFreed checks that all memory is free again, in one piece.
func (b *bench) memoryFreed() {
	b.Helper()
	for ep, r := range b.Options.Memory {
		a, err := b.d.Alloc(ep, r.Bytes, 1)
		require.NoError(b, err, "memory of endpoint %d", ep)
		b.must(b.d.Free(a))
	}
}

// disable turns queues off under load, repeatedly: every buffer and entry must be accounted for, and memory freed.
func disable(b *bench) {
	b.memoryFreed()
	tx, _ := b.transmitter(1, 4, nil)
	frames := 0
	var mine []driver.Buffer
	rx, err := b.d.OpenRx(driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 3, DoneIn: nicspec.EndpointHost}, PayBytes: 256,
		OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) { frames, mine = frames+1, append(mine, f.Buffer) },
	})
	b.must(err)
	b.must(b.d.SetDefault(driver.ToQueue(1)))
	b.d.Enable(true, true)
	memory := b.alloc(nicspec.EndpointArm, 8*256)
	for i := range uint64(8) {
		mine = append(mine, driver.Buffer{Pay: memory + 256*i})
	}
	for round := range 6 {
		for ; len(mine) > 0; mine = mine[1:] {
			b.must(rx.Post(mine[0]))
		}
		b.must(rx.Ring())
		b.settle()
		b.load(tx)
		if round%2 > 0 {
			b.settle()
		}
		b.must(tx.Disable(nil))
		b.must(rx.Disable(func() { mine = append(mine, rx.Unused()...) }))
		require.Equal(b, driver.Disabling, tx.State())
		b.settle()
		first, n := tx.Unended()
		require.Equal(b, 16, int(first)+n)
		require.Len(b, mine, 8, "round %d", round)
		b.must(tx.Enable())
		b.must(rx.Enable())
		b.settle()
	}
	require.Positive(b, frames)
	b.must(tx.Close(nil))
	b.must(rx.Close(nil))
	b.settle()
	b.must(b.d.Free(memory))
	b.memoryFreed()
}

// reenable enables a queue whose completion ring still holds entries of its earlier life, and polls at once: no old
// entry may be taken.
func reenable(b *bench) {
	q, ids := b.transmitter(3, 2, func(c *driver.TxConfig) { c.Notice = driver.NoticePoll })
	b.d.Enable(false, true)
	for id := range uint32(4) {
		if id > 0 {
			b.must(q.Disable(func() {
				b.must(q.Enable())
				q.Poll()
			}))
			q.Poll()
			b.settle()
		}
		b.must(q.Push(&driver.Nop{Order: driver.Order{ID: id, Complete: true}}))
		b.settle()
		q.Poll()
		b.settle()
	}
	require.Equal(b, []uint32{0, 1, 2, 3}, *ids)
}

// fewBuffers runs a copier with three buffers in a ring of 64: it must repost them before the NIC runs out.
func fewBuffers(b *bench) {
	q, got := b.receiver(1, 6, nil)
	b.must(b.d.SetDefault(driver.ToQueue(1)))
	b.d.Enable(true, false)
	var left []driver.Buffer
	b.must(q.Disable(func() { left = q.Unused() }))
	b.settle()
	b.must(q.Enable())
	b.must(q.Fill(left[:3]...))
	b.settle()
	for i := range 20 {
		b.Receive(0, frame(100+i, 1))
		b.settle()
		require.Len(b, *got, i+1)
	}
}

// load gives both directions work: three frames arrive, sixteen entries are posted.
func (b *bench) load(tx *driver.TxQueue) {
	b.Helper()
	for i := range 3 {
		b.Receive(0, frame(100+i, 1))
	}
	for i := range uint32(16) {
		b.must(tx.Post(&driver.Nop{Order: driver.Order{ID: i, Complete: true}}))
	}
	b.must(tx.Ring())
}

// failedQueue makes reads of a ring fail: its owner is notified, and the queue works again after it was disabled.
func failedQueue(b *bench) {
	var events []driver.Event
	ring := b.alloc(nicspec.EndpointHost, 64) // the ring that fails follows this block of memory
	tx, ids := b.transmitter(4, 3, func(c *driver.TxConfig) {
		c.RingIn = nicspec.EndpointHost
		c.OnEvent = func(_ *driver.TxQueue, e driver.Event) { events = append(events, e) }
	})
	b.d.Enable(false, true)
	b.settle()
	b.must(b.FailReads(ring, ring+4096))
	for i := range uint32(3) {
		b.must(tx.Post(&driver.Nop{Order: driver.Order{ID: i, Complete: true}}))
	}
	b.must(tx.Ring())
	b.settle()
	require.Equal(b, []driver.Event{{Index: 0, Status: nicspec.StatusCplUnsupported}}, events)
	require.Equal(b, driver.Failed, tx.State())
	b.must(b.FailReads(0, 0))
	b.must(tx.Disable(nil))
	b.settle()
	b.must(tx.Enable())
	b.must(tx.Push(&driver.Nop{Order: driver.Order{ID: 5, Complete: true}}))
	b.settle()
	require.Equal(b, []uint32{5}, *ids)
}

// reset resets the NIC with work in flight, and continues afterwards.
func reset(b *bench) {
	rx, got := b.receiver(2, 3, nil)
	tx, ids := b.transmitter(2, 4, nil)
	b.must(b.d.SetDefault(driver.ToQueue(2)))
	b.d.Enable(true, true)
	b.settle()
	b.load(tx)
	over := false
	b.must(b.d.FunctionReset(func() { over = true }))
	require.Error(b, tx.Ring())
	b.settle()
	require.True(b, over && rx.State() == driver.Off && tx.State() == driver.Off)
	require.Zero(b, b.reg(nicspec.RegCtrl, 4))
	buffers := rx.Unused()
	require.Len(b, buffers, 8)
	*ids, *got = nil, nil
	b.must(rx.Enable())
	b.must(rx.Fill(buffers...))
	b.must(tx.Enable())
	b.must(b.d.SetDefault(driver.ToQueue(2)))
	b.d.Enable(true, true)
	b.must(tx.Push(&driver.Nop{Order: driver.Order{ID: 7, Complete: true}}))
	b.settle()
	b.Receive(0, frame(500, 1))
	b.settle()
	require.Equal(b, []uint32{7}, *ids)
	require.Equal(b, [][]byte{frame(500, 1)}, *got)
}

// refused makes the NIC refuse a command. TryTable must report that to its caller; for any other call it is a breach.
func refused(b *bench) {
	var status nicspec.TableStatus
	b.must(b.d.TryTable(nicspec.TableOpWrite, nicspec.TableKey, 1<<15, make([]byte, nicspec.KeyEntrySize),
		func(s nicspec.TableStatus) { status = s }))
	b.settle()
	require.Equal(b, nicspec.TableStatusBadIndex, status)
	b.must(b.d.WriteTable(nicspec.TableKey, 1<<15, make([]byte, nicspec.KeyEntrySize)))
	later := false
	b.d.Then(func() { later = true })
	require.NoError(b, b.Settle())
	var breach *boundary.ContractError
	require.ErrorAs(b, b.d.Err(), &breach)
	require.Equal(b, "G6", breach.Rule)
	require.ErrorContains(b, b.d.Err(), "table Key entry 32768: refused with status BadIndex")
	require.False(b, later, "later commands are not carried out")
	b.d, _ = driver.New(b.Bus, b.Options) // every bench checks its driver at the end: give it one without an error
}
