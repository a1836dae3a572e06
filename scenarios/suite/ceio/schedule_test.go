package ceio

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	nics "nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/shard"
	"nictwin/stack/ceio/manager"
)

// play plays a schedule: every flow gets messages, and hands over all that the NIC took, until its sender knows that
// all of them arrived. It ends after three exhaustions, drains and resumes.
func (w *world) play(packets uint32) error {
	for i := range w.flows {
		if err := w.flows[i].Start(w.now()); err != nil {
			return err
		}
	}
	const most = 100_000
	for range most {
		if err := w.step(w.flows[w.rand.IntN(len(w.flows))], packets); err != nil {
			return err
		}
		if !w.ended(packets) {
			continue
		}
		if s := w.d.Manager().Stats(); min(s.Exhausted, s.Drains, s.Resumes) >= 3 {
			return nil
		}
		packets += 60
	}
	return fmt.Errorf("not everything was handed over: %v", w.states())
}

func (w *world) states() (list []string) {
	for _, f := range w.flows {
		list = append(list, fmt.Sprintf("flow %d: %v, %d frames sent, %d handed over, sender idle %v", f.id,
			w.d.Manager().State(f.id), f.sent, f.got, f.sender.Idle()))
	}
	return list
}

func (w *world) ended(packets uint32) bool {
	for _, f := range w.flows {
		all := uint32(f.recv.Stats().Packets) >= packets && f.sender.Idle()
		if !all || len(f.held) > 0 || !w.d.Manager().Idle(f.id) {
			return false
		}
	}
	return true
}

func (w *world) step(f *flow, packets uint32) error {
	switch w.rand.IntN(8) {
	case 0:
		for left := packets - f.queued; left > 0 && f.sender.Room(); left = packets - f.queued {
			n := min(1+uint32(w.rand.IntN(8)), left)
			if err := f.sender.Queue(f.queued, int(n)*segment); err != nil {
				return err
			}
			f.queued += n
		}
		w.send(f, 1+w.rand.IntN(12))
	case 1:
		return w.poll(f)
	case 2:
		if f.queued == packets {
			f.wanted = 1 // there may be no further packet
		}
		return w.receive(f)
	case 3:
		return w.process(f)
	case 4:
		w.d.Manager().Tick(w.now())
		w.d.Manager().CheckWaits(w.now(), f.id)
	case 5:
		return w.acknowledge(f)
	case 6:
		return w.look(f)
	default:
		return w.run(w.rand.IntN(300))
	}
	return nil
}

// quiet hands over what still arrives when all senders are done: packets that were sent again, although the first ones
// had only been slow.
func (w *world) quiet() error {
	const rounds, most, cycles = 4, 1000, 1000
	silent := 0
	for n := 0; silent < rounds; n++ {
		if n == most {
			return fmt.Errorf("packets arrive without end: %v", w.states())
		}
		silent++
		if err := w.run(cycles); err != nil {
			return err
		}
		for _, f := range w.flows {
			before := f.got
			f.wanted = 1
			if err := errors.Join(w.poll(f), w.receive(f)); err != nil {
				return err
			}
			for len(f.held) > 0 {
				if err := w.process(f); err != nil {
					return err
				}
			}
			if f.got != before || !w.d.Manager().Idle(f.id) {
				silent = 0
			}
		}
	}
	return nil
}

// TestSchedules plays drawn schedules on the Go NIC, a few on the RTL one, with either controller, rings that run out
// of descriptors now and then, frames that are split or whole, and a shared ring or none. Every packet that the NIC
// took is handed over once, in the order of account_seq, with its bytes; the others are those that the NIC counts as
// dropped, and the sender repairs them; fast packets never exceed the credits, with controller `arm` by more than those
// counted as overshoot; at rest the accounts hold the credits that the manager has counted.
//
// NICTWIN_LONG multiplies the number of schedules: 1000 makes it a million, 12,000 of RTL. NICTWIN_SHARD=I/N plays the
// I-th of N parts of them, so that a long run may be interrupted, and shared.
func TestSchedules(t *testing.T) {
	for _, x := range []struct {
		nic   string
		seeds int
	}{{nics.Model, 1000}, {nics.RTL, 12}} {
		t.Run(x.nic, func(t *testing.T) {
			all := played{shapes: map[shape]int{}}
			part := partOf(t)
			n := part.Len(x.seeds * long(t))
			for k := range n {
				playSchedule(t, x.nic, uint64(part.At(k)), &all)
			}
			if x.nic == nics.Model { // a packet sent again arrives after everything is done
				playSchedule(t, x.nic, 19_604, &all)
			}
			t.Logf("%d schedules: %+v", n, all)
			require.NotZero(t, all.late, "no frame came between a resume and its effect")
			require.NotZero(t, all.dropped)
			if n >= 100 {
				require.NotZero(t, all.overshoot)
				require.Len(t, all.shapes, 6, "frames whole or split in two ways, and a shared ring or none")
			}
		})
	}
}

// long returns the factor of NICTWIN_LONG; 1 if it is not set.
func long(t *testing.T) int {
	text := os.Getenv("NICTWIN_LONG")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 16)
	require.NoError(t, err, "NICTWIN_LONG")
	return int(n)
}

// partOf returns the shard of NICTWIN_SHARD; the whole if it is not set.
func partOf(t *testing.T) (s shard.Shard) {
	if text := os.Getenv("NICTWIN_SHARD"); text != "" {
		require.NoError(t, s.Set(text), "NICTWIN_SHARD")
	}
	return s
}

// played sums up schedules.
type played struct {
	late, dropped, overshoot uint64
	shapes                   map[shape]int
}

func playSchedule(t *testing.T, nic string, seed uint64, all *played) {
	w, err := newWorld(nic, seed)
	require.NoError(t, err)
	const packets = 120
	require.NoError(t, w.play(packets), "seed %d", seed)
	require.NoError(t, w.quiet(), "seed %d", seed)
	require.Positive(t, w.most)
	if w.spec.Controller == manager.ControlNIC {
		require.LessOrEqual(t, w.most, w.d.Manager().Credits().Total())
		w.accounts(t)
	}
	sent, got := uint64(0), uint64(0)
	for _, f := range w.flows {
		sent, got = sent+f.sent, got+uint64(f.got)
	}
	drops := w.finish(t)
	require.Equal(t, sent-got, drops, "seed %d: frames that the NIC dropped", seed)
	s := w.d.Manager().Stats()
	all.shapes[w.shape]++
	all.late, all.dropped, all.overshoot = all.late+s.Late, all.dropped+drops, all.overshoot+s.Overshoot
}
