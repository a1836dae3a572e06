package drivertest

import (
	"bytes"
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/stack/driver"
)

var all = dma.Access{Read: true, Write: true}

var checks = []struct {
	name string
	run  func(*bench)
}{
	{"probe", probe}, {"settings", settings}, {"views", views}, {"copies of frames", copies}, {"steering", steering},
	{"accounts", accounts}, {"transmit", transmit}, {"offloads", offloads}, {"push", push},
	{"long entries", longEntries},
	{"appended trailers", appended}, {"trim", trim}, {"copy engine", copyEngine}, {"fence", fence},
	{"messages", messages},
	{"disable", disable}, {"enable again", reenable}, {"few buffers", fewBuffers}, {"failed queue", failedQueue},
	{"function-level reset", reset},
	{"refused command", refused},
}

func probe(b *bench) {
	var got nicspec.Build
	b.d.Probe(func(x nicspec.Build) { got = x })
	b.settle()
	require.Equal(b, b.Options.Build, got)
}

// settings writes registers and table entries, and checks that each reads back the requested values.
func settings(b *bench) {
	d := b.d
	b.must(d.SetDeviceControl(driver.DeviceControl{MPS: 256, MRRS: 1024, RCB128: true, NoSnoop: true}))
	b.must(d.SetCompletionTimeout(5000))
	d.SetRoCEPort(4000)
	b.must(d.SetDrops(0xf))
	b.must(d.SetDefault(driver.ToGroup(8, 3)))
	b.must(d.SetRSSKey([nicspec.RssKeyBytes]byte{1, 2, 3, 4, 36: 9, 39: 7}))
	b.must(d.SetIndirection(254, 3, 2))
	b.must(d.SetPortMAC(0, [6]byte{2, 1, 3, 4, 5, 6}))
	port := driver.PortConfig{HonourPause: true, HonourClasses: 5, Send: nicspec.PauseModePriority, Classes: 3,
		Quanta: 100, XOff: 4000, XOn: 2000}
	b.must(d.SetPort(0, port))
	b.must(d.SetAccount(7, 1000, true))
	b.must(d.SetRule(3,
		driver.Rule{Value: nicspec.SteerKeyFields{DstPort: 9}, Mask: nicspec.SteerKeyFields{DstPort: 0xffff},
			To: driver.Target{
				Action: nicspec.ActionRss, Queue: 8, RSSLog: 3, Account: &driver.Account{Number: 7, SlowQueue: 2}}}))
	key := driver.KeySpec{Index: 9, Variant: 3, VA: 5, Bus: 1 << 40, Len: 77, Rights: dma.Access{Write: true}}
	_, err := d.SetKey(key)
	b.must(err)
	d.Enable(true, false)
	b.settle()
	b.entries()
	for off, want := range map[uint32]uint64{
		nicspec.RegDevctl: 1 | 3<<4 | 1<<8 | 1<<10, nicspec.RegCplTimeout: 5000, nicspec.RegRocePort: 4000,
		nicspec.RegRxCtrl:    0xf,
		nicspec.RegRxDefault: 8 | 2<<16 | 3<<24, nicspec.RegRssKey(0): 0x04030201, nicspec.RegRssKey(9): 0x07000009,
		nicspec.RegCtrl:       1,
		nicspec.RegPortMac(0): 0x04030102, nicspec.RegPortMac(1): 0x0605,
	} {
		require.Equal(b, want, b.reg(off, 4), "register %#x", off)
	}
	b.must(d.DropRule(3))
	b.must(d.DropKey(9))
	require.Zero(b, nicspec.RuleEntry(b.entry(nicspec.TableRule, 3, nicspec.RuleEntrySize)).Valid())
	require.Zero(b, nicspec.KeyEntry(b.entry(nicspec.TableKey, 9, nicspec.KeyEntrySize)).Valid())
}

// entry reads a table entry.
func (b *bench) entry(t nicspec.Table, index, n int) (e []byte) {
	b.Helper()
	b.must(b.d.ReadTable(t, index, n, func(x []byte) { e = x }))
	b.settle()
	return e
}

// entries checks the table entries that method `settings` wrote.
func (b *bench) entries() {
	b.Helper()
	rule := nicspec.DecodeRuleEntry(b.entry(nicspec.TableRule, 3, nicspec.RuleEntrySize))
	require.Equal(b, []int{8, 3, 1, 7, 2}, []int{int(rule.Queue), int(rule.RssLog), int(rule.AccountEn),
		int(rule.Account), int(rule.SlowQueue)})
	require.Equal(b, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Variant: 3, VaBase: 5, Length: 77,
		BusBase: 1 << 40},
		nicspec.DecodeKeyEntry(b.entry(nicspec.TableKey, 9, nicspec.KeyEntrySize)))
	require.Equal(b, nicspec.PortEntryFields{RxPause: 1, RxPfc: 5, TxMode: 2, TxClasses: 3, PauseTime: 100, Xoff: 4000,
		Xon: 2000},
		nicspec.DecodePortEntry(b.entry(nicspec.TablePortCfg, 0, nicspec.PortEntrySize)))
	require.EqualValues(b, 2,
		nicspec.IndirectionEntry(b.entry(nicspec.TableIndirection, 255, nicspec.IndirectionEntrySize)).Queue())
	b.must(b.d.ReadAccount(7, func(a nicspec.AccountEntryFields) {
		require.Equal(b, nicspec.AccountEntryFields{Balance: 1000, Latch: 1}, a)
	}))
	b.settle()
}

// frame returns n bytes of UDP over IPv4 to a port, with a wrong ICRC and wrong checksums, so that only the NIC can
// correct them.
func frame(n int, port uint16) []byte {
	f := nictest.RoceFrame(max(n-14-20-8-12-4, 0))
	f[14+20+2], f[14+20+3] = byte(port>>8), byte(port)
	nictest.FixIP(f)
	return f
}

// views checks a receiver that keeps buffers and reposts them much later.
func views(b *bench) {
	var kept []driver.RxFrame
	q, err := b.d.OpenRx(driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: 5, LogSize: 3, RingIn: nicspec.EndpointHost},
		Split:       nicspec.SplitModeHeaders, HdrBytes: 128, PayBytes: 2048,
		OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) { kept = append(kept, *f) },
	})
	b.must(err)
	b.must(b.d.SetDefault(driver.ToQueue(5)))
	b.d.Enable(true, true)
	for range 8 {
		b.must(q.Post(driver.Buffer{Hdr: b.alloc(nicspec.EndpointArm, 129) + 1,
			Pay: b.alloc(nicspec.EndpointHost, 2051) + 3}))
	}
	b.must(q.Ring())
	b.settle()
	total := 0
	for round := range 5 {
		for i := range 6 {
			b.Receive(0, frame(100+200*i+round, 4791))
		}
		b.settle()
		require.Len(b, kept, 6)
		require.Equal(b, 2, q.Room()-4)
		for i, f := range kept {
			want := frame(100+200*i+round, 4791)
			require.Equal(b, want, append(b.read(f.Hdr, f.HdrLen), b.read(f.Pay, f.PayLen)...))
			require.Equal(b, 14+20+8+12, f.HdrLen, "headers lie apart")
			b.must(q.Post(f.Buffer))
			total++
		}
		kept = nil
		b.must(q.Ring())
		b.settle()
	}
	var c driver.Counters
	b.d.ReadCounters(func(x driver.Counters) { c = x })
	b.settle()
	require.EqualValues(b, total, c.Port(0, nicspec.CntRxDelivered))
	require.EqualValues(b, total, c.Device(nicspec.CntRxCqe))
	require.Zero(b, c.Device(nicspec.CntDbBad)+c.Device(nicspec.CntRegBad))
}

// receiver opens a copier with full buffers, and returns it and the list of its frames.
func (b *bench) receiver(queue, log int, change func(*driver.RxConfig)) (*driver.Copier, *[][]byte) {
	b.Helper()
	c := driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: queue, LogSize: log}, PayBytes: nicspec.FrameMax}
	if change != nil {
		change(&c)
	}
	got := new([][]byte)
	q, err := b.d.OpenCopier(c, func(_ *driver.Copier, _ nicspec.RxCqe, hdr, pay []byte) {
		*got = append(*got, append(bytes.Clone(hdr), pay...))
	})
	b.must(err)
	for range q.Size() {
		b.must(q.Fill(driver.Buffer{Hdr: b.alloc(nicspec.EndpointArm, max(c.HdrBytes, 1)),
			Pay: b.alloc(b.besideEntry(), c.PayBytes)}))
	}
	return q, got
}

// copies checks that a copier delivers frames through a small ring for many laps, and is then disabled while frames are
// in flight.
func copies(b *bench) {
	q, got := b.receiver(0, 2, func(c *driver.RxConfig) {
		c.Split, c.SplitLen, c.HdrBytes = nicspec.SplitModeFixed, 33,
			64
	})
	b.must(b.d.SetDefault(driver.ToQueue(0)))
	b.d.Enable(true, false)
	b.settle()
	var want [][]byte
	for i := range 40 {
		want = append(want, frame(60+i*37, 99))
		b.Receive(0, want[i])
		if i%3 == 2 {
			b.settle()
		}
	}
	b.settle()
	require.Equal(b, want, *got)
	b.Receive(0, want[0])
	b.Receive(0, want[1])
	var left []driver.Buffer
	b.must(q.Disable(func() { left = q.Unused() }))
	b.settle()
	require.Len(b, left, q.Size())
	require.Contains(b, []int{40, 41, 42}, len(*got))
	*got = nil
	b.must(q.Enable())
	b.must(q.Fill(left...))
	b.d.Sync()
	b.settle()
	b.Receive(0, want[2])
	b.settle()
	require.Equal(b, want[2:3], *got)
	closed := false
	b.must(q.Close(func() { closed = true }))
	b.settle()
	require.True(b, closed && q.State() == driver.Closed)
}

// steering checks that frames follow the rules, the RSS group and the default.
func steering(b *bench) {
	var got [4]*[][]byte
	for i := range got {
		_, got[i] = b.receiver(i, 5, nil)
	}
	b.must(b.d.SetRule(0, driver.Rule{
		Value: nicspec.SteerKeyFields{IsUdp: true, DstPort: 1000},
		Mask:  nicspec.SteerKeyFields{IsUdp: true, DstPort: 0xffff}, To: driver.ToQueue(1),
	}))
	b.must(b.d.SetRule(1, driver.Rule{
		Value: nicspec.SteerKeyFields{DstPort: 2000}, Mask: nicspec.SteerKeyFields{DstPort: 0xfff0},
		To: driver.ToGroup(16, 4),
	}))
	b.must(b.d.SetRule(2, driver.Rule{Value: nicspec.SteerKeyFields{DstPort: 3000},
		Mask: nicspec.SteerKeyFields{DstPort: 0xffff}}))
	b.must(b.d.SetRSSKey([nicspec.RssKeyBytes]byte(nictest.Pattern(nicspec.RssKeyBytes, 4))))
	b.must(b.d.SetIndirection(16, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3))
	b.must(b.d.SetDefault(driver.ToQueue(0)))
	b.d.Enable(true, false)
	b.settle()
	for i := range 16 {
		b.Receive(0, frame(100, 1000))
		b.Receive(0, frame(100, 2000+uint16(i)))
		b.Receive(0, frame(100, 3000))
		b.Receive(0, frame(100, 4000))
		b.settle()
	}
	require.Len(b, *got[0], 16)
	require.Len(b, *got[1], 16)
	require.Equal(b, 16, len(*got[2])+len(*got[3]))
	require.True(b, len(*got[2]) > 2 && len(*got[3]) > 2, "RSS spreads")
	var hits []uint64
	b.must(b.d.ReadRuleHits(3, func(x []uint64) { hits = x }))
	b.settle()
	require.Equal(b, []uint64{16, 16, 16}, hits)
}

// accounts lets a flow run out of credit, which sends its frames to the slow queue, and then adds credit.
func accounts(b *bench) {
	_, fast := b.receiver(0, 5, nil)
	_, slow := b.receiver(1, 5, nil)
	b.must(b.d.SetAccount(3, 2, true))
	to := driver.ToQueue(0)
	to.Account = &driver.Account{Number: 3, SlowQueue: 1}
	b.must(b.d.SetRule(0, driver.Rule{To: to}))
	b.d.Enable(true, false)
	b.settle()
	for step, want := range [][2]int{{2, 2}, {2, 6}, {5, 7}, {6, 10}} {
		switch step {
		case 1:
			b.must(b.d.AddCredit(3, 10)) // the account is latched, and not Fast before it is resumed
		case 2:
			b.must(b.d.ResumeAccount(3, 0))
			b.must(b.d.TakeCredit(3, 7))
		case 3:
			b.must(b.d.ResumeAccount(3, 1))
		}
		b.settle()
		for range 4 {
			b.Receive(0, frame(100, 1))
		}
		b.settle()
		require.Equal(b, want, [2]int{len(*fast), len(*slow)}, fmt.Sprintf("step %d", step))
	}
	b.must(b.d.ReadCredit(3, func(balance int, slow bool) { require.True(b, balance == 0 && slow) }))
	b.must(b.d.ReadAccount(3, func(a nicspec.AccountEntryFields) { require.EqualValues(b, 16, a.Seq) }))
	b.settle()
}

// transmitter opens a transmit queue, and returns it and the list of IDs of completed entries.
func (b *bench) transmitter(queue, log int, change func(*driver.TxConfig)) (*driver.TxQueue, *[]uint32) {
	b.Helper()
	ids := new([]uint32)
	c := driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: queue, LogSize: log},
		OnEnd: func(_ *driver.TxQueue, e *driver.TxEnd) {
			require.Equal(b, nicspec.StatusOk, e.Cqe.Status())
			*ids = append(*ids, e.Cqe.WqeId())
		}}
	if change != nil {
		change(&c)
	}
	q, err := b.d.OpenTx(c)
	b.must(err)
	return q, ids
}

// transmit sends frames of inline bytes and pieces for many laps of the ring.
func transmit(b *bench) {
	arm, host := b.key(1, nicspec.EndpointArm, 4096), b.key(2, nicspec.EndpointHost, 16384)
	hdr, pay := nictest.Pattern(4096, 1), nictest.Pattern(16384, 2)
	b.write(arm.Bus, hdr)
	b.write(host.Bus, pay)
	q, ids := b.transmitter(6, 3, nil)
	b.d.Enable(false, true)
	b.settle()
	var want []Frame
	for i := range 60 {
		n := i * 29
		s := driver.Send{Order: driver.Order{ID: uint32(i), Complete: i%4 == 3}, Inline: hdr[:i%17], Pad: true}
		s.Pieces = []driver.Span{{Key: arm, Off: uint64(i), Len: 7},
			{Key: host, Off: uint64(3 * i), Len: uint32(n + 1)}}
		data := append(append(bytes.Clone(hdr[:i%17]), hdr[i:i+7]...), pay[3*i:3*i+n+1]...)
		want = append(want, Frame{Queue: 6, Data: append(data, make([]byte, max(60-len(data), 0))...)})
		b.must(q.Post(&s))
		if i%4 == 3 {
			b.must(q.Ring())
			b.settle()
		}
	}
	require.Equal(b, want, b.Sent)
	require.Len(b, *ids, 15)
	require.EqualValues(b, 59, (*ids)[14])
	require.Equal(b, q.Size(), q.Room())
}

// offloads sends a frame with wrong checksums and ICRC, which the NIC must correct.
func offloads(b *bench) {
	f := frame(300, 4791)
	k := b.key(1, nicspec.EndpointHost, 4096)
	b.write(k.Bus, f)
	q, _ := b.transmitter(0, 3, nil)
	b.d.Enable(false, true)
	b.must(q.Post(&driver.Send{Pieces: []driver.Span{{Key: k, Len: uint32(len(f))}}, Offloads: driver.Offloads{
		IPv4Checksum: true, UDPChecksum: true, ICRC: true, L3: 14, L4: 34}}))
	b.must(q.Ring())
	b.settle()
	require.NoError(b, wire.SealFrame(f, true))
	require.Len(b, b.Sent, 1)
	require.Equal(b, f, b.Sent[0].Data)
	require.Equal(b, q.Size()-1, q.Room(), "it asked for no completion")
}

// push checks that pushed entries keep their order between posted ones.
func push(b *bench) {
	q, ids := b.transmitter(2, 4, nil)
	b.d.Enable(false, true)
	b.settle()
	for i := range uint32(40) {
		n := driver.Nop{Order: driver.Order{ID: i, Complete: true}}
		if i%3 == 0 {
			b.must(q.Push(&n))
		} else {
			b.must(q.Post(&n))
		}
		if i%8 == 7 {
			b.must(q.Ring())
			b.settle()
		}
	}
	b.settle()
	require.Len(b, *ids, 40)
	require.Zero(b, b.counter(nicspec.CntDbBad))
}
