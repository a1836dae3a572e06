package bench

import (
	"fmt"
	"time"

	"nictwin/models/board"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/path"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// ceioRun is a run of a key-value store over one kind of path.
type ceioRun struct {
	wall, cpu time.Duration // of the traffic
	packets   uint64        // requests that the server got
	stats     manager.Stats // zero for DDIO
}

// ceioFlows is the number of flows, each on a core of the server and of the client.
const ceioFlows = 4

// playCEIO plays requests to the server of CEIO's testbed by plain DDIO, or with credits over CEIO's path.
func (s *session) playCEIO(requests uint32, ceio bool, credits int) (r ceioRun, err error) {
	rack, err := board.RackPreset("ce-fleet")
	if err != nil {
		return r, err
	}
	rack.Fleet.Machines = 1
	rack.Network = board.NetworkSpec{Kind: board.NetworkBackToBack, Latency: rack.Network.Latency}
	c := hostbed.Config{Rack: rack, Factory: device.Slots(device.Spec{NIC: device.Model}, nil), Unjudged: true}
	var paths *path.Server
	var opener hostnet.Opener
	if ceio {
		opener = func(c hostnet.PathConfig) (hostnet.Path, error) { return paths.Open(c) }
		c.Open = func(machine int, card *board.Card, _ *hostnet.Config) error {
			if machine > 0 {
				return nil
			}
			spec := path.DefaultSpec()
			spec.Flows, spec.Credits = ceioFlows, credits
			var err error
			paths, err = path.New(path.Config{Spec: spec, Period: card.NIC.Period()})
			return err
		}
	}
	if c.Machines, err = ceioMachines(s.Seed, requests, opener); err != nil {
		return r, err
	}
	b, err := hostbed.New(c)
	if err != nil {
		return r, err
	}
	begin, cpu := time.Now(), cpuTime()
	b.Start()
	if err := b.Settle(); err != nil {
		return r, err
	}
	r.wall, r.cpu = time.Since(begin), cpuTime()-cpu
	for i := range b.Nodes[0].Flows() {
		r.packets += b.Nodes[0].FlowStats(i).Server.Packets
	}
	if paths != nil {
		r.stats = paths.Manager().Stats()
	}
	if want := uint64(requests) * ceioFlows; r.packets != want {
		return r, fmt.Errorf("the server got %d packets: want %d", r.packets, want)
	}
	return r, b.Close()
}

// ceioMachines returns a server and a client with flows of key-value requests.
func ceioMachines(seed uint64, requests uint32, opener hostnet.Opener) ([]hostbed.Machine, error) {
	const outstanding = 64
	m := []hostbed.Machine{{Spec: hostnet.DefaultSpec()}, {Spec: hostnet.DefaultSpec()}}
	kv := apps.DefaultKV()
	for i := range ceioFlows {
		server, err := apps.NewKVServer(seed+uint64(i), kv)
		if err != nil {
			return nil, err
		}
		client, err := apps.NewKVClient(seed+uint64(i), kv, outstanding, apps.Load{Requests: requests})
		if err != nil {
			return nil, err
		}
		port, r := uint16(7000+i), rpc.DefaultSpec(apps.PutBytes)
		m[0].Flows = append(m[0].Flows, hostnet.FlowConfig{Core: i, RPC: r, Path: opener, Server: server,
			AnswerBytes: apps.KVAnswerBytes, Ends: hostbed.Ends(0, 1, port, port, false)})
		m[1].Flows = append(m[1].Flows, hostnet.FlowConfig{Core: i, RPC: r, Client: client, Outstanding: outstanding,
			Ends: hostbed.Ends(1, 0, port, port, false)})
	}
	return m, nil
}

// stackCEIO measures what CEIO's software adds to the processor time of a run: the same requests by DDIO, with CEIO and
// enough credits, and with few take turns, and of each the run that took the least processor time counts.
func stackCEIO(s *session) ([]Result, error) {
	const goal, enough, few = 1.10, 3000, 64
	requests := uint32(s.frames(40_000) / ceioFlows)
	var best [3]ceioRun
	for range s.Repeats {
		for i := range best {
			r, err := s.playCEIO(requests, i > 0, [...]int{0, enough, few}[i])
			if err != nil {
				return nil, err
			}
			if best[i].cpu == 0 || r.cpu < best[i].cpu {
				best[i] = r
			}
		}
	}
	if n := best[1].stats.Exhausted; n > 0 {
		return nil, fmt.Errorf("stack/ceio: flows ran dry %d times with %d credits: want enough of them", n, enough)
	}
	over := func(i int) float64 { return ratio(best[i].cpu.Seconds(), best[0].cpu.Seconds()) }
	return []Result{limit("stack/ceio", over(1), "ratio", goal,
		"processor time of a run with CEIO over one with DDIO, of the same %d key-value requests of %d flows between "+
			"two machines of preset ce-fleet, with enough credits; wall time: %.3f; with %d credits, so that flows "+
			"ran dry %d times and %d packets took the slow path: %.3f; of %d runs in turns each, the one with the "+
			"least processor time",
		best[0].packets, ceioFlows, ratio(best[1].wall.Seconds(), best[0].wall.Seconds()), few, best[2].stats.Exhausted,
		best[2].stats.Slow, over(2), s.Repeats)}, nil
}
