/// Registers, structures and codes of the NIC: package nic_pkg.
/// Generated from models/nic/nicspec/nic.yaml by go generate ./models/nic/nicspec; do not edit.
/// Bit 0 of a packed structure is bit 0 of its byte 0; the first byte of a byte string is lowest.

package nic_pkg;

  // Constants of the contract
  localparam int unsigned ContractVersion = 32'h00020000;  // VERSION: bits 31:16 major, 15:0 minor
  localparam int unsigned DeviceMagic = 32'h5443494e;  // register ID, reads as the bytes N I C T
  localparam logic [63:0] BarBase = 64'h0200000000000000;  // bus address of BAR0
  localparam int unsigned BarBytes = 32'h00100000;  // size of BAR0
  localparam int unsigned EndpointShift = 56;  // bus address bits 63:56 name the endpoint
  localparam int unsigned EndpointArm = 0;  // endpoint of Arm memory
  localparam int unsigned EndpointHost = 1;  // endpoint of host memory
  localparam int unsigned EndpointNic = 2;  // endpoint of the NIC's registers
  localparam int unsigned RequesterArm = 0;  // requester ID of the Arm root
  localparam int unsigned RequesterHost = 256;  // requester ID of the host root
  localparam int unsigned RequesterNic = 512;  // requester and completer ID of the NIC
  localparam int unsigned FrameMin = 60;  // shortest legal frame, bytes without FCS
  localparam int unsigned FrameMax = 9216;  // longest legal frame, bytes without FCS
  // number of bytes at the start of a frame in which headers are parsed
  localparam int unsigned ParseBytes = 128;
  // bytes of a port's receive buffer; a frame occupies its length rounded up to 64
  localparam int unsigned RxBufBytes = 32'h00010000;
  localparam int unsigned RxDescBytes = 16;  // bytes of a receive descriptor
  localparam int unsigned WqeBytes = 64;  // bytes of a block of a transmit work entry
  localparam int unsigned CqeBytes = 64;  // bytes of a completion entry
  localparam int unsigned WqeBlocksMax = 4;  // most 64 B blocks of a work entry
  // 16 B slots of a work entry's first block, shared by inline bytes and pieces
  localparam int unsigned WqeSlots = 3;
  localparam int unsigned WqeMoreSlots = 4;  // 16 B slots of each further block
  localparam int unsigned WqeSlotBytes = 16;  // bytes per slot
  localparam int unsigned InlineMax = 48;  // most inline bytes of a work entry of one block
  localparam int unsigned InlineMaxLong = 176;  // most inline bytes of any work entry
  localparam int unsigned SegMax = 8;  // most pieces of a work entry
  // most bytes that f_append appends: three of pad, four of ICRC
  localparam int unsigned AppendMax = 7;
  // most frames of other ports taken out of the receive buffer while a whole frame of a port waits
  // [R13]
  localparam int unsigned FairFrames = 64;
  localparam int unsigned LogSizeMin = 2;  // smallest ring: 4 entries
  localparam int unsigned LogSizeMax = 15;  // largest ring: 32,768 entries
  localparam int unsigned TableWords = 32;  // 32-bit words of the staging window TBL_DATA
  // rule index in a completion entry when the default action applied
  localparam int unsigned RuleNone = 65535;
  localparam int unsigned RxqMax = 256;  // register space is laid out for this many receive queues
  localparam int unsigned TxqMax = 256;  // register space is laid out for this many transmit queues
  localparam int unsigned RulesMax = 256;  // register space is laid out for this many rules
  // a register write has taken effect this many cycles after its TLP was accepted
  localparam int unsigned VisibleCycles = 64;
  localparam int unsigned PartsAll = 16383;  // every part that CAP1 knows
  localparam int unsigned PartsDefault = 16383;  // parts of the default build
  localparam int unsigned RssEntries = 256;  // entries of table Indirection
  localparam int unsigned RssKeyBytes = 40;  // bytes of the Toeplitz key
  localparam int unsigned RssLogMax = 8;  // largest rss_log
  localparam int unsigned NumAccounts = 64;  // number of credit accounts
  localparam int unsigned CreditMax = 32'h00ffffff;  // largest balance of an account
  // CRC-32C of any bytes followed by their CRC-32C
  localparam int unsigned Crc32cResidue = 32'h48674bc7;
  localparam int unsigned CopyMax = 32'h01000000;  // longest copy, bytes
  // number of copy channels; the copies of transmit queue q use channel q mod CopyChannels
  localparam int unsigned CopyChannels = 4;
  localparam int unsigned LineBytes = 64;  // bytes of a line of the Arm cache
  localparam int unsigned InvalidateVendor = 20052;  // vendor ID in invalidate messages
  // message code of invalidate messages (vendor defined, type 1)
  localparam int unsigned InvalidateCode = 127;
  localparam int unsigned PauseQueue = 65535;  // m_axis_eth_tuser of the device's own pause frames
  localparam int unsigned PauseTimeMin = 64;  // smallest pause_time of PortCfg, quanta
  localparam int unsigned MacControlType = 34824;  // EtherType of MAC control frames
  localparam int unsigned PauseOpcode = 1;  // MAC control opcode: pause
  localparam int unsigned PfcOpcode = 257;  // MAC control opcode: priority-based flow control
  // most cycles from the end of the work to the end of a function-level reset
  localparam int unsigned FlrCycles = 8192;

  // Byte offsets of the registers in BAR0, and their values after reset
  localparam int unsigned RegAw = 20;  // address bits of BAR0
  localparam logic [RegAw-1:0] RegId = 20'h00000;  // ro: device magic
  localparam logic [31:0] ResetId = 32'h5443494e;
  localparam logic [RegAw-1:0] RegVersion = 20'h00004;  // ro: contract version
  localparam logic [31:0] ResetVersion = 32'h00020000;
  localparam logic [RegAw-1:0] RegCap0 = 20'h00008;  // ro: sizes of this build
  // ro: optional parts of this build; a bit is set if the part is built
  localparam logic [RegAw-1:0] RegCap1 = 20'h0000c;
  localparam logic [RegAw-1:0] RegCtrl = 20'h00010;  // rw: switches of the whole device
  localparam logic [31:0] ResetCtrl = 32'h00000000;
  localparam logic [RegAw-1:0] RegStatus = 20'h00014;  // ro: activity
  // rw: PCIe limits and attributes; may be changed at any time
  localparam logic [RegAw-1:0] RegDevctl = 20'h00018;
  localparam logic [31:0] ResetDevctl = 32'h00000021;
  // rw: completion timeout in cycles, 1,024 at least (smaller values count as 1,024)
  localparam logic [RegAw-1:0] RegCplTimeout = 20'h0001c;
  localparam logic [31:0] ResetCplTimeout = 32'h00010000;
  // rw: frames to drop instead of delivering them
  localparam logic [RegAw-1:0] RegRxCtrl = 20'h00020;
  localparam logic [31:0] ResetRxCtrl = 32'h00000000;
  // rw: treatment of frames that no rule matches
  localparam logic [RegAw-1:0] RegRxDefault = 20'h00024;
  localparam logic [31:0] ResetRxDefault = 32'h00000000;
  // rw: UDP destination port of RoCEv2, bits 15:0
  localparam logic [RegAw-1:0] RegRocePort = 20'h00028;
  localparam logic [31:0] ResetRocePort = 32'h000012b7;
  localparam logic [RegAw-1:0] RegScratch = 20'h0002c;  // rw: for the driver; no effect
  localparam logic [31:0] ResetScratch = 32'h00000000;
  // rw: table command; a write starts it, a read returns its status
  localparam logic [RegAw-1:0] RegTblCmd = 20'h00040;
  localparam logic [31:0] ResetTblCmd = 32'h00000000;
  // rw: staging window of table commands, word i
  localparam logic [RegAw-1:0] RegTblDataBase = 20'h00080;
  localparam int unsigned RegTblDataCount = 32;  // registers
  localparam int unsigned RegTblDataStride = 4;  // bytes
  localparam logic [31:0] ResetTblData = 32'h00000000;
  // rw: Toeplitz key, first byte first (part rss)
  localparam logic [RegAw-1:0] RegRssKeyBase = 20'h00100;
  localparam int unsigned RegRssKeyCount = 10;  // registers
  localparam int unsigned RegRssKeyStride = 4;  // bytes
  localparam logic [31:0] ResetRssKey = 32'h00000000;
  // rw: source address of pause frames: two words per port (part pause)
  localparam logic [RegAw-1:0] RegPortMacBase = 20'h00200;
  localparam int unsigned RegPortMacCount = 4;  // registers
  localparam int unsigned RegPortMacStride = 4;  // bytes
  localparam logic [31:0] ResetPortMac = 32'h00000000;
  // ro: 64-bit counters, by counter index; both DWs of one read are of the same cycle
  localparam logic [RegAw-1:0] RegCounterBase = 20'h01000;
  localparam int unsigned RegCounterCount = 256;  // registers
  localparam int unsigned RegCounterStride = 8;  // bytes
  // ro: frames that rule i matched; frames dropped by earlier checks do not count
  localparam logic [RegAw-1:0] RegRuleHitsBase = 20'h02000;
  localparam int unsigned RegRuleHitsCount = 256;  // registers
  localparam int unsigned RegRuleHitsStride = 8;  // bytes
  // rw: write: bits 23:0 credits to add, or with bit 30 (take) to subtract, bit 31 resume; read:
  // bits 23:0 balance, bit 31 slow (part accounts)
  localparam logic [RegAw-1:0] RegAccountCreditBase = 20'h04000;
  localparam int unsigned RegAccountCreditCount = 64;  // registers
  localparam int unsigned RegAccountCreditStride = 4;  // bytes
  // wo: bits 15:0: producer index of receive queue i
  localparam logic [RegAw-1:0] RegRxDoorbellBase = 20'h08000;
  localparam int unsigned RegRxDoorbellCount = 256;  // registers
  localparam int unsigned RegRxDoorbellStride = 4;  // bytes
  // wo: bits 15:0: producer index of transmit queue i
  localparam logic [RegAw-1:0] RegTxDoorbellBase = 20'h09000;
  localparam int unsigned RegTxDoorbellCount = 256;  // registers
  localparam int unsigned RegTxDoorbellStride = 4;  // bytes
  // wo: 64 B block of a work entry of transmit queue i, pushed whole (part push)
  localparam logic [RegAw-1:0] RegTxPushBase = 20'h10000;
  localparam int unsigned RegTxPushCount = 256;  // registers
  localparam int unsigned RegTxPushStride = 64;  // bytes

  // Parts that a build may have, as bits of CAP1
  localparam int unsigned PartCopy = 1;  // copy engine
  localparam int unsigned PartPush = 2;  // work entries by register write
  localparam int unsigned PartRss = 4;  // RSS
  localparam int unsigned PartAccounts = 8;  // credit accounts and slow-path rings
  localparam int unsigned PartCrc32c = 16;  // payload CRC-32C
  localparam int unsigned PartPause = 32;  // pause frames
  localparam int unsigned PartMsix = 64;  // MSI-X
  localparam int unsigned PartFlr = 128;  // function-level reset
  localparam int unsigned PartEcn = 256;  // ECN modes of queues
  localparam int unsigned PartAttr = 512;  // relaxed-ordering and no-snoop attributes
  // fences: copies that write after all earlier entries of their queue
  localparam int unsigned PartFence = 1024;
  localparam int unsigned PartAppend = 2048;  // pad bytes and ICRC appended by the device
  localparam int unsigned PartLong = 4096;  // work entries of more than one block
  // receive queues that do not write pad and ICRC to memory
  localparam int unsigned PartTrim = 8192;

  // Counters: port counters are offsets in the block of a port, device counters are indices
  localparam int unsigned CntPortStride = 32;  // indices per port
  localparam int unsigned CntPortsMax = 4;  // ports for which the counter block has room
  localparam int unsigned CntDeviceBase = 128;  // first of the device's own counters
  // port: frames received, including dropped frames and pause frames
  localparam int unsigned CntRxFrames = 0;
  localparam int unsigned CntRxBytes = 1;  // port: bytes of the frames received
  localparam int unsigned CntRxDelivered = 2;  // port: frames delivered (completion entry written)
  localparam int unsigned CntRxDropDisabled = 3;  // port: CTRL.rx_enable was 0
  localparam int unsigned CntRxDropRunt = 4;  // port: shorter than 60 B
  localparam int unsigned CntRxDropOversize = 5;  // port: longer than 9,216 B
  localparam int unsigned CntRxDropOverflow = 6;  // port: the receive buffer was full
  // port: bad IPv4 header checksum, and RX_CTRL says drop
  localparam int unsigned CntRxDropIpCsum = 7;
  localparam int unsigned CntRxDropL4Csum = 8;  // port: bad UDP checksum, and RX_CTRL says drop
  localparam int unsigned CntRxDropIcrc = 9;  // port: bad ICRC, and RX_CTRL says drop
  // port: bad payload CRC-32C, and RX_CTRL says drop (part crc32c)
  localparam int unsigned CntRxDropCrc32c = 10;
  localparam int unsigned CntRxDropRule = 11;  // port: a rule with action Drop matched
  localparam int unsigned CntRxDropNoRule = 12;  // port: no rule matched and RX_DEFAULT is Drop
  localparam int unsigned CntRxDropQueueOff = 13;  // port: the queue is disabled or does not exist
  localparam int unsigned CntRxDropQueueErr = 14;  // port: the queue is in the error state
  // port: the frame does not fit the queue's buffers
  localparam int unsigned CntRxDropTooLong = 15;
  localparam int unsigned CntRxDropNoDesc = 16;  // port: the ring was empty
  localparam int unsigned CntTxFrames = 17;  // port: frames sent, not counting pause frames
  localparam int unsigned CntTxBytes = 18;  // port: bytes of the frames that TX_FRAMES counts
  localparam int unsigned CntRxPause = 19;  // port: pause frames honoured (part pause)
  localparam int unsigned CntTxPause = 20;  // port: pause frames sent (part pause)
  localparam int unsigned CntTxWqe = 128;  // device: work entries that ended, with any status
  // device: work entries that ended with a status other than Ok
  localparam int unsigned CntTxErr = 129;
  localparam int unsigned CntQueueErr = 130;  // device: queues that entered the error state
  // device: doorbells ignored: queue not enabled, unknown, in error, or index out of range
  localparam int unsigned CntDbBad = 131;
  // device: register accesses ignored or refused: size, alignment, byte enables, a write of TBL_CMD
  // or TBL_DATA while busy, or any write during a function-level reset
  localparam int unsigned CntRegBad = 132;
  // device: TLPs that the device refused or dropped
  localparam int unsigned CntTlpUnsupported = 133;
  // device: completions that match no outstanding request
  localparam int unsigned CntCplUnexpected = 134;
  // device: read requests that failed: status, poison, malformed
  localparam int unsigned CntCplErr = 135;
  localparam int unsigned CntCplTimeouts = 136;  // device: read requests that timed out
  localparam int unsigned CntRxCqe = 137;  // device: receive completion entries written
  localparam int unsigned CntTxCqe = 138;  // device: transmit completion entries written
  localparam int unsigned CntMsix = 139;  // device: messages sent (part msix)
  // device: bytes written by the copy engine (part copy)
  localparam int unsigned CntCopyBytes = 140;

  // No design uses all these parameters. Each is read here, so that lint reports none as unused.
  localparam logic unused_numbers = ^(
    64'(ContractVersion) ^ 64'(DeviceMagic) ^ 64'(BarBase) ^ 64'(BarBytes) ^ 64'(EndpointShift) ^
    64'(EndpointArm) ^ 64'(EndpointHost) ^ 64'(EndpointNic) ^ 64'(RequesterArm) ^
    64'(RequesterHost) ^ 64'(RequesterNic) ^ 64'(FrameMin) ^ 64'(FrameMax) ^ 64'(ParseBytes) ^
    64'(RxBufBytes) ^ 64'(RxDescBytes) ^ 64'(WqeBytes) ^ 64'(CqeBytes) ^ 64'(WqeBlocksMax) ^
    64'(WqeSlots) ^ 64'(WqeMoreSlots) ^ 64'(WqeSlotBytes) ^ 64'(InlineMax) ^ 64'(InlineMaxLong) ^
    64'(SegMax) ^ 64'(AppendMax) ^ 64'(FairFrames) ^ 64'(LogSizeMin) ^ 64'(LogSizeMax) ^
    64'(TableWords) ^ 64'(RuleNone) ^ 64'(RxqMax) ^ 64'(TxqMax) ^ 64'(RulesMax) ^
    64'(VisibleCycles) ^ 64'(PartsAll) ^ 64'(PartsDefault) ^ 64'(RssEntries) ^ 64'(RssKeyBytes) ^
    64'(RssLogMax) ^ 64'(NumAccounts) ^ 64'(CreditMax) ^ 64'(Crc32cResidue) ^ 64'(CopyMax) ^
    64'(CopyChannels) ^ 64'(LineBytes) ^ 64'(InvalidateVendor) ^ 64'(InvalidateCode) ^
    64'(PauseQueue) ^ 64'(PauseTimeMin) ^ 64'(MacControlType) ^ 64'(PauseOpcode) ^ 64'(PfcOpcode) ^
    64'(FlrCycles) ^ 64'(RegAw) ^ 64'(RegId) ^ 64'(ResetId) ^ 64'(RegVersion) ^ 64'(ResetVersion) ^
    64'(RegCap0) ^ 64'(RegCap1) ^ 64'(RegCtrl) ^ 64'(ResetCtrl) ^ 64'(RegStatus) ^ 64'(RegDevctl) ^
    64'(ResetDevctl) ^ 64'(RegCplTimeout) ^ 64'(ResetCplTimeout) ^ 64'(RegRxCtrl) ^
    64'(ResetRxCtrl) ^ 64'(RegRxDefault) ^ 64'(ResetRxDefault) ^ 64'(RegRocePort) ^
    64'(ResetRocePort) ^ 64'(RegScratch) ^ 64'(ResetScratch) ^ 64'(RegTblCmd) ^ 64'(ResetTblCmd) ^
    64'(RegTblDataBase) ^ 64'(RegTblDataCount) ^ 64'(RegTblDataStride) ^ 64'(ResetTblData) ^
    64'(RegRssKeyBase) ^ 64'(RegRssKeyCount) ^ 64'(RegRssKeyStride) ^ 64'(ResetRssKey) ^
    64'(RegPortMacBase) ^ 64'(RegPortMacCount) ^ 64'(RegPortMacStride) ^ 64'(ResetPortMac) ^
    64'(RegCounterBase) ^ 64'(RegCounterCount) ^ 64'(RegCounterStride) ^ 64'(RegRuleHitsBase) ^
    64'(RegRuleHitsCount) ^ 64'(RegRuleHitsStride) ^ 64'(RegAccountCreditBase) ^
    64'(RegAccountCreditCount) ^ 64'(RegAccountCreditStride) ^ 64'(RegRxDoorbellBase) ^
    64'(RegRxDoorbellCount) ^ 64'(RegRxDoorbellStride) ^ 64'(RegTxDoorbellBase) ^
    64'(RegTxDoorbellCount) ^ 64'(RegTxDoorbellStride) ^ 64'(RegTxPushBase) ^ 64'(RegTxPushCount) ^
    64'(RegTxPushStride) ^ 64'(PartCopy) ^ 64'(PartPush) ^ 64'(PartRss) ^ 64'(PartAccounts) ^
    64'(PartCrc32c) ^ 64'(PartPause) ^ 64'(PartMsix) ^ 64'(PartFlr) ^ 64'(PartEcn) ^ 64'(PartAttr) ^
    64'(PartFence) ^ 64'(PartAppend) ^ 64'(PartLong) ^ 64'(PartTrim) ^ 64'(CntPortStride) ^
    64'(CntPortsMax) ^ 64'(CntDeviceBase) ^ 64'(CntRxFrames) ^ 64'(CntRxBytes) ^
    64'(CntRxDelivered) ^ 64'(CntRxDropDisabled) ^ 64'(CntRxDropRunt) ^ 64'(CntRxDropOversize) ^
    64'(CntRxDropOverflow) ^ 64'(CntRxDropIpCsum) ^ 64'(CntRxDropL4Csum) ^ 64'(CntRxDropIcrc) ^
    64'(CntRxDropCrc32c) ^ 64'(CntRxDropRule) ^ 64'(CntRxDropNoRule) ^ 64'(CntRxDropQueueOff) ^
    64'(CntRxDropQueueErr) ^ 64'(CntRxDropTooLong) ^ 64'(CntRxDropNoDesc) ^ 64'(CntTxFrames) ^
    64'(CntTxBytes) ^ 64'(CntRxPause) ^ 64'(CntTxPause) ^ 64'(CntTxWqe) ^ 64'(CntTxErr) ^
    64'(CntQueueErr) ^ 64'(CntDbBad) ^ 64'(CntRegBad) ^ 64'(CntTlpUnsupported) ^
    64'(CntCplUnexpected) ^ 64'(CntCplErr) ^ 64'(CntCplTimeouts) ^ 64'(CntRxCqe) ^ 64'(CntTxCqe) ^
    64'(CntMsix) ^ 64'(CntCopyBytes)
  );

  typedef enum logic [1:0] {
    TableOpNone = 2'd0,  // no command; writing it is refused with status BadOp
    TableOpWrite = 2'd1,  // commit TBL_DATA to the entry, whole and at once
    TableOpRead = 2'd2  // load TBL_DATA from the entry
  } table_op_e;

  typedef enum logic [2:0] {
    TableStatusOk = 3'd0,  // the last command was carried out
    TableStatusBadTable = 3'd1,  // no such table
    TableStatusBadIndex = 3'd2,  // index beyond the table
    TableStatusBadValue = 3'd3,  // a field is out of its range; the entry is unchanged
    TableStatusEnabled = 3'd4,  // the queue is enabled: disable it first; the entry is unchanged
    TableStatusBadOp = 3'd5,  // operation is neither read nor write
    // the table or a field in use is of a part that this build does not have
    TableStatusNotBuilt = 3'd6
  } table_status_e;

  typedef enum logic [7:0] {
    TableRxq = 8'd0,  // receive queue contexts
    TableTxq = 8'd1,  // transmit queue contexts
    TableKey = 8'd2,  // memory keys
    TableRule = 8'd3,  // steering rules
    TableIndirection = 8'd4,  // RSS indirection (part rss)
    TableAccount = 8'd5,  // credit accounts (part accounts)
    TablePortCfg = 8'd6  // pause thresholds and classes of a port (part pause)
  } table_e;

  typedef enum logic [7:0] {
    ActionDrop = 8'd0,  // count the frame and discard it
    ActionQueue = 8'd1,  // deliver to the queue that the rule or RX_DEFAULT names
    // deliver to a queue of the RSS group, by Toeplitz hash and table Indirection (part rss)
    ActionRss = 8'd2
  } action_e;

  typedef enum logic [7:0] {
    SplitModeNone = 8'd0,  // the whole frame goes to the payload buffer
    SplitModeFixed = 8'd1,  // the first split_len bytes go to the header buffer
    SplitModeHeaders = 8'd2  // the headers that were parsed go to the header buffer
  } split_mode_e;

  typedef enum logic [7:0] {
    QueueStateOff = 8'd0,  // disabled
    QueueStateRun = 8'd1,  // enabled
    QueueStateError = 8'd2  // stopped by an error; disable and enable again
  } queue_state_e;

  typedef enum logic [7:0] {
    OpcodeNop = 8'd0,  // does nothing; may ask for a completion
    OpcodeSend = 8'd1,  // gather and transmit one frame
    OpcodeCopy = 8'd2,  // copy between two memory keys (part copy)
    OpcodeInvalidate = 8'd3,  // invalidate a range of the Arm cache (part copy)
    OpcodeCopyInvalidate = 8'd4  // copy, then invalidate the source (part copy)
  } opcode_e;

  typedef enum logic [7:0] {
    CqeTypeRx = 8'd1,  // a frame was received
    CqeTypeTx = 8'd2,  // a work entry ended
    CqeTypeEvent = 8'd3  // the queue entered the error state
  } cqe_type_e;

  typedef enum logic [7:0] {
    StatusOk = 8'd0,  // success
    StatusBadOpcode = 8'd1,  // opcode unknown or not built
    // reserved bits set, too many slots, no such port, or a piece of zero bytes
    StatusBadFormat = 8'd2,
    StatusBadLength = 8'd3,  // frame of 0 bytes, over 9,216, or under 60 without f_pad
    StatusBadKey = 8'd4,  // key not valid, wrong variant or index beyond the table
    StatusKeyRights = 8'd5,  // the key does not allow this access
    StatusKeyBounds = 8'd6,  // the range is not inside the key's range
    StatusBadOffload = 8'd7,  // the frame's headers do not allow an offload that was requested
    StatusCplUnsupported = 8'd8,  // a read was answered with Unsupported Request
    StatusCplAbort = 8'd9,  // a read was answered with Completer Abort or another failing status
    StatusCplPoison = 8'd10,  // the data of a read was poisoned
    StatusCplTimeout = 8'd11,  // a read was not answered in time
    StatusCplMalformed = 8'd12,  // a completion did not fit its request
    StatusBadRange = 8'd13,  // a range to be invalidated is not whole 64 B lines of Arm memory
    StatusFlushed = 8'd14  // a copy was cut short by a function-level reset
  } status_e;

  typedef enum logic [7:0] {
    CrcModeOff = 8'd0,  // no payload CRC-32C
    CrcModeReport = 8'd1,  // the CRC-32C of the payload is reported
    CrcModeCheck = 8'd2  // the payload's last four bytes are checked as its CRC-32C
  } crc_mode_e;

  typedef enum logic [7:0] {
    PauseModeNone = 8'd0,  // no pause frames are sent
    PauseModePause = 8'd1,  // 802.3x
    PauseModePriority = 8'd2  // priority-based flow control, 802.1Qbb
  } pause_mode_e;

  typedef enum logic [1:0] {
    VerdictNotChecked = 2'd0,  // the check does not apply to the frame, or the frame is too short
    VerdictOk = 2'd1,  // checked and right
    VerdictBad = 2'd2  // checked and wrong
  } verdict_e;

  typedef enum logic [1:0] {
    L3TypeNone = 2'd0,  // neither IPv4 nor IPv6
    L3TypeIpv4 = 2'd1,  // IPv4
    L3TypeIpv6 = 2'd2  // IPv6
  } l3_type_e;

  typedef enum logic [1:0] {
    L4TypeNone = 2'd0,  // neither UDP nor TCP, or not parsed
    L4TypeUdp = 2'd1,  // UDP
    L4TypeTcp = 2'd2  // TCP
  } l4_type_e;

  // Register CAP0: sizes of this build
  typedef struct packed {
    logic [15:0] rules;  // steering rules
    logic [3:0] log_keys;  // log2 of the memory keys
    logic [3:0] log_txq;  // log2 of the transmit queues
    logic [3:0] log_rxq;  // log2 of the receive queues
    logic [3:0] ports;  // Ethernet ports
  } cap0_reg_t;

  // Register CAP1: optional parts of this build; a bit is set if the part is built
  typedef struct packed {
    logic [17:0] rsvd0;
    logic trim;  // receive queues that do not write pad and ICRC to memory
    logic long_f;  // work entries of more than one block
    logic append;  // pad bytes and ICRC appended by the device
    logic fence;  // fences: copies that write after all earlier entries of their queue
    logic attr;  // relaxed-ordering and no-snoop attributes
    logic ecn;  // ECN modes of queues
    logic flr;  // function-level reset
    logic msix;  // MSI-X
    logic pause;  // pause frames
    logic crc32c;  // payload CRC-32C
    logic accounts;  // credit accounts and slow-path rings
    logic rss;  // RSS
    logic push;  // work entries by register write
    logic copy;  // copy engine
  } cap1_reg_t;

  // Register CTRL: switches of the whole device
  typedef struct packed {
    logic flr;  // function-level reset; writing 1 starts it, reads 1 until done (part flr)
    logic [28:0] rsvd0;
    logic tx_enable;  // transmit; while 0 no work entry is started
    logic rx_enable;  // receive; while 0 every frame is dropped and counted in RX_DROP_DISABLED
  } ctrl_reg_t;

  // Register STATUS: activity
  typedef struct packed {
    logic [28:0] rsvd0;
    logic reads_outstanding;  // a read request waits for completions
    logic tx_busy;  // a work entry is in the transmit path
    logic rx_busy;  // a frame is in the receive path
  } status_reg_t;

  // Register DEVCTL: PCIe limits and attributes; may be changed at any time
  typedef struct packed {
    logic [20:0] rsvd2;
    logic no_snoop;  // set NS on payload writes and reads (part attr)
    logic relaxed_ordering;  // set RO on payload writes and reads (part attr)
    logic rcb;  // read completion boundary: 0 = 64 B, 1 = 128 B
    logic rsvd1;
    logic [2:0] mrrs;  // largest read request: 128 << mrrs bytes, 0..5; other values count as 0
    logic rsvd0;
    logic [2:0] mps;  // largest write payload: 128 << mps bytes, 0..2; other values count as 0
  } devctl_reg_t;

  // Register RX_CTRL: frames to drop instead of delivering them
  typedef struct packed {
    logic [27:0] rsvd0;
    logic drop_bad_crc32c;  // drop frames whose payload CRC-32C is bad (part crc32c)
    logic drop_bad_icrc;  // drop frames whose ICRC is bad
    logic drop_bad_l4_csum;  // drop frames whose UDP checksum is bad
    logic drop_bad_ip_csum;  // drop frames whose IPv4 header checksum is bad
  } rx_ctrl_reg_t;

  // Register RX_DEFAULT: treatment of frames that no rule matches
  typedef struct packed {
    logic [3:0] rsvd0;
    logic [3:0] rss_log;  // action Rss: log2 of the entries of the group (part rss)
    // enum Action; other values count as Drop, and so does Rss without the part
    logic [7:0] action;
    logic [15:0] queue_f;  // receive queue
  } rx_default_reg_t;

  // Register TBL_CMD: table command; a write starts it, a read returns its status
  typedef struct packed {
    // 1 until the command has taken effect; ignored on write; a command written while busy is
    // ignored and counted in REG_BAD
    logic busy;
    logic [1:0] rsvd0;
    logic [2:0] status;  // enum TableStatus of the last command; ignored on write
    logic [1:0] op;  // enum TableOp
    logic [7:0] table_f;  // enum Table
    logic [15:0] index;  // index of the entry
  } tbl_cmd_reg_t;

  // RxDesc: receive descriptor, in the ring at ring_base + 16 * (index mod size)
  typedef struct packed {
    logic [63:0] pay_addr;  // bytes 8..15: bus address of the payload buffer
    // bytes 0..7: bus address of the header buffer; unused when nothing is split off
    logic [63:0] hdr_addr;
  } rx_desc_t;

  // Wqe: transmit work entry, or its first block, in the ring at ring_base + 64 * (index mod size)
  typedef struct packed {
    // bytes 16..63: inline bytes in the first ceil(inline_len/16) slots, counted over all blocks,
    // then nseg pieces, one a slot; other slots are ignored
    logic [383:0] slots;
    // bytes 14..15: first byte that the CRC-32C covers; ignored without the part (part crc32c)
    logic [15:0] crc_start;
    logic [7:0] l4_off;  // byte 13: offset of the UDP header, for the offloads
    logic [7:0] l3_off;  // byte 12: offset of the IP header, for the offloads
    logic [31:0] wqe_id;  // bytes 8..11: returned in the completion entry
    // bytes 6..7: where the CRC-32C is written; ignored without the part (part crc32c)
    logic [15:0] crc_off;
    // byte 5 bits 7:6: blocks of the entry beyond its first; reserved without the part (part long)
    logic [1:0] blocks;
    logic [4:0] f_rsvd;  // byte 5 bits 5:1: zero, else BadFormat
    // byte 5 bit 0: append pad bytes and the ICRC; reserved without the part (part append)
    logic f_append;
    // byte 4 bit 7: copies: the first write leaves after all writes and messages of the queue's
    // earlier entries; reserved without the part (part fence)
    logic f_fence;
    logic f_pad;  // byte 4 bit 6: append zero bytes until the frame has 60 bytes
    // byte 4 bit 5: insert a CRC-32C over the payload; status BadOffload in a build without the
    // part (part crc32c)
    logic f_crc32c;
    logic f_icrc;  // byte 4 bit 4: insert the ICRC
    logic f_udp_zero;  // byte 4 bit 3: set the UDP checksum to zero
    logic f_udp_csum;  // byte 4 bit 2: insert the UDP checksum
    logic f_ip_csum;  // byte 4 bit 1: insert the IPv4 header checksum
    logic f_complete;  // byte 4 bit 0: write a completion entry even if the status is Ok
    logic [7:0] port;  // byte 3: Ethernet port
    // byte 2: number of inline bytes, 0..176, with which the frame begins; inline bytes and pieces
    // must fit the entry's slots
    logic [7:0] inline_len;
    // byte 1: number of pieces, 0..8; inline bytes and pieces must fit the entry's slots
    logic [7:0] nseg;
    opcode_e opcode;  // byte 0: what to do
  } wqe_t;

  // WqeMore: a further block of a work entry: four more slots
  typedef struct packed {
    logic [511:0] slots;  // bytes 0..63: the slots after those of earlier blocks (part long)
  } wqe_more_t;

  // Seg: one piece of a frame
  typedef struct packed {
    logic [63:0] addr;  // bytes 8..15: virtual address inside the key's range
    logic [31:0] len;  // bytes 4..7: bytes, not zero
    // bytes 0..3: memory key: index in bits 15:0, variant in 31:24, bits 23:16 zero
    logic [31:0] key;
  } seg_t;

  // RxCqe: receive completion entry; reserved bytes are zero
  typedef struct packed {
    logic [6:0] rsvd2;
    logic phase;  // byte 63 bit 0: 1 on the first lap of the ring, then toggling
    logic [7:0] rsvd1;
    // bytes 60..61: bytes written to the payload buffer; zero without the part (part trim)
    logic [15:0] pay_len;
    // bytes 56..59: ordinal of the frame in its credit account; zero without the part (part
    // accounts)
    logic [31:0] account_seq;
    // bytes 52..55: CRC-32C of the payload, zero where [X3] gives none; zero without the part (part
    // crc32c)
    logic [31:0] crc32c_value;
    logic [31:0] psn;  // bytes 48..51: PSN in bits 23:0, AckReq in bit 31; bits 30:24 zero
    logic [31:0] dest_qp;  // bytes 44..47: destination QP in bits 23:0; bits 31:24 zero
    logic [15:0] pkey;  // bytes 42..43: P_Key
    logic [7:0] bth_flags;  // byte 41: second byte of the BTH: SE, M, PadCnt, TVer
    // byte 40: BTH opcode; without a BTH it and the next four fields are zero
    logic [7:0] bth_opcode;
    logic [15:0] dst_port;  // bytes 38..39: L4 destination port, zero if l4_type = None
    logic [15:0] src_port;  // bytes 36..37: L4 source port, zero if l4_type = None
    logic [7:0] ip_tos;  // byte 35: IPv4 ToS or IPv6 traffic class, zero without IP
    logic [7:0] ip_proto;  // byte 34: IPv4 protocol or IPv6 next header, zero without IP
    logic [15:0] ethertype;  // bytes 32..33: EtherType after the tags
    // bytes 28..31: Toeplitz hash of the frame; zero without the part (part rss)
    logic [31:0] rss_hash;
    logic [15:0] payload_off;  // bytes 26..27: end of the headers that were parsed
    logic [7:0] l4_off;  // byte 25: offset of the transport header, zero if l4_type = None
    // byte 24: offset of the network header (14 + 4 per tag), whatever l3_type is
    logic [7:0] l3_off;
    logic [15:0] vlan_inner;  // bytes 22..23: TCI of the second tag, zero without one
    logic [15:0] vlan_outer;  // bytes 20..21: TCI of the first tag, zero without one
    logic [7:0] port;  // byte 19: Ethernet port
    logic [4:0] rsvd0;
    // byte 18 bit 2: delivered to a slow-path ring; zero without the part (part accounts)
    logic slow_path;
    verdict_e crc32c;  // byte 18 bits 1:0: payload CRC-32C; zero without the part (part crc32c)
    verdict_e icrc;  // byte 17 bits 7:6: ICRC
    verdict_e l4_csum;  // byte 17 bits 5:4: UDP checksum
    verdict_e ip_csum;  // byte 17 bits 3:2: IPv4 header checksum
    logic l4_len_bad;  // byte 17 bit 1: the UDP length does not fit header or frame
    logic ip_len_bad;  // byte 17 bit 0: the IP length does not fit header or frame
    logic roce;  // byte 16 bit 7: a BTH was parsed
    logic frag;  // byte 16 bit 6: IPv4 fragment (MF set or offset not zero)
    logic [1:0] vlan_count;  // byte 16 bits 5:4: VLAN tags, 0..2
    l4_type_e l4_type;  // byte 16 bits 3:2: transport layer
    l3_type_e l3_type;  // byte 16 bits 1:0: network layer
    logic [15:0] hdr_len;  // bytes 14..15: bytes written to the header buffer
    logic [15:0] frame_len;  // bytes 12..13: bytes of the frame
    // bytes 8..11: ordinal of the frame on its port, from 0; dropped frames count
    logic [31:0] port_seq;
    logic [15:0] rule;  // bytes 6..7: rule that matched, 0xffff for the default action
    // bytes 4..5: descriptor consumed (free-running); in an Event the first descriptor of the
    // failing read
    logic [15:0] index;
    logic [15:0] queue_f;  // bytes 2..3: receive queue
    status_e status;  // byte 1: Ok, or the failing read's status in an Event
    cqe_type_e type_f;  // byte 0: Rx, or Event when the queue entered the error state
  } rx_cqe_t;

  // TxCqe: transmit completion entry; reserved bytes are zero
  typedef struct packed {
    logic [6:0] rsvd2;
    logic phase;  // byte 63 bit 0: 1 on the first lap of the ring, then toggling
    logic [391:0] rsvd1;
    // bytes 12..13: bytes that left, padding included; zero unless a frame left
    logic [15:0] frame_len;
    logic [31:0] wqe_id;  // bytes 8..11: from the work entry; zero in an Event
    logic [15:0] rsvd0;
    // bytes 4..5: work entry (free-running); in an Event the first block of the failing read
    logic [15:0] index;
    logic [15:0] queue_f;  // bytes 2..3: transmit queue
    // byte 1: how the work entry ended, or the status of the failing read in an Event
    status_e status;
    cqe_type_e type_f;  // byte 0: Tx, or Event when the queue entered the error state
  } tx_cqe_t;

  // RxqEntry: table Rxq
  typedef struct packed {
    logic [63:0] rsvd1;
    // byte 55: 1: frames with ECN 1 or 2 are written with ECN 3; above 1 BadValue; must be zero
    // without the part, else NotBuilt (part ecn)
    logic [7:0] ecn_mode;
    // byte 54: payload CRC-32C; must be zero without the part, else NotBuilt (part crc32c)
    crc_mode_e crc_mode;
    logic [15:0] cqi;  // bytes 52..53: completion entries written; ignored on write
    logic [15:0] ci;  // bytes 50..51: descriptors consumed; ignored on write
    logic [15:0] pi;  // bytes 48..49: producer index; ignored on write
    // bytes 46..47: longest wait of a completion entry for its message in units of 64 cycles, zero
    // for no limit; ignored without the part (part msix)
    logic [15:0] mod_cycles;
    // bytes 44..45: completion entries per message; ignored without the part (part msix)
    logic [15:0] mod_count;
    logic [31:0] msix_data;  // bytes 40..43: data of messages; ignored without the part (part msix)
    // bytes 32..39: bus address that messages are written to, zero for none; must be zero without
    // the part, else NotBuilt (part msix)
    logic [63:0] msix_addr;
    logic [63:0] cq_base;  // bytes 24..31: bus address, 64 B aligned
    logic [63:0] ring_base;  // bytes 16..23: bus address, 64 B aligned
    logic [31:0] rsvd0;
    // byte 11: 1: pad and ICRC of RoCE frames are not written to memory; above 1 BadValue; must be
    // zero without the part, else NotBuilt (part trim)
    logic [7:0] trim;
    status_e error;  // byte 10: why the queue is in the error state
    logic [15:0] pay_buf_size;  // bytes 8..9: bytes of a payload buffer; not zero
    logic [15:0] hdr_buf_size;  // bytes 6..7: bytes of a header buffer; not zero when splitting
    logic [15:0] split_len;  // bytes 4..5: mode Fixed: bytes to split off
    queue_state_e state;  // byte 3: state of the queue; ignored on write
    // byte 2: log2 of the ring size, 2..15; the completion ring has the same size
    logic [7:0] log_size;
    split_mode_e split_mode;  // byte 1: header split
    // byte 0: 1 enables and resets the indices, 0 disables; other values BadValue
    logic [7:0] enable;
  } rxq_entry_t;

  // TxqEntry: table Txq
  typedef struct packed {
    logic [63:0] rsvd3;
    // byte 55: 1..3: ECN bits that the queue's IP frames get; above 3 BadValue; must be zero
    // without the part, else NotBuilt (part ecn)
    logic [7:0] ecn_mode;
    // byte 54: priority class 0..7 of the queue's frames, above 7 BadValue; must be zero without
    // the part, else NotBuilt (part pause)
    logic [7:0] pfc_class;
    logic [15:0] cqi;  // bytes 52..53: completion entries written; ignored on write
    logic [15:0] ci;  // bytes 50..51: blocks of work entries that ended; ignored on write
    logic [15:0] pi;  // bytes 48..49: producer index; ignored on write
    logic [15:0] mod_cycles;  // bytes 46..47: as in RxqEntry (part msix)
    logic [15:0] mod_count;  // bytes 44..45: as in RxqEntry (part msix)
    logic [31:0] msix_data;  // bytes 40..43: as in RxqEntry (part msix)
    logic [63:0] msix_addr;  // bytes 32..39: as in RxqEntry (part msix)
    logic [63:0] cq_base;  // bytes 24..31: bus address, 64 B aligned
    logic [63:0] ring_base;  // bytes 16..23: bus address, 64 B aligned
    logic [39:0] rsvd2;
    status_e error;  // byte 10: why the queue is in the error state
    logic [47:0] rsvd1;
    queue_state_e state;  // byte 3: state of the queue; ignored on write
    logic [7:0] log_size;  // byte 2: as in RxqEntry
    logic [7:0] rsvd0;
    logic [7:0] enable;  // byte 0: as in RxqEntry
  } txq_entry_t;

  // KeyEntry: table Key
  typedef struct packed {
    // bytes 24..31: bus address that va_base stands for; bus_base + length must stay inside one
    // endpoint, else BadValue
    logic [63:0] bus_base;
    logic [63:0] length;  // bytes 16..23: bytes; va_base + length must not pass 2^64, else BadValue
    logic [63:0] va_base;  // bytes 8..15: first virtual address
    logic [39:0] rsvd1;
    logic [7:0] variant;  // byte 2: must equal bits 31:24 of the key
    logic [5:0] rsvd0;
    logic right_write;  // byte 1 bit 1: the device may write
    logic right_read;  // byte 1 bit 0: the device may read
    logic [7:0] valid;  // byte 0: 1 valid, 0 not; other values BadValue
  } key_entry_t;

  // SteerKey: fields that rules compare; fields of absent layers are zero
  typedef struct packed {
    logic [31:0] dest_qp;  // bytes 52..55: BTH destination QP in bits 23:0
    logic [15:0] dst_port;  // bytes 50..51: L4 destination port
    logic [15:0] src_port;  // bytes 48..49: L4 source port
    // bytes 32..47: destination address; IPv4 in the first four bytes, the rest zero
    logic [127:0] dst_addr;
    // bytes 16..31: source address; IPv4 in the first four bytes, the rest zero
    logic [127:0] src_addr;
    logic [7:0] bth_opcode;  // byte 15: BTH opcode
    logic [7:0] ip_tos;  // byte 14: IPv4 ToS or IPv6 traffic class
    logic [47:0] dmac;  // bytes 8..13: destination MAC address
    logic [15:0] vlan_outer;  // bytes 6..7: TCI of the first tag
    logic [15:0] ethertype;  // bytes 4..5: EtherType after the tags
    logic [5:0] rsvd0;
    logic has_vlan2;  // byte 3 bit 1: two tags
    logic has_vlan;  // byte 3 bit 0: at least one tag
    logic l4_len_bad;  // byte 2 bit 7: as in the completion entry
    logic ip_len_bad;  // byte 2 bit 6: as in the completion entry
    logic is_frag;  // byte 2 bit 5: IPv4 fragment
    logic is_roce;  // byte 2 bit 4: a BTH was parsed
    logic is_tcp;  // byte 2 bit 3: l4_type is Tcp
    logic is_udp;  // byte 2 bit 2: l4_type is Udp
    logic is_ipv6;  // byte 2 bit 1: l3_type is Ipv6
    logic is_ipv4;  // byte 2 bit 0: l3_type is Ipv4
    logic [7:0] ip_proto;  // byte 1: IPv4 protocol or IPv6 next header
    logic [7:0] port;  // byte 0: Ethernet port
  } steer_key_t;

  // RuleEntry: table Rule
  typedef struct packed {
    logic [55:0] rsvd0;
    // byte 120: action Rss: log2 of the entries of the group; ignored without the part (part rss)
    logic [7:0] rss_log;
    // bytes 118..119: receive queue of the slow path; ignored without the part (part accounts)
    logic [15:0] slow_queue;
    // byte 117: account that matching frames draw on; ignored without the part (part accounts)
    logic [7:0] account;
    // byte 116: 1: matching frames draw on the account; above 1 BadValue; must be zero without the
    // part, else NotBuilt (part accounts)
    logic [7:0] account_en;
    // bytes 114..115: receive queue, or first entry of the RSS group; beyond the queues of this
    // build BadValue
    logic [15:0] queue_f;
    action_e action;  // byte 113: Drop, Queue or Rss; other values BadValue
    logic [7:0] valid;  // byte 112: 1 valid, 0 not; other values BadValue
    logic [447:0] mask;  // bytes 56..111: bits to compare: 1 for bits that must equal value
    logic [447:0] value;  // bytes 0..55: SteerKey to compare with
  } rule_entry_t;

  // IndirectionEntry: table Indirection
  typedef struct packed {
    logic [15:0] rsvd0;
    logic [15:0] queue_f;  // bytes 0..1: receive queue; beyond the queues of this build BadValue
  } indirection_entry_t;

  // AccountEntry: table Account
  typedef struct packed {
    logic [31:0] seq;  // bytes 12..15: account_seq of the next frame; ignored on write
    // bytes 8..11: credits drawn by frames since the account was set; ignored on write
    logic [31:0] drawn;
    logic [15:0] rsvd0;
    logic [7:0] slow;  // byte 5: 1 in state Slow; ignored on write
    // byte 4: 1: once a frame found no credit, all frames go the slow way until resume; above 1
    // BadValue
    logic [7:0] latch;
    logic [31:0] balance;  // bytes 0..3: credits; above 2^24 - 1 BadValue
  } account_entry_t;

  // PortEntry: table PortCfg
  typedef struct packed {
    // bytes 12..15: end the pause when the receive buffer holds no more bytes than this
    logic [31:0] xon;
    // bytes 8..11: pause the peer when the receive buffer holds more bytes than this
    logic [31:0] xoff;
    logic [15:0] rsvd0;
    logic [15:0] pause_time;  // bytes 4..5: pause time of the frames sent, quanta
    logic [7:0] tx_classes;  // byte 3: mode Priority: classes that are paused
    pause_mode_e tx_mode;  // byte 2: kind of pause frames sent; above 2 BadValue
    logic [7:0] rx_pfc;  // byte 1: classes whose priority pauses are honoured, class i in bit i
    logic [7:0] rx_pause;  // byte 0: 1: pause frames are honoured; above 1 BadValue
  } port_entry_t;

  // InvalidateMsg: payload of an invalidate message
  typedef struct packed {
    logic [31:0] rsvd0;
    logic [31:0] lines;  // bytes 8..11: number of 64 B lines
    logic [63:0] addr;  // bytes 0..7: bus address of the first line
  } invalidate_msg_t;

endpackage
