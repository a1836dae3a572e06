package fuzz

import (
	"fmt"

	"nictwin/models/tlp"
)

// otherNames are requests that are no memory requests, by the first header byte [P8].
var otherNames = map[byte]string{
	0x01: "MRdLk, 3 DW", 0x21: "MRdLk, 4 DW", 0x02: "IORd", 0x42: "IOWr", 0x04: "CfgRd0", 0x44: "CfgWr0", 0x05: "CfgRd1", 0x45: "CfgWr1",
	0x4c: "FetchAdd, 3 DW", 0x6c: "FetchAdd, 4 DW", 0x4d: "Swap, 3 DW", 0x6d: "Swap, 4 DW", 0x4e: "CAS, 3 DW", 0x6e: "CAS, 4 DW",
	0x5b: "DMWr, 3 DW", 0x7b: "DMWr, 4 DW",
	0x30: "Msg to the root", 0x31: "Msg by address", 0x32: "Msg by ID", 0x33: "broadcast Msg", 0x34: "local Msg", 0x35: "gathered Msg",
	0x70: "MsgD to the root", 0x72: "MsgD by ID", 0x1f: "no type", 0x80: "prefix", 0xa0: "Fmt 5", 0xe0: "Fmt 7", 0x41: "MWrLk",
	0x22: "IORd, 4 DW", 0x64: "CfgWr0, 4 DW", 0x0c: "FetchAdd without data", 0x2a: "Cpl, 4 DW",
}

func otherName(hdr *[tlp.HeaderBytes]byte) string {
	name, ok := otherNames[hdr[0]]
	if !ok {
		return "any other"
	}
	if hdr[2]&0x40 != 0 {
		return name + ", poisoned"
	}
	return name
}

// cross is every combination of one word of each list.
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

// join puts the words of a bin together.
func join(words ...string) string {
	s := words[0]
	for _, w := range words[1:] {
		if w != "" {
			s += " × " + w
		}
	}
	return s
}

// names are numbered words.
func names(format string, numbers ...int) []string {
	var all []string
	for _, n := range numbers {
		all = append(all, fmt.Sprintf(format, n))
	}
	return all
}
