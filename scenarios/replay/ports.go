package replay

import (
	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
)

// frame is a frame and the port that it belongs to, in both directions.
type frame struct {
	board.Frame
	port int
}

// perPort are the frames of each port, in order.
func perPort(all []frame, ports int) [][]board.Frame {
	list := make([][]board.Frame, ports)
	for _, f := range all {
		list[f.port] = append(list[f.port], f.Frame)
	}
	return list
}

// inTurn puts the frames of the ports in turn, as long as each has some, so that all ports are busy at once.
func inTurn(all []frame, ports int) []frame {
	list := make([]frame, 0, len(all))
	of := perPort(all, ports)
	for i := 0; len(list) < len(all); i++ {
		for p := range of {
			if i < len(of[p]) {
				list = append(list, frame{of[p][i], p})
			}
		}
	}
	return list
}

// players are what plays on the ports.
type players []*board.Player

func (p players) sent() int      { return p.sum((*board.Player).Sent) }
func (p players) total() int     { return p.sum((*board.Player).Total) }
func (p players) shortened() int { return p.sum((*board.Player).Shortened) }

func (p players) sum(of func(*board.Player) int) int {
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
