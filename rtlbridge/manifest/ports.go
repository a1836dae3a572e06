package manifest

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// PinPort is a port of the verilated top module.
type PinPort struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`   // "in", "out" or "inout"
	Width int    `json:"width"` // bits
	// Array is the C dimension of an unpacked-array port, "" for a packed one.
	Array string `json:"array,omitempty"`
	// Member is the C++ member of the verilated class, which escapes double underscores.
	Member string `json:"member"`
}

// VL_IN8(&clk,0,0); VL_OUTW(&data,511,0,16); VL_IN8((&x)[4],7,0);
var rePort = regexp.MustCompile(
	`^\s*VL_(IN|OUT|INOUT)(8|16|64|W)?\(\(?&(\w+)\)?((?:\[\d+\])*),(-?\d+),(-?\d+)(?:,\d+)?\);`)

var reEscape = regexp.MustCompile(`__0([0-9A-Fa-f]{2})`)

// Verilator puts `reserved` before a name that is a word of C++, or that C++ code is likely to use: abort, class,
// register. A name of the design's own with double underscores is escaped, so it never begins like that. A name that is
// too long is cut; Verilator puts `hashed` and a checksum behind the part that it keeps.
const (
	reserved = "__SYM__"
	hashed   = "__Vhsh"
)

// ParsePorts reads the port declarations of a verilated top-level header.
func ParsePorts(header io.Reader) ([]PinPort, error) {
	var ports []PinPort
	sc := bufio.NewScanner(header)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		g := rePort.FindStringSubmatch(sc.Text())
		if g == nil {
			continue
		}
		if strings.Contains(g[3], hashed) {
			return nil, fmt.Errorf("port %s...: the name is longer than Verilator keeps (127 characters); make it "+
				"shorter",
				g[3][:strings.Index(g[3], hashed)])
		}
		msb, err1 := strconv.Atoi(g[5])
		lsb, err2 := strconv.Atoi(g[6])
		if err1 != nil || err2 != nil || msb < lsb {
			return nil, fmt.Errorf("port declaration not understood: %s", strings.TrimSpace(sc.Text()))
		}
		ports = append(ports, PinPort{
			Name: Unescape(g[3]), Member: g[3], Dir: strings.ToLower(g[1]), Width: msb - lsb + 1, Array: g[4],
		})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading the verilated header: %w", err)
	}
	if len(ports) == 0 {
		return nil, fmt.Errorf("the verilated top module has no ports")
	}
	return ports, nil
}

// Unescape returns the name in the design: without Verilator's mark of a reserved name, and with the characters
// that it escapes (__05F is '_').
func Unescape(s string) string {
	return reEscape.ReplaceAllStringFunc(strings.TrimPrefix(s, reserved), func(e string) string {
		n, _ := strconv.ParseUint(e[3:], 16, 8)
		return string(rune(n))
	})
}
