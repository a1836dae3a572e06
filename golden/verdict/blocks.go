package verdict

import "strings"

// FieldPayload is the field of mismatches about a write's payload size.
const FieldPayload = "payload bytes"

// blocksByBoth, blocksByField and blocksByRule name the block (a Go file and an RTL module of the
// same name) responsible for a mismatch: by rule and field, else by field, else by rule.
var blocksByBoth = map[string]string{
	"P2 Tag": "reader", "C1 read outstanding": "reader", "Q4 status": "reader", "T2 status": "reader",
	"R10 status":                  "cqe",
	"P3 " + FieldPayload:          "rxdma", // a write that is too long; else [P3] points at the reader
	"P9 completion entry address": "cqe", "S3 queue": "rss", "F4 read": "txq",
}

var blocksByField = map[string]string{
	"type": "cqe", "queue": "steer", "rule": "steer", "index": "rxq", "port_seq": "parse",
	"hdr_len": "rxdma", "frame_len": "cqe", "phase": "cqe", "ip_csum": "csum", "l4_csum": "csum", "icrc": "icrc",
	"l3_type": "parse", "l4_type": "parse", "vlan_count": "parse", "frag": "parse", "roce": "parse",
	"ip_len_bad": "parse", "l4_len_bad": "parse", "vlan_outer": "parse", "vlan_inner": "parse",
	"l3_off": "parse", "l4_off": "parse", "payload_off": "parse", "ethertype": "parse", "ip_proto": "parse",
	"ip_tos": "parse", "src_port": "parse", "dst_port": "parse", "bth_opcode": "parse", "bth_flags": "parse",
	"pkey": "parse", "dest_qp": "parse", "psn": "parse", "wqe_id": "cqe", "rss_hash": "rss", "slow_path": "account",
	"account_seq": "account",
	"crc32c":      "crc32c", "crc32c_value": "crc32c",
	"ipv4.csum": "offload", "udp.csum": "offload",
}

var blocksByRule = map[string]string{
	"B": "tlp", "B3": "tx", "P2": "tlp", "P3": "reader", "P4": "reader", "P5": "reader", "P6": "reader", "P7": "reader",
	"P8": "request",
	"G":  "regs", "G5": "counters", "G6": "tables", "G7": "tables", "P9": "rxdma", "P10": "tlp", "P11": "tlp",
	"R": "rxdma", "R2": "parse", "R3": "overflow", "R4": "csum", "R5": "steer", "R6": "steer", "R7": "admission",
	"R8": "admission",
	"R9": "descriptor",
	"H":  "parse", "H8": "csum", "H9": "csum", "H10": "icrc",
	"Q": "fetch", "Q2": "rxq", "Q4": "rxq", "Q5": "rxq", "Q8": "cqe",
	"T": "wqe", "T1": "txq", "T2": "fetch", "T4": "key", "T5": "gather", "T6": "gather", "T7": "offload",
	"T8": "offload", "T9": "tx",
	"T10": "cqe", "T11": "txq", "T12": "key", "T14": "txq", "T15": "offload",
	"C2": "rxdma", "C1": "counters", "S": "rss", "X": "crc32c", "E": "ecn", "F": "pause", "A": "account", "D": "copy",
	"M": "msix", "W": "push", "L": "flr",
}

// blocksByCounter gives the block that steps a counter. Counters of frames and bytes are not in it.
var blocksByCounter = map[string]string{
	"RX_DROP_IP_CSUM": "csum", "RX_DROP_L4_CSUM": "csum", "RX_DROP_ICRC": "icrc", "RX_DROP_RULE": "steer",
	"RX_DROP_NO_RULE":  "steer",
	"RX_DROP_DISABLED": "entrance", "RX_DROP_RUNT": "entrance", "RX_DROP_OVERSIZE": "entrance",
	"RX_DROP_OVERFLOW": "overflow", "RX_DROP_NO_DESC": "descriptor",
	"RX_DROP_QUEUE_OFF": "admission", "RX_DROP_QUEUE_ERR": "admission", "RX_DROP_TOO_LONG": "admission",
	"RX_DROP_CRC32C": "crc32c", "RX_PAUSE": "pause", "TX_PAUSE": "pause", "RULE_HITS": "steer", "DB_BAD": "rxq",
	"REG_BAD":    "regs",
	"COPY_BYTES": "copy", "MSIX": "msix", "CPL_UNEXPECTED": "reader", "CPL_ERR": "reader", "CPL_TIMEOUTS": "reader",
	"TLP_UNSUPPORTED": "request",
}

// timed lists the blocks whose Go file is in models/nic: their work is timing and order rather than function.
var timed = map[string]bool{"tlp": true, "tx": true, "gather": true, "txq": true, "fetch": true, "copy": true,
	"msix": true, "flr": true, "overflow": true, "descriptor": true}

// goNames gives the Go file of blocks where it is not named after the block.
var goNames = map[string]string{"tlp": "tlpout", "fetch": "ring/window", "push": "access",
	"entrance": "steer", "overflow": "rx", "descriptor": "rx", "admission": "rxq"}

// rtlNames gives the RTL module of blocks where it is not named after the block.
var rtlNames = map[string]string{"tlp": "tlp_mux", "tx": "txout", "request": "tlp_demux", "cqe": "rxdma",
	"fetch": "rxfetch",
	"ecn":   "rxdma", "push": "txq_fetch",
	"entrance": "rxport", "overflow": "rxport", "descriptor": "rxtake", "admission": "rxtake"}

// txRTLNames gives, by block, the RTL module that serves transmit queues, where it is not the one of receive queues.
var txRTLNames = map[string]string{"cqe": "txcqe", "fetch": "txq_fetch", "rxq": "txq", "crc32c": "offload_crc",
	"ecn": "ecn"}

// responsible returns the Go file and the RTL file that a mismatch points at.
func responsible(d Domain, rule, field string) (goFile, rtlFile string) {
	block, exact := blocksByBoth[rule+" "+field]
	ofField, ok := blocksByField[field]
	counter, _, _ := strings.Cut(field, "[")
	switch {
	case exact:
	case d.Kind == DomainCounters && blocksByCounter[counter] != "":
		block = blocksByCounter[counter]
	case d.Kind == DomainTxq && (field == "type" || field == "queue" || field == "index" || field == "port_seq"):
		block = "cqe"
	case ok && d.Kind != DomainCounters:
		block = ofField
	default:
		if block, ok = blocksByRule[rule]; !ok {
			block = blocksByRule[strings.TrimRight(rule, "0123456789")]
		}
	}
	if block == "" {
		return "", ""
	}
	name := func(others ...map[string]string) string {
		for _, other := range others {
			if n, ok := other[block]; ok {
				return n
			}
		}
		return block
	}
	rtl := []map[string]string{rtlNames}
	if d.Kind == DomainTxq {
		rtl = []map[string]string{txRTLNames, rtlNames}
	}
	dir := "models/nic/core/"
	if timed[block] {
		dir = "models/nic/"
	}
	return dir + name(goNames) + ".go", rtlFileOf(name(rtl...))
}

// rtlRooms lists, for each folder of verilator/rtl, the modules in it that a mismatch may name.
var rtlRooms = map[string]string{
	"receive":    "account crc32c csum icrc parse rss rxdma rxfetch rxport rxq rxtake steer",
	"transmit":   "ecn gather offload offload_crc pause txcqe txout",
	"workqueues": "key txq txq_fetch wqe",
	"copy":       "copy",
	"pcie":       "msix reader tlp_demux tlp_mux",
	"registers":  "counters flr regs tables",
}

var rtlFiles = func() map[string]string {
	files := map[string]string{}
	for room, modules := range rtlRooms {
		for m := range strings.FieldsSeq(modules) {
			files[m] = "verilator/rtl/" + room + "/nic_" + m + ".sv"
		}
	}
	return files
}()

// rtlFileOf returns the file of a module, whose name is given without nic_.
func rtlFileOf(module string) string { return rtlFiles[module] }
