package manager

import (
	"fmt"
	"math/rand/v2"

	"nictwin/stack/ceio/ring"
)

// world is a model of a NIC with accounts ([A1] to [A5]) and of an application, around a manager. Everything that takes
// time in a real one takes a drawn number of steps here.
type world struct {
	rand  *rand.Rand
	m     *Manager
	spec  Spec
	flows []nicFlow
	now   Ps
	late  []late // writes and reads that have not taken effect, in order
	ended []int  // flows whose copies are under way, in order
	most  int    // largest number of fast packets in host memory
	dst   []ring.Packet

	scattered bool // free landing buffers are not adjacent
}

// nicFlow is the NIC's side of a flow, and what the application got.
type nicFlow struct {
	balance, drawn int
	slow           bool
	seq            uint32
	rings          [2][]uint32 // numbers of the frames in the fast and the slow ring
	seen           [2]int      // completions reported to the manager
	exhausted      int
	hits           uint64

	got        []uint32
	fast, back int // packets handed over and not processed: fast, slow
	copied     int // slow packets whose copies ended
	runs       []int
	size       int // packets of the next message
}

// late is an access of the NIC that takes effect later.
type late struct {
	flow, add int
	resume    bool
	read      bool
	steer     int // 1: to the fast ring, 2: to the slow ring
}

func newWorld(seed uint64, change func(*Spec)) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 11)), spec: DefaultSpec(), scattered: seed%2 == 0}
	w.spec.Flows, w.spec.Credits, w.spec.Batch = 3, 6+w.rand.IntN(19), 1+w.rand.IntN(3)
	w.spec.FastSlots, w.spec.SlowSlots, w.spec.Landing, w.spec.Copies = 64, 64, 16, 1+w.rand.IntN(3)
	w.spec.Inactive, w.spec.Reactivate, w.spec.MarkEvery = 400, 150, 20
	if change != nil {
		change(&w.spec)
	}
	var err error
	if w.m, err = New(w.spec, w); err != nil {
		panic(err)
	}
	w.flows = make([]nicFlow, len(w.m.flows))
	for i := range w.flows {
		w.flows[i].size = 1
	}
	return w
}

func (w *world) AddCredit(f, n int) { w.late = append(w.late, late{flow: f, add: n}) }

func (w *world) TakeCredit(f, n int) { w.late = append(w.late, late{flow: f, add: -n}) }

func (w *world) ReadAccount(f int) { w.late = append(w.late, late{flow: f, read: true}) }

func (w *world) Resume(f, n int) { w.late = append(w.late, late{flow: f, add: n, resume: true}) }

func (w *world) Steer(f int, fast bool) {
	l := late{flow: f, steer: 2}
	if fast {
		l.steer = 1
	}
	w.late = append(w.late, l)
}

// Room returns, in a scattered world, no more than half of the buffers that are left.
func (w *world) Room(f, n int) int {
	left := w.spec.Landing - w.m.flows[f].landed
	if w.scattered {
		left = (left + 1) / 2
	}
	return min(n, left)
}

func (w *world) Copy(f int, first uint64, n int) {
	a := &w.flows[f]
	if want := uint64(a.copied + sum(a.runs)); first != want || n < 1 || n > w.m.longest() {
		w.m.fail(f, ": copy of %d packets from %d on: want packet %d, and %d at most", n, first, want,
			w.m.longest())
	}
	a.runs = append(a.runs, n)
	w.ended = append(w.ended, f)
}

func sum(n []int) (all int) {
	for _, v := range n {
		all += v
	}
	return all
}

// effects lets all accesses take effect.
func (w *world) effects() {
	for len(w.late) > 0 {
		w.effect()
	}
}

// effect lets the oldest access take effect.
func (w *world) effect() {
	l := w.late[0]
	w.late = w.late[1:]
	f := &w.flows[l.flow]
	switch {
	case l.read:
		w.m.AccountRead(l.flow, Account{Drawn: uint32(f.drawn), Seq: f.seq, Slow: f.slow})
	case l.steer > 0:
		f.slow = l.steer == 2
	default:
		f.balance = max(f.balance+l.add, 0)
		f.slow = f.slow && !l.resume
	}
}

// frame lets a frame of a flow arrive. The NIC drops it if its ring has no descriptor.
func (w *world) frame(id int) {
	f := &w.flows[id]
	f.hits++
	arm := w.spec.Controller == ControlArm
	way := 0
	if w.m.flows[id].shared || f.slow || !arm && f.balance == 0 {
		if !f.slow {
			f.exhausted++
		}
		f.slow, way = true, 1
	}
	slots, used := w.spec.SlowSlots, len(f.rings[1])-f.copied
	if way == 0 {
		slots, used = w.spec.FastSlots, len(f.rings[0])-len(f.gotFast())+f.fast
	}
	if used == slots {
		if way == 0 && !arm {
			w.m.fail(id, ": no descriptor for packet %d, which has a credit", f.seq)
		}
		return
	}
	if way == 0 && !arm {
		if w.m.State(id) == Draining {
			w.m.fail(id, ": packet %d came fast while the flow was being drained", f.seq)
		}
		f.balance--
		f.drawn++
	}
	f.rings[way] = append(f.rings[way], f.seq)
	f.seq++
}

// gotFast returns the fast packets that were handed over.
func (f *nicFlow) gotFast() []uint32 { return f.rings[0][:f.handedFast()] }

func (f *nicFlow) handedFast() (n int) {
	if len(f.got) == 0 {
		return 0
	}
	last := f.got[len(f.got)-1]
	for n < len(f.rings[0]) && f.rings[0][n] <= last {
		n++
	}
	return n
}

// report reports the next completion of a ring, if there is one.
func (w *world) report(id, way int) {
	f := &w.flows[id]
	if f.seen[way] == len(f.rings[way]) {
		return
	}
	seq := f.rings[way][f.seen[way]]
	f.seen[way]++
	if way == 0 {
		w.m.FastArrived(w.now, id, seq)
		return
	}
	w.m.SlowArrived(w.now, id, seq)
}

// endCopy ends the oldest copy.
func (w *world) endCopy() {
	id := w.ended[0]
	w.ended = w.ended[1:]
	f := &w.flows[id]
	f.copied += f.runs[0]
	f.runs = f.runs[1:]
	w.m.CopyEnded(w.now, id)
}

// receive calls one of the receive functions.
func (w *world) receive(id int) error {
	f := &w.flows[id]
	var err error
	if w.spec.Lend && w.rand.IntN(2) == 0 {
		if err := w.m.PostRecv(w.now, id, 1+w.rand.IntN(12)); err != nil {
			return err
		}
	}
	if w.rand.IntN(2) == 0 {
		w.dst, err = w.m.AsyncRecv(w.now, id, f.size, w.dst[:0])
	} else {
		w.dst, _, err = w.m.Recv(w.now, id, f.size, w.dst[:0])
	}
	for _, p := range w.dst {
		way := 1
		if p.Fast {
			way = 0
			f.fast++
		} else if f.back++; int(p.Index) >= f.copied {
			return fmt.Errorf("flow %d: slow packet %d was handed over before its copy ended", id, p.Index)
		}
		f.got = append(f.got, f.rings[way][p.Index])
	}
	if f.size -= len(w.dst); f.size == 0 {
		f.size = 1 + w.rand.IntN(10)
	}
	return err
}

// process lets the application process what it has.
func (w *world) process(id int) {
	f := &w.flows[id]
	w.m.Processed(w.now, id, f.fast, f.back, w.rand.IntN(3))
	f.fast, f.back = 0, 0
}

// check returns an error if an invariant does not hold.
func (w *world) check() error {
	if err := w.m.Err(); err != nil {
		return err
	}
	if err := w.m.Credits().Check(); err != nil && !w.spec.AsPrinted {
		return err
	}
	inHost := 0
	for i := range w.flows[:w.spec.Flows] {
		f := &w.flows[i]
		inHost += len(f.rings[0]) - int(w.m.flows[i].drawn) + w.m.InHost(i)
		for k, seq := range f.got[max(0, len(f.got)-10):] {
			if want := max(0, len(f.got)-10) + k; int(seq) != want {
				return fmt.Errorf("flow %d: packet %d was handed over as the %d-th", i, seq, want)
			}
		}
	}
	w.most = max(w.most, inHost)
	if w.spec.Controller == ControlNIC && !w.spec.AsPrinted {
		if inHost > w.spec.Credits {
			return fmt.Errorf("%d fast packets in host memory: want %d at most", inHost, w.spec.Credits)
		}
		return w.balances()
	}
	return nil
}

// balances checks, unless credits are being taken from accounts, that each account agrees with the ledger: the credits
// in the account, those on their way to it, those it has drawn without the ledger's knowledge, and those not added yet
// must have the sum that the ledger has.
func (w *world) balances() error {
	if w.m.change.open {
		return nil
	}
	for i := range w.flows[:w.spec.Flows] {
		f, g := &w.flows[i], &w.m.flows[i]
		n := f.balance + (f.drawn - f.seen[0] - g.early) + w.m.ledger.Balance(i) - g.inNIC
		for _, l := range w.late {
			if l.flow == i {
				n += l.add
			}
		}
		if want := w.m.ledger.Balance(i); n != want {
			return fmt.Errorf("flow %d: the account and what is on its way hold %d credits, the ledger %d", i, n, want)
		}
	}
	return nil
}
