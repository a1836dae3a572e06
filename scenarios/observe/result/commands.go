package result

import (
	"strings"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/run/stats"
)

// DUT describes a device.
type DUT struct {
	Name     string             `json:"name"`
	Manifest string             `json:"manifest"`
	Top      string             `json:"top,omitempty"`
	Streams  []string           `json:"streams,omitempty"`
	Ports    []manifest.PinPort `json:"ports,omitempty"`
	Warnings []build.Remark     `json:"warnings,omitempty"` // of style: the device fits nevertheless
	Built    *Built             `json:"built,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// Built describes a build.
type Built struct {
	Variant string  `json:"variant"`
	Hash    string  `json:"hash"`
	Binary  string  `json:"binary"`
	Cached  bool    `json:"cached"`
	TookS   float64 `json:"took_s"`
}

// Fuzzed is the outcome of random programs, as JSON reports it.
type Fuzzed struct {
	Runs     int       `json:"runs"`
	Failures []Failure `json:"failures"`
	Coverage Covered   `json:"coverage"`

	Debug     int    `json:"debug"`               // programs played on the debug build, with assertions checked
	Unchecked string `json:"unchecked,omitempty"` // why Debug is 0, if programs were drawn for the debug build
}

// Covered counts the hit bins of the contract.
type Covered struct {
	Hit         int     `json:"hit"`
	Bins        int     `json:"bins"`
	Share       float64 `json:"share"`
	Unreachable int     `json:"unreachable"`
}

// Failure is a program that shows a mismatch.
type Failure struct {
	Number  int    `json:"number"`  // number of the program among those of its seed
	Variant string `json:"variant"` // variant of the build; empty: the Go NIC
	Key     string `json:"key"`
	Ops     int    `json:"ops"`     // of the program
	Shrunk  int    `json:"shrunk"`  // operations left after shrinking
	Trials  int    `json:"trials"`  // programs played to shrink this one
	Program string `json:"program"` // file, if written

	Finding Finding `json:"-"`
}

// ServerPlayed is the outcome of one server of a pair.
type ServerPlayed struct {
	Name       string `json:"name"`
	Digest     string `json:"digest"` // of the crossings of the server's NIC
	Checked    uint64 `json:"checked"`
	Mismatches uint64 `json:"mismatches"`
	Sent       int    `json:"sent"` // frames
	Received   int    `json:"received"`
	Cycles     int64  `json:"cycles"` // up to the last crossing
}

// ScenarioPlayed is the outcome of a case of a scenario file.
type ScenarioPlayed struct {
	File     string      `json:"file"`
	Name     string      `json:"name"` // of the scenario, with the values of its sweep
	NIC      string      `json:"nic"`  // model or rtl in every slot of the contract; empty: as the file says
	Result   string      `json:"result"`
	Seed     uint64      `json:"seed"`    // of the workload
	Digest   string      `json:"digest"`  // hash of completions and memory, as coarse as Compare; equal on every NIC
	Compare  string      `json:"compare"` // exact, messages or counts
	Messages int         `json:"messages"`
	Bytes    uint64      `json:"bytes"`
	Lost     int         `json:"lost"`       // messages that did not arrive but were allowed not to
	Traffic  int64       `json:"traffic_ps"` // from the first request until all had ended
	SimPs    int64       `json:"sim_ps"`     // including set-up and end
	NICs     []NICPlayed `json:"nics"`

	Stats *stats.Summary `json:"stats,omitempty"` // of --stats
}

// Folder returns the name of the folder with the artifacts of the case.
func (x *ScenarioPlayed) Folder() string { return CaseFolder(x.Name, x.NIC) }

// Title names the case, with the NIC if cases are compared.
func (x *ScenarioPlayed) Title() string {
	if x.NIC == "" {
		return x.Name
	}
	return x.Name + " on " + x.NIC
}

// CaseFolder returns the name of the folder with the artifacts of a case on a NIC.
func CaseFolder(name, nic string) string {
	name = strings.NewReplacer("=", "_", ":", "-").Replace(name)
	if nic == "" {
		return name
	}
	return name + "-on-" + nic
}

// NICPlayed is the outcome of a NIC of a scenario.
type NICPlayed struct {
	Name       string `json:"name"`    // of its server
	Device     string `json:"device"`  // model, rtl, address or rnic
	Build      string `json:"build"`   // hash of the RTL build
	Digest     string `json:"digest"`  // of its crossings; empty without a referee
	Checked    uint64 `json:"checked"` // crossings
	Mismatches uint64 `json:"mismatches"`
	Cycles     int64  `json:"cycles"`

	Latency []judge.Latency `json:"latency,omitempty"`
}

// BlockPlayed is the outcome of all runs of a block, a part of the NIC in RTL and in Go, as JSON reports it.
type BlockPlayed struct {
	Name     string `json:"name"`
	RTL      string `json:"rtl"` // module's file
	Go       string `json:"go"`  // block's file
	Build    string `json:"build"`
	Runs     int    `json:"runs"`
	Requests int    `json:"requests"`
	Compared int    `json:"compared"` // results
	Cycles   uint64 `json:"cycles"`

	Mismatch *BlockMismatch `json:"mismatch,omitempty"`
}

// BlockMismatch is the first mismatch of a block.
type BlockMismatch struct {
	Transaction int    `json:"transaction"`
	Op          string `json:"op"`
	Request     string `json:"request"`
	Field       string `json:"field"`
	Expected    string `json:"expected"`
	Got         string `json:"got"`
	Cycle       uint64 `json:"cycle"`
	Seed        uint64 `json:"seed"`
	Stall       int    `json:"stall"`
}
