package bench

import (
	"errors"
	"runtime"
	"time"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bench/akita"
)

// load is traffic that can be continued for any number of packets.
type load interface {
	run(packets int) error
	close() error
}

const (
	loadQueues  = 16
	loadPreset  = "bf3"
	verbsPreset = "connectx6-pair"
	warmPackets = 4000 // one lap of all rings and buffers, so that pools are filled
	costPackets = 40_000
	fewPackets  = 1_000
	manyPackets = 1_000_000
	flatLimit   = 1.1 // highest ratio of the dearer cost to the cheaper at which two costs count as equal
)

// cost returns the wall time per packet of a load, less the time in which this thread waited for a processor.
func cost(l load, packets int) (time.Duration, error) {
	watch := startClock()
	err := l.run(packets)
	return (watch.wall() - (ownDelay() - watch.delay)) / time.Duration(packets), err
}

// withLoad makes a load, warms it up, calls function use with it, and closes it.
func withLoad[L load](make func() (L, error), use func(L) error) error {
	l, err := make()
	if err != nil {
		return err
	}
	if err = l.run(warmPackets); err == nil {
		err = use(l)
	}
	return errors.Join(err, l.close())
}

// turnsEach is the number of measurements into which the packets of a repeat are divided: the shorter they are, the
// more likely is one that nothing else on the machine disturbs.
const turnsEach = 8

// compare measures the cost of a packet in two loads in alternate turns, and returns the least cost of each.
func compare[L load](s *session, packets int, a, b func() (L, error)) (few, many time.Duration, err error) {
	err = withLoad(a, func(x L) error {
		return withLoad(b, func(y L) error {
			for range turnsEach * max(s.Repeats, 2) {
				for i, l := range [...]L{x, y} {
					c, err := cost(l, max(packets/turnsEach, 1))
					if err != nil {
						return err
					}
					if least := [...]*time.Duration{&few, &many}[i]; *least == 0 || c < *least {
						*least = c
					}
				}
			}
			return nil
		})
	})
	return few, many, err
}

func (s *session) cardLoad(queues int) func() (*cardLoad, error) {
	return func() (*cardLoad, error) { return newCardLoad(loadPreset, queues, s.Seed, 0) }
}

const wholeCard = "frames of 4 KB in and out of the Go NIC on preset bf3 by PCIe links, switch, caches and DRAM, " +
	"each TLP an event, no referee"

// cardCost is the cost of a packet on a whole card.
type cardCost struct {
	packet  time.Duration // the least over the repeats
	tlps    float64       // TLPs per packet
	missing float64       // share of the time in which this thread had no processor
}

// tlp returns the cost of a TLP, in ns.
func (c *cardCost) tlp() float64 { return float64(c.packet.Nanoseconds()) / c.tlps }

func (s *session) cardCost() (c cardCost, err error) {
	err = withLoad(s.cardLoad(loadQueues), func(l *cardLoad) error {
		var missing []float64
		tlps, packets := l.tlps(), l.packets()
		for range s.Repeats {
			watch := startClock()
			each, err := cost(l, s.frames(costPackets))
			if err != nil {
				return err
			}
			missing = append(missing, watch.delayed())
			if c.packet == 0 || each < c.packet {
				c.packet = each
			}
		}
		c.tlps, c.missing = float64(l.tlps()-tlps)/float64(l.packets()-packets), median(missing)
		return nil
	})
	return c, err
}

// cardSpeed measures the cost of a packet on a whole card, and compares the cost of a TLP there with Akita's
// bare hops.
func cardSpeed(s *session) ([]Result, error) {
	c, err := s.cardCost()
	if err != nil {
		return nil, err
	}
	_, theirs, err := akita.Switch()
	if err != nil {
		return nil, err
	}
	return []Result{
		figure("card/packets_per_s", float64(time.Second)/float64(c.packet), "1/s", 40_000,
			"%s; best of %d, %.1f TLPs a packet", wholeCard, s.Repeats, c.tlps).disturbed(c.missing),
		figure("card/tlp_over_akita_hops", theirs/c.tlp(), "ratio", 0,
			"Akita's engine, ports and connections over link, switch and link alone (%.0f ns a TLP), against a TLP "+
				"on the whole card with NIC, driver, caches and DRAM (%.0f ns)", theirs, c.tlp()),
	}, nil
}

// cardAllocations counts allocations per TLP in steady state.
func cardAllocations(s *session) (all []Result, err error) {
	err = withLoad(s.cardLoad(loadQueues), func(l *cardLoad) error {
		if err := l.run(s.frames(costPackets)); err != nil { // queues grow to their final size
			return err
		}
		var before, after runtime.MemStats
		tlps := l.tlps()
		runtime.ReadMemStats(&before)
		err := l.run(s.frames(costPackets))
		runtime.ReadMemStats(&after)
		n, made := l.tlps()-tlps, after.Mallocs-before.Mallocs
		all = []Result{limit("card/allocs_per_tlp", float64(made/max(n, 1)), "allocations", 0,
			"%s; %d allocations for %d TLPs, whole ones per TLP as testing.AllocsPerRun has them", wholeCard, made, n)}
		return err
	})
	return all, err
}

// cardLong compares the cost of a packet in long runs and in short ones.
func cardLong(s *session) ([]Result, error) {
	var few, many time.Duration
	n := s.frames(manyPackets)
	for range max(s.Repeats, 2) {
		err := withLoad(s.cardLoad(loadQueues), func(l *cardLoad) error {
			c, err := cost(l, fewPackets)
			if few == 0 || c < few {
				few = c
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err := withLoad(s.cardLoad(loadQueues), func(l *cardLoad) (err error) {
		many, err = cost(l, n)
		return err
	})
	return []Result{flatness("card/cost_1e3_to_1e6_packets", few, many,
		"a packet in a run of %d and of %d: %v and %v; %s", fewPackets, n, few, many, wholeCard)}, err
}

// cardQueues compares the cost of a packet with many queues and with one.
func cardQueues(s *session) ([]Result, error) {
	const most = 256
	one, many, err := compare(s, s.frames(costPackets)/2, s.cardLoad(1), s.cardLoad(most))
	return []Result{flatness("card/cost_1_to_256_queues", one, many,
		"a packet with 1 and with %d queues each way: %v and %v, turn about; %s", most, one, many, wholeCard)}, err
}

// verbsQueues compares the cost of a WRITE with many queue pairs and with one.
func verbsQueues(s *session) ([]Result, error) {
	const most = 1024
	build := func(n int) func() (*verbsLoad, error) {
		return func() (*verbsLoad, error) { return newVerbsLoad(verbsPreset, n) }
	}
	one, many, err := compare(s, s.frames(costPackets)/2, build(1), build(most))
	return []Result{flatness("rnic/cost_1_to_1024_qps", one, many,
		"a WRITE of 4 KB with 1 and with %d queue pairs: %v and %v, turn about; preset %s, %d under way", most, one,
		many, verbsPreset, verbsWindow)}, err
}

// flatness returns the figure that compares two costs: the larger divided by the smaller.
func flatness(name string, a, b time.Duration, against string, args ...any) Result {
	r := 0.0
	if least := min(a, b); least > 0 {
		r = float64(max(a, b)) / float64(least)
	}
	return limit(name, r, "ratio", flatLimit, against, args...)
}

// packetMemory measures the memory of a packet in flight, beyond its bytes: the memory that longer cables take in
// addition, divided by the packets that they hold in addition.
func packetMemory(s *session) ([]Result, error) {
	var heap, under [2]float64
	for i, longer := range [...]simcore.Ps{0, simcore.Millisecond} {
		err := withLoad(func() (*cardLoad, error) { return newCardLoad(loadPreset, loadQueues, s.Seed, longer) },
			func(l *cardLoad) error {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap[i], under[i] = float64(m.HeapAlloc), float64(l.underWay())
				runtime.KeepAlive(l)
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	n := under[1] - under[0]
	return []Result{limit("card/bytes_per_packet", (heap[1]-heap[0])/n-loadFrame, "B", 1024,
		"memory in use beyond its 4,096 B, of each of %.0f packets more that are on cables longer by 1 ms; %s", n,
		wholeCard)}, nil
}
