package capture

import (
	"encoding/binary"
	"fmt"
)

// Options of pcapng that have a value of a fixed size, and what they are of.
const (
	optResolution = 9 // of an interface's times

	most10 = 19 // exponents of resolutions that 64 bits hold
	most2  = 63
)

// optionBytes are the bytes of such options, by block type and code. Others have any number.
var optionBytes = map[uint32]map[uint16]int{
	blockInterface:  {optResolution: 1, 11: 1, 14: 8},
	blockStatistics: {2: 8, 3: 8, 4: 8, 5: 8},
}

// checkOptions checks the options of a block, which the reader takes as they are.
func checkOptions(order binary.ByteOrder, typ uint32, list []byte) error {
	for len(list) > 0 {
		if len(list) < 4 {
			return fmt.Errorf("options of block type %d: %d bytes where an option takes 4 or more", typ, len(list))
		}
		code, n := order.Uint16(list), int(order.Uint16(list[2:]))
		list = list[4:]
		padded := (n + 3) &^ 3
		switch least := optionBytes[typ][code]; {
		case code == 0 && n == 0:
			return nil
		case code == 0:
			return fmt.Errorf("end of options of block type %d with %d bytes: wants none", typ, n)
		case padded > len(list):
			return fmt.Errorf("option %d of block type %d with %d bytes where %d are left", code, typ, n, len(list))
		case n < least:
			return fmt.Errorf("option %d of block type %d with %d bytes: wants %d", code, typ, n, least)
		case typ == blockInterface && code == optResolution && !isResolution(list[0]):
			return fmt.Errorf("resolution of times %#02x: wants 10 to the power of -0 to -%d (0 to %#x) or 2 to that of -0 to -%d (0x80 to %#x)",
				list[0], most10, most10, most2, 0x80+most2)
		}
		list = list[padded:]
	}
	return nil
}

// isResolution reports whether a resolution can be counted with.
func isResolution(v byte) bool { return v <= most10 || v >= 0x80 && v <= 0x80+most2 }
