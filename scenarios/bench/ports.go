package bench

import "fmt"

// The TLP stream carries 128 B a cycle each way, just what two ports of 64 B carry: what comes beside the frames' bytes takes
// its share [C4].
const tlpBeat = 128

// both is two ports; frames lie whole, so that a frame takes the fewest beats.
var both = layout{queues: 32, log: 6, ports: 2, whole: true}

// narrow is two ports of 256 bits, which the TLP stream carries both ways at once.
var narrow = layout{queues: 32, log: 6, ports: 2, bits: 256, whole: true}

func dataBeats(n int) float64 { return float64((n + tlpBeat - 1) / tlpBeat) }

// Beats of the TLP stream out of the device for a received frame: its bytes, its completion entry, its share of a descriptor
// read. For a frame sent: a read for each piece, its share of a work entry read and, one in eight, a completion entry.
func rxBeatsOut(size int) float64 { return dataBeats(size) + 1 + 0.25 }
func txBeatsOut() float64         { return 2 + 0.25 + 0.125 }

// Beats into it for a frame sent: its two pieces, and half a beat of work entry; for a received one, its descriptor's 16 B of
// a read of 64.
func txBeatsIn(size int) float64 { return dataBeats(txHeader) + dataBeats(size-txHeader) + 0.5 }
func rxBeatsIn() float64         { return 0.25 }

// carried is the share of line rate on both ports that the TLP stream carries, beside other traffic as dense.
func (l layout) carried(dir string, size int) (rx, tx float64) {
	per := float64(l.beatsOf(size)) / float64(l.ports)
	switch dir {
	case "rx":
		return min(1, per/rxBeatsOut(size)), 0
	case "tx":
		return 0, min(1, per/txBeatsIn(size))
	}
	share := min(1, per/(rxBeatsOut(size)+txBeatsOut()), per/(txBeatsIn(size)+rxBeatsIn()))
	return share, share
}

// twoPorts takes the rates of a NIC with two ports, both busy.
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
			goal := func(share float64) float64 {
				if dir == "both" && share < 1 {
					return 0 // how the directions share the TLP stream is the device's choice
				}
				return share
			}
			if dir != "tx" {
				all = append(all, portsReceive(fmt.Sprintf("%srx_line_rate_%d", prefix, size), r, l, size, rx, goal(rx)))
			}
			if dir != "rx" {
				all = append(all, portsTransmit(fmt.Sprintf("%stx_line_rate_%d", prefix, size), r, l, size, tx, goal(tx)))
			}
		}
		return all, nil
	}
}

func portsReceive(name string, r *rates, l layout, size int, most, goal float64) Result {
	full := float64(l.beatsOf(size)) / float64(l.ports) // cycles between frames
	return exact(figure(name, ratio(full, r.rtl.perFrame()), "ratio", goal,
		"both ports, a frame every %d cycles on each, no bubble; the TLP stream carries %.3f; completions every %.2f%s; Go model: %.3f; %v",
		l.beatsOf(size), most, r.rtl.perFrame(), drops(r.rx), ratio(full, r.model.perFrame()), l))
}

func portsTransmit(name string, r *rates, l layout, size int, most, goal float64) Result {
	beats := l.beatsOf(size)
	value, _ := r.rtl.sending(beats)
	model, _ := r.model.sending(beats)
	ports := float64(l.ports)
	return exact(figure(name, value/ports, "ratio", goal,
		"both ports, a frame every %d cycles on each; the TLP stream carries %.3f; the RTL has one beat a cycle for both ports; Go model: %.3f",
		beats, most, model/ports))
}
