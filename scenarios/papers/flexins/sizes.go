package flexins

import (
	"fmt"
	"math"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Sizes measures SENDs and WRITEs over one connection by size, 64 under way and one.
var Sizes = study.Experiment{
	Group: "flexins", Name: "sizes", Title: "SENDs and WRITEs over one connection",
	Figures:  "FN Fig. 10, SN Fig. 9",
	Pictures: sizePictures,
	Claims:   []string{"smartns.net.single_tput_vs_rnic", "smartns.net.lat_vs_rnic"},
	Inputs: inputs(study.Input{Name: "mtu", Value: 8192, Unit: "B", Source: "of FlexiNS: the element of FN Fig. 14; " +
		"RoCE's largest, 4,096, over an RDMA NIC"}),
	Run: sizes,
	Settled: map[string]string{"smartns.net.single_tput_vs_rnic": "an MTU of 8,192: with 4,096 a core limits " +
		"messages of 16 KB and more to 0.82 of the RNIC"},
	Reasons: map[string]string{"smartns.net.lat_vs_rnic": "three turns of an Arm core, 1 us each with the way from " +
		"the NIC and back: for the element, at the receiver, and for the acknowledgement; and the NIC reads what " +
		"each of them wrote: headers, acknowledgement, completion"},
	Notes: []string{"3.57 over Snap in the paper is 200 Gbps, a port, over 56 Gbps, a core's memcpy of 7 GB/s",
		noSnap},
}

var messageSizes = []int{64, 512, 1024, 2048, 4096, 8192, 16384, 65536}

func sizes(s *study.Session) error {
	list := messageSizes
	if s.Few() {
		list = []int{64, 4096, 16384}
	}
	var scenes []*scene
	kinds, depths := []string{"send", "write"}, []int{int(s.Input("depth")), 1}
	for _, kind := range kinds {
		for _, depth := range depths {
			for _, n := range list {
				scenes = append(scenes, sizeScene(s, kind, depth, n), sizeSceneOfRNIC(s, kind, depth, n))
			}
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	size := study.Axis{Name: "message", Unit: "B", Log: true}
	x := study.NewSeries("throughput", "One connection, 64 under way", "payload", "Gbps", size)
	y := study.NewSeries("latency", "One connection, one under way: from one post to the next", "latency", "us", size)
	x.LogY = true
	var t sizeTable
	for i := 0; i < len(all); i += 2 {
		own, other := all[i], all[i+1]
		kind, depth, n := kinds[i/2/len(list)/2], depths[i/2/len(list)%2], list[i/2%len(list)]
		if depth > 1 {
			point.Add(x, system+" "+kind, &own.Rate, float64(n))
			point.Add(x, rnicName+" "+kind, &other.Rate, float64(n))
		} else {
			own.addRound(y, system+" "+kind, 1, float64(n))
			other.addRound(y, rnicName+" "+kind, 1, float64(n))
		}
		t.add(own, other, depth, n)
	}
	s.Record(x, y)
	t.judge(s)
	return nil
}

// sizeTable collects ratios to the RDMA NIC.
type sizeTable struct {
	worst             float64 // ratio of throughputs of 4 KB and more that is the furthest from 1
	rates, times      []string
	logs              float64 // sum of the logarithms of the ratios of latencies
	count             int
	lowest, highest   float64
	smallest, largest float64 // ratios of throughput below 4 KB
}

func (t *sizeTable) add(own, other *played, depth, n int) {
	if depth == 1 {
		r := own.round(1) / other.round(1)
		t.logs, t.count = t.logs+math.Log(r), t.count+1
		if t.lowest == 0 || r < t.lowest {
			t.lowest = r
		}
		t.highest = max(t.highest, r)
		t.times = append(t.times, own.Name, other.Name)
		return
	}
	r := own.Rate.Gbps / other.Rate.Gbps
	if small := 4096; n < small {
		if t.smallest == 0 || r < t.smallest {
			t.smallest = r
		}
		t.largest = max(t.largest, r)
		return
	}
	if t.worst == 0 || math.Abs(math.Log(r)) > math.Abs(math.Log(t.worst)) {
		t.worst = r
	}
	t.rates = append(t.rates, own.Name, other.Name)
}

func (t *sizeTable) judge(s *study.Session) {
	s.Value("smartns.net.single_tput_vs_rnic", t.worst, fmt.Sprintf("the ratio that is the furthest from 1, SEND and "+
		"WRITE of 4 KB and more; below %.3g to %.3g", t.smallest, t.largest)).On(t.rates...)
	s.Value("smartns.net.lat_vs_rnic", math.Exp(t.logs/float64(t.count)), fmt.Sprintf("geometric mean of SEND and "+
		"WRITE of all sizes, from one post to the next; %.3g to %.3g", t.lowest, t.highest)).On(t.times...)
}

func sizeScene(s *study.Session, kind string, depth, n int) *scene {
	return &scene{
		name: fmt.Sprintf("%s of %d B, %d under way", kind, n, depth),
		stacks: stack(s, fmt.Sprintf("mtu: %g, ", s.Input("mtu")), fmt.Sprintf("payload_bytes: "+
			"%g, ", s.Input("mtu")+128)),
		workloads: []string{fmt.Sprintf("kind: %s, depth: %d, sizes: [%d], mtu: %g", kind, depth, n,
			s.Input("mtu"))},
		warm: 300 * simcore.Microsecond, window: sizeWindow(depth, n),
	}
}

func sizeSceneOfRNIC(s *study.Session, kind string, depth, n int) *scene {
	rnic, device := rnic(s)
	return &scene{
		name: fmt.Sprintf("%s of %d B by the RNIC, %d under way", kind, n, depth), stacks: rnic, devices: device,
		workloads: []string{fmt.Sprintf("kind: %s, depth: %d, sizes: [%d], mtu: 4096", kind, depth, n)},
		warm:      300 * simcore.Microsecond, window: sizeWindow(depth, n),
	}
}

// sizeWindow returns a window with at least 500 messages.
func sizeWindow(depth, n int) simcore.Ps {
	const large, packet = 16384, 4096
	switch {
	case depth == 1:
		return 8 * milli
	case n > large, n == packet: // those of a packet come in waves
		return 6 * milli
	}
	return 3 * milli
}
