package transport

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/sim/field"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// Kind is the transport service of a connection.
type Kind uint8

// Transport services.
const (
	RC Kind = iota
	UC
	UD
	Solar
)

func (k Kind) String() string {
	if k > Solar {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{"RC", "UC", "UD", "Solar"}[k]
}

// Recovery is the method by which RC recovers lost packets.
type Recovery uint8

// Methods of recovery.
const (
	GoBackN         Recovery = iota // the standard's method: retransmits everything from the lost packet on
	SelectiveRepeat                 // this stack's own method: keeps packets that arrive early; see the package comment
)

// Spec is the fixed configuration of a connection.
type Spec struct {
	Kind     Kind
	Recovery Recovery // recovery from losses; RC only
	QPN      uint32   // number of this end, 24 bits
	PKey     uint16
	QKey     uint32       // UD: the Q_Key that received packets must carry; Conn.SetRights changes it
	Access   verbs.Access // what the peer may do through this connection; Conn.SetRights changes it

	MaxSend   int // send requests posted and not completed
	MaxRecv   int // receive requests posted and not completed
	MaxSGE    int // spans per request
	MaxInline int // bytes per request

	Window         int // largest distance of PSNs between the oldest unacknowledged packet and the newest
	AckEvery       int // packets of a message between acknowledgement requests; the last packet always requests one
	ReorderPackets int // selective repeat: number of packets by which a path may reorder before one counts as lost
	SprayPorts     int // number of UDP source ports to spread packets over, in turn; 0: one port
	// The first packet uses the UDP port that follows the one with index SprayFrom. Queue pairs that all began at the
	// same port would collide.
	SprayFrom int
	Credits   bool // RC: advertise and obey end-to-end credits (IBTA 9.7.7.2)
	EchoECN   bool // RC: BECN in an ACK says that a packet since the last ACK was marked
	// RC: length of the longest SEND whose payload the NIC writes to its destination (Packet.Landed); 0: the caller
	// places it
	Landing int
	// UD: the first 40 bytes of a receive buffer are for the network header, and ByteLen counts them
	GRH bool
}

// DefaultSpec returns the default spec of a kind, for queue pair number qpn.
func DefaultSpec(kind Kind, qpn uint32) Spec {
	return Spec{
		Kind: kind, QPN: qpn, PKey: 0xffff, // the default partition (IBTA 10.9.1.2)
		Access:  verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic,
		MaxSend: 128, MaxRecv: 512, // FlexiNS 3.3: at least 512 receive descriptors; 128: assumption
		MaxSGE: 16, MaxInline: 220, // assumption: usual limits of NICs that libibverbs drives
		Window:         512, // assumption: 2 MB at an MTU of 4096, above 400 Gbps times 20 us
		AckEvery:       16,  // assumption: a message of 64 KB at an MTU of 4096
		ReorderPackets: 3,   // TCP's three duplicate acknowledgements (RFC 5681)
	}
}

// Limits of a spec's fields.
const (
	maxWindow   = 1 << 20 // well below half the PSN space
	maxSelect   = 1024    // number of PSNs that the sixteen words of a selective acknowledgement cover
	maxInline   = 8192    // the largest MTU in bytes
	maxDepth    = 1 << 16
	maxSGE      = 256
	maxMessage  = 1 << 31               // bytes (IBTA 9.7.3)
	maxPackets  = 1<<23 - 1 - maxWindow // per message: with the window, less than half the PSN space
	maxQPN      = 1<<24 - 1
	maxReadsCap = 255
)

// faults collects the errors of a spec.
type faults struct{ errs []error }

func (f *faults) within(path field.Path, v, low, high int) {
	if v < low || v > high {
		f.errs = append(f.errs, field.Errorf(path, "is %d: want %d to %d", v, low, high))
	}
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var f faults
	f.within("kind", int(s.Kind), 0, int(Solar))
	f.within("recovery", int(s.Recovery), 0, int(SelectiveRepeat))
	f.within("qpn", int(s.QPN), 0, maxQPN)
	f.within("max_send", s.MaxSend, 1, maxDepth)
	f.within("max_recv", s.MaxRecv, 0, maxDepth)
	f.within("max_sge", s.MaxSGE, 1, maxSGE)
	f.within("max_inline", s.MaxInline, 0, maxInline)
	f.within("landing", s.Landing, 0, maxInline)
	f.within("ack_every", s.AckEvery, 1, maxWindow)
	f.within("reorder_packets", s.ReorderPackets, 0, maxSelect)
	f.within("spray_ports", s.SprayPorts, 0, 1<<14)
	f.within("spray_from", s.SprayFrom, 0, max(s.SprayPorts-1, 0))
	if s.Recovery == SelectiveRepeat || s.Kind == Solar {
		f.within("window", s.Window, 64, maxSelect)
		if bits.OnesCount(uint(s.Window)) != 1 {
			f.errs = append(f.errs, field.Errorf("window", "is %d: want a power of 2", s.Window))
		}
	} else {
		f.within("window", s.Window, 1, maxWindow)
	}
	if s.Landing > 0 && s.Kind != RC {
		f.errs = append(f.errs, field.Errorf("landing", "is %d with %s %v: only RC has it", s.Landing,
			field.Path("kind"), s.Kind))
	}
	if s.Recovery == SelectiveRepeat && s.Kind != RC {
		f.errs = append(f.errs, field.Errorf("recovery", "is selective repeat with %s %v: only RC has it",
			field.Path("kind"), s.Kind))
	}
	return errors.Join(f.errs...)
}

// Attr holds the attributes that connect a connection (struct ibv_qp_attr). UD needs MTU and SendPSN only.
type Attr struct {
	Path        Path
	DestQP      uint32 // 24 bits
	SendPSN     uint32 // first PSN sent
	RecvPSN     uint32 // first PSN expected
	MTU         verbs.MTU
	Timeout     uint8 // 4.096 us x 2^Timeout without an answer; 0: no limit
	RetryCount  uint8 // retransmissions without progress; 0 to 7
	RNRRetry    uint8 // RNR retries without progress; 7: unlimited
	MinRNR      uint8 // timer code for RNR NAKs sent
	MaxRead     uint8 // READs and atomics in flight, as requester
	MaxDestRead uint8 // READs and atomics in flight, as responder
}

// DefaultAttr returns attributes to which the caller adds addresses, the number of the peer's queue pair, and PSNs.
func DefaultAttr() Attr {
	return Attr{
		MTU: verbs.MTU4096, Timeout: 14, RetryCount: 7, RNRRetry: 7, MinRNR: 12, // the defaults of perftest
		MaxRead: 16, MaxDestRead: 16, // what RDMA NICs of the papers support
		Path: Path{HopLimit: 64, SourcePort: 0xc000}, // RFC 1700; rxe's lowest port
	}
}

// Validate returns every error of the attributes.
func (a *Attr) Validate(kind Kind) error {
	var f faults
	switch a.MTU {
	case verbs.MTU256, verbs.MTU512, verbs.MTU1024, verbs.MTU2048, verbs.MTU4096, verbs.MTU8192:
	default:
		f.errs = append(f.errs, field.Errorf("mtu", "is %d: want 256, 512, 1024, 2048, 4096 or 8192", a.MTU))
	}
	f.within("send_psn", int(a.SendPSN), 0, seq.Mask)
	if kind == UD {
		return errors.Join(f.errs...)
	}
	f.errs = append(f.errs, a.Path.Validate()...)
	f.within("dest_qp", int(a.DestQP), 0, maxQPN)
	f.within("recv_psn", int(a.RecvPSN), 0, seq.Mask)
	f.within("timeout", int(a.Timeout), 0, 31)
	f.within("retry_count", int(a.RetryCount), 0, 7)
	f.within("rnr_retry", int(a.RNRRetry), 0, 7)
	f.within("min_rnr", int(a.MinRNR), 0, 31)
	f.within("max_read", int(a.MaxRead), 0, maxReadsCap)
	f.within("max_dest_read", int(a.MaxDestRead), 0, maxReadsCap)
	return errors.Join(f.errs...)
}

// rto returns the retransmission timeout; Never if Timeout is 0.
func (a *Attr) rto() Ps {
	const unit = 4_096_000 // 4.096 us (IBTA 9.7.6.1.3)
	if a.Timeout == 0 {
		return Never
	}
	return unit << a.Timeout
}

// persist returns the time after which a requester that waits for the peer's window sends a probe. There is such a time
// even if Timeout is 0, because without a probe nothing would be sent whose answer could report a new window.
func (a *Attr) persist() Ps {
	b := *a
	if b.Timeout == 0 {
		b.Timeout = DefaultAttr().Timeout
	}
	return b.rto()
}
