package verbs

// Feature is an optional part of a stack or device. libibverbs tells of some by device_cap_flags, of others by limits
// of 0; here each has a bit.
type Feature uint32

// The features.
const (
	FeatureAtomics       Feature = 1 << iota // 8-byte atomics
	FeatureSRQ                               // shared receive queues
	FeatureInvalidate                        // SEND_WITH_INV and LOCAL_INV
	FeatureSolicited                         // ReqNotify for solicited completions only
	FeatureOverrun                           // overruns of completion queues are noticed
	FeatureError                             // ModifyQP to ERR and to RESET
	FeatureDrain                             // SQD
	FeatureRemotePD                          // the responder checks the protection domain of remote keys
	FeatureDestroyBusy                       // DestroyQP with requests under way
	FeatureModifyInState                     // ModifyQP changes attributes without changing the state
	featureEnd
)

var featureNames = []string{"atomics", "shared receive queues", "invalidation", "solicited events",
	"detection of overruns",
	"ModifyQP to ERR and RESET", "SQD", "protection domains of remote keys", "DestroyQP of a busy queue pair",
	"ModifyQP within a state"}

// Each calls f with the name of every feature in the set, in order.
func (s Feature) Each(f func(Feature, string)) {
	for i, name := range featureNames {
		if one := Feature(1) << i; s&one != 0 {
			f(one, name)
		}
	}
}

// AllFeatures is every feature.
const AllFeatures = featureEnd - 1

// DeviceAttr is what QueryDevice tells (struct ibv_device_attr).
type DeviceAttr struct {
	MaxMRSize       uint64
	MaxQP           int
	MaxQPWR         int // requests outstanding on a send or receive queue
	MaxSGE          int
	MaxInline       int // of QPCap; libibverbs finds it out by trying
	MaxCQ           int
	MaxCQE          int
	MaxMR           int
	MaxPD           int
	MaxAH           int
	MaxQPRdAtom     int // READs and atomics in flight, as responder
	MaxQPInitRdAtom int // the same, as requester
	MaxSRQ          int
	MaxSRQWR        int
	MaxSRQSGE       int
	MaxLowLatency   int // bytes of a message of a low-latency queue pair; 0: there are none
	Ports           int // numbered from 1
	Types           []QPType
	Features        Feature
}

// Has reports whether the device has all of some features.
func (d *DeviceAttr) Has(f Feature) bool { return d.Features&f == f }

// PortAttr is what QueryPort tells (struct ibv_port_attr).
type PortAttr struct {
	Active     bool
	MaxMTU     MTU
	ActiveMTU  MTU
	MaxMessage uint32
	MAC        [6]byte
	GID        [16]byte // of index 0; IPv4 as ::ffff:a.b.c.d
}

// QPCap are the sizes of a queue pair (struct ibv_qp_cap). What is granted is no less than what was asked for.
type QPCap struct {
	MaxSendWR, MaxRecvWR   int
	MaxSendSGE, MaxRecvSGE int
	MaxInline              int
}

// QPInitAttr says what queue pair to create (struct ibv_qp_init_attr).
type QPInitAttr struct {
	Type           QPType
	SendCQ, RecvCQ CQ
	SRQ            SRQ // nil: receive requests are posted to the queue pair
	Cap            QPCap
	SignalAll      bool // every send request ends with a completion (sq_sig_all)

	// LowLatency is the longest message, in bytes, of a low-latency queue pair; 0: it is an ordinary one. An
	// extension: the device writes what arrives to the application's buffer before its software has seen it. Such a
	// queue pair is RC, and has SEND and SEND_WITH_IMM only; each receive request has one piece of memory with room
	// for the longest message. What was lost, doubled or out of order may have been written to a buffer, too:
	// completions tell which buffers have a message.
	LowLatency int
}

// AHAttr is the way to a peer (struct ibv_ah_attr). libibverbs finds the MAC address out; here it is given.
type AHAttr struct {
	Port         uint8 // from 1
	GID          [16]byte
	MAC          [6]byte
	FlowLabel    uint32
	TrafficClass uint8
	HopLimit     uint8
}

// UDPSourcePort is the source port that packets with a flow label have: its upper 6 bits are folded into its lower 14,
// as Linux does (rdma_flow_label_to_udp_sport).
func UDPSourcePort(flowLabel uint32) uint16 {
	const dynamic = 0xc000
	return uint16(flowLabel&0x3fff^flowLabel&0xfc000>>14) | dynamic
}

// QPAttr are the attributes of a queue pair (struct ibv_qp_attr). An AttrMask says which of them count.
type QPAttr struct {
	State, CurState State
	EnSQDNotify     bool
	Access          Access // what the peer may ask for
	PKeyIndex       uint16
	Port            uint8 // from 1
	QKey            uint32
	AH              AHAttr
	PathMTU         MTU
	Timeout         uint8 // 4.096 µs × 2^Timeout; 0: never
	RetryCnt        uint8
	RNRRetry        uint8 // 7: without end
	RQPSN, SQPSN    uint32
	MaxRdAtomic     uint8 // READs and atomics in flight, as requester
	MaxDestRdAtomic uint8 // the same, as responder
	MinRNRTimer     uint8 // code of the time that RNR NAKs tell
	DestQPN         uint32
}

// AttrMask says which attributes of a QPAttr count (enum ibv_qp_attr_mask).
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
	QPAltPath // no stack here has it
	QPMinRNRTimer
	QPSQPSN
	QPMaxDestRdAtomic
	QPPathMigState // no stack here has it
	QPCapSize      // no stack here has it
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

// SRQAttr are the attributes of a shared receive queue (struct ibv_srq_attr).
type SRQAttr struct {
	MaxWR, MaxSGE int
	Limit         int // an event tells when fewer requests than this are left, once; 0: none
}
