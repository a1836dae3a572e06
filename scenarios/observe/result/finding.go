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

// Domain is the part of the NIC, or of the run, that a finding concerns.
type Domain string

// Parts of the NIC, or of the run, that findings concern.
const (
	Rx        Domain = "rx"        // frames received
	Tx        Domain = "tx"        // work entries that send, and frames sent
	Copies    Domain = "copies"    // work entries that copy or invalidate
	Accounts  Domain = "accounts"  // credit accounts and slow-path rings
	Pause     Domain = "pause"     // pause frames
	Messages  Domain = "messages"  // MSI-X
	Registers Domain = "registers" // answers to reads
	Counters  Domain = "counters"
	Device    Domain = "device"   // anything not tied to a queue, port or register
	Streams   Domain = "streams"  // rules of AXI-Stream on the device's pins
	Block     Domain = "block"    // a block played alone
	Coverage  Domain = "coverage" // of the RTL
	Run       Domain = "run"      // the run itself
	Gate      Domain = "gate"     // what got worse since a baseline

	Application Domain = "application" // applications on the servers
)

// Finding is one fault. Fields that do not apply are zero, and are omitted in JSON.
type Finding struct {
	NIC      string `json:"nic,omitempty"`  // its name, if NICs have names
	Rule     string `json:"rule,omitempty"` // of docs/nic.md, such as R8
	Domain   Domain `json:"domain"`
	Field    string `json:"field,omitempty"`    // the first field that differs
	Expected string `json:"expected,omitempty"` // formatted by Value
	Got      string `json:"got,omitempty"`

	Cycle *int64 `json:"cycle,omitempty"` // cycle of the device in which the fault showed
	Port  *int   `json:"port,omitempty"`  // Ethernet port
	Queue *int   `json:"queue,omitempty"` // receive queue where Domain is rx or accounts, else transmit queue
	Index *int   `json:"index,omitempty"` // of the descriptor or work entry

	Stream  string      `json:"stream,omitempty"` // of the device
	Frame   *Frame      `json:"frame,omitempty"`
	Block   *BlockInput `json:"block,omitempty"`
	Program *Program    `json:"program,omitempty"`

	Scenario string `json:"scenario,omitempty"` // case of a scenario file
	Failure  Kind   `json:"failure,omitempty"`  // Crash, Hang or Deadlock
	Folder   string `json:"folder,omitempty"`   // subfolder of the artifacts with the case's events and frames

	Files   []string `json:"files,omitempty"`   // Go block and RTL module responsible, as far as known
	Text    string   `json:"text"`              // for people: the first line says what differs, the others give details
	Command string   `json:"command,omitempty"` // that reproduces it
}

// Frame identifies the frame that a finding concerns. Without a capture, Capture, Packet and Time are empty.
type Frame struct {
	Dir     string `json:"dir"`               // rx or tx
	Port    int    `json:"port"`              // at which the frame arrives or must leave
	Number  int    `json:"number"`            // rx: ordinal on its port; tx: among all posted frames; from 0
	Capture string `json:"capture,omitempty"` // file
	Packet  int    `json:"packet,omitempty"`  // in the file, from 1, as Wireshark counts
	Time    string `json:"time,omitempty"`    // time of capture, RFC 3339, UTC; omitted if the file has none
	Pass    int    `json:"pass,omitempty"`    // pass over the captures, from 1
}

// BlockInput identifies the request that a block was given when played without the other blocks of the NIC.
type BlockInput struct {
	Name        string `json:"name"`
	Transaction int    `json:"transaction"` // from 0
	Op          string `json:"op"`
	Request     string `json:"request"`
	Seed        uint64 `json:"seed"`
	Stall       int    `json:"stall"`
}

// Program identifies the random program that shows a finding.
type Program struct {
	Number     int    `json:"number"`         // number among the programs of the seed
	Operations int    `json:"operations"`     // operations left after shrinking
	Of         int    `json:"of"`             // operations of the original
	File       string `json:"file,omitempty"` // if written
}

// From sets where a frame was captured, and the pass over the captures, counted from 1.
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

// place describes where a frame was captured; empty if it was not captured.
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

// About sets the finding's frame, and adds to the first line of its text where the frame was captured.
func (f *Finding) About(frame *Frame) {
	f.Frame = frame
	head, rest, more := strings.Cut(f.Text, "\n")
	f.Text = head + frame.place()
	if more {
		f.Text += "\n" + rest
	}
}

// Key identifies the kind of a fault by rule, domain and field. It is empty for a finding with neither rule nor
// field.
func (f *Finding) Key() string {
	if f.Rule == "" && f.Field == "" {
		return ""
	}
	return fmt.Sprintf("[%s] %s %s", f.Rule, f.Domain, f.Field)
}

// Head returns the first line of the text.
func (f *Finding) Head() string {
	head, _, _ := strings.Cut(f.Text, "\n")
	return head
}

// Texts returns the texts of findings.
func Texts(list []Finding) []string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Text
	}
	return texts
}

// OfMismatch returns a mismatch of the referee as a finding.
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

// OfFrame returns the frame that the referee identified, as findings name it.
func OfFrame(id verdict.FrameID) *Frame {
	f := &Frame{Dir: "rx", Port: id.Port, Number: int(id.N)}
	if id.Sent {
		f.Dir = "tx"
	}
	return f
}

// domainOf returns the domain of a mismatch: that of its rule's section if there is one, else that of the output that
// differed.
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

// OfError returns an error that ended a run as a finding: by its method Finding if it has one, or by the rule that a
// driver's error names.
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
