package run

import (
	"encoding/binary"
	"errors"

	"nictwin/models/board"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/sim/fifo"
	"nictwin/stack/apps"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/verbs"
)

// datagrams is a minimal stack for these tests, on a NIC that follows docs/nic.md: UD only, one frame per message,
// copied by an Arm core.
type datagrams struct {
	lacking       // nil: a call of a verb that type datagrams does not implement panics
	card          *board.Card
	mac, peer     [6]byte
	arm, host     *host.Core
	drv           *driver.Driver
	tx            *driver.TxQueue
	key           *driver.Key
	at            uint64 // bus address in Arm memory of the slots for frames
	posted, ended int
	sent          fifo.Queue[sentWR]
	qps           []*datagramQP
	failed        error
}

type sentWR struct {
	qp       *datagramQP
	id       uint64
	signaled bool
}

type lacking = verbs.Context

const (
	slotBytes = 2048
	slots     = 64
	dgHeader  = 24 // bytes: Ethernet, both queue pairs, length
)

func openDatagrams(w *world, server int) (Stack, error) {
	c := w.rack.Servers[server].Cards[0]
	s := &datagrams{card: c, mac: macOf(server, 0), peer: macOf(1-server, 0)}
	var err error
	if s.arm, err = c.Memory.Host(nicspec.EndpointArm).Core(0, 3); err != nil {
		return nil, err
	}
	if s.host, err = c.Memory.Host(nicspec.EndpointHost).Core(0, 0); err != nil {
		return nil, err
	}
	arm := c.Root.MMIO(nicspec.RequesterArm)
	bus, err := corebus.New(s.arm.Core, arm, corebus.DefaultSpec())
	if err != nil {
		return nil, err
	}
	o := driver.DefaultOptions()
	o.Build.Ports, o.Build.EthBits = 2, c.NIC.EthBits()
	roots := [2]cpu.Registers{nicspec.EndpointArm: arm, nicspec.EndpointHost: c.Host.MMIO(nicspec.RequesterHost)}
	if s.drv, err = driver.New(corebus.Apart{Bus: bus, Roots: roots}, o); err != nil {
		return nil, err
	}
	return s, s.open(w)
}

func (s *datagrams) open(w *world) error {
	alloc := func(n uint64) uint64 {
		at, err := s.drv.Alloc(nicspec.EndpointArm, n, nicspec.LineBytes)
		s.fail(err)
		return at
	}
	rx, err := s.drv.OpenCopier(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: 2, LogSize: 6},
		PayBytes: slotBytes}, s.frame)
	s.fail(err)
	s.fail(s.drv.SetDefault(driver.ToQueue(2)))
	s.tx, err = s.drv.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 6}, OnEnd: s.gone})
	s.fail(err)
	for range slots {
		s.fail(rx.Post(driver.Buffer{Pay: alloc(slotBytes)}))
	}
	s.fail(rx.Ring())
	s.at = alloc(slots * slotBytes)
	s.key, err = s.drv.SetKey(driver.KeySpec{Index: 3, Variant: 7, Bus: s.at, Len: slots * slotBytes,
		Rights: dma.Access{Read: true}})
	s.fail(err)
	s.drv.Enable(true, true)
	s.drv.Sync()
	ready := false
	s.drv.Then(func() { ready = true })
	return errors.Join(s.failed, w.await("the driver to be ready", func() bool { return ready }))
}

func (s *datagrams) fail(err error)     { s.failed = errors.Join(s.failed, err) }
func (s *datagrams) Err() error         { return errors.Join(s.failed, s.drv.Err()) }
func (s *datagrams) Settled() bool      { return s.drv.Idle() && s.posted == s.ended }
func (s *datagrams) Close() error       { return nil }
func (s *datagrams) Core(int) apps.Core { return s.host }
func (s *datagrams) ReadCounters(done func()) error {
	s.drv.ReadCounters(func(driver.Counters) { done() })
	return nil
}
func (s *datagrams) OnAsync(func(verbs.AsyncEvent))         {}
func (s *datagrams) DestroyQP(_ verbs.QP, done func(error)) { done(nil) }
func (s *datagrams) DestroyCQ(_ verbs.CQ, done func(error)) { done(nil) }
func (s *datagrams) DestroyAH(_ verbs.AH, done func(error)) { done(nil) }
func (s *datagrams) DeregMR(_ uint32, done func(error))     { done(nil) }
func (s *datagrams) DeallocPD(_ verbs.PD, done func(error)) { done(nil) }
func (s *datagrams) AllocPD(done func(verbs.PD, error))     { done(1, nil) }

// Context returns the stack as verbs context (Stack).
func (s *datagrams) Context(int) verbs.Context { return s }
func (s *datagrams) Ports() int                { return 1 }

func (s *datagrams) QueryDevice(done func(verbs.DeviceAttr, error)) {
	done(verbs.DeviceAttr{Types: []verbs.QPType{verbs.QPTUD}, Ports: 1}, nil)
}

func (s *datagrams) RegMR(pd verbs.PD, addr, n uint64, a verbs.Access, done func(verbs.MR, error)) {
	done(verbs.MR{PD: pd, Addr: addr, Length: n, Access: a}, nil)
}

func (s *datagrams) CreateAH(_ verbs.PD, _ verbs.AHAttr, done func(verbs.AH, error)) { done(1, nil) }

// datagramCQ is a completion queue.
type datagramCQ struct {
	*verbs.Completions
	follow func()
}

func (q *datagramCQ) ReqNotify(bool) error { return verbs.EOPNOTSUPP }
func (q *datagramCQ) OnEvent(func())       {}
func (q *datagramCQ) Follow(f func()) (func(), error) {
	q.follow = f
	return func() { q.follow = nil }, nil
}
func (q *datagramCQ) add(wc verbs.WC) { q.Add(&wc) }
func (q *datagramCQ) tell() {
	if q.follow != nil {
		q.follow()
	}
}

func (s *datagrams) CreateCQ(n int, done func(verbs.CQ, error)) {
	done(&datagramCQ{Completions: verbs.NewCompletions(n)}, nil)
}

// datagramQP is a queue pair.
type datagramQP struct {
	s     *datagrams
	n     uint32
	cq    *datagramCQ
	recvs fifo.Queue[verbs.RecvWR]
}

func (s *datagrams) CreateQP(_ verbs.PD, a verbs.QPInitAttr, done func(verbs.QP, error)) {
	if a.Type != verbs.QPTUD {
		done(nil, verbs.Errorf("create_qp", verbs.EOPNOTSUPP, "%v: the stack lacks it", a.Type))
		return
	}
	q := &datagramQP{s: s, n: uint32(len(s.qps)), cq: a.SendCQ.(*datagramCQ)}
	s.qps = append(s.qps, q)
	done(q, nil)
}

func (s *datagrams) ModifyQP(_ verbs.QP, _ verbs.QPAttr, _ verbs.AttrMask, done func(error)) {
	done(nil)
}

func (q *datagramQP) Num() uint32 { return q.n }

// PostRecv posts receive requests (verbs.QP).
func (q *datagramQP) PostRecv(wrs []verbs.RecvWR) (int, error) {
	for _, w := range wrs {
		w.SGEs = append([]verbs.SGE(nil), w.SGEs...)
		q.recvs.Push(w)
	}
	return len(wrs), nil
}

// PostSend posts send requests (verbs.QP).
func (q *datagramQP) PostSend(wrs []verbs.SendWR) (int, error) {
	s := q.s
	for i := range wrs {
		if s.posted-s.ended >= slots-2 {
			return i, verbs.ErrSendFull
		}
		w := &wrs[i]
		// an EtherType other than IP, since the NIC would parse IP headers
		f := append(append(append([]byte(nil), s.peer[:]...), s.mac[:]...), 0x08, 0x01)
		f = binary.LittleEndian.AppendUint32(f, w.RemoteQPN)
		f = binary.LittleEndian.AppendUint32(f, q.n)
		f = binary.LittleEndian.AppendUint16(f, uint16(w.Length()))
		for _, x := range w.SGEs {
			b := make([]byte, x.Length)
			s.fail(s.host.Load(x.Addr, b)) // through the core's cache, so that it sees the application's stores
			f = append(f, b...)
		}
		off := uint64(s.posted%slots) * slotBytes
		s.fail(s.arm.Store(s.at+off, f))
		s.fail(s.tx.Post(&driver.Send{
			Order: driver.Order{ID: uint32(s.posted), Complete: true}, Pad: true,
			Pieces: []driver.Span{{Key: s.key, Off: off, Len: uint32(len(f))}},
		}))
		s.posted++
		s.sent.Push(sentWR{q, w.ID, w.Flags&verbs.SendSignaled != 0})
	}
	s.arm.Fence() // the doorbell must come after the frames are in memory
	s.fail(s.tx.Ring())
	return len(wrs), nil
}

// gone handles the transmit completion of a frame.
func (s *datagrams) gone(_ *driver.TxQueue, e *driver.TxEnd) {
	s.ended += e.N
	for range e.N {
		if w := s.sent.Pop(); w.signaled {
			w.qp.cq.add(verbs.WC{ID: w.id, QPN: w.qp.n, Opcode: verbs.WCSend})
		}
	}
	s.qps[0].cq.tell()
}

// frame handles a received frame.
func (s *datagrams) frame(_ *driver.Copier, _ nicspec.RxCqe, hdr, pay []byte) {
	f := append(append([]byte(nil), hdr...), pay...)
	q := s.qps[binary.LittleEndian.Uint32(f[14:])]
	n := int(binary.LittleEndian.Uint16(f[22:]))
	if q.recvs.Len() == 0 {
		return
	}
	w := q.recvs.Pop()
	b := append(make([]byte, verbs.GRHBytes), f[dgHeader:dgHeader+n]...)
	for _, x := range w.SGEs {
		k := min(len(b), int(x.Length))
		s.fail(s.card.Memory.Write(x.Addr, b[:k]))
		b = b[k:]
	}
	q.cq.add(verbs.WC{ID: w.ID, QPN: q.n, Opcode: verbs.WCRecv, ByteLen: uint32(n + verbs.GRHBytes),
		SrcQP: binary.LittleEndian.Uint32(f[18:])})
	q.cq.tell()
}

func (s *datagrams) Timer() string    { return "" }
func (s *datagrams) Progress() uint64 { return 0 }

var (
	_ Stack    = (*datagrams)(nil)
	_ verbs.QP = (*datagramQP)(nil)
	_ verbs.CQ = (*datagramCQ)(nil)
	_ counting = (*datagrams)(nil)
)
