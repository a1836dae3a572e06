package bench

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// tlpBeat is the width of the TLP stream in bytes. Two ports of 64 B a cycle carry the same number of bytes, so
// headers, entries and doorbells reduce the rate of frames [C4].
const tlpBeat = 128

// perEntry is the number of completion entries per frame sent. A doorbell follows each completion entry.
const perEntry = 1.0 / 8

// wholeFrames has two ports. Frames are in one piece, so that each takes the fewest beats of the TLP stream.
var wholeFrames = layout{queues: 32, log: 6, ports: 2, whole: true}

// narrowPorts has two ports of 256 bits, whose rate the TLP stream sustains in both directions at once.
var narrowPorts = layout{queues: 32, log: 6, ports: 2, bits: 256, whole: true}

func dataBeats(n int) float64 { return float64((n + tlpBeat - 1) / tlpBeat) }

// rxBeatsOut and txBeatsOut return the beats of the device's outgoing TLP stream per frame. A received frame takes its
// bytes, a completion entry, and its share of a descriptor read. A frame to be sent takes a read request for each
// piece, more if a piece exceeds MRRS, its share of a work entry read, and one eighth of a completion entry.
func rxBeatsOut(size int) float64 { return dataBeats(size) + 1 + 0.25 }
func txBeatsOut(size int) float64 {
	most := 128 << nicspec.DevctlReg(nicspec.ResetDevctl).Mrrs()
	return 1 + float64((size-txHeader+most-1)/most) + 0.25 + perEntry
}

// txBeatsIn and rxBeatsIn return the beats of the device's incoming TLP stream per frame. A frame to be sent takes its
// two pieces, half a beat of work entry, and its share of a doorbell. A received frame takes the 16 B of its
// descriptor, a quarter of a read.
func txBeatsIn(size int) float64 {
	return dataBeats(txHeader) + dataBeats(size-txHeader) + 0.5 + perEntry
}
func rxBeatsIn() float64 { return 0.25 }

// carried returns the shares of line rate on both ports that the TLP stream can sustain for frames of a size: in one
// direction, or in both at equal rates.
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

// slack is the distance of a goal below the share of line rate that the TLP stream can sustain, since some reads fetch
// fewer than four work entries.
const slack = 0.02

// besides returns the share of line rate of received frames that the TLP stream can sustain while frames are sent at a
// given share.
func (l layout) besides(size int, sent float64) float64 {
	per := float64(l.beatsOf(size)) / float64(l.ports)
	return min(1, (per-sent*txBeatsOut(size))/rxBeatsOut(size))
}

// share returns the share of line rate on all ports at which frames leave.
func (l layout) share(m *meter, size int) float64 {
	rate, _ := m.sending(l.beatsOf(size))
	return rate / float64(l.ports)
}

// goals returns the shares of line rate that a NIC must reach. In both directions at once, the device may divide the
// TLP stream between them, as long as sending gets its half.
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

// twoPorts measures the rates of a NIC with both of its ports busy.
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
	full := float64(l.beatsOf(size)) / float64(l.ports) // cycles per frame at line rate, over all ports
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
