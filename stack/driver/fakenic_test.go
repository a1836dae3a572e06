package driver

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// fakeNIC is a bus with memory and those parts of a NIC that rings need: table commands, doorbells, pushed entries, and
// completion entries on request. Accesses complete at once or, if late, when the test lets them.
type fakeNIC struct {
	t         require.TestingT
	mem       []byte // memory of endpoint Arm
	data      [nicspec.TableWords]uint32
	cmd       nicspec.TblCmdReg
	rx, tx    [4]fakeQueue
	watches   []fakeWatch
	late      bool
	pending   []func()        // effects of memory accesses, in order
	ends      []func()        // end register reads, and accesses that took effect; called in any order
	pick      func(n int) int // selects which of the n functions in `ends` is called next; nil: the oldest
	doorbells int
	pushed    int
}

// fakeQueue is the NIC's context of a queue.
type fakeQueue struct {
	on          bool
	log, slot   int
	base, cq    uint64
	pi, ci, cqi uint16
	entry       [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte // the last entry taken
	cqe         [nicspec.CqeBytes]byte                        // completion entry to write for the queue
}

// fakeWatch is a range of memory and the function to call after writes to it.
type fakeWatch struct {
	from, to uint64
	f        func()
}

const fakeBytes = 1 << 20

func newFake(t require.TestingT, late bool) (*fakeNIC, *Driver) {
	p := &fakeNIC{t: t, mem: make([]byte, fakeBytes), late: late}
	for i := range p.rx {
		p.rx[i].slot, p.tx[i].slot = nicspec.RxDescBytes, nicspec.WqeBytes
	}
	o := DefaultOptions()
	o.Build.NumRxq, o.Build.NumTxq = len(p.rx), len(p.tx)
	o.Memory = [2]Range{{64, fakeBytes - 64}, {}}
	d, err := New(p, o)
	require.NoError(t, err)
	return p, d
}

func (p *fakeNIC) WriteReg(off uint32, b []byte) error {
	v := binary.LittleEndian.Uint32(b)
	switch {
	case off >= nicspec.RegTxPushBase:
		q := &p.tx[(off-nicspec.RegTxPushBase)/nicspec.RegTxPushStride]
		at := q.base + uint64(q.pi)%(1<<q.log)*nicspec.WqeBytes
		require.Equal(p.t, p.mem[at:at+nicspec.WqeBytes], b, "the place of a block that is pushed [W1]")
		q.ring(p, q.pi+1)
		p.pushed++
	case off >= nicspec.RegTxDoorbellBase:
		p.tx[(off-nicspec.RegTxDoorbellBase)/4].ring(p, uint16(v))
	case off >= nicspec.RegRxDoorbellBase:
		p.rx[(off-nicspec.RegRxDoorbellBase)/4].ring(p, uint16(v))
	case off == nicspec.RegTblCmd:
		p.cmd = nicspec.TblCmdReg(v)
		p.command()
	case off >= nicspec.RegTblDataBase && off < nicspec.RegTblDataBase+4*nicspec.TableWords:
		p.data[(off-nicspec.RegTblDataBase)/4] = v
	}
	return nil
}

func (q *fakeQueue) ring(p *fakeNIC, pi uint16) {
	p.doorbells++
	if back := pi-q.pi > pi-q.ci; !q.on || back || int(pi-q.ci) > 1<<q.log {
		require.Fail(p.t, "doorbell", "index %d of a queue that is at %d to %d; enabled: %v [Q2]", pi, q.ci, q.pi, q.on)
	}
	q.pi = pi
}

// command carries out a table command on the context of a queue, and ignores commands on other tables.
func (p *fakeNIC) command() {
	i := p.cmd.Index()
	q := &p.rx[i%4]
	if nicspec.Table(p.cmd.Table()) == nicspec.TableTxq {
		q = &p.tx[i%4]
	} else if nicspec.Table(p.cmd.Table()) != nicspec.TableRxq {
		return
	}
	var e [4 * nicspec.TableWords]byte
	if nicspec.TableOp(p.cmd.Op()) == nicspec.TableOpRead {
		f := nicspec.RxqEntryFields{Pi: q.pi, Ci: q.ci, Cqi: q.cqi}
		if q.on {
			f.State = nicspec.QueueStateRun
		}
		f.Encode(e[:])
		for i := range p.data {
			p.data[i] = binary.LittleEndian.Uint32(e[4*i:])
		}
		return
	}
	for i, w := range p.data {
		binary.LittleEndian.PutUint32(e[4*i:], w)
	}
	f := nicspec.DecodeRxqEntry(e[:])
	if q.on = f.Enable == 1; q.on {
		*q = fakeQueue{on: true, slot: q.slot, log: int(f.LogSize), base: f.RingBase, cq: f.CqBase}
		for _, b := range p.mem[f.CqBase : f.CqBase+nicspec.CqeBytes<<q.log] {
			require.Zero(p.t, b, "completion ring of a queue that is enabled")
		}
	}
}

func (p *fakeNIC) ReadReg(off uint32, n int, done func(uint64, error)) {
	end := func() {
		switch {
		case off >= nicspec.RegTblDataBase && off < nicspec.RegTblDataBase+4*nicspec.TableWords:
			done(uint64(p.data[(off-nicspec.RegTblDataBase)/4]), nil)
		case off == nicspec.RegTblCmd:
			p.cmd.SetStatus(uint32(nicspec.TableStatusOk))
			done(uint64(p.cmd), nil)
		default:
			done(0, nil)
		}
	}
	if p.late {
		p.ends = append(p.ends, end)
		return
	}
	end()
}

func (p *fakeNIC) access(f func(), done func(error)) {
	if p.late {
		p.pending = append(p.pending, func() {
			f()
			p.ends = append(p.ends, func() { done(nil) }) // the access ends in a later tick
		})
		return
	}
	f()
	done(nil)
}

func (p *fakeNIC) Read(addr uint64, b []byte, done func(error)) {
	if !p.late {
		copy(b, p.mem[addr:])
		done(nil)
		return
	}
	p.access(func() { copy(b, p.mem[addr:]) }, done)
}

func (p *fakeNIC) Write(addr uint64, b []byte, done func(error)) {
	if addr+uint64(len(b)) > fakeBytes {
		done(fmt.Errorf("no memory at %#x", addr))
		return
	}
	if !p.late {
		copy(p.mem[addr:], b)
		done(nil)
		return
	}
	p.access(func() { copy(p.mem[addr:], b) }, done)
}

func (p *fakeNIC) Watch(addr uint64, n int, f func()) (stop func(), err error) {
	for _, w := range p.watches {
		if w.from < addr+uint64(n) && addr < w.to {
			return nil, fmt.Errorf("watch of %#x overlaps %#x", addr, w.from)
		}
	}
	p.watches = append(p.watches, fakeWatch{addr, addr + uint64(n), f})
	return func() {
		for i := range p.watches {
			if p.watches[i].from == addr {
				p.watches[i] = fakeWatch{}
			}
		}
	}, nil
}

// tick ends the oldest memory access that has taken effect. Without such an access, or with `memory` set, it lets the
// oldest pending one take effect instead. It reports whether there was one.
func (p *fakeNIC) tick(memory bool) bool {
	list := &p.ends
	if len(p.ends) == 0 || memory && len(p.pending) > 0 {
		list = &p.pending
	}
	if len(*list) == 0 {
		return false
	}
	i := 0
	if list == &p.ends && p.pick != nil {
		i = p.pick(len(*list))
	}
	f := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	f()
	return true
}

// settle lets all accesses take effect and end, in random order.
func (p *fakeNIC) settle(rng *rand.Rand) {
	for p.tick(rng != nil && rng.IntN(2) == 0) {
	}
}

// entry takes the next entry of a queue, if all of it was announced.
func (p *fakeNIC) entry(q *fakeQueue) []byte {
	for n, all := 0, uint16(1); q.on && all <= q.pi-q.ci; {
		at := q.base + uint64(q.ci+uint16(n))%(1<<q.log)*uint64(q.slot)
		copy(q.entry[n*q.slot:], p.mem[at:at+uint64(q.slot)])
		if n++; n == 1 && q.slot == nicspec.WqeBytes {
			all += uint16(nicspec.Wqe(q.entry[:]).Blocks())
		}
		if n == int(all) {
			q.ci += all
			return q.entry[:n*q.slot]
		}
	}
	return nil
}

// complete writes a completion entry and sets its phase.
func (p *fakeNIC) complete(q *fakeQueue, cqe []byte) {
	at := q.cq + uint64(q.cqi)%(1<<q.log)*nicspec.CqeBytes
	nicspec.RxCqe(cqe).SetPhase(q.cqi>>q.log&1 == 0)
	q.cqi++
	p.write(at, cqe)
}

func (p *fakeNIC) write(at uint64, b []byte) {
	copy(p.mem[at:], b)
	for i := range p.watches {
		if w := &p.watches[i]; w.from < at+uint64(len(b)) && at < w.to {
			w.f()
		}
	}
}

// receive takes a descriptor and writes the completion entry for a frame of n bytes.
func (p *fakeNIC) receive(q, n int) bool {
	rx := &p.rx[q]
	index := rx.ci
	if p.entry(rx) == nil {
		return false
	}
	cqe := nicspec.RxCqe(rx.cqe[:])
	clear(cqe)
	cqe.SetType(nicspec.CqeTypeRx)
	cqe.SetQueue(uint16(q))
	cqe.SetIndex(index)
	cqe.SetFrameLen(uint16(n))
	cqe.SetPayLen(uint16(n))
	p.complete(rx, cqe)
	return true
}

// work takes a work entry, and writes its completion entry if requested.
func (p *fakeNIC) work(q int) (id uint32, ok bool) {
	tx := &p.tx[q]
	index := tx.ci
	if p.entry(tx) == nil {
		return 0, false
	}
	w := nicspec.Wqe(tx.entry[:])
	id = w.WqeId()
	if w.FComplete() {
		cqe := nicspec.TxCqe(tx.cqe[:])
		clear(cqe)
		cqe.SetType(nicspec.CqeTypeTx)
		cqe.SetQueue(uint16(q))
		cqe.SetIndex(index)
		cqe.SetWqeId(id)
		p.complete(tx, cqe)
	}
	return id, true
}

var (
	_ Bus              = (*fakeNIC)(nil)
	_ require.TestingT = (*testing.T)(nil)
)
