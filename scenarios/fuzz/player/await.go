package player

import (
	"encoding/binary"
	"fmt"
	"math"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic"
)

// renewCycles is how often a stop is renewed: well within the longest time that a pause frame can name.
const renewCycles = 20_000

// await keeps a port stopped until all entries have ended that do not send to it.
func (x *player) await(a *program.Await) error {
	if x.sizes.Ports < 2 || a.Port >= x.sizes.Ports {
		return nil
	}
	if err := x.until("the frames are played", x.played); err != nil {
		return err
	}
	stop := stopper{x: x, port: a.Port, last: math.MinInt64 / 2}
	for _, q := range a.Queues {
		if err := x.awaitQueue(&stop, q); err != nil {
			return err
		}
	}
	return nil
}

// awaitQueue waits until a queue has handled all its entries. It skips a queue with entries for the stopped port, or
// one that may be stuck for another reason.
func (x *player) awaitQueue(stop *stopper, q int) error {
	since, last := x.b.NIC.Cycles(), -1
	for {
		r := x.tx[q]
		if r == nil || r.event || r.rung != r.PI || x.ctrl&2 == 0 || r.sends(stop.port) {
			return nil
		}
		stop.renew()
		e, err := x.context(q)
		if err != nil {
			return err
		}
		now := x.b.NIC.Cycles()
		switch {
		case e.State != nicspec.QueueStateRun || e.Ci == r.PI:
			x.waits.ended(since, now)
			return nil
		case int(e.Ci) != last:
			x.waits.ended(since, now)
			since, last = now, int(e.Ci)
		case x.waits.expired(since, now):
			return x.stuck(fmt.Sprintf("entry %d of transmit queue %d ends, which does not name port %d, which is "+
				"stopped [T13]", e.Ci, q, stop.port), since, now, nil)
		}
	}
}

// stopper keeps a port stopped by renewing its pause.
type stopper struct {
	x    *player
	port int
	last int64 // cycle of the latest pause frame
}

func (s *stopper) renew() {
	now := s.x.b.NIC.Cycles()
	if now-s.last < renewCycles {
		return
	}
	s.last = now
	f := make([]byte, nicspec.FrameMin) // [F1]
	copy(f, pauseMAC[:])
	binary.BigEndian.PutUint16(f[12:], nicspec.MacControlType)
	binary.BigEndian.PutUint16(f[14:], nicspec.PauseOpcode)
	binary.BigEndian.PutUint16(f[16:], math.MaxUint16)
	s.x.b.Players[s.port].Play(traffic.Frame{Data: f})
}

// waiting yields the entries of a queue that are not known to have ended, oldest first. It yields nil for the first
// entry that the player does not know, and stops.
func (r *txRing) waiting(yield func(*sent) bool) {
	for i := r.done; i != r.PI; {
		s := r.work[r.Place(i)]
		if !yield(s) || s == nil {
			return
		}
		i += s.blocks()
	}
}

// sends reports whether any entry that may not have ended sends to a port [T13]; an entry that the player does not know
// may do so.
func (r *txRing) sends(port int) bool {
	for s := range r.waiting {
		if s == nil || s.sendsOn() == port {
			return true
		}
	}
	return false
}

// sendsOn returns the port that an entry names, -1 if it is no Send.
func (s *sent) sendsOn() int {
	w := nicspec.Wqe(s.raw)
	if w.Opcode() != nicspec.OpcodeSend {
		return -1
	}
	return int(w.Port())
}

// kind returns the word by which a bin's name describes an entry that ended while a port was stopped.
func (s *sent) kind(ports int, copies bool) string {
	switch op := nicspec.Wqe(s.raw).Opcode(); {
	case s.sendsOn() >= ports:
		return coverage.EndsWhileHeld[3]
	case op == nicspec.OpcodeSend:
		return coverage.EndsWhileHeld[0]
	case op == nicspec.OpcodeNop:
		return coverage.EndsWhileHeld[1]
	case op <= nicspec.OpcodeCopyInvalidate && copies:
		return coverage.EndsWhileHeld[4]
	}
	return coverage.EndsWhileHeld[2]
}

// endsHeld counts, as covered, an entry that ended while another port was stopped and its buffers were full.
func (x *player) endsHeld(s *sent) {
	for port := range x.sizes.Ports {
		if x.sizes.Ports > 1 && s.sendsOn() != port && x.portFull(port) {
			x.watcher.cov.Hit("ends while a port is held", s.kind(x.sizes.Ports, x.sizes.Has(nicspec.PartCopy)),
				fmt.Sprintf("port %d", port))
		}
	}
}

// portFull reports whether a port has been stopped for long and more entries wait for it than its buffers hold.
func (x *player) portFull(port int) bool {
	if since := x.watcher.held[port].since; since == 0 || x.b.NIC.Cycles()-since <= heldCycles {
		return false
	}
	frames, bytes := 0, 0
	for _, r := range x.tx {
		for s := range r.waiting {
			if s != nil && s.sendsOn() == port {
				frames++
				bytes += s.e.Inline
				for i := range s.e.Pieces {
					bytes += int(s.e.Pieces[i].Len)
				}
			}
		}
	}
	return frames >= fullFrames || bytes >= fullBytes
}

// context reads the table entry of a transmit queue.
func (x *player) context(q int) (nicspec.TxqEntryFields, error) {
	var b [nicspec.TxqEntrySize]byte
	if _, err := x.command(nicspec.TableOpRead, nicspec.TableTxq, q, nil); err != nil {
		return nicspec.TxqEntryFields{}, err
	}
	for i := 0; i < len(b); i += 4 {
		v, err := x.read(nicspec.RegTblData(i / 4))
		if err != nil {
			return nicspec.TxqEntryFields{}, err
		}
		binary.LittleEndian.PutUint32(b[i:], v)
	}
	return nicspec.DecodeTxqEntry(b[:]), nil
}
