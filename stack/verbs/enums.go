package verbs

import "fmt"

func name(names []string, i int, typ string) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", typ, i)
}

// QPType is the transport service of a queue pair (enum ibv_qp_type).
type QPType uint8

// The services, numbered as in libibverbs.
const (
	QPTRC        QPType = 2
	QPTUC        QPType = 3
	QPTUD        QPType = 4
	QPTRawPacket QPType = 8
	// Solar, for storage; libibverbs leaves this number to drivers (IBV_QPT_DRIVER)
	QPTSolar QPType = 0xff
)

func (t QPType) String() string {
	if t == QPTSolar {
		return "SOLAR"
	}
	return name([]string{2: "RC", 3: "UC", 4: "UD", 8: "RAW_PACKET"}, int(t), "QPType")
}

// Opcode is the operation of a send work request (enum ibv_wr_opcode).
type Opcode uint8

// The operations, numbered as in libibverbs. Memory window binding and segmentation are missing. WRNop moves nothing,
// and completes when the requests before it have. libibverbs leaves it, and a number for it (IBV_WR_DRIVER1), to
// drivers: mlx5 has a work entry NOP.
const (
	WRWrite    Opcode = 0
	WRWriteImm Opcode = 1
	WRSend     Opcode = 2
	WRSendImm  Opcode = 3
	WRRead     Opcode = 4
	WRCmpSwap  Opcode = 5
	WRFetchAdd Opcode = 6
	WRLocalInv Opcode = 7
	WRSendInv  Opcode = 9
	WRNop      Opcode = 11
)

func (o Opcode) String() string {
	return name([]string{"RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "RDMA_READ",
		"ATOMIC_CMP_AND_SWP",
		"ATOMIC_FETCH_AND_ADD", "LOCAL_INV", 9: "SEND_WITH_INV", 11: "NOP"}, int(o), "Opcode")
}

// IsLocal reports whether the operation ends without a packet.
func (o Opcode) IsLocal() bool { return o == WRLocalInv || o == WRNop }

// IsAtomic reports whether the operation is an 8-byte atomic at the peer.
func (o Opcode) IsAtomic() bool { return o == WRCmpSwap || o == WRFetchAdd }

// IsSend reports whether the operation takes a receive request at the peer and carries the bytes for it.
func (o Opcode) IsSend() bool { return o == WRSend || o == WRSendImm || o == WRSendInv }

// IsWrite reports whether the operation writes memory that the requester names.
func (o Opcode) IsWrite() bool { return o == WRWrite || o == WRWriteImm }

// HasImm reports whether the operation carries immediate data.
func (o Opcode) HasImm() bool { return o == WRSendImm || o == WRWriteImm }

// Allows reports whether queue pairs of a type support an operation (IBTA 9.2, table 35). ibv_post_send(3) lists SEND
// with invalidate over UC, but there is no BTH opcode for it.
func (t QPType) Allows(o Opcode) bool {
	switch t {
	case QPTRC:
		return o <= WRLocalInv || o == WRSendInv || o == WRNop
	case QPTUC:
		return o <= WRSendImm || o == WRLocalInv || o == WRNop
	case QPTUD:
		return o == WRSend || o == WRSendImm
	case QPTSolar:
		return o == WRWrite || o == WRRead
	}
	return t == QPTRawPacket && o == WRSend
}

// WCOpcode is the operation that a work completion reports (enum ibv_wc_opcode).
type WCOpcode uint8

// The completed operations, numbered as in libibverbs.
const (
	WCSend             WCOpcode = 0
	WCWrite            WCOpcode = 1
	WCRead             WCOpcode = 2
	WCCmpSwap          WCOpcode = 3
	WCFetchAdd         WCOpcode = 4
	WCLocalInv         WCOpcode = 6
	WCRecv             WCOpcode = 128
	WCRecvWriteWithImm WCOpcode = 129
	WCNop              WCOpcode = 135 // IBV_WC_DRIVER1
)

func (o WCOpcode) String() string {
	return name([]string{"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD", 6: "LOCAL_INV", 128: "RECV",
		129: "RECV_RDMA_WITH_IMM", 135: "NOP"}, int(o), "WCOpcode")
}

// Completion returns the operation that the work completion of a send request reports.
func (o Opcode) Completion() WCOpcode {
	switch o {
	case WRWrite, WRWriteImm:
		return WCWrite
	case WRRead:
		return WCRead
	case WRCmpSwap:
		return WCCmpSwap
	case WRFetchAdd:
		return WCFetchAdd
	case WRLocalInv:
		return WCLocalInv
	case WRNop:
		return WCNop
	}
	return WCSend
}

// Status is the result of a request (enum ibv_wc_status).
type Status uint8

// The statuses, numbered as in libibverbs.
const (
	WCSuccess        Status = 0
	WCLocLenErr      Status = 1
	WCLocQPOpErr     Status = 2
	WCLocProtErr     Status = 4
	WCFlushErr       Status = 5
	WCBadRespErr     Status = 7
	WCLocAccessErr   Status = 8
	WCRemInvReqErr   Status = 9
	WCRemAccessErr   Status = 10
	WCRemOpErr       Status = 11
	WCRetryExcErr    Status = 12
	WCRNRRetryExcErr Status = 13
	WCFatalErr       Status = 19
	WCGeneralErr     Status = 21
)

func (s Status) String() string {
	return name([]string{"success", "local length error", "local QP operation error", 4: "local protection error",
		5: "Work Request Flushed Error", 7: "bad response error", 8: "local access error",
		9:  "remote invalid request error",
		10: "remote access error", 11: "remote operation error", 12: "transport retry counter exceeded",
		13: "RNR retry counter exceeded", 19: "fatal error", 21: "general error"}, int(s), "Status")
}

// State is the state of a queue pair (enum ibv_qp_state; IBTA 10.3.1).
type State uint8

// The states, numbered as in libibverbs.
const (
	QPSReset State = iota
	QPSInit
	QPSRTR
	QPSRTS
	QPSSQD
	QPSSQE
	QPSErr
)

func (s State) String() string {
	return name([]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}, int(s), "State")
}

// Access is a set of rights to a memory region, or through a queue pair (enum ibv_access_flags).
type Access uint8

// Rights, numbered as in libibverbs.
const (
	AccessLocalWrite Access = 1 << iota
	AccessRemoteWrite
	AccessRemoteRead
	AccessRemoteAtomic
)

// SendFlags are the flags of a send request (enum ibv_send_flags).
type SendFlags uint8

// Flags, numbered as in libibverbs.
const (
	SendFence     SendFlags = 1 << iota // begins after all earlier READs and atomics of the queue pair have ended
	SendSignaled                        // ends with a work completion
	SendSolicited                       // the peer's completion is solicited: it raises an event (ReqNotify)
	SendInline                          // Inline is sent; it is copied when the request is posted
)

// MTU is a path's largest payload in bytes.
type MTU uint16

// MTUs of RoCE, and a larger non-standard one of this stack (jumbo frames).
const (
	MTU256  MTU = 256
	MTU512  MTU = 512
	MTU1024 MTU = 1024
	MTU2048 MTU = 2048
	MTU4096 MTU = 4096
	MTU8192 MTU = 8192
)
