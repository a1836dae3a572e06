package data

import (
	"errors"
	"fmt"

	"nictwin/models/format/wire"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/stack/cc"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// CongestionKind names a congestion control algorithm.
type CongestionKind string

// Kinds of congestion control.
const (
	CongestionNone  CongestionKind = "none"
	CongestionFixed CongestionKind = "fixed" // one fixed rate
	DCQCN           CongestionKind = "dcqcn" // RC, UC and Solar
	// RC only: other services do not report marks in acknowledgements, or do not acknowledge
	DCTCP CongestionKind = "dctcp"
)

// CongestionSpec is the congestion control of queue pairs. Datagrams support only CongestionFixed, raw packets not even
// that. Both ends of a connection need the same kind, because the receiver reports marks.
type CongestionSpec struct {
	Kind CongestionKind `yaml:"kind"`

	// Rate is the rate of each queue pair with kind fixed, in bits per second of frames without FCS, preamble and gap:
	// assumption.
	Rate cc.Bps `yaml:"rate_bps"`

	// DCQCN holds the paper's constants; stack/cc gives their sources. line_bps is the port's rate.
	DCQCN cc.DCQCNSpec `yaml:"dcqcn"`

	// DCTCP holds the paper's constants; segment 0 stands for the path MTU.
	DCTCP cc.DCTCPSpec `yaml:"dctcp"`

	// CatchUp is the credit that an idle connection may save up, as time: packets that left late because their core had
	// other work are followed by others sooner. Assumption: longer than a core's other work takes, and shorter than two
	// packets at 40 Gbps.
	CatchUp simcore.Ps `yaml:"catch_up_ps"`
}

// DefaultCongestion returns a spec without congestion control. The line rate is that of a port of BlueField-3
// (bf3.ports).
func DefaultCongestion() CongestionSpec {
	const line = 200 * cc.Gbps
	return CongestionSpec{Kind: CongestionNone, Rate: 10 * cc.Gbps, DCQCN: cc.DefaultDCQCN(line),
		DCTCP: cc.DefaultDCTCP(0), CatchUp: 2 * simcore.Microsecond}
}

// Validate returns every error of the spec, by field.
func (s *CongestionSpec) Validate() error {
	var errs []error
	switch s.Kind {
	case CongestionNone, CongestionFixed, DCQCN, DCTCP:
	default:
		errs = append(errs, field.Errorf("kind", "%q: want %s, %s, %s or %s", s.Kind, CongestionNone, CongestionFixed,
			DCQCN, DCTCP))
	}
	const fastest = 1000 * cc.Gbps
	errs = append(errs, field.Within("rate_bps", s.Rate, cc.Mbps, fastest),
		field.Within("catch_up_ps", s.CatchUp, 0, simcore.Millisecond))
	dctcp := s.DCTCP
	if dctcp.Segment == 0 {
		dctcp.Segment = int64(verbs.MTU4096)
	}
	errs = append(errs, field.Under("dcqcn", s.DCQCN.Validate()), field.Under("dctcp", dctcp.Validate()))
	return errors.Join(errs...)
}

// countCongestion counts the congestion signals of a packet.
func (c *core) countCongestion(p *transport.Packet) {
	if p.Marked {
		c.stats.Marked++
	}
	if p.BTH.Opcode == wire.CNPOpcode {
		c.stats.Notified++
	}
}

// applies reports whether the kind controls connections of a service.
func (k CongestionKind) applies(to transport.Kind) bool {
	switch k {
	case CongestionFixed:
		return true
	case DCQCN:
		return to != transport.UD
	case DCTCP:
		return to == transport.RC
	}
	return false
}

// transport sets the fields of a connection's spec that the kind of congestion control needs.
func (s *CongestionSpec) transport(t *transport.Spec) {
	if s.Kind == DCTCP && s.Kind.applies(t.Kind) {
		// Every packet requests an acknowledgement. Thus a mark counts for exactly the packets that had it, and a
		// window that has shrunk below the packets in flight has an acknowledgement to wait for.
		t.EchoECN, t.AckEvery = true, 1
	}
}

// attr sets the ECN field of a connection's packets: kinds that react to marks need ECT(0) (RFC 3168, section 5).
func (s *CongestionSpec) attr(kind transport.Kind, a *transport.Attr) {
	const ecn, ect0 = 3, 2
	if (s.Kind == DCQCN || s.Kind == DCTCP) && s.Kind.applies(kind) && a.Path.TrafficClass&ecn == 0 {
		a.Path.TrafficClass |= ect0
	}
}

// pace is the congestion control of a queue pair. It is inactive until the queue pair is connected, and restarts with
// every connection.
type pace struct {
	transport.Pacer
	spec *CongestionSpec
	kind transport.Kind
}

func (p *pace) begin(s *CongestionSpec, k transport.Kind) { *p = pace{transport.Unpaced{}, s, k} }

// modify applies a change of the queue pair's state, and sets the ECN field of the change's attributes.
func (p *pace) modify(x *Change) (err error) {
	switch x.To {
	case verbs.QPSReset:
		p.Pacer = transport.Unpaced{}
	case verbs.QPSRTR:
		if p.spec.Kind.applies(p.kind) {
			p.Pacer, err = p.spec.pacer(x.Attr.MTU)
		}
	}
	p.spec.attr(p.kind, &x.Attr)
	return err
}

// pacer returns a new pacer for a connection.
func (s *CongestionSpec) pacer(mtu verbs.MTU) (transport.Pacer, error) {
	switch s.Kind {
	case CongestionFixed:
		c, err := cc.NewFixed(s.Rate)
		return &paced{Controller: c, catchUp: transport.Ps(s.CatchUp)}, err
	case DCQCN:
		c, err := cc.NewDCQCN(s.DCQCN)
		if err != nil {
			return nil, err
		}
		m, err := cc.NewMarker(s.DCQCN)
		return &paced{Controller: c, marker: m, catchUp: transport.Ps(s.CatchUp)}, err
	case DCTCP:
		spec := s.DCTCP
		if spec.Segment == 0 {
			spec.Segment = int64(mtu)
		}
		c, err := cc.NewDCTCP(spec)
		return &windowed{Controller: c}, err
	}
	return nil, fmt.Errorf("data: congestion control %q: want one that limits connections", s.Kind)
}

// paced is a Pacer that limits packets to a controller's rate. It runs the controller's timers when packets arrive or
// would leave. The core's timers also wake it when a controller's timer expires before the next packet is due: the new
// rate may let that packet leave sooner.
type paced struct {
	cc.Controller
	marker  *cc.Marker   // notification point for arriving packets; nil: the peer gets no CNPs
	from    transport.Ps // time at which the latest packet was due to leave
	bytes   int          // length of the latest packet
	rate    cc.Bps
	since   transport.Ps // time at which the current rate was first seen: it gives no credit for earlier times
	catchUp transport.Ps
}

// Admit implements transport.Pacer.
func (p *paced) Admit(now transport.Ps, n, _ int) transport.Ps {
	p.Tick(int64(now))
	if r := p.Rate(); r != p.rate {
		p.rate, p.since = r, now
	}
	ready := max(p.from+transport.Ps(cc.Gap(p.bytes, p.rate)), p.since)
	if ready > now {
		return min(ready, transport.Ps(p.Next()))
	}
	p.from, p.bytes = max(ready, now-p.catchUp), n
	p.Sent(int64(now), n)
	return now
}

// Acked implements transport.Pacer.
func (p *paced) Acked(now transport.Ps, n int, echo bool) { p.Controller.Acked(int64(now), n, echo) }

// CNP implements transport.Pacer.
func (p *paced) CNP(now transport.Ps) { p.Notified(int64(now)) }

// Marked implements transport.Pacer.
func (p *paced) Marked(now transport.Ps) bool {
	return p.marker != nil && p.marker.Arrived(int64(now), true)
}

// Lost implements transport.Pacer.
func (p *paced) Lost(now transport.Ps, timeout bool) { p.Controller.Lost(int64(now), 0, timeout) }

// Deadline implements transport.Pacer.
func (p *paced) Deadline() transport.Ps {
	if p.marker == nil {
		return transport.Never
	}
	return transport.Ps(p.marker.Next())
}

// Expire implements transport.Pacer.
func (p *paced) Expire(now transport.Ps) bool { return p.marker != nil && p.marker.Tick(int64(now)) }

// windowed is a Pacer that limits packets to a controller's window. The controller learns of each PSN when it is first
// sent, so its sent and acknowledged bytes are positions in the sequence of PSNs, regardless of retransmissions.
type windowed struct{ cc.Controller }

// Admit implements transport.Pacer.
func (w *windowed) Admit(now transport.Ps, _, fresh int) transport.Ps {
	if fresh > 0 {
		w.Sent(int64(now), fresh)
	}
	return now
}

// Acked implements transport.Pacer.
func (w *windowed) Acked(now transport.Ps, n int, echo bool) {
	w.Controller.Acked(int64(now), n, echo)
}

// CNP implements transport.Pacer; DCTCP uses marks in acknowledgements instead.
func (w *windowed) CNP(transport.Ps) {}

// Marked implements transport.Pacer; acknowledgements report the mark.
func (w *windowed) Marked(transport.Ps) bool { return false }

// Lost implements transport.Pacer.
func (w *windowed) Lost(now transport.Ps, timeout bool) { w.Controller.Lost(int64(now), 0, timeout) }

// Deadline implements transport.Pacer.
func (w *windowed) Deadline() transport.Ps { return transport.Never }

// Expire implements transport.Pacer.
func (w *windowed) Expire(transport.Ps) bool { return false }

var (
	_ transport.Pacer = (*paced)(nil)
	_ transport.Pacer = (*windowed)(nil)
)
