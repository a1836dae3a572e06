package player

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/observe/result"
)

// StoppedError reports that a failed assertion of the RTL ended the run.
type StoppedError struct {
	Cycle uint64
	What  string // message of the assertion
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("cycle %d: the RTL stops by itself: %s", e.Cycle, e.What)
}

// Finding returns the error as a finding.
func (e *StoppedError) Finding() result.Finding {
	return result.Finding{Domain: result.Device, Field: "assertion", Expected: "none fails", Got: e.What,
		Cycle: new(int64(e.Cycle)), Failure: result.Crash}
}

// simTime matches the time that Verilator prints before a message.
var simTime = regexp.MustCompile(`^\[\d+\] `)

// stoppedError turns the error of a device that ended by a failed assertion or by $finish into a StoppedError.
func stoppedError(err error) error {
	d, ok := errors.AsType[*protocol.DeviceError](err)
	if !ok || d.Code != protocol.CodeAssert && d.Code != protocol.CodeFinish {
		return err
	}
	what, _, _ := strings.Cut(simTime.ReplaceAllString(d.Text, ""), "\n")
	return &StoppedError{d.Cycle, strings.TrimPrefix(what, "%Error: ")}
}
