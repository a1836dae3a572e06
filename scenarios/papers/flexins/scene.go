package flexins

import (
	"cmp"
	"fmt"
	"os"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// scene is a point of a figure.
type scene struct {
	name      string // of the run
	board     string // preset of the pair of servers; empty: two BlueField-3
	devices   string // as the scenario has them
	stacks    string
	workloads []string   // fields of each, without count, begin and end; they begin within a microsecond
	passing   []string   // all fields of workloads with a count and an end of their own
	payload   string     // of all workloads; empty: reused
	count     int        // as point.Scene.Count
	more      string     // further fields of the scenario, a line each
	captures  *arriving  // flow that ends on Arm cores; nil: none
	warm      simcore.Ps // from the begin of the traffic to that of the window
	window    simcore.Ps
	series    bool // its result is a series over time, not a rate

	captureFields string // of each capture
	dir           string // folder of the captures
}

// point returns the scene with the settings that all scenes of this package share.
func (c *scene) point(s *study.Session) *point.Scene {
	x := &point.Scene{Name: c.name, Board: "{preset: " + cmp.Or(c.board, s.Text("testbed")) + "}",
		Devices: c.devices, Stacks: c.stacks, Workloads: c.workloads, Passing: c.passing,
		Payload: cmp.Or(c.payload, "reused"), Count: c.count, More: c.more,
		Begin: simcore.Microsecond, Warm: c.warm, Window: c.window, Counters: counters,
		Series: c.series, Unrated: c.series}
	if c.captures != nil {
		x.More += "background:\n"
		for port := range 2 {
			x.More += fmt.Sprintf("- {capture: %q, port: %d, %s}\n", captureOf(c.dir, port), port, c.captureFields)
		}
	}
	return x
}

// text returns the scenario.
func (c *scene) text(s *study.Session) string { return c.point(s).Text(s) }

// played holds the measurements of a point.
type played struct {
	*point.Played
	arm   [servers]float64 // rate of each server's Arm DRAM in the window, in GB/s
	host  [servers]float64 // of its host DRAM
	toArm [servers]float64 // rate of writes to its Arm over PCIe, in Gbps
}

// play plays scenes, and records their runs in order.
func play(s *study.Session, scenes ...*scene) ([]*played, error) {
	var points []*point.Scene
	for _, c := range scenes {
		if c.captures != nil {
			dir, err := c.captures.captures()
			defer func() { _ = os.RemoveAll(dir) }()
			if c.dir = dir; err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		points = append(points, c.point(s))
	}
	list, err := point.Play(s, points...)
	if err != nil {
		return nil, err
	}
	var all []*played
	for _, p := range list {
		x := &played{Played: p}
		for i := range servers {
			const giga, bits = 1e9, 8
			x.arm[i] = p.PerSecond(countArm+i) / giga
			x.host[i] = p.PerSecond(countHost+i) / giga
			x.toArm[i] = p.PerSecond(countToArm+i) * bits / giga
		}
		all = append(all, x)
	}
	return all, nil
}

// Counters of a scene: bytes of Arm DRAM, host DRAM and writes to the Arm, of each server.
const (
	servers    = 2
	countArm   = 0
	countHost  = servers
	countToArm = 2 * servers
	counts     = 3 * servers
)

// counters returns the counters of a scene.
func counters(rack *board.Rack) []uint64 {
	n := make([]uint64, counts)
	for i, c := range rack.Cards() {
		if i >= servers {
			break
		}
		n[countArm+i] = traffic(c.Memory.Host(nicspec.EndpointArm))
		n[countHost+i] = traffic(c.Memory.Host(nicspec.EndpointHost))
		if c.ArmLink != nil {
			n[countToArm+i] = c.ArmLink.Counters(0).In[tlp.Posted].Payload
		}
	}
	return n
}

// traffic returns the bytes read from and written to the DRAM of an endpoint, loads of the scenario excepted.
func traffic(h *host.Server) (n uint64) {
	if h == nil {
		return 0
	}
	for _, d := range h.DRAM {
		c := d.Counters()
		n += c.ReadBytes + c.WrittenBytes - c.LoadRead - c.LoadWritten
	}
	return n
}
