package core

// Classes is the priority classes of a port (IEEE 802.1Q).
const Classes = 8

// PFC says when the sender of a class is told to stop, by the bytes that came in at one port and are in the buffer.
type PFC struct {
	XoffBytes     int `yaml:"xoff_bytes"`     // more than this: it is told to stop; 0: the class has no PFC
	XonBytes      int `yaml:"xon_bytes"`      // this or less: it may go on
	HeadroomBytes int `yaml:"headroom_bytes"` // beyond xoff, for what comes until it has stopped
}

// Reserve is what a port keeps for the class, whatever the others do.
func (p *PFC) Reserve() int {
	if p.XoffBytes == 0 {
		return 0
	}
	return p.XoffBytes + p.HeadroomBytes
}

// Reason is why a frame was not forwarded.
type Reason uint8

// The reasons.
const (
	None      Reason = iota
	Threshold        // its queue has its share of the shared buffer
	Full             // the shared buffer is full
	Headroom         // PFC: its sender did not stop in time
	Runt             // shorter than an Ethernet header
	Oversize         // longer than the switch takes
	Local            // its destination is behind the port that it came from
	Filtered         // an address that bridges do not forward
	Nowhere          // no cable leads there
	NumReasons
)

var reasonNames = [NumReasons]string{"none", "threshold", "full", "headroom", "runt", "oversize", "local", "filtered",
	"nowhere"}

func (r Reason) String() string { return reasonNames[r] }

// Pool accounts for a shared buffer. Every class with PFC has a reserve for each port, so that it loses nothing as
// long as senders stop in time. The rest is shared by the queues of the other classes, each of which may have Alpha
// times what is free (Choudhury and Hahne, "Dynamic queue length thresholds", 1998).
type Pool struct {
	alpha  float64
	pfc    [Classes]PFC
	shared int

	used   int            // of shared
	groups [][Classes]int // bytes by the port where they came in
	queues [][Classes]int // bytes by the port where they go out
	told   []uint8        // by port where they came in: the classes above XOFF
	held   int            // bytes in all
}

// NewPool makes the account of a buffer of so many bytes.
func NewPool(ports, bytes int, alpha float64, pfc *[Classes]PFC) *Pool {
	p := &Pool{alpha: alpha, pfc: *pfc, shared: bytes - Reserved(ports, pfc)}
	p.groups, p.queues, p.told = make([][Classes]int, ports), make([][Classes]int, ports), make([]uint8, ports)
	return p
}

// Reserved is what classes with PFC keep of a buffer.
func Reserved(ports int, pfc *[Classes]PFC) (sum int) {
	for c := range pfc {
		sum += ports * pfc[c].Reserve()
	}
	return sum
}

// Admit takes n bytes of a class into the buffer, or says why it does not.
func (p *Pool) Admit(in, out int, class uint8, n int) Reason {
	if reserve := p.pfc[class].Reserve(); reserve > 0 {
		if p.groups[in][class]+n > reserve {
			return Headroom
		}
	} else {
		free := p.shared - p.used
		if n > free {
			return Full
		}
		if float64(p.queues[out][class]+n) > p.alpha*float64(free) {
			return Threshold
		}
		p.used += n
	}
	p.groups[in][class] += n
	p.queues[out][class] += n
	p.held += n
	if x := &p.pfc[class]; x.XoffBytes > 0 && p.groups[in][class] > x.XoffBytes {
		p.told[in] |= 1 << class
	}
	return None
}

// Release gives back what Admit has taken.
func (p *Pool) Release(in, out int, class uint8, n int) {
	p.groups[in][class] -= n
	p.queues[out][class] -= n
	p.held -= n
	x := &p.pfc[class]
	if x.XoffBytes == 0 {
		p.used -= n
	} else if p.groups[in][class] <= x.XonBytes {
		p.told[in] &^= 1 << class
	}
}

// Queued is the bytes of a class that wait for a port, that which is being sent included.
func (p *Pool) Queued(out int, class uint8) int { return p.queues[out][class] }

// Xoff are the classes whose sender at a port has to stop, a bit each.
func (p *Pool) Xoff(in int) uint8 { return p.told[in] }

// Held is the bytes in the buffer.
func (p *Pool) Held() int { return p.held }
