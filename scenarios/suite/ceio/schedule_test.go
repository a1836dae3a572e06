package ceio

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	nics "nictwin/scenarios/bed/device"
)

// play plays a schedule: every flow gets frames, and hands over all that the NIC took. It ends after three exhaustions,
// drains and resumes.
func (w *world) play(frames uint32) error {
	for i := range w.flows {
		if err := w.flows[i].Start(w.now()); err != nil {
			return err
		}
	}
	const most = 50_000
	for range most {
		if err := w.step(w.flows[w.rand.IntN(len(w.flows))], frames); err != nil {
			return err
		}
		if !w.ended(frames) {
			continue
		}
		if s := w.d.Manager().Stats(); min(s.Exhausted, s.Drains, s.Resumes) >= 3 {
			return nil
		}
		frames += 60
	}
	return errors.New("not everything was handed over")
}

func (w *world) ended(frames uint32) bool {
	for _, f := range w.flows {
		if f.next < frames || len(f.held) > 0 {
			return false
		}
	}
	return true
}

func (w *world) step(f *flow, frames uint32) error {
	switch w.rand.IntN(6) {
	case 0:
		if f.sent-f.next < 50 { // so that no ring runs out of descriptors and the last frame arrives
			w.send(f, min(1+w.rand.IntN(12), int(frames-f.sent)))
		}
	case 1:
		return w.poll(f)
	case 2:
		if f.sent == frames {
			f.wanted = min(f.wanted, max(int(frames)-f.got, 1))
		}
		return w.receive(f)
	case 3:
		return w.process(f)
	case 4:
		w.d.Manager().Tick(w.now())
	default:
		return w.run(w.rand.IntN(300))
	}
	return nil
}

// TestSchedules plays drawn schedules on the Go NIC, a few on the RTL one; NICTWIN_LONG multiplies their number. Every
// packet that the NIC took is handed over once, in the order of account_seq, with its bytes; fast packets never exceed
// the credits; at rest the accounts hold what the manager thinks.
func TestSchedules(t *testing.T) {
	for _, x := range []struct {
		nic   string
		seeds uint64
	}{{nics.Model, 1000}, {nics.RTL, 12}} {
		t.Run(x.nic, func(t *testing.T) {
			seeds := x.seeds
			if text := os.Getenv("NICTWIN_LONG"); text != "" {
				n, err := strconv.ParseUint(text, 10, 32)
				require.NoError(t, err, "NICTWIN_LONG")
				seeds *= n
			}
			late := uint64(0)
			for seed := range seeds {
				late += playSchedule(t, x.nic, seed)
			}
			require.NotZero(t, late, "no frame came between a resume and its effect")
		})
	}
}

func playSchedule(t *testing.T, nic string, seed uint64) (late uint64) {
	w, err := newWorld(nic, seed)
	require.NoError(t, err)
	const frames = 120
	require.NoError(t, w.play(frames), "seed %d", seed)
	require.NoError(t, w.run(2000))
	require.Positive(t, w.most)
	require.LessOrEqual(t, w.most, w.d.Manager().Credits().Total())
	w.accounts(t)
	require.Zero(t, w.finish(t), "seed %d: frames dropped", seed)
	return w.d.Manager().Stats().Late
}
