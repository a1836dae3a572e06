package driver

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// randomRun drives a queue by random steps. Accesses end at once or late.
type randomRun struct {
	*rapid.T
	nic  *fakeNIC
	d    *Driver
	rng  *rand.Rand
	next uint32 // number of the next entry
}

func (l *randomRun) chance(name string, percent int) bool {
	return rapid.IntRange(1, 100).Draw(l.T, name) <= percent
}

func newRandomRun(t *rapid.T) *randomRun {
	nic, d := newFake(t, rapid.Bool().Draw(t, "late"))
	l := &randomRun{t, nic, d, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 0}
	nic.pick = l.rng.IntN
	return l
}

// settle ends all accesses and commands, and checks that there was no error.
func (l *randomRun) settle() {
	l.nic.settle(l.rng)
	require.NoError(l, l.d.Err())
	require.True(l, l.d.Idle())
}

// announced checks that the device's producer index is next, once accesses have ended.
func (l *randomRun) announced(q *fakeQueue, next uint16) {
	if l.nic.late && l.chance("settle", 50) {
		l.settle()
	} else if l.nic.late {
		return
	}
	require.Equal(l, next, q.pi)
}

// anyEntry returns an entry of one to four blocks that fits into the ring, and whether it requests a completion. Its
// bytes follow from its number.
func (l *randomRun) anyEntry(q *TxQueue) (e Entry, wants bool) {
	blocks := min(rapid.IntRange(1, nicspec.WqeBlocksMax).Draw(l.T, "blocks"), q.Room())
	o := Order{ID: l.next, Complete: q.Room() == blocks || l.chance("complete", 30)}
	if blocks == 1 && l.chance("nop", 50) {
		return &Nop{o}, o.Complete
	}
	inline := min(slotsOf(blocks)*nicspec.WqeSlotBytes, nicspec.InlineMaxLong)
	return &Send{Order: o, Inline: nictest.Pattern(inline, uint64(l.next)), Pad: true}, o.Complete
}

// work makes the device take an entry, checks its number and bytes, and reports whether there was one.
func (l *randomRun) work(number uint32) bool {
	id, ok := l.nic.work(1)
	if !ok {
		return false
	}
	require.Equal(l, number, id)
	if w := nicspec.Wqe(l.nic.tx[1].entry[:]); w.Opcode() == nicspec.OpcodeSend {
		require.Equal(l, nictest.Pattern(int(w.InlineLen()), uint64(number)), []byte(w[16:16+int(w.InlineLen())]))
	}
	return true
}

// TestTransmitRings checks that over many laps of the ring every announced work entry reaches the device once, in order
// and whole, and every completion entry reaches the owner, however late accesses end. Nothing may remain when the queue
// is disabled.
func TestTransmitRings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newRandomRun(t)
		ended, taken, posted := uint32(0), uint32(0), []bool(nil) // posted: whether an entry requests a completion
		at := uint16(0)                                           // blocks that have ended
		log := rapid.IntRange(2, 4).Draw(t, "log")
		q, err := l.d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: log},
			PushBlocks: rapid.IntRange(0, nicspec.WqeBlocksMax).Draw(t, "push blocks"),
			OnEnd: func(_ *TxQueue, e *TxEnd) {
				ended += uint32(e.N)
				require.Equal(t, at, e.First)
				require.GreaterOrEqual(t, e.Blocks, e.N)
				at += uint16(e.Blocks)
				require.Equal(t, ended-1, e.Cqe.WqeId())
				require.LessOrEqual(t, ended, taken+1, "entries that ended were taken")
				for _, wants := range posted[ended-uint32(e.N) : ended-1] {
					require.False(t, wants)
				}
			}})
		require.NoError(t, err)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				for n := rapid.IntRange(1, q.Size()).Draw(t, "entries"); n > 0 && q.Room() > 0; n-- {
					e, completes := l.anyEntry(q)
					if l.chance("push", 10) {
						require.NoError(t, q.Push(e))
					} else {
						require.NoError(t, q.Post(e))
					}
					posted = append(posted, completes)
					l.next++
				}
			case 2:
				require.NoError(t, q.Ring())
				l.announced(&l.nic.tx[1], q.Next())
			case 3, 4:
				for range rapid.IntRange(1, 20).Draw(t, "ticks") {
					l.nic.tick(l.rng.IntN(2) == 0)
				}
			case 5:
				for range rapid.IntRange(1, q.Size()).Draw(t, "work") {
					if l.work(taken) {
						taken++
					}
				}
			case 6:
				l.settle()
				if l.chance("disable", 20) {
					off := false
					require.NoError(t, q.Disable(func() { off = true }))
					require.Error(t, q.Post(&Nop{}))
					require.Error(t, q.Ring())
					l.settle()
					require.True(t, off && q.State() == Off)
					first, n := q.Unended()
					require.Equal(t, len(posted)-int(ended), n)
					require.Equal(t, q.endedTo, first)
					taken, ended, posted, l.next, at = 0, 0, nil, 0, 0
					require.NoError(t, q.Enable())
				}
			}
			require.NoError(t, l.d.Err())
		}
		if q.Room() > 0 {
			require.NoError(t, q.Post(&Nop{Order{ID: l.next, Complete: true}}))
			posted, l.next = append(posted, true), l.next+1
		}
		require.NoError(t, q.Ring())
		l.settle()
		for ok := true; ok; l.settle() {
			if ok = l.work(taken); ok {
				taken++
			}
		}
		require.Equal(t, l.next, taken)
		require.Equal(t, l.next, ended, "all entries have ended")
		require.NoError(t, q.Close(nil))
		l.settle()
		require.EqualValues(t, fakeBytes-64, l.d.arenas[0].Largest(), "memory is free again")
		_, err = l.d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
		require.NoError(t, err, "in the same place")
	})
}

// TestReceiveRings checks that every buffer belongs to the device or to the owner, and is returned once, in the order
// of posting.
func TestReceiveRings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newRandomRun(t)
		var mine, theirs []uint64 // buffers of the owner, and of the device
		for i := range 24 {
			mine = append(mine, uint64(i+1)<<32)
		}
		take := func(b Buffer) {
			require.Equal(t, theirs[0], b.Pay, "buffers come in order")
			mine, theirs = append(mine, b.Pay), theirs[1:]
		}
		log := rapid.IntRange(2, 4).Draw(t, "log")
		q, err := l.d.OpenRx(RxConfig{
			QueueConfig: QueueConfig{Queue: 2, LogSize: log, Notice: Notice(rapid.IntRange(0, 1).Draw(t, "notice"))},
			PayBytes:    100,
			OnFrame: func(_ *RxQueue, f *RxFrame) {
				require.Equal(t, 60, f.PayLen)
				take(f.Buffer)
			}})
		require.NoError(t, err)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				for n := rapid.IntRange(1, q.Size()).Draw(t, "buffers"); n > 0 && q.Room() > 0 && len(mine) > 0; n-- {
					require.NoError(t, q.Post(Buffer{Pay: mine[0]}))
					mine, theirs = mine[1:], append(theirs, mine[0])
				}
				if l.chance("ring", 50) {
					require.NoError(t, q.Ring())
					l.announced(&l.nic.rx[2], q.Next())
				}
			case 2:
				if l.chance("some", 50) {
					q.PollSome(rapid.IntRange(1, 4).Draw(t, "burst"))
				} else {
					q.Poll()
				}
			case 3, 4:
				for range rapid.IntRange(1, 20).Draw(t, "ticks") {
					l.nic.tick(l.rng.IntN(2) == 0)
				}
			case 5:
				for range rapid.IntRange(1, q.Size()).Draw(t, "frames") {
					l.nic.receive(2, 60)
				}
			case 6:
				l.settle()
				if l.chance("disable", 20) {
					require.NoError(t, q.Disable(nil))
					l.settle()
					for _, b := range q.Unused() {
						take(b)
					}
					require.Empty(t, theirs)
					require.NoError(t, q.Enable())
				}
			}
			require.NoError(t, l.d.Err())
			require.Len(t, append(mine, theirs...), 24)
		}
	})
}

// TestPollSome checks that no more than a burst of entries is taken, and the others later.
func TestPollSome(t *testing.T) {
	for _, late := range []bool{false, true} {
		nic, d := newFake(t, late)
		settle := func() {
			nic.settle(rand.New(rand.NewPCG(1, 1)))
			require.NoError(t, d.Err())
		}
		taken := 0
		q, err := d.OpenRx(RxConfig{QueueConfig: QueueConfig{Queue: 2, LogSize: 3, Notice: NoticePoll}, PayBytes: 100,
			OnFrame: func(*RxQueue, *RxFrame) { taken++ }})
		require.NoError(t, err)
		for i := range uint64(8) {
			require.NoError(t, q.Post(Buffer{Pay: i << 10}))
		}
		require.NoError(t, q.Ring())
		settle()
		for range 5 {
			nic.receive(2, 60)
		}
		for _, want := range []int{2, 4, 5, 5} {
			q.PollSome(2)
			settle()
			require.Equal(t, want, taken, "late %v", late)
		}
	}
}

// FuzzCompletionEntries has a device write arbitrary completion entries: the driver may end with an error that names a
// breach of the contract, but nothing panics, and no buffer is returned twice.
func FuzzCompletionEntries(f *testing.F) {
	for _, typ := range []nicspec.CqeType{nicspec.CqeTypeRx, nicspec.CqeTypeTx, nicspec.CqeTypeEvent} {
		cqe := nicspec.RxCqe(make([]byte, nicspec.CqeBytes))
		cqe.SetType(typ)
		cqe.SetQueue(1)
		cqe.SetPhase(true)
		cqe.SetFrameLen(100)
		cqe.SetPayLen(100)
		f.Add([]byte(cqe), typ != nicspec.CqeTypeTx, false)
		cqe.SetStatus(nicspec.StatusCplAbort)
		f.Add(append([]byte(cqe), cqe...), typ == nicspec.CqeTypeTx, true)
	}
	f.Fuzz(func(t *testing.T, entries []byte, receive, late bool) {
		nic, d := newFake(t, late)
		frames := 0
		rx, err := d.OpenRx(RxConfig{
			QueueConfig: QueueConfig{Queue: 1, LogSize: 3}, Split: nicspec.SplitModeFixed, SplitLen: 8, HdrBytes: 64,
			PayBytes: 256,
			OnFrame: func(_ *RxQueue, f *RxFrame) {
				frames++
				require.True(t, f.HdrLen >= 0 && f.HdrLen <= 64 && f.PayLen >= 0 && f.PayLen <= 256)
			},
			OnEvent: func(*RxQueue, Event) {},
		})
		require.NoError(t, err)
		tx, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 3}})
		require.NoError(t, err)
		for i := range 8 {
			require.NoError(t, rx.Post(Buffer{Pay: uint64(i)}))
			if o := (Order{ID: uint32(i), Complete: i%2 == 0}); i == 1 || i == 2 {
				require.NoError(t, tx.Post(&Send{Order: o, Inline: make([]byte, 49*i), Pad: true})) // two blocks each
			} else if i < 6 {
				require.NoError(t, tx.Post(&Nop{o}))
			}
		}
		require.NoError(t, rx.Ring())
		require.NoError(t, tx.Ring())
		nic.settle(nil)
		at := tx.ring.CQ
		if receive {
			at = rx.ring.CQ
		}
		for i := 0; len(entries) >= nicspec.CqeBytes && i < 20; i++ {
			nic.write(at+uint64(i%8)*nicspec.CqeBytes, entries[:nicspec.CqeBytes])
			entries = entries[nicspec.CqeBytes:]
			nic.settle(nil)
		}
		require.LessOrEqual(t, frames, 8, "no more frames than buffers")
		if err := d.Err(); err != nil {
			var breach *boundary.ContractError
			var unclaimed *UnclaimedEventError
			require.True(t, errorAs(err, &breach) || errorAs(err, &unclaimed), "%v", err)
		}
	})
}

// TestPushBlocks checks that Ring pushes an entry that waits alone if it is short enough, and rings the doorbell for
// several or longer ones.
func TestPushBlocks(t *testing.T) {
	long := &Send{Inline: make([]byte, 100)} // two blocks
	require.Equal(t, 2, long.Blocks())
	for most := range 3 {
		nic, d := newFake(t, false)
		q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 4}, PushBlocks: most})
		require.NoError(t, err)
		d.Sync()
		require.Equal(t, Running, q.State())
		for _, c := range []struct{ entries, long, pushed int }{{1, 0, 1}, {2, 0, 0}, {0, 1, 2}, {1, 1, 0}, {1, 0, 1}} {
			nic.pushed = 0
			for range c.entries {
				require.NoError(t, q.Post(&Nop{Order{Complete: true}}))
			}
			for range c.long {
				require.NoError(t, q.Post(long))
			}
			require.NoError(t, q.Ring())
			if c.pushed > most {
				c.pushed = 0
			}
			require.Equal(t, c.pushed, nic.pushed)
			require.Equal(t, q.Next(), nic.tx[1].pi)
			require.Zero(t, q.Waiting())
		}
	}
}

// TestPushBlocksLate checks that blocks which wait together ring the doorbell once, although the first of them waited
// alone when its store began.
func TestPushBlocksLate(t *testing.T) {
	nic, d := newFake(t, true)
	q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 4}, PushBlocks: 1})
	require.NoError(t, err)
	nic.settle(nil)
	require.Equal(t, Running, q.State())
	nic.doorbells = 0
	for range 3 {
		require.NoError(t, q.Post(&Nop{Order{Complete: true}}))
		require.NoError(t, q.Ring())
	}
	require.Zero(t, nic.tx[1].pi, "the stores have not ended")
	nic.settle(nil)
	require.Equal(t, q.Next(), nic.tx[1].pi)
	require.Zero(t, nic.pushed)
	require.Equal(t, 1, nic.doorbells)
}
