package driver

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

func errorAs[E error](err error, target *E) bool { return errors.As(err, target) }

// breaks checks that the driver has ended because the device broke a rule.
func breaks(t *testing.T, d *Driver, rule, text string) {
	t.Helper()
	var breach *boundary.ContractError
	require.ErrorAs(t, d.Err(), &breach)
	require.Equal(t, rule, breach.Rule)
	require.ErrorContains(t, d.Err(), text)
}

// TestInvalidCompletionEntries checks that completion entries that no device may write are reported, with the rule that
// they break.
func TestInvalidCompletionEntries(t *testing.T) {
	for _, x := range []struct {
		rule, text string
		tx         bool
		change     func(c nicspec.RxCqe)
	}{
		{"R10", "an unknown type", false, func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeTx) }},
		{"R10", "an unknown type", false, func(c nicspec.RxCqe) { c.SetType(0) }},
		{"R10", "is of queue 3", false, func(c nicspec.RxCqe) { c.SetQueue(3) }},
		{"R10", "descriptor 1 was used, want 0", false, func(c nicspec.RxCqe) { c.SetIndex(1) }},
		{"R10", "completion of entry 2, but 0 to 1 are in progress", false, func(c nicspec.RxCqe) { c.SetIndex(2) }},
		{"R10", "status BadKey", false, func(c nicspec.RxCqe) { c.SetStatus(nicspec.StatusBadKey) }},
		{"R8", "does not fit", false, func(c nicspec.RxCqe) { c.SetFrameLen(257); c.SetPayLen(257) }},
		{"R14", "100 of 200 bytes were placed", false, func(c nicspec.RxCqe) { c.SetFrameLen(200); c.SetPayLen(100) }},
		{"R14", "100 of 200 bytes were placed", false,
			func(c nicspec.RxCqe) { c.SetFrameLen(200); c.SetPayLen(100); c.SetRoce(true) }},
		{"R14", "61 of 60 bytes were placed", false, func(c nicspec.RxCqe) { c.SetFrameLen(60); c.SetPayLen(61) }},
		{"R8", "does not fit", false, func(c nicspec.RxCqe) { c.SetHdrLen(1) }},
		{"Q4", "event with status CplAbort, but no read failed", false,
			func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeEvent); c.SetStatus(nicspec.StatusCplAbort) }},
		{"Q4", "not a read failure", false, func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeEvent) }},
		{"Q4", "event at entry 2, but 0 to 1 are in progress", false, func(c nicspec.RxCqe) {
			c.SetType(nicspec.CqeTypeEvent)
			c.SetStatus(nicspec.StatusCplAbort)
			c.SetIndex(2)
		}},
		{"T2", "transmit queue 1: event with status CplTimeout", true,
			func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeEvent); c.SetStatus(nicspec.StatusCplTimeout) }},
		{"T10", "completion of entry 7, but 0 to 1 are in progress", true, func(c nicspec.RxCqe) { c.SetIndex(7) }},
		{"T10", "is of queue 0", true, func(c nicspec.RxCqe) { c.SetQueue(0) }},
		{"T10", "an unknown type", true, func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeRx) }},
	} {
		nic, d := newFake(t, false)
		rx, err := d.OpenRx(RxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}, PayBytes: 256,
			OnFrame: func(*RxQueue, *RxFrame) {}})
		require.NoError(t, err)
		tx, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, rx.Post(Buffer{}))
			require.NoError(t, tx.Post(&Nop{Order{ID: 5}}))
		}
		require.NoError(t, rx.Ring())
		require.NoError(t, tx.Ring())
		cqe := nicspec.RxCqe(make([]byte, nicspec.CqeBytes))
		cqe.SetType(nicspec.CqeTypeRx)
		cqe.SetQueue(1)
		q := &nic.rx[1]
		if x.tx {
			cqe.SetType(nicspec.CqeTypeTx)
			q = &nic.tx[1]
		}
		x.change(cqe)
		nic.complete(q, cqe)
		breaks(t, d, x.rule, x.text)
	}
}

// TestFailedQueue checks that after an event earlier entries may still complete, and that the queue works again after
// it was disabled and enabled.
func TestFailedQueue(t *testing.T) {
	nic, d := newFake(t, false)
	var got []uint64
	var events []Event
	q, err := d.OpenRx(RxConfig{
		QueueConfig: QueueConfig{Queue: 1, LogSize: 2}, PayBytes: 256,
		OnFrame: func(_ *RxQueue, f *RxFrame) { got = append(got, f.Pay) },
		OnEvent: func(_ *RxQueue, e Event) { events = append(events, e) },
	})
	require.NoError(t, err)
	fill := func() {
		for i := range uint64(4) {
			require.NoError(t, q.Post(Buffer{Pay: i}))
		}
		require.NoError(t, q.Ring())
	}
	event := func(index uint16) {
		cqe := nicspec.RxCqe(make([]byte, nicspec.CqeBytes))
		cqe.SetType(nicspec.CqeTypeEvent)
		cqe.SetStatus(nicspec.StatusCplPoison)
		cqe.SetQueue(1)
		cqe.SetIndex(index)
		nic.complete(&nic.rx[1], cqe)
	}
	fill()
	event(2)
	require.Equal(t, []Event{{2, nicspec.StatusCplPoison}}, events)
	require.Equal(t, Failed, q.State())
	require.ErrorContains(t, q.Post(Buffer{}), "in the error state: want it enabled")
	for range 2 {
		require.True(t, nic.receive(1, 60))
	}
	require.Equal(t, []uint64{0, 1}, got)
	require.NoError(t, q.Disable(nil))
	require.Equal(t, []Buffer{{Pay: 2}, {Pay: 3}}, q.Unused())
	require.ErrorContains(t, q.Disable(nil), "which is off")
	require.NoError(t, q.Enable())
	require.ErrorContains(t, q.Enable(), "which is running: want it off")
	fill()
	require.True(t, nic.receive(1, 60))
	require.Equal(t, []uint64{0, 1, 0}, got)
	event(1)
	require.NoError(t, d.Err())
	nic.receive(1, 60)
	breaks(t, d, "Q4", "completion of entry 1 after an event at entry 1")
}

// TestLostCompletionEntry checks that disabling a queue finds a completion entry that the NIC counted but
// that never arrived.
func TestLostCompletionEntry(t *testing.T) {
	nic, d := newFake(t, false)
	q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
	require.NoError(t, err)
	nic.tx[1].cqi++
	require.NoError(t, q.Disable(nil))
	breaks(t, d, "Q5", "1 completion entries were written, 0 arrived")
}

// TestCopierIsDisabledLate checks that disabling a copier ends only after the last frame has been copied, however long
// that takes.
func TestCopierIsDisabledLate(t *testing.T) {
	nic, d := newFake(t, true)
	frames := 0
	c, err := d.OpenCopier(RxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}, PayBytes: 256},
		func(*Copier, nicspec.RxCqe, []byte, []byte) { frames++ })
	require.NoError(t, err)
	nic.settle(nil)
	require.NoError(t, c.Fill(make([]Buffer, 4)...))
	nic.settle(nil)
	for range 3 {
		require.True(t, nic.receive(1, 60))
	}
	nic.pick = func(n int) int { return n - 1 } // the newest access ends first, hence the first copy last
	for c.endedTo < 3 {
		require.True(t, nic.tick(true))
	}
	copied := 0
	require.NoError(t, c.Disable(func() { copied = frames }))
	for nic.tick(true) {
	}
	require.NoError(t, d.Err())
	require.Equal(t, 3, copied)
	require.Len(t, c.Unused(), 4)
}

// TestEntryArrivesDuringRead checks that an entry is taken that arrives after a read of its slot took effect, but
// before the read ends.
func TestEntryArrivesDuringRead(t *testing.T) {
	nic, d := newFake(t, true)
	frames := 0
	q, err := d.OpenRx(RxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}, PayBytes: 256,
		OnFrame: func(*RxQueue, *RxFrame) { frames++ }})
	require.NoError(t, err)
	require.NoError(t, q.Post(Buffer{}))
	require.NoError(t, q.Ring())
	nic.settle(nil)
	q.Poll()
	require.True(t, nic.tick(true), "the read takes effect")
	require.True(t, nic.receive(1, 60))
	nic.settle(nil)
	require.Equal(t, 1, frames)
}

// TestQueueUsesItsBus checks that a queue uses the bus of its configuration, and everything else the driver's.
func TestQueueUsesItsBus(t *testing.T) {
	nic, d := newFake(t, false)
	own := &counting{fakeNIC: nic}
	q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2, Bus: own}})
	require.NoError(t, err)
	before := own.writes
	require.NoError(t, q.Post(&Nop{Order{Complete: true}}))
	require.NoError(t, q.Ring())
	require.Equal(t, before+1, own.writes)
	require.Equal(t, 1, own.regs, "the doorbell, and no table command")
	_, ok := nic.work(1)
	require.True(t, ok)
	require.Equal(t, 2, own.reads)
}

// counting is a bus that counts accesses.
type counting struct {
	*fakeNIC
	regs, reads, writes int
}

func (c *counting) WriteReg(off uint32, b []byte) error { c.regs++; return c.fakeNIC.WriteReg(off, b) }

func (c *counting) Read(addr uint64, b []byte, done func(error)) {
	c.reads++
	c.fakeNIC.Read(addr, b, done)
}

func (c *counting) Write(addr uint64, b []byte, done func(error)) {
	c.writes++
	c.fakeNIC.Write(addr, b, done)
}

// TestUnclaimedEvent checks that an event without a handler does not count as a breach of the contract while reads may
// fail.
func TestUnclaimedEvent(t *testing.T) {
	nic, d := newFake(t, false)
	d.opts.ReadsMayFail = func() bool { return true }
	q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
	require.NoError(t, err)
	require.NoError(t, q.Post(&Nop{}))
	require.NoError(t, q.Ring())
	cqe := nicspec.RxCqe(make([]byte, nicspec.CqeBytes))
	cqe.SetType(nicspec.CqeTypeEvent)
	cqe.SetStatus(nicspec.StatusCplUnsupported)
	cqe.SetQueue(1)
	nic.complete(&nic.tx[1], cqe)
	var unclaimed *UnclaimedEventError
	require.ErrorAs(t, d.Err(), &unclaimed)
	var breach *boundary.ContractError
	require.NotErrorAs(t, d.Err(), &breach)
	later := false
	d.Then(func() { later = true })
	require.False(t, later, "later commands are not carried out")
}

// TestMisuse checks that invalid calls are refused with an error that says what would be right.
func TestMisuse(t *testing.T) {
	_, d := newFake(t, false)
	d.opts.Build.Parts = 0
	frame := func(*RxQueue, *RxFrame) {}
	rx := func(c RxConfig) error { _, err := d.OpenRx(c); return err }
	tx := func(c TxConfig) error { _, err := d.OpenTx(c); return err }
	key := func(s KeySpec) error { _, err := d.SetKey(s); return err }
	_, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
	require.NoError(t, err)
	for _, x := range []struct {
		text string
		err  error
	}{
		{"receive queue 4: want 0 to 3",
			rx(RxConfig{QueueConfig: QueueConfig{Queue: 4, LogSize: 2}, PayBytes: 1, OnFrame: frame})},
		{"payload buffers of 0 B: want 1 to 65535 [Q6]",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, OnFrame: frame})},
		{"no OnFrame", rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, PayBytes: 1})},
		{"ring of 2^1 entries: want 2^2 to 2^15 [Q6]",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 1}, PayBytes: 1, OnFrame: frame})},
		{"header buffers of 0 B",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, PayBytes: 1, Split: nicspec.SplitModeHeaders,
				OnFrame: frame})},
		{"want a NIC with part crc32c",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, PayBytes: 1, CRC32C: nicspec.CrcModeCheck,
				OnFrame: frame})},
		{"want a NIC with part trim",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, PayBytes: 1, Trim: true, OnFrame: frame})},
		{"want a NIC with part ecn",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2}, PayBytes: 1, MarkCE: true, OnFrame: frame})},
		{"receive queue 0: completion ring: driver: endpoint 5",
			rx(RxConfig{QueueConfig: QueueConfig{LogSize: 2, DoneIn: 5}, PayBytes: 1, OnFrame: frame})},
		{"transmit queue 1 is open: Close it first", tx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})},
		{"priority class 8: want 0 to 7", tx(TxConfig{QueueConfig: QueueConfig{LogSize: 2}, Class: 8})},
		{"ECN bits 4", tx(TxConfig{QueueConfig: QueueConfig{LogSize: 2}, ECN: 4})},
		{"moderation (1 entries, 0 cycles) without vector",
			tx(TxConfig{QueueConfig: QueueConfig{LogSize: 2, Messages: Moderation{Count: 1}}})},
		{"want a NIC with part msix",
			tx(TxConfig{QueueConfig: QueueConfig{LogSize: 2, Messages: Moderation{Vector: &Vector{}}}})},
		{"memory key 256: want 0 to 255", key(KeySpec{Index: 256})},
		{"pass 2^64", key(KeySpec{VA: ^uint64(0), Len: 2})},
		{"leave the endpoint: want 0x1 at most", key(KeySpec{Bus: 1<<56 - 1, Len: 2})},
		{"steering rule -1: want 0 to 63", d.SetRule(-1, Rule{})},
		{"receive queue 4: want 0 to 3", d.SetRule(0, Rule{To: ToQueue(4)})},
		{"part rss", d.SetRule(0, Rule{To: ToGroup(0, 3)})},
		{"rss_log 9: want 0 to 8", d.SetDefault(ToGroup(0, 9))},
		{"only rules can", d.SetDefault(Target{Account: &Account{}})},
		{"a rule that drops draws on an account", d.SetRule(0, Rule{To: Target{Account: &Account{}}})},
		{"part accounts", d.AddCredit(0, 1)},
		{"part rss", d.SetIndirection(0, 1)},
		{"part rss", d.SetRSSKey([nicspec.RssKeyBytes]byte{})},
		{"part pause", d.SetPort(0, PortConfig{})},
		{"part pause", d.SetPortMAC(0, [6]byte{})},
		{"part flr", d.FunctionReset(nil)},
		{"part crc32c", d.SetDrops(1 << 3)},
		{"MPS of 64 B: want 128, 256 or 512", d.SetDeviceControl(DeviceControl{MPS: 64, MRRS: 128})},
		{"MPS of 1024 B", d.SetDeviceControl(DeviceControl{MPS: 1024, MRRS: 128})},
		{"MRRS of 300 B", d.SetDeviceControl(DeviceControl{MPS: 128, MRRS: 300})},
		{"part attr", d.SetDeviceControl(DeviceControl{MPS: 128, MRRS: 4096, NoSnoop: true})},
		{"completion timeout of 1000 cycles: want 1024 or more", d.SetCompletionTimeout(1000)},
		{"entry of table Key has 5 B", d.WriteTable(nicspec.TableKey, 0, make([]byte, 5))},
		{"no entry 65536", d.WriteTable(nicspec.TableKey, 65536, nil)},
		{"pause mode PauseMode(3)", (&PortConfig{Send: 3}).Validate()},
		{"pause time of 63 quanta: want 64 or more",
			(&PortConfig{Send: nicspec.PauseModePause, Quanta: 63, XOff: 2, XOn: 1}).Validate()},
		{"want 0 <= XOn < XOff <= 65536",
			(&PortConfig{Send: nicspec.PauseModePause, Quanta: 64, XOff: 1, XOn: 1}).Validate()},
	} {
		require.ErrorContains(t, x.err, x.text)
	}
	require.NoError(t, d.Err(), "misuse changes nothing")
	require.EqualValues(t, fakeBytes-64-4*128, d.arenas[0].Left(), "nor does it take memory")
	_, err = New(nil, DefaultOptions())
	require.ErrorContains(t, err, "no bus")
	_, err = New(&fakeNIC{}, Options{Build: nicspec.DefaultBuild(), Memory: [2]Range{{1 << 56, 1}, {}}})
	require.ErrorContains(t, err, "memory of endpoint 0")
	require.ErrorContains(t, err, "max polls is 0")
}

// noWatch is a bus that cannot watch memory.
type noWatch struct{ Bus }

func (noWatch) Watch(uint64, int, func()) (func(), error) { return nil, errors.New("no watches here") }

// TestFailedWatch checks that a queue whose ring cannot be watched is refused and keeps no memory.
func TestFailedWatch(t *testing.T) {
	nic, d := newFake(t, false)
	left := d.arenas[0].Left()
	_, err := d.NewVector(noWatch{nic}, nicspec.EndpointArm, 1, func() {})
	require.ErrorContains(t, err, "no watches here")
	_, err = d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 3, Bus: noWatch{nic}}})
	require.ErrorContains(t, err, "no watches here")
	require.Equal(t, left, d.arenas[0].Left())
}
