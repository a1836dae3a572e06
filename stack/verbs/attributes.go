package verbs

// Feature is a set of optional parts of a stack or device. libibverbs reports some in device_cap_flags, others by
// limits of 0; here each has a bit.
type Feature uint32

// Features of a stack or device.
const (
	FeatureAtomics       Feature = 1 << iota // 8-byte atomics (WRCmpSwap, WRFetchAdd)
	FeatureSRQ                               // shared receive queues
	FeatureInvalidate                        // SEND_WITH_INV and LOCAL_INV
	FeatureSolicited                         // ReqNotify for solicited completions only
	FeatureOverrun                           // overruns of completion queues are detected
	FeatureError                             // ModifyQP to ERR and to RESET
	FeatureDrain                             // state SQD, which finishes what was begun
	FeatureRemotePD                          // the responder checks the protection domain of remote keys
	FeatureDestroyBusy                       // DestroyQP with requests in flight
	FeatureModifyInState                     // ModifyQP changes attributes without changing the state
	FeatureNop                               // WRNop
	featureEnd
)

var featureNames = []string{"atomics", "shared receive queues", "invalidation", "solicited events",
	"detection of overruns",
	"ModifyQP to ERR and RESET", "SQD", "protection domains of remote keys", "DestroyQP of a busy queue pair",
	"ModifyQP within a state", "NOP"}

// Each calls f for every feature in the set, in order, with its name.
func (s Feature) Each(f func(Feature, string)) {
	for i, name := range featureNames {
		if one := Feature(1) << i; s&one != 0 {
			f(one, name)
		}
	}
}

// AllFeatures is the set of all features.
const AllFeatures = featureEnd - 1

// DeviceAttr holds the attributes of a device (struct ibv_device_attr).
type DeviceAttr struct {
	MaxMRSize       uint64
	MaxQP           int
	MaxQPWR         int // requests outstanding on a send or receive queue
	MaxSGE          int
	MaxInline       int // largest MaxInline of a QPCap; with libibverbs programs find it by trial
	MaxCQ           int
	MaxCQE          int
	MaxMR           int
	MaxPD           int
	MaxAH           int
	MaxQPRdAtom     int // MaxDestRdAtomic: READs and atomics in flight, as responder
	MaxQPInitRdAtom int // MaxRdAtomic: READs and atomics in flight, as requester
	MaxSRQ          int
	MaxSRQWR        int
	MaxSRQSGE       int
	MaxLowLatency   int // longest message of a low-latency queue pair in bytes; 0: not supported
	Ports           int // numbered from 1
	Types           []QPType
	Features        Feature
}

// Has reports whether the device has all of the given features.
func (d *DeviceAttr) Has(f Feature) bool { return d.Features&f == f }

// PortAttr holds the attributes of a port (struct ibv_port_attr).
type PortAttr struct {
	Active     bool
	MaxMTU     MTU
	ActiveMTU  MTU
	MaxMessage uint32
	MAC        [6]byte
	GID        [16]byte // at index 0; IPv4 as ::ffff:a.b.c.d
}

// QPCap holds the sizes of a queue pair (struct ibv_qp_cap). Granted sizes are no less than requested ones.
type QPCap struct {
	MaxSendWR, MaxRecvWR   int
	MaxSendSGE, MaxRecvSGE int
	MaxInline              int
}

// QPInitAttr holds the attributes for creating a queue pair (struct ibv_qp_init_attr).
type QPInitAttr struct {
	Type           QPType
	SendCQ, RecvCQ CQ
	SRQ            SRQ // nil: the queue pair has its own receive queue
	Cap            QPCap
	SignalAll      bool // every send request ends with a completion (sq_sig_all)

	// LowLatency is the longest message, in bytes, of a low-latency queue pair; 0: an ordinary one. This is an
	// extension: the device writes payload to the application's buffer before the device's software has seen the
	// packet. Such a queue pair is RC, and has SEND and SEND_WITH_IMM only; each receive request has one piece of
	// memory with room for the longest message. Duplicate packets, or those behind a lost one, may have been written to
	// a buffer, too: completions tell which buffers hold a message.
	LowLatency int
}

// AHAttr is the path to a peer (struct ibv_ah_attr). libibverbs resolves the MAC address; here it is given.
type AHAttr struct {
	Port         uint8 // port number, from 1
	GID          [16]byte
	MAC          [6]byte
	FlowLabel    uint32
	TrafficClass uint8
	HopLimit     uint8
}

// UDPSourcePort returns the UDP source port for a flow label: its upper 6 bits are folded into its lower 14, as Linux
// does (rdma_flow_label_to_udp_sport).
func UDPSourcePort(flowLabel uint32) uint16 {
	const dynamic = 0xc000
	return uint16(flowLabel&0x3fff^flowLabel&0xfc000>>14) | dynamic
}

// QPAttr holds the attributes of a queue pair (struct ibv_qp_attr). An AttrMask selects the valid ones.
type QPAttr struct {
	State, CurState State
	EnSQDNotify     bool
	Access          Access // what the peer may request
	PKeyIndex       uint16
	Port            uint8 // port number, from 1
	QKey            uint32
	AH              AHAttr
	PathMTU         MTU
	Timeout         uint8 // 4.096 µs × 2^Timeout; 0: never
	RetryCnt        uint8
	RNRRetry        uint8 // 7: unlimited
	RQPSN, SQPSN    uint32
	MaxRdAtomic     uint8 // READs and atomics in flight, as requester
	MaxDestRdAtomic uint8 // READs and atomics in flight, as responder
	MinRNRTimer     uint8 // timer code in RNR NAKs sent
	DestQPN         uint32
}

// AttrMask selects attributes of a QPAttr (enum ibv_qp_attr_mask).
type AttrMask uint32

// The attributes, numbered as in libibverbs.
const (
	QPState AttrMask = 1 << iota
	QPCurState
	QPEnSQDNotify
	QPAccess
	QPPKeyIndex
	QPPort
	QPQKey
	QPAV
	QPPathMTU
	QPTimeout
	QPRetryCnt
	QPRNRRetry
	QPRQPSN
	QPMaxRdAtomic
	QPAltPath // not supported by any stack here
	QPMinRNRTimer
	QPSQPSN
	QPMaxDestRdAtomic
	QPPathMigState // not supported by any stack here
	QPCapSize      // not supported by any stack here
	QPDestQPN

	unsupportedAttrs = QPAltPath | QPPathMigState | QPCapSize
)

var attrNames = [...]string{"STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS", "PKEY_INDEX", "PORT", "QKEY",
	"AV", "PATH_MTU", "TIMEOUT",
	"RETRY_CNT", "RNR_RETRY", "RQ_PSN", "MAX_QP_RD_ATOMIC", "ALT_PATH", "MIN_RNR_TIMER", "SQ_PSN", "MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE", "CAP", "DEST_QPN"}

func (m AttrMask) String() string {
	if m == 0 {
		return "nothing"
	}
	s := ""
	for i := range 32 {
		if m&(1<<i) == 0 {
			continue
		}
		if s != "" {
			s += "|"
		}
		s += name(attrNames[:], i, "AttrMask bit")
	}
	return s
}

// SRQAttr holds the attributes of a shared receive queue (struct ibv_srq_attr).
type SRQAttr struct {
	MaxWR, MaxSGE int
	Limit         int // EventSRQLimit is reported once when fewer requests than this are left; 0: never reported
}
