package core

// Classes is the number of priority classes of a port (IEEE 802.1Q).
const Classes = 8

// PFC configures when the sender of a class is paused: by the bytes that entered at one port and
// are still in the buffer.
type PFC struct {
	XoffBytes     int `yaml:"xoff_bytes"`     // above this the sender is paused; 0: the class has no PFC
	XonBytes      int `yaml:"xon_bytes"`      // at or below this it may resume
	HeadroomBytes int `yaml:"headroom_bytes"` // beyond xoff, for frames that arrive before the sender has stopped
}

// Reserve returns the bytes that a port keeps for the class, whatever the other classes use.
func (p *PFC) Reserve() int {
	if p.XoffBytes == 0 {
		return 0
	}
	return p.XoffBytes + p.HeadroomBytes
}

// Reason says why a frame was dropped.
type Reason uint8

// The reasons.
const (
	None      Reason = iota
	Threshold        // its queue has used up its share of the shared buffer
	Full             // the shared buffer is full
	Headroom         // PFC: the sender did not stop in time
	Runt             // shorter than an Ethernet header
	Oversize         // longer than frame_bytes
	Local            // its destination lies behind the port where it entered
	Filtered         // an address that bridges must not forward
	Nowhere          // no cable leads to its destination
	NumReasons
)

var reasonNames = [NumReasons]string{"none", "threshold", "full", "headroom", "runt", "oversize", "local", "filtered",
	"nowhere"}

func (r Reason) String() string { return reasonNames[r] }

// Pool accounts for a shared buffer. Every class with PFC has a reserve for each port, so that it
// loses nothing as long as senders stop in time. The queues of the other classes share the rest;
// each may use Alpha times the free bytes (Choudhury and Hahne, "Dynamic queue length thresholds",
// 1998).
type Pool struct {
	alpha  float64
	pfc    [Classes]PFC
	shared int

	used   int            // bytes of shared in use
	groups [][Classes]int // bytes by ingress port
	queues [][Classes]int // bytes by egress port
	told   []uint8        // by ingress port: the classes above XOFF, a bit each
	held   int            // bytes in the buffer
}

// NewPool returns the accounts of an empty buffer of the given size.
func NewPool(ports, bytes int, alpha float64, pfc *[Classes]PFC) *Pool {
	p := &Pool{alpha: alpha, pfc: *pfc, shared: bytes - Reserved(ports, pfc)}
	p.groups, p.queues, p.told = make([][Classes]int, ports), make([][Classes]int, ports), make([]uint8, ports)
	return p
}

// Reserved returns the bytes of a buffer that classes with PFC reserve.
func Reserved(ports int, pfc *[Classes]PFC) (sum int) {
	for c := range pfc {
		sum += ports * pfc[c].Reserve()
	}
	return sum
}

// Admit takes n bytes of a class into the buffer, or returns why it does not.
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

// Release frees bytes that Admit has taken.
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

// Queued returns the bytes of a class that wait for a port, including the frame being sent.
func (p *Pool) Queued(out int, class uint8) int { return p.queues[out][class] }

// Xoff returns the classes whose sender at port in must stop, a bit each.
func (p *Pool) Xoff(in int) uint8 { return p.told[in] }

// Held returns the bytes in the buffer.
func (p *Pool) Held() int { return p.held }
