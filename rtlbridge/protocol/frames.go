package protocol

import (
	"encoding/binary"
	"fmt"
)

// Limits of the protocol (docs/bridge.md), the same on both sides.
const (
	MaxFrameBytes = 64 << 20
	MaxDataBytes  = 1 << 20 // bytes of one transaction, at most
	MaxSideBytes  = 256
	MaxRunCycles  = 1 << 20 // cycles of one quantum, at most
	maxErrorText  = 8192
	maxRecords    = MaxFrameBytes / 16
)

// Version is the protocol version that this package speaks.
const Version = 3

const (
	Magic       = 0x004e49575443494e // "NICTWIN\0"
	HeadBytes   = 8
	OpenBytes   = 48
	RunBytes    = 24
	InputBytes  = 8
	recordBytes = 16
	eventBytes  = 32
	ranBytes    = 40
	unlimited   = 0xffffffff
)

// FrameType is the type of a protocol frame.
type FrameType uint16

// Frame types.
const (
	FrameOpen FrameType = iota + 1
	FrameHello
	FrameStart
	FrameInput
	FrameRun
	FrameRan
	FrameError
	FrameStop
)

var frameNames = [...]string{"", "OPEN", "HELLO", "START", "INPUT", "RUN", "RAN", "ERROR", "STOP"}

func (t FrameType) String() string {
	return nameOf(frameNames[:], int(t), "frame type")
}

// nameOf returns the name of a code, or the code itself if it has none.
func nameOf(names []string, code int, what string) string {
	if code > 0 && code < len(names) {
		return names[code]
	}
	return fmt.Sprintf("%s %d", what, uint(code))
}

// Fault is the class of a protocol violation; both sides use the same classes.
type Fault string

// Protocol faults.
const (
	FaultTruncated Fault = "truncated"
	FaultTrailing  Fault = "trailing"
	FaultFrameType Fault = "frame-type"
	FaultLimit     Fault = "limit"
	FaultValue     Fault = "value"
	FaultStream    Fault = "stream"
	FaultMagic     Fault = "magic"
	FaultVersion   Fault = "version"
)

// ProtocolError is a frame that does not follow docs/bridge.md.
type ProtocolError struct {
	Frame FrameType
	Fault Fault
	Msg   string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("%v frame refused: %s: %s", e.Frame, e.Fault, e.Msg)
}

func ProtoErr(t FrameType, f Fault, format string, args ...any) error {
	return &ProtocolError{Frame: t, Fault: f, Msg: fmt.Sprintf(format, args...)}
}

// ErrorCode is the reason for which a device ended a session.
type ErrorCode uint32

// Codes of ERROR frames.
const (
	CodeProtocol ErrorCode = iota + 1 // the device refused a frame
	CodeVersion                       // no common protocol version
	CodeToken                         // wrong token
	CodeLimit                         // a limit was exceeded
	CodeAssert                        // the design reported $error, $fatal, $stop or a failed assertion
	CodeFinish                        // the design called $finish
	CodeInternal                      // the simulation itself failed
	CodeIdle                          // the design changed in a cycle that could have been skipped
	CodeLink                          // the board, or the link to it, failed
)

var codeNames = [...]string{"", "protocol", "version", "token", "limit", "assertion", "finish", "internal", "idle",
	"link"}

func (c ErrorCode) String() string {
	return nameOf(codeNames[:], int(c), "code")
}

// DeviceError is the content of an ERROR frame: the device's last message.
type DeviceError struct {
	Code  ErrorCode
	Cycle uint64
	Text  string
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("device stopped at cycle %d (%v): %s", e.Cycle, e.Code, e.Text)
}

func pad8(n int) int { return (n + 7) &^ 7 }

var Le = binary.LittleEndian

func PutHead(b []byte, t FrameType, payload int) {
	Le.PutUint32(b, uint32(payload))
	Le.PutUint16(b[4:], uint16(t))
	Le.PutUint16(b[6:], 0)
}

// ParseHead checks a frame header and returns the payload's length.
func ParseHead(b []byte) (FrameType, int, error) {
	n, t := Le.Uint32(b), FrameType(Le.Uint16(b[4:]))
	switch {
	case Le.Uint16(b[6:]) != 0:
		return t, 0, ProtoErr(t, FaultValue, "reserved field is not zero")
	case t < FrameOpen || t > FrameStop:
		return t, 0, ProtoErr(t, FaultFrameType, "unknown")
	case n > MaxFrameBytes || n%8 != 0:
		return t, 0, ProtoErr(t, FaultLimit, "%d bytes: needs a multiple of 8 up to %d", n, MaxFrameBytes)
	}
	return t, int(n), nil
}
