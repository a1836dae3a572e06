package wire

import "fmt"

// TruncatedError reports that the input ends before a header, or a part that belongs to it, is
// complete.
type TruncatedError struct {
	// Header names the incomplete part: "BTH", "RETH", "pad and ICRC", ...
	Header string
	// Need and Have are byte counts: the size of the whole header, and the rest of the input where
	// it should begin.
	Need, Have int
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("wire: %s truncated: needs %d bytes, have %d", e.Header, e.Need, e.Have)
}

// RangeError reports that a field's value does not fit its bits in the header.
type RangeError struct {
	Header, Field string
	Got, Max      uint64
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("wire: %s.%s is %#x, the largest that fits is %#x", e.Header, e.Field, e.Got, e.Max)
}

const max24 = 1<<24 - 1

// view returns the first size bytes of b as a slice whose capacity ends there, so that append does
// not overwrite what follows.
func view(b []byte, size int, name string) ([]byte, error) {
	if len(b) < size {
		return nil, &TruncatedError{Header: name, Need: size, Have: len(b)}
	}
	return b[:size:size], nil
}

func check24(header, field string, v uint32) error {
	if v > max24 {
		return &RangeError{Header: header, Field: field, Got: uint64(v), Max: max24}
	}
	return nil
}

func uint24(b []byte) uint32 {
	_ = b[2]
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

func putUint24(b []byte, v uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v)
}

// ValueError reports that a header's field has an unexpected value.
type ValueError struct {
	Header, Field string
	Got           uint64
	Want          string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("wire: %s %s is %#x, want %s", e.Header, e.Field, e.Got, e.Want)
}
