package coverage

import (
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// OtherNames names the requests other than memory requests, by first header byte [P8].
var OtherNames = map[byte]string{
	0x01: "MRdLk, 3 DW", 0x21: "MRdLk, 4 DW", 0x02: "IORd", 0x42: "IOWr", 0x04: "CfgRd0", 0x44: "CfgWr0",
	0x05: "CfgRd1", 0x45: "CfgWr1",
	0x4c: "FetchAdd, 3 DW", 0x6c: "FetchAdd, 4 DW", 0x4d: "Swap, 3 DW", 0x6d: "Swap, 4 DW", 0x4e: "CAS, 3 DW",
	0x6e: "CAS, 4 DW",
	0x5b: "DMWr, 3 DW", 0x7b: "DMWr, 4 DW",
	0x30: "Msg to the root", 0x31: "Msg by address", 0x32: "Msg by ID", 0x33: "broadcast Msg", 0x34: "local Msg",
	0x35: "gathered Msg",
	0x70: "MsgD to the root", 0x72: "MsgD by ID", 0x1f: "no type", 0x80: "prefix", 0xa0: "Fmt 5", 0xe0: "Fmt 7",
	0x41: "MWrLk",
	0x22: "IORd, 4 DW", 0x64: "CfgWr0, 4 DW", 0x0c: "FetchAdd without data", 0x2a: "Cpl, 4 DW",
}

func OtherName(hdr *[tlp.HeaderBytes]byte) string {
	name, ok := OtherNames[hdr[0]]
	if !ok {
		return "any other"
	}
	if hdr[2]&0x40 != 0 {
		return name + ", poisoned"
	}
	return name
}

// cross returns every combination of one word from each list.
func cross(lists ...[]string) []string {
	all := []string{""}
	for i, list := range lists {
		var next []string
		for _, a := range all {
			for _, b := range list {
				if i > 0 {
					b = join(a, b)
				}
				next = append(next, b)
			}
		}
		all = next
	}
	return all
}

// join joins the words of a bin's name.
func join(words ...string) string {
	s := words[0]
	for _, w := range words[1:] {
		if w != "" {
			s += " × " + w
		}
	}
	return s
}

// names formats numbered words.
func names(format string, numbers ...int) []string {
	var all []string
	for _, n := range numbers {
		all = append(all, fmt.Sprintf(format, n))
	}
	return all
}

// Words used in the names of bins for work entries of revision 2.
var (
	BlockWords  = names("%d blocks", 1, 2, 3, 4)
	PadWords    = names("pad count %d", 0, 1, 2, 3)
	InlineWords = []string{"nothing inline", "1..48 B inline", "49..112 B inline", "113..176 B inline"}
	PieceWords  = []string{"no pieces", "1..3 pieces", "4..8 pieces"}
)

func Direction(tx bool) string {
	if tx {
		return "transmit"
	}
	return "receive"
}

// Extended lists the opcodes of [H7] that are followed by extended headers.
var Extended = []uint8{0x03, 0x05, 0x06, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17,
	0x23, 0x25,
	0x26, 0x29, 0x2a, 0x2b, 0x64, 0x65, 0x81}

// Lengths classifies frame lengths by upper bounds.
var Lengths = []struct {
	Most int
	Name string
}{
	{59, "under 60 B"}, {60, "60 B"}, {127, "61..127 B"}, {255, "128..255 B"}, {511, "256..511 B"},
	{1518, "512..1518 B"},
	{4095, "1519..4095 B"}, {9215, "4096..9215 B"}, {nicspec.FrameMax, "9216 B"},
}

// Words used in the names of bins for pauses.
var (
	ScopeWords = append([]string{"port"}, names("class %d", 0, 1, 2, 3, 4, 5, 6, 7)...)
	stopWords  = []string{StopWord(1), StopWord(0)}
	loadWords  = []string{"sending", "idle"}
	ModeWords  = []string{"Pause", "Priority"}
	SentWords  = []string{"stop", "stop again", "end"}
)

func LogClass(log int) string {
	if log > 4 {
		return "32 entries and more"
	}
	return fmt.Sprintf("%d entries", 1<<log)
}

// OpcodeName names an opcode with extended headers; all others are "other".
func OpcodeName(op uint8) string {
	for _, e := range Extended {
		if e == op {
			return fmt.Sprintf("%#02x", op)
		}
	}
	return "other"
}

// RareWords names rare events in which bugs were once missed.
var RareWords = []string{"split_len 16,384 and more", "default queue with high bits", "overfull receive doorbell",
	"two DWs of TBL_DATA while busy",
	"failing descriptor read 64 places on", "frame of more than 16,384 B", "key index with bit 15",
	"crc_off about the UDP end", "pause renewed"}

var RegionNames = [program.Regions]string{"host", "Arm below 4 GB", "Arm above 4 GB"}

func StallClass(percent int) string {
	switch {
	case percent == 0:
		return "no stalls"
	case percent <= 30:
		return "stalls up to 30%"
	}
	return "more stalls"
}

func Truth(what string, bad bool) string {
	if bad {
		return what + " lies"
	}
	return what + " is right"
}

func StopWord(time uint16) string {
	if time == 0 {
		return "end"
	}
	return "stop"
}
