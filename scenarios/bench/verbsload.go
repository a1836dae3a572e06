package bench

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
)

// verbsLoad sends WRITEs of 4 KB from one plain-NIC server to another, over its queue pairs in turn, through the caches
// and DRAM of both.
type verbsLoad struct {
	e      *simcore.Engine
	rack   *board.Rack
	dev    [2]*rnicverbs.Device
	cq     [2]*rnicverbs.CQ
	qps    []*rnicverbs.QP
	entry  rnicspec.WQE
	posted int
	ended  int
	again  bool // a completion arrived during a poll: poll the queue again
	busy   bool
	failed error
}

const (
	verbsWindow = 64 // WRITEs in flight, over all queue pairs
	verbsLog    = 10 // log2 of the work entries of all queue pairs together, whatever their number
	verbsKey    = 3
	verbsArena  = 64 << 20
	verbsFrom   = 256 << 20
	verbsBytes  = 1 << 20 // size of the source and of the destination
)

func newVerbsLoad(preset string, qps int) (*verbsLoad, error) {
	s, err := board.RackPreset(preset)
	if err != nil {
		return nil, err
	}
	l := &verbsLoad{e: simcore.NewEngine()}
	if l.rack, err = board.NewRack(l.e, new(board.Pools), s,
		device.Slots(device.Spec{NIC: device.Model}, nil)); err != nil {
		return nil, err
	}
	if err := l.open(qps); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func verbsMAC(n int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(n + 1)} }
func verbsIP(n int) [16]byte { return [16]byte{10, 0, 0, byte(n + 1)} }

// open connects the queue pairs, and posts the first WRITEs.
func (l *verbsLoad) open(qps int) (err error) {
	host := mem.Bus(nicspec.EndpointHost, 0)
	for i, c := range l.rack.Cards() {
		bus := rootbus.NewTimed(c.Host.MMIO(nicspec.RequesterHost), c.Memory)
		if l.dev[i], err = rnicverbs.Open(bus, driver.NewArena(host+1<<20, verbsArena)); err != nil {
			return err
		}
		d := l.dev[i]
		d.SetPort(rnicspec.SetPort{MAC: verbsMAC(i), IP: verbsIP(i)})
		d.RegMR(rnicspec.CreateMR{Key: verbsKey, Access: rnicspec.AllAccess, PageLog: 21, VA: host, Bus: host,
			Bytes: 1 << 30})
		if l.cq[i], err = d.NewCQ(8); err != nil {
			return err
		}
	}
	for range qps {
		if err := l.pair(verbsLog - (bits.Len(uint(qps)) - 1)); err != nil {
			return err
		}
	}
	if _, err = l.cq[0].Follow(l.poll); err != nil {
		return err
	}
	if err := errors.Join(l.e.Run(), l.err()); err != nil {
		return err
	}
	for range verbsWindow {
		l.post()
	}
	return l.err()
}

// pair connects another queue pair, with a ring of 2^log entries.
func (l *verbsLoad) pair(log int) error {
	var q [2]*rnicverbs.QP
	for i, d := range l.dev {
		var err error
		q[i], err = d.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: uint8(log), RecvLog: 0, Send: l.cq[i],
			Recv: l.cq[i]})
		if err != nil {
			return err
		}
	}
	for i, d := range l.dev {
		h := d.NewAH(rnicspec.CreateAH{MAC: verbsMAC(1 - i), IP: verbsIP(1 - i), TTL: 64})
		q[i].Connect(rnicspec.ModifyQP{
			State: rnicspec.RTS, DestQP: q[1-i].Num(), Handle: h, PMTU: 4096, Access: rnicspec.AllAccess, MaxRead: 16,
			MinRNR:  1,
			Retries: 7, RNRRetry: 7, Timeout: 14,
		})
	}
	l.qps = append(l.qps, q[0])
	return nil
}

// post posts the next WRITE, on the next queue pair in turn.
func (l *verbsLoad) post() {
	q := l.qps[l.posted%len(l.qps)]
	at := mem.Bus(nicspec.EndpointHost, verbsFrom+uint64(l.posted)*loadFrame%verbsBytes)
	l.entry = rnicspec.WQE{
		Opcode: rnicspec.Write, Flags: rnicspec.FlagSignalled, Length: loadFrame, LocalVA: at, LocalKey: verbsKey,
		RemoteVA: at, RemoteKey: verbsKey,
	}
	l.posted++
	l.check(q.Post(&l.entry))
	l.check(q.Ring())
}

func (l *verbsLoad) poll() {
	if l.busy {
		l.again = true
		return
	}
	l.busy = true
	l.check(l.cq[0].Poll(l.completed, l.polled))
}

func (l *verbsLoad) completed(c *rnicspec.CQE) {
	if c.Status != rnicspec.OK {
		l.check(fmt.Errorf("WRITE ended with status %v", c.Status))
	}
	l.ended++
	l.post()
}

func (l *verbsLoad) polled(int) {
	l.busy = false
	if l.again {
		l.again = false
		l.poll()
	}
}

func (l *verbsLoad) check(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

func (l *verbsLoad) err() error {
	return errors.Join(l.failed, l.dev[0].Err(), l.dev[1].Err(), l.rack.Err())
}

// run runs until n more WRITEs have completed.
func (l *verbsLoad) run(n int) error {
	const patience = 1000 // steps without a completion
	for until, idle := l.ended+n, 0; l.ended < until; idle++ {
		before := l.ended
		if err := errors.Join(l.e.RunUntil(l.e.Now()+runStep), l.failed); err != nil {
			return err
		}
		if l.ended > before {
			idle = 0
		}
		if idle > patience {
			return fmt.Errorf("load stands still after %d WRITEs", l.ended)
		}
	}
	return l.err()
}

func (l *verbsLoad) close() error { return l.rack.Close() }
