package control

// Sample holds the growth of the host's counters since the sample before.
type Sample struct {
	Elapsed  Ps
	Occupied uint64 // integral of the bytes in the buffer over that time, in bytes times picoseconds
	Link     uint64 // bytes that the device wrote
}

// Loop is the control loop of a host.
type Loop struct {
	spec      Spec
	occupancy int64 // moving average in lines, times scale
	link      int64 // moving average in Gbps, times scale
	level     int
	lowered   Ps // time of the latest step down
	quiet     Ps // since the latest sample with bytes on the link
}

// scale is the resolution of the moving averages: that of the published implementation.
const scale = 1 << 10

const lineBytes = 64

// New returns a loop at level 0.
func New(s Spec) *Loop { return &Loop{spec: s, lowered: -s.ReducePs} }

// Level returns the level of the throttle; 0: none.
func (l *Loop) Level() int { return l.level }

// Lines returns the moving average of the occupancy in cache lines, rounded down.
func (l *Loop) Lines() int64 { return l.occupancy / scale }

// Gbps returns the moving average of the use of the link, rounded down.
func (l *Loop) Gbps() int64 { return l.link / scale }

// Marking reports whether the occupancy is above its threshold, so that packets should be marked.
func (l *Loop) Marking() bool { return l.occupancy > l.spec.OccupancyLines*scale }

// over reports whether the traffic is over: the device has written nothing for as long as a level is kept at least.
func (l *Loop) over() bool { return l.quiet > 0 && l.quiet >= l.spec.ReducePs }

// Resting reports whether the traffic is over and the loop has nothing left to take back, so that it may pause until
// packets arrive.
func (l *Loop) Resting() bool { return l.over() && l.level == 0 && l.Lines() == 0 }

// Resume ends a rest: packets have arrived. The averages fall as if so many samples had been taken of an idle host.
func (l *Loop) Resume(samples int64) {
	for ; samples > 0 && (l.occupancy > 0 || l.link > 0); samples-- {
		l.occupancy = average(l.occupancy, 0, l.spec.OccupancyGain)
		l.link = average(l.link, 0, l.spec.LinkGain)
	}
	l.quiet = 0
}

// Step takes a sample. The time is that of the sample.
func (l *Loop) Step(now Ps, s Sample) {
	if s.Elapsed <= 0 {
		return
	}
	const bitsPerByte, psPerNs = 8, 1000
	lines := mean(s.Occupied, s.Elapsed, scale, lineBytes)
	gbps := mean(s.Link, s.Elapsed, scale*bitsPerByte*psPerNs, 1)
	l.occupancy = average(l.occupancy, lines, l.spec.OccupancyGain)
	l.link = average(l.link, gbps, l.spec.LinkGain)
	l.quiet += s.Elapsed
	if s.Link > 0 {
		l.quiet = 0
	}
	low, target := l.occupancy < l.spec.OccupancyLines*scale, l.spec.TargetGbps*scale
	switch {
	case l.Marking() && l.link < target:
		l.level = min(l.level+1, l.spec.Levels)
	case low && (l.link > target || l.over()) && l.level > 0 && now-l.lowered >= l.spec.ReducePs:
		l.level--
		l.lowered = now
	}
}

// mean returns sum/elapsed times a factor, over a divisor.
func mean(sum uint64, elapsed Ps, factor, divisor uint64) int64 {
	const most = 1 << 40 // no host has as much, and products stay within 64 bits
	t := uint64(elapsed) * divisor
	return int64(min(sum/t*factor+sum%t*factor/t, most))
}

// average returns the moving average with a new value, whose weight is 1/gain.
func average(v, x, gain int64) int64 { return (v*(gain-1) + x) / gain }
