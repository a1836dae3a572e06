package replay

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
)

// players are the traffic players, one per port.
type players []*traffic.Player

func (p players) sent() int      { return p.sum((*traffic.Player).Sent) }
func (p players) total() int     { return p.sum((*traffic.Player).Total) }
func (p players) shortened() int { return p.sum((*traffic.Player).Shortened) }

func (p players) sum(of func(*traffic.Player) int) int {
	n := 0
	for _, x := range p {
		n += of(x)
	}
	return n
}

// accounted reports whether delivered and dropped frames add up to those sent, on each port.
func (r *Run) accounted(c map[int]uint64) bool {
	if r.rx == nil {
		return true
	}
	for p, play := range r.ports {
		delivered, frames := c[nicspec.CntRxDelivered.Index(p)], c[nicspec.CntRxFrames.Index(p)]
		sum := delivered
		for _, d := range nicspec.DropCounters {
			sum += c[d.Index(p)]
		}
		if frames != uint64(play.Sent()) || sum != frames || uint64(r.rx.delivered[p]) != delivered {
			return false
		}
	}
	return true
}
