package core

// Classes is the number of priority classes of a port (IEEE 802.1Q).
const Classes = 8

// PFC configures the thresholds at which a pause frame makes the peer of an ingress port pause a class. They apply
// to the bytes of the class that entered at that port and are still in the buffer.
type PFC struct {
	XoffBytes     int `yaml:"xoff_bytes"`     // above this the sender is paused; 0: the class has no PFC
	XonBytes      int `yaml:"xon_bytes"`      // at or below this the sender may resume
	HeadroomBytes int `yaml:"headroom_bytes"` // beyond xoff, for frames that arrive before the sender has stopped
}

// Reserve returns the bytes of the buffer that each port reserves for the class; no other class can
// use them.
func (p *PFC) Reserve() int {
	if p.XoffBytes == 0 {
		return 0
	}
	return p.XoffBytes + p.HeadroomBytes
}

// Reason is the reason why a frame was dropped.
type Reason uint8

// Values of Reason.
const (
	None      Reason = iota
	Threshold        // the frame's queue has used up its share of the shared buffer
	Full             // the shared buffer is full
	Headroom         // with PFC: the class's reserve is full, as the peer did not pause in time
	Runt             // shorter than an Ethernet header
	Oversize         // longer than the spec's frame_bytes
	Local            // not forwarded: the destination lies behind the port where the frame entered
	Filtered         // an address that bridges must not forward
	Nowhere          // no cable is connected on the way to the frame's destination
	NumReasons
)

var reasonNames = [NumReasons]string{"none", "threshold", "full", "headroom", "runt", "oversize", "local", "filtered",
	"nowhere"}

func (r Reason) String() string { return reasonNames[r] }

// Pool accounts for a shared buffer. Each class with PFC has a reserve per ingress port, so that it
// loses nothing as long as peers pause in time. The queues of the other classes share the rest;
// each may use Alpha times the free bytes (Choudhury and Hahne, "Dynamic queue length thresholds",
// 1998).
type Pool struct {
	alpha  float64
	pfc    [Classes]PFC
	shared int // bytes of the buffer that no class reserves

	used   int            // number of the `shared` bytes in use
	groups [][Classes]int // bytes in the buffer, by ingress port and class
	queues [][Classes]int // bytes in the buffer, by egress port and class
	xoff   []uint8        // by ingress port: a bit for each class whose peer must pause
	held   int            // bytes in the buffer, reserves included
}

// NewPool returns the fill levels of an empty buffer of the given size.
func NewPool(ports, bytes int, alpha float64, pfc *[Classes]PFC) *Pool {
	p := &Pool{alpha: alpha, pfc: *pfc, shared: bytes - Reserved(ports, pfc)}
	p.groups, p.queues, p.xoff = make([][Classes]int, ports), make([][Classes]int, ports), make([]uint8, ports)
	return p
}

// Reserved returns the bytes that all classes with PFC reserve at all ports together.
func Reserved(ports int, pfc *[Classes]PFC) (sum int) {
	for c := range pfc {
		sum += ports * pfc[c].Reserve()
	}
	return sum
}

// Admit takes n bytes of a class into the buffer. If there is no room, it returns the reason to
// drop the frame.
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
		p.xoff[in] |= 1 << class
	}
	return None
}

// Release frees n bytes that Admit took.
func (p *Pool) Release(in, out int, class uint8, n int) {
	p.groups[in][class] -= n
	p.queues[out][class] -= n
	p.held -= n
	x := &p.pfc[class]
	if x.XoffBytes == 0 {
		p.used -= n
	} else if p.groups[in][class] <= x.XonBytes {
		p.xoff[in] &^= 1 << class
	}
}

// Queued returns the bytes of a class that wait for a port, including the frame being sent.
func (p *Pool) Queued(out int, class uint8) int { return p.queues[out][class] }

// Xoff returns a bit for each class whose peer at ingress port in must pause.
func (p *Pool) Xoff(in int) uint8 { return p.xoff[in] }

// Held returns the bytes in the buffer, reserves included.
func (p *Pool) Held() int { return p.held }
