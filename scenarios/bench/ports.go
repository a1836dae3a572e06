package bench

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// tlpBeat is the width of the TLP stream: 128 B a cycle in each direction, just the rate of two ports of 64 B.
// Everything beside the frames' bytes takes its share [C4].
const tlpBeat = 128

// perEntry is the number of completion entries per frame sent, and of the doorbells that follow them.
const perEntry = 1.0 / 8

// both is two ports; frames are in one piece, so that a frame takes the fewest beats.
var both = layout{queues: 32, log: 6, ports: 2, whole: true}

// narrow is two ports of 256 bits, which the TLP stream sustains in both directions at once.
var narrow = layout{queues: 32, log: 6, ports: 2, bits: 256, whole: true}

func dataBeats(n int) float64 { return float64((n + tlpBeat - 1) / tlpBeat) }

// rxBeatsOut and txBeatsOut return the beats of the TLP stream out of the device. For a received frame: its
// bytes, its completion entry, its share of a descriptor read. For a frame sent: a read for each piece, more if
// the piece is longer than a read may be, its share of a work entry read and, for one in eight, a completion
// entry.
func rxBeatsOut(size int) float64 { return dataBeats(size) + 1 + 0.25 }
func txBeatsOut(size int) float64 {
	most := 128 << nicspec.DevctlReg(nicspec.ResetDevctl).Mrrs()
	return 1 + float64((size-txHeader+most-1)/most) + 0.25 + perEntry
}

// txBeatsIn and rxBeatsIn return the beats into the device. For a frame sent: its two pieces, half a beat of
// work entry, and a doorbell when a completion entry reports room. For a received frame: its descriptor's 16 B
// of a read of 64.
func txBeatsIn(size int) float64 {
	return dataBeats(txHeader) + dataBeats(size-txHeader) + 0.5 + perEntry
}
func rxBeatsIn() float64 { return 0.25 }

// carried returns the share of line rate on both ports that the TLP stream sustains, beside other traffic as
// dense.
func (l layout) carried(dir string, size int) (rx, tx float64) {
	per := float64(l.beatsOf(size)) / float64(l.ports)
	switch dir {
	case "rx":
		return min(1, per/rxBeatsOut(size)), 0
	case "tx":
		return 0, min(1, per/txBeatsIn(size))
	}
	share := min(1, per/(rxBeatsOut(size)+txBeatsOut(size)), per/(txBeatsIn(size)+rxBeatsIn()))
	return share, share
}

// slack is the tolerance of a rate below carried: some reads fetch fewer than four work entries.
const slack = 0.02

// besides returns the share of line rate of received frames that the stream sustains beside a share of frames
// sent.
func (l layout) besides(size int, sent float64) float64 {
	per := float64(l.beatsOf(size)) / float64(l.ports)
	return min(1, (per-sent*txBeatsOut(size))/rxBeatsOut(size))
}

// share returns the share of line rate on all ports at which frames leave.
func (l layout) share(m *meter, size int) float64 {
	rate, _ := m.sending(l.beatsOf(size))
	return rate / float64(l.ports)
}

// goals returns the share of carried that a NIC must reach. The device may divide the TLP stream between the
// directions, as long as sending gets its half.
func (l layout) goals(dir string, size int, sent float64) (rx, tx float64) {
	rx, tx = l.carried(dir, size)
	if dir == "both" && rx < 1 {
		rx = l.besides(size, sent) - slack
	}
	if tx < 1 {
		tx -= slack
	}
	return rx, tx
}

// twoPorts measures the rates of a NIC with two ports, both busy.
func twoPorts(name, dir string, l layout, sizes ...int) func(s *session) ([]Result, error) {
	return func(s *session) ([]Result, error) {
		var all []Result
		for _, size := range sizes {
			r, err := s.rate(dir, size, l)
			if err != nil {
				return nil, err
			}
			prefix := name + "_"
			if dir == "both" {
				prefix += "duplex_"
			}
			rx, tx := l.carried(dir, size)
			rxGoal, txGoal := l.goals(dir, size, l.share(r.rtl, size))
			if dir != "tx" {
				all = append(all, portsReceive(fmt.Sprintf("%srx_line_rate_%d", prefix, size), r, l, size, rx, rxGoal))
			}
			if dir != "rx" {
				all = append(all, portsTransmit(fmt.Sprintf("%stx_line_rate_%d", prefix, size), r, l, size, tx, txGoal))
			}
		}
		return all, nil
	}
}

func portsReceive(name string, r *rates, l layout, size int, most, goal float64) Result {
	full := float64(l.beatsOf(size)) / float64(l.ports) // cycles per frame
	return exact(figure(name, ratio(full, r.rtl.perFrame()), "ratio", goal,
		"both ports, a frame every %d cycles on each, no bubble; the TLP stream carries %.3f; completions every "+
			"%.2f%s; Go model: %.3f; %v",
		l.beatsOf(size), most, r.rtl.perFrame(), drops(r.rx), ratio(full, r.model.perFrame()), l))
}

func portsTransmit(name string, r *rates, l layout, size int, most, goal float64) Result {
	return exact(figure(name, l.share(r.rtl, size), "ratio", goal,
		"both ports, a frame every %d cycles on each; the TLP stream carries %.3f; Go model: %.3f",
		l.beatsOf(size), most, l.share(r.model, size)))
}
