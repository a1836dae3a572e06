package bench

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run"
	"nictwin/stack/apps"
)

// stackRun is one case of the FlexiNS stack on two cards of preset bf3-cores, with its counts.
type stackRun struct {
	played  *run.Played
	data    int           // frames that carry a whole message of 4 KB, into or out of a NIC
	small   int           // all other frames: acknowledgements
	cpu     time.Duration // processor time of the whole process during the run, garbage collection included
	took    time.Duration // wall time of the traffic
	missing float64       // share of that wall time in which this thread had no processor
	tlps    uint64        // over the PCIe links of all cards during the run
	dram    uint64        // bytes read and written between the Arm's caches and DRAM during the run, sum of both cards
}

// stackCase returns the text of a scenario case; data is inserted into its section data, workload into its section
// workload. The second server has the same device as the first, or an RDMA NIC if device names peerRNIC.
func stackCase(device string, cores int, data, workload string) string {
	peer := ""
	if strings.Contains(device, peerRNIC) {
		peer = ", {kind: rnic}"
	}
	return fmt.Sprintf(`name: load
description: what the stack costs
board: {preset: bf3-cores-pair}
devices: [%s]
stacks: [{kind: flexins, flexins: {data_cores: %d, data: {%s}}}%s]
workload: {%s}
limits: {traffic: 10s, quiet: 100ms, settle: 100ms}
`, device, cores, data, peer, workload)
}

// peerRNIC is a device for the second server whose transport is in the NIC, so that only one card with the stack
// is measured.
const peerRNIC = "{kind: rnic, model: connectx7}"

// playStack plays a case.
func (s *session) playStack(text string, o run.Options) (*stackRun, error) {
	list, err := run.Parse("bench", []byte(text))
	if err != nil {
		return nil, err
	}
	r := &stackRun{}
	o.Seed, o.Log = s.Seed, s.Log
	o.Observe = func(_ int, nic board.NIC) {
		nic.Observe(func(c boundary.Crossing) {
			if c.Kind == boundary.FrameIn || c.Kind == boundary.FrameOut {
				if len(c.Frame.Data) >= loadFrame {
					r.data++
				} else {
					r.small++
				}
			}
		})
	}
	var watch clock
	var before uint64
	var cpu time.Duration
	o.Traffic = func(rack *board.Rack, settled bool) {
		if !settled {
			before, r.tlps, r.data, r.small, cpu, watch = armDRAM(rack), rackTLPs(rack), 0, 0, cpuTime(), startClock()
			return
		}
		r.cpu, r.tlps = cpuTime()-cpu, rackTLPs(rack)-r.tlps
		r.took, r.missing, r.dram = watch.wall(), watch.delayed(), armDRAM(rack)-before
	}
	r.played, err = list[0].Play(s.ctx, o)
	if err == nil && !r.played.Pass() {
		err = &MismatchError{"the stack's load", r.played.Findings}
	}
	return r, err
}

// armDRAM returns the bytes moved between the Arm cores of all cards and their DRAM.
func armDRAM(rack *board.Rack) (bytes uint64) {
	for _, c := range rack.Cards() {
		h := c.Memory.Host(nicspec.EndpointArm)
		if h == nil { // an RDMA NIC has no Arm cores
			continue
		}
		for _, d := range h.DRAM {
			n := d.Counters()
			bytes += n.ReadBytes + n.WrittenBytes
		}
	}
	return bytes
}

// rackTLPs returns the number of TLPs over the PCIe links of all cards.
func rackTLPs(rack *board.Rack) (n uint64) {
	for _, c := range rack.Cards() {
		n += tlpsOver(c.ArmLink, c.HostLink)
	}
	return n
}

const (
	// number of messages of each of the four queue pairs
	stackMessages = 4_000
	// sends like perftest
	stackLoad = "kind: %s, payload: reused, queue_pairs: 4, depth: 16, sizes: [4096], mtu: 4096, count: %d"
	longLoad  = "kind: %s, payload: reused, queue_pairs: 4, depth: 4, sizes: [65536], mtu: 4096, count: %d"
	fullStack = "WRITEs of 4 KB by four queue pairs over FlexiNS on two cards of preset bf3-cores, two data " +
		"cores each, with host and Arm cores, caches, DRAM and links"
)

// stackSpeed measures the packets per second of processor time through the stack on two Go NICs, with the stack on two
// cards and on one, and compares the cost of a TLP with that on a card without the stack.
func stackSpeed(s *session) ([]Result, error) {
	n := s.frames(4*stackMessages) / 4
	writes := fmt.Sprintf(stackLoad, apps.Write, n)
	long := fmt.Sprintf(longLoad, apps.Write, max(n/20, 1))
	const twoCards, oneCard = "{kind: model}", "{kind: model}, " + peerRNIC
	loads := [...]struct{ devices, workload string }{
		{twoCards, writes},
		{twoCards, fmt.Sprintf(stackLoad, apps.Send, n)},
		{twoCards, strings.Replace(writes, string(apps.Reused), string(apps.Fresh), 1)},
		{twoCards, long},
		{oneCard, writes},
		{oneCard, long},
		{oneCard, "both_ways: true, " + long},
	}
	var runs [len(loads)]*stackRun
	for i, l := range loads {
		var err error
		if runs[i], err = s.fastestStack(stackCase(l.devices, 2, "", l.workload)); err != nil {
			return nil, err
		}
	}
	card, err := s.cardCost()
	if err != nil {
		return nil, err
	}
	tlp := float64(runs[0].cpu.Nanoseconds()) / float64(runs[0].tlps)
	per := func(r *stackRun, frames int) float64 { return ratio(float64(frames), r.cpu.Seconds()) }
	return []Result{figure("stack/packets_per_s", per(runs[0], runs[0].data), "1/s", 25_000,
		"%s; buffers are written once, as perftest does; frames of 4 KB only, each counted once at each of the two "+
			"NICs, over the processor time of the process (user and system, garbage collection included), no "+
			"referee; acknowledgements, not counted: %.0f/s; SENDs: %.0f/s; WRITEs whose every byte the "+
			"applications write before and read after: %.0f/s; WRITEs of 64 KB in frames of 4 KB: %.0f/s; "+
			"best of %d runs of %d messages",
		fullStack, per(runs[0], runs[0].small), per(runs[1], runs[1].data), per(runs[2], runs[2].data),
		per(runs[3], runs[3].data), s.Repeats, 4*n),
		figure("stack/one_card_packets_per_s", per(runs[4], runs[4].data), "1/s", 0,
			"the same WRITEs where the other server has an RDMA NIC instead of a card with the stack, counted at "+
				"both NICs; acknowledgements, not counted: %.0f/s; WRITEs of 64 KB in frames of 4 KB: %.0f/s, and "+
				"both ways %.0f/s",
			per(runs[4], runs[4].small), per(runs[5], runs[5].data), per(runs[6], runs[6].data)),
		figure("stack/tlp_over_card", card.tlp()/tlp, "ratio", 0,
			"a TLP on a whole card without the stack (%.0f ns; %s), against one of those WRITEs with cores and stack "+
				"(%.0f ns, %.0f TLPs a message with its acknowledgement)",
			card.tlp(), wholeCard, tlp, float64(runs[0].tlps)/float64(runs[0].data)*2),
	}, nil
}

// fastestStack returns the run of a case that took the least processor time.
func (s *session) fastestStack(text string) (best *stackRun, err error) {
	for range s.Repeats {
		r, err := s.playStack(text, run.Options{Unjudged: true})
		if err != nil {
			return nil, err
		}
		if best == nil || r.cpu < best.cpu {
			best = r
		}
	}
	return best, nil
}

// stackOnRTL measures the speed of the stack on RTL relative to that of a refereed replay: in both directions at once,
// and in each direction against a replay in that direction.
func stackOnRTL(s *session) ([]Result, error) {
	card, err := board.CardPreset("bf3-cores")
	if err != nil {
		return nil, err
	}
	n := s.frames(4*stackMessages/8) / 4
	o, err := s.options(4096+58, 4*n) // 4 KB of payload, and Ethernet, IPv4, UDP, BTH, RETH and ICRC
	if err != nil {
		return nil, err
	}
	if o.Built, err = device.Build(s.ctx, s.DUT, o.Variant, device.Eth{Ports: card.Ports, Bits: card.EthBits},
		s.Log); err != nil {
		return nil, err
	}
	o.Ports, o.EthBits, o.PeriodPs = card.Ports, card.EthBits, card.Period
	const rtl = "{kind: rtl}, "
	write, read := fmt.Sprintf(longLoad, apps.Write, max(n/5, 1)), fmt.Sprintf(longLoad, apps.Read, max(n/5, 1))
	loads := [...]struct{ dir, text string }{
		{"both", stackCase(rtl+peerRNIC, 4, "", "both_ways: true, "+write)},
		{"tx", stackCase(rtl+peerRNIC, 4, "", write)},
		{"rx", stackCase(rtl+peerRNIC, 4, "", read)},
		{"", stackCase(rtl+"{kind: model}", 4, "", fmt.Sprintf("both_ways: true, "+stackLoad, apps.Write, n))},
	}
	var stack, replay [len(loads)]float64
	var missing float64
	for range s.Repeats {
		for i, l := range loads {
			r, err := s.playStack(l.text, run.Options{DUT: s.DUT, Variant: o.Variant})
			if err != nil {
				return nil, err
			}
			stack[i], missing = max(stack[i], float64(r.data)/2/r.took.Seconds()), max(missing, r.missing)
			if o.Dir = l.dir; o.Dir == "" {
				continue
			}
			x, err := s.play(o, nil)
			if err != nil {
				return nil, err
			}
			frames := len(o.Frames) * o.Loop
			if o.Dir == "both" {
				frames *= 2
			}
			replay[i] = max(replay[i], float64(frames)/x.Wall.Seconds())
		}
	}
	return []Result{figure("stack/rtl_over_replay", ratio(stack[0], replay[0]), "ratio", 0.6,
		"frames of 4 KB a second at the RTL NIC of a card of preset bf3-cores, refereed, acknowledgements not "+
			"counted (%.0f: WRITEs of 64 KB both ways, by four queue pairs each, between FlexiNS with four data "+
			"cores there and an RDMA NIC in the other server), against frames of that size in and out of it in a "+
			"refereed replay (%.0f); sent alone (WRITEs) %.2f of a replay that sends; received alone "+
			"(READs), which leave the NIC again from the Arm's cache to the host, %.2f of a replay that "+
			"receives; %.0f frames where the other server has such a card, too, with the Go NIC and "+
			"a referee, and messages are of 4 KB",
		stack[0], replay[0], ratio(stack[1], replay[1]), ratio(stack[2], replay[2]), stack[3]).disturbed(missing)}, nil
}

// stackQueues measures the memory that many queue pairs and requests in flight take, over a cable so long that all
// requests are posted before the first acknowledgement returns.
func stackQueues(s *session) ([]Result, error) {
	const depth = 49
	qps := min(s.frames(1024), 1024) // queue pairs in each direction
	text := strings.Replace(stackCase("{kind: model}", 2, "",
		fmt.Sprintf("kind: write, queue_pairs: %d, depth: %d, count: %d, sizes: [64], both_ways: true, timeout: 14",
			qps, depth, depth)),
		"preset: bf3-cores-pair", "preset: bf3-cores-pair, network: {kind: back_to_back, latency_ps: 20000000000}", 1)
	most, heap := 0, uint64(0)
	r, err := s.playStack(text, run.Options{Unjudged: true, Step: func(underWay int) {
		if underWay > most+most/20 || underWay == 2*qps*depth && underWay > most {
			most, heap = underWay, max(heap, heapInUse())
		}
	}})
	if err != nil {
		return nil, err
	}
	if want := 2 * qps * depth * 99 / 100; most < want {
		return nil, fmt.Errorf("stack/queue_pairs: %d requests were under way at most: want %d", most, want)
	}
	return []Result{limit("stack/queue_pairs", float64(heap), "B", 2<<30,
		"of the heap in use when %d requests of %d queue pairs were under way over a cable of 20 ms; all %d messages "+
			"came whole", most, 2*qps, r.played.Result.Messages)}, nil
}

// heapInUse returns the bytes of the heap without garbage.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// stackPayload measures the bytes through the Arm's DRAM per byte of payload: in designs that keep payload out of it
// and, to check the counters, in designs that do not, with rings larger than the cache. Each is the difference between
// a long run and a short one, so that first accesses do not count.
func stackPayload(s *session) ([]Result, error) {
	n := s.frames(4*stackMessages) / 4
	each := func(data string) (float64, error) {
		var dram, bytes [2]float64
		for i := range dram {
			r, err := s.playStack(stackCase("{kind: model}", 2, data, fmt.Sprintf(stackLoad, apps.Write, n*(1+i))),
				run.Options{Unjudged: true})
			if err != nil {
				return 0, err
			}
			dram[i], bytes[i] = float64(r.dram), float64(r.played.Result.Bytes)
		}
		if dram[1] < dram[0] || bytes[1] <= bytes[0] {
			return 0, fmt.Errorf("bytes of DRAM per byte of payload: the longer run had %.0f for %.0f, the shorter "+
				"%.0f for %.0f: want more of both", dram[1], bytes[1], dram[0], bytes[0])
		}
		return (dram[1] - dram[0]) / (bytes[1] - bytes[0]), nil
	}
	var got [3]float64
	for i, data := range []string{"", "receive: naive, log_receive: 12",
		"transmit: dma_staged, staging_bytes: 33554432"} {
		var err error
		if got[i], err = each(data); err != nil {
			return nil, err
		}
	}
	return []Result{limit("stack/arm_payload_bytes", got[0], "B/B", 0,
		"bytes to and from the DRAM of both Arms per byte of payload, header-only and in-cache; %.3f with naive "+
			"reception in larger rings, %.3f with staged transmission; %s", got[1], got[2], fullStack)}, nil
}
