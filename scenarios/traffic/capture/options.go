package capture

import (
	"encoding/binary"
	"fmt"
)

// Codes of the interface options that the reader uses.
const (
	optResolution = 9
	optOffset     = 14

	most10 = 19 // largest exponent of 10, for resolutions that fit into 64 bits
	most2  = 63
)

// optionBytes holds the sizes of options of fixed size, by block type and code.
var optionBytes = map[uint32]map[uint16]int{
	blockInterface:  {optResolution: 1, 11: 1, optOffset: 8},
	blockStatistics: {2: 8, 3: 8, 4: 8, 5: 8},
}

// microseconds is the resolution of time stamps, in units per second, unless an interface gives another one.
const microseconds = 1_000_000

// checkOptions checks the options of a block. For an interface it returns the clock that they describe.
func checkOptions(order binary.ByteOrder, typ uint32, list []byte) (clock, error) {
	c := clock{units: microseconds}
	for len(list) > 0 {
		if len(list) < 4 {
			return c, fmt.Errorf("options of block type %d: %d bytes where an option takes 4 or more", typ, len(list))
		}
		code, n := order.Uint16(list), int(order.Uint16(list[2:]))
		list = list[4:]
		padded := (n + 3) &^ 3
		switch least := optionBytes[typ][code]; {
		case code == 0 && n == 0:
			return c, nil
		case code == 0:
			return c, fmt.Errorf("end of options of block type %d with %d bytes: wants none", typ, n)
		case padded > len(list):
			return c, fmt.Errorf("option %d of block type %d with %d bytes where %d are left", code, typ, n, len(list))
		case n < least:
			return c, fmt.Errorf("option %d of block type %d with %d bytes: wants %d", code, typ, n, least)
		case typ == blockInterface && code == optResolution:
			if !isResolution(list[0]) {
				return c, fmt.Errorf("resolution of times %#02x: wants 10 to the power of -0 to -%d (0 to %#x) or 2 "+
					"to that of -0 to -%d (0x80 to %#x)",
					list[0], most10, most10, most2, 0x80+most2)
			}
			c.units = units(list[0])
		case typ == blockInterface && code == optOffset:
			c.offset = int64(order.Uint64(list))
		}
		list = list[padded:]
	}
	return c, nil
}

// isResolution reports whether a resolution is supported.
func isResolution(v byte) bool { return v <= most10 || v >= 0x80 && v <= 0x80+most2 }

// units returns the number of time units per second of a resolution.
func units(v byte) uint64 {
	if v >= 0x80 {
		return 1 << (v - 0x80)
	}
	n := uint64(1)
	for range v {
		n *= 10
	}
	return n
}
