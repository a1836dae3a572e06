package result

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nictwin/golden/verdict"

	"nictwin/models/nic/boundary"
	"nictwin/scenarios/traffic/capture"
)

// Domain is the part of the NIC, or of the run, that a finding is about.
type Domain string

// Domains.
const (
	Rx        Domain = "rx"        // frames that came in
	Tx        Domain = "tx"        // work entries that send, and frames that leave
	Copies    Domain = "copies"    // work entries that copy or invalidate
	Accounts  Domain = "accounts"  // credit accounts and slow-path rings
	Pause     Domain = "pause"     // pause frames
	Messages  Domain = "messages"  // MSI-X
	Registers Domain = "registers" // answers to reads
	Counters  Domain = "counters"
	Device    Domain = "device"   // what belongs to no queue, port or register
	Streams   Domain = "streams"  // rules of AXI-Stream on the device's pins
	Block     Domain = "block"    // a block alone
	Coverage  Domain = "coverage" // of the RTL
	Run       Domain = "run"      // the run itself

	Application Domain = "application" // what runs on the servers
)

// Finding is one thing that is not as it must be. Fields that do not apply are zero, and not in JSON.
type Finding struct {
	NIC      string `json:"nic,omitempty"`  // its name, where NICs have names
	Rule     string `json:"rule,omitempty"` // of docs/nic.md, such as R8
	Domain   Domain `json:"domain"`
	Field    string `json:"field,omitempty"`    // the first that differs
	Expected string `json:"expected,omitempty"` // as Value has it
	Got      string `json:"got,omitempty"`

	Cycle *int64 `json:"cycle,omitempty"` // of the device, in which it showed
	Port  *int   `json:"port,omitempty"`  // Ethernet port
	Queue *int   `json:"queue,omitempty"` // receive queue where Domain is rx or accounts, else transmit queue
	Index *int   `json:"index,omitempty"` // of the descriptor or work entry

	Stream  string      `json:"stream,omitempty"` // of the device
	Frame   *Frame      `json:"frame,omitempty"`
	Block   *BlockInput `json:"block,omitempty"`
	Program *Program    `json:"program,omitempty"`

	Scenario string `json:"scenario,omitempty"` // case of a scenario file

	Files   []string `json:"files,omitempty"`   // Go block and RTL module that are responsible, as far as known
	Text    string   `json:"text"`              // for people: the first line says what differs, others have details
	Command string   `json:"command,omitempty"` // that shows it again
}

// Frame is the frame that a finding is about. A frame that is in no capture has no capture, packet and time.
type Frame struct {
	Dir     string `json:"dir"`               // rx or tx
	Port    int    `json:"port"`              // at which it comes in, or is to leave
	Number  int    `json:"number"`            // rx: ordinal on its port; tx: of all that are posted; from 0
	Capture string `json:"capture,omitempty"` // file
	Packet  int    `json:"packet,omitempty"`  // in the file, from 1, as Wireshark counts
	Time    string `json:"time,omitempty"`    // at which it was captured, RFC 3339, UTC; not there if the file has none
	Pass    int    `json:"pass,omitempty"`    // over the captures, from 1
}

// BlockInput is what a block alone was asked.
type BlockInput struct {
	Name        string `json:"name"`
	Transaction int    `json:"transaction"` // from 0
	Op          string `json:"op"`
	Request     string `json:"request"`
	Seed        uint64 `json:"seed"`
	Stall       int    `json:"stall"`
}

// Program is the random program that shows a finding.
type Program struct {
	Number     int    `json:"number"`         // by the seed
	Operations int    `json:"operations"`     // that are left of it
	Of         int    `json:"of"`             // operations that it had
	File       string `json:"file,omitempty"` // if one was written
}

// From sets where a frame was captured, and which pass over the captures, from 1, this is.
func (f *Frame) From(o capture.Origin, pass int) {
	f.Capture, f.Packet = o.File, o.Packet
	if o.File == "" {
		return
	}
	f.Pass = pass
	if !o.Time.IsZero() {
		f.Time = o.Time.UTC().Format(time.RFC3339Nano)
	}
}

// place says in words where a frame was captured; empty if it was not.
func (f *Frame) place() string {
	if f == nil || f.Capture == "" {
		return ""
	}
	s := fmt.Sprintf(" (packet %d of %s", f.Packet, f.Capture)
	if f.Time != "" {
		s += ", captured " + f.Time
	}
	if f.Pass > 1 {
		s += fmt.Sprintf(", pass %d", f.Pass)
	}
	return s + ")"
}

// About names the finding's frame, and says in the first line of its text where it was captured.
func (f *Finding) About(frame *Frame) {
	f.Frame = frame
	head, rest, more := strings.Cut(f.Text, "\n")
	f.Text = head + frame.place()
	if more {
		f.Text += "\n" + rest
	}
}

// Head is the first line of the text.
func (f *Finding) Head() string {
	head, _, _ := strings.Cut(f.Text, "\n")
	return head
}

// Texts are the texts of findings.
func Texts(list []Finding) []string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Text
	}
	return texts
}

// OfMismatch is what the referee found.
func OfMismatch(m *verdict.Mismatch) Finding {
	f := Finding{
		NIC: m.NIC, Rule: m.Rule, Domain: domainOf(m), Field: m.Field, Expected: Value(m.Expected), Got: Value(m.Got),
		Cycle: new(m.Cycle), Text: m.Detail(),
	}
	switch m.At.Kind {
	case verdict.DomainPort:
		f.Port = new(m.At.Index)
	case verdict.DomainRxq, verdict.DomainTxq:
		f.Queue = new(m.At.Index)
	}
	if m.Index != verdict.NoIndex {
		f.Index = new(m.Index)
	}
	if m.GoFile != "" {
		f.Files = []string{m.GoFile, m.RTLFile}
	}
	if id := m.Frame; id != nil {
		f.Port = new(id.Port)
		f.Frame = OfFrame(*id)
	}
	return f
}

// OfFrame is a frame as the referee names it.
func OfFrame(id verdict.FrameID) *Frame {
	f := &Frame{Dir: "rx", Port: id.Port, Number: int(id.N)}
	if id.Sent {
		f.Dir = "tx"
	}
	return f
}

// domainOf is the domain of a mismatch: by its rule, where that has a section for itself, else by where it showed.
func domainOf(m *verdict.Mismatch) Domain {
	if m.Rule != "" {
		switch m.Rule[0] {
		case 'A':
			return Accounts
		case 'D':
			return Copies
		case 'F':
			return Pause
		case 'M':
			return Messages
		}
	}
	switch m.At.Kind {
	case verdict.DomainRegisters:
		return Registers
	case verdict.DomainCounters:
		return Counters
	case verdict.DomainPort, verdict.DomainRxq:
		return Rx
	case verdict.DomainTxq:
		return Tx
	}
	return Device
}

// OfError is why a run did not come to its end. An error that knows more has a method Finding, and what keeps a driver
// from going on names its rule.
func OfError(err error) Finding {
	var known interface {
		error
		Finding() Finding
	}
	var breach *boundary.ContractError
	f := Finding{Domain: Run}
	switch {
	case errors.As(err, &known):
		f = known.Finding()
	case errors.As(err, &breach):
		f = Finding{Rule: breach.Rule, Domain: Device, Got: breach.What}
	}
	f.Text = err.Error()
	return f
}
