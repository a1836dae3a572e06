package probe

import (
	"bytes"
	"encoding/csv"
	"fmt"

	"nictwin/models/sim/simcore"
)

// Names of the pictures of a series. Each counter, a column of the series, is drawn in one of them (Counter.Picture).
const (
	Throughput = "throughput" // of the flows
	Links      = "links"      // PCIe and Ethernet
	Memory     = "memory"     // DRAM and last-level caches
	Channels   = "channels"   // of DRAM
	Private    = "private"    // caches of cores
	Lookups    = "lookups"    // hits and misses of last-level caches
	Occupancy  = "occupancy"  // of last-level caches
	Credits    = "credits"    // of links and accounts
	Queues     = "queues"     // of NICs, stacks and switches
	Packets    = "packets"    // of servers with credits for receive buffers, by path
	Cores      = "cores"
	Activities = "activities" // of cores
)

// Units of counters.
const (
	Bytes   = "B"
	Time    = "ps"
	Lines   = "lines"
	Entries = "entries" // of queues, or credits
)

// Counter is a number that only grows, or a level.
type Counter struct {
	Picture string
	Where   string // server or flow
	What    string
	Unit    string // Bytes, Time, Lines, Entries, or what is counted
	Read    func() uint64
	Level   bool // the number may fall
	Sparse  bool // left out of tables if it never moves
}

// Samples bounds the samples of a series, unless it has another bound. A longer run has longer intervals.
const Samples = 256

// Series reads counters at the ends of intervals.
type Series struct {
	Counters []Counter
	begin    simcore.Ps
	interval simcore.Ps
	most     int // samples
	times    []simcore.Ps
	values   [][]uint64
}

// NewSeries begins a series of at most so many samples, whose first intervals have the given length.
func NewSeries(counters []Counter, begin, interval simcore.Ps, most int) *Series {
	s := &Series{Counters: counters, begin: begin, interval: interval, most: most}
	s.read(begin)
	return s
}

func (s *Series) read(now simcore.Ps) {
	row := make([]uint64, len(s.Counters))
	for i := range s.Counters {
		row[i] = s.Counters[i].Read()
	}
	s.times, s.values = append(s.times, now), append(s.values, row)
}

// Sample reads the counters if an interval has ended. Times must not decrease. When there are many samples, every
// second one is dropped, and intervals are twice as long from then on.
func (s *Series) Sample(now simcore.Ps) {
	if now-s.times[len(s.times)-1] < s.interval {
		return
	}
	s.read(now)
	if len(s.times) <= s.most {
		return
	}
	n := 0
	for i := 0; i < len(s.times); i += 2 {
		s.times[n], s.values[n] = s.times[i], s.values[i]
		n++
	}
	s.times, s.values = s.times[:n], s.values[:n]
	s.interval *= 2
}

// End reads the counters at the end of the last interval.
func (s *Series) End(now simcore.Ps) {
	if now > s.times[len(s.times)-1] {
		s.read(now)
	}
}

// Intervals returns the number of intervals.
func (s *Series) Intervals() int { return len(s.times) - 1 }

// Interval returns the times at which an interval begins and ends, counted from the beginning of the series.
func (s *Series) Interval(i int) (from, to simcore.Ps) {
	return s.times[i] - s.begin, s.times[i+1] - s.begin
}

// Moved reports whether a counter ever had another value than 0, or than at the beginning if it only grows.
func (s *Series) Moved(counter int) bool {
	if !s.Counters[counter].Level {
		return s.Total(counter) > 0
	}
	for _, row := range s.values {
		if row[counter] > 0 {
			return true
		}
	}
	return false
}

// Highest returns the highest value of a level at the ends of intervals.
func (s *Series) Highest(counter int) (most uint64) {
	for _, row := range s.values {
		most = max(most, row[counter])
	}
	return most
}

// Total returns how much a counter grew in all intervals.
func (s *Series) Total(counter int) uint64 {
	return s.values[len(s.values)-1][counter] - s.values[0][counter]
}

// Value returns how fast a counter grew in an interval, in the unit of UnitOf, or a level at its end.
func (s *Series) Value(i, counter int) float64 {
	c := &s.Counters[counter]
	if c.Level {
		return float64(s.values[i+1][counter])
	}
	n := float64(s.values[i+1][counter] - s.values[i][counter])
	return n * c.scale() / float64(s.times[i+1]-s.times[i])
}

// scale converts a growth per picosecond into the unit of UnitOf.
func (c *Counter) scale() float64 {
	switch c.Unit {
	case Bytes:
		return 8e3
	case Time:
		return 1
	}
	return float64(simcore.Microsecond)
}

// UnitOf returns the unit of a counter's values: Gbit/s for bytes, the share of the interval for time, and numbers per
// microsecond.
func (s *Series) UnitOf(counter int) string {
	switch c := &s.Counters[counter]; {
	case c.Level:
		return c.Unit
	case c.Unit == Bytes:
		return "Gbit/s"
	case c.Unit == Time:
		return "share"
	default:
		return c.Unit + "/us"
	}
}

// CSV returns the series as a table with a line for each interval and counter.
func (s *Series) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := func(fields ...string) { _ = w.Write(fields) } // a Buffer takes everything
	line("from_ps", "to_ps", "picture", "where", "what", "unit", "value")
	var shown []int
	for k := range s.Counters {
		if !s.Counters[k].Sparse || s.Moved(k) {
			shown = append(shown, k)
		}
	}
	for i := range s.Intervals() {
		from, to := s.Interval(i)
		for _, k := range shown {
			c := &s.Counters[k]
			line(fmt.Sprint(int64(from)), fmt.Sprint(int64(to)), c.Picture, c.Where, c.What, s.UnitOf(k),
				fmt.Sprintf("%.6g", s.Value(i, k)))
		}
	}
	w.Flush()
	return b.Bytes()
}
