// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

// Layout of the COUNTER registers.
const (
	CounterPortStride = 32  // indices per port
	CounterPortsMax   = 4   // ports for which the counter block has room
	CounterDeviceBase = 128 // first of the device's own counters
)

// Counters of a port, as numbers in the port's block.
const (
	CntRxFrames       PortCounter = 0  // frames received, including dropped frames and pause frames
	CntRxBytes        PortCounter = 1  // bytes of the frames received
	CntRxDelivered    PortCounter = 2  // frames delivered (completion entry written)
	CntRxDropDisabled PortCounter = 3  // CTRL.rx_enable was 0
	CntRxDropRunt     PortCounter = 4  // shorter than 60 B
	CntRxDropOversize PortCounter = 5  // longer than 9,216 B
	CntRxDropOverflow PortCounter = 6  // the receive buffer was full
	CntRxDropIpCsum   PortCounter = 7  // bad IPv4 header checksum, and RX_CTRL says drop
	CntRxDropL4Csum   PortCounter = 8  // bad UDP checksum, and RX_CTRL says drop
	CntRxDropIcrc     PortCounter = 9  // bad ICRC, and RX_CTRL says drop
	CntRxDropCrc32c   PortCounter = 10 // bad payload CRC-32C, and RX_CTRL says drop (part crc32c)
	CntRxDropRule     PortCounter = 11 // a rule with action Drop matched
	CntRxDropNoRule   PortCounter = 12 // no rule matched and RX_DEFAULT is Drop
	CntRxDropQueueOff PortCounter = 13 // the queue is disabled or does not exist
	CntRxDropQueueErr PortCounter = 14 // the queue is in the error state
	CntRxDropTooLong  PortCounter = 15 // the frame does not fit the queue's buffers
	CntRxDropNoDesc   PortCounter = 16 // the ring was empty
	CntTxFrames       PortCounter = 17 // frames sent, not counting pause frames
	CntTxBytes        PortCounter = 18 // bytes of the frames that TX_FRAMES counts
	CntRxPause        PortCounter = 19 // pause frames honoured (part pause)
	CntTxPause        PortCounter = 20 // pause frames sent (part pause)
)

// Counters of the device, as indices of the COUNTER registers.
const (
	CntTxWqe          DevCounter = 128 // work entries that ended, with any status
	CntTxErr          DevCounter = 129 // work entries that ended with a status other than Ok
	CntQueueErr       DevCounter = 130 // queues that entered the error state
	CntDbBad          DevCounter = 131 // doorbells ignored: queue not enabled, unknown, in error, or index out of range
	CntRegBad         DevCounter = 132 // register accesses ignored or refused: size, alignment, byte enables, a write of TBL_CMD or TBL_DATA while busy, or any write during a function-level reset
	CntTlpUnsupported DevCounter = 133 // TLPs that the device refused or dropped
	CntCplUnexpected  DevCounter = 134 // completions that match no outstanding request
	CntCplErr         DevCounter = 135 // read requests that failed: status, poison, malformed
	CntCplTimeouts    DevCounter = 136 // read requests that timed out
	CntRxCqe          DevCounter = 137 // receive completion entries written
	CntTxCqe          DevCounter = 138 // transmit completion entries written
	CntMsix           DevCounter = 139 // messages sent (part msix)
	CntCopyBytes      DevCounter = 140 // bytes written by the copy engine (part copy)
)

// DropCounters lists the drop counters. Each dropped frame steps exactly one of them.
var DropCounters = [...]PortCounter{
	CntRxDropDisabled,
	CntRxDropRunt,
	CntRxDropOversize,
	CntRxDropOverflow,
	CntRxDropIpCsum,
	CntRxDropL4Csum,
	CntRxDropIcrc,
	CntRxDropCrc32c,
	CntRxDropRule,
	CntRxDropNoRule,
	CntRxDropQueueOff,
	CntRxDropQueueErr,
	CntRxDropTooLong,
	CntRxDropNoDesc,
}

// Counters lists every counter.
var Counters = [...]CounterInfo{
	{Name: "RX_FRAMES", Index: 0, PerPort: true, Doc: "frames received, including dropped frames and pause frames"},
	{Name: "RX_BYTES", Index: 1, PerPort: true, Doc: "bytes of the frames received"},
	{Name: "RX_DELIVERED", Index: 2, PerPort: true, Doc: "frames delivered (completion entry written)"},
	{Name: "RX_DROP_DISABLED", Index: 3, PerPort: true, Drop: true, Doc: "CTRL.rx_enable was 0"},
	{Name: "RX_DROP_RUNT", Index: 4, PerPort: true, Drop: true, Doc: "shorter than 60 B"},
	{Name: "RX_DROP_OVERSIZE", Index: 5, PerPort: true, Drop: true, Doc: "longer than 9,216 B"},
	{Name: "RX_DROP_OVERFLOW", Index: 6, PerPort: true, Drop: true, Doc: "the receive buffer was full"},
	{Name: "RX_DROP_IP_CSUM", Index: 7, PerPort: true, Drop: true, Doc: "bad IPv4 header checksum, and RX_CTRL says drop"},
	{Name: "RX_DROP_L4_CSUM", Index: 8, PerPort: true, Drop: true, Doc: "bad UDP checksum, and RX_CTRL says drop"},
	{Name: "RX_DROP_ICRC", Index: 9, PerPort: true, Drop: true, Doc: "bad ICRC, and RX_CTRL says drop"},
	{Name: "RX_DROP_CRC32C", Index: 10, PerPort: true, Drop: true, Part: PartCrc32c, Doc: "bad payload CRC-32C, and RX_CTRL says drop"},
	{Name: "RX_DROP_RULE", Index: 11, PerPort: true, Drop: true, Doc: "a rule with action Drop matched"},
	{Name: "RX_DROP_NO_RULE", Index: 12, PerPort: true, Drop: true, Doc: "no rule matched and RX_DEFAULT is Drop"},
	{Name: "RX_DROP_QUEUE_OFF", Index: 13, PerPort: true, Drop: true, Doc: "the queue is disabled or does not exist"},
	{Name: "RX_DROP_QUEUE_ERR", Index: 14, PerPort: true, Drop: true, Doc: "the queue is in the error state"},
	{Name: "RX_DROP_TOO_LONG", Index: 15, PerPort: true, Drop: true, Doc: "the frame does not fit the queue's buffers"},
	{Name: "RX_DROP_NO_DESC", Index: 16, PerPort: true, Drop: true, Doc: "the ring was empty"},
	{Name: "TX_FRAMES", Index: 17, PerPort: true, Doc: "frames sent, not counting pause frames"},
	{Name: "TX_BYTES", Index: 18, PerPort: true, Doc: "bytes of the frames that TX_FRAMES counts"},
	{Name: "RX_PAUSE", Index: 19, PerPort: true, Part: PartPause, Doc: "pause frames honoured"},
	{Name: "TX_PAUSE", Index: 20, PerPort: true, Part: PartPause, Doc: "pause frames sent"},
	{Name: "TX_WQE", Index: 128, Doc: "work entries that ended, with any status"},
	{Name: "TX_ERR", Index: 129, Doc: "work entries that ended with a status other than Ok"},
	{Name: "QUEUE_ERR", Index: 130, Doc: "queues that entered the error state"},
	{Name: "DB_BAD", Index: 131, Doc: "doorbells ignored: queue not enabled, unknown, in error, or index out of range"},
	{Name: "REG_BAD", Index: 132, Doc: "register accesses ignored or refused: size, alignment, byte enables, a write of TBL_CMD or TBL_DATA while busy, or any write during a function-level reset"},
	{Name: "TLP_UNSUPPORTED", Index: 133, Doc: "TLPs that the device refused or dropped"},
	{Name: "CPL_UNEXPECTED", Index: 134, Doc: "completions that match no outstanding request"},
	{Name: "CPL_ERR", Index: 135, Doc: "read requests that failed: status, poison, malformed"},
	{Name: "CPL_TIMEOUTS", Index: 136, Doc: "read requests that timed out"},
	{Name: "RX_CQE", Index: 137, Doc: "receive completion entries written"},
	{Name: "TX_CQE", Index: 138, Doc: "transmit completion entries written"},
	{Name: "MSIX", Index: 139, Part: PartMsix, Doc: "messages sent"},
	{Name: "COPY_BYTES", Index: 140, Part: PartCopy, Doc: "bytes written by the copy engine"},
}
