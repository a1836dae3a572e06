package result

import (
	"encoding/json"
	"errors"
	"fmt"

	"nictwin/rtlbridge/build/cache"

	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/coverage"
	"nictwin/scenarios/traffic/capture"
)

// Schema is the version of Object; it changes when a field changes its meaning or is removed.
const Schema = 2

// Object is the single line that --json prints, in every case. Fields that a command does not use are zero.
type Object struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Result  string `json:"result"` // pass, mismatch, usage, infrastructure, interrupted
	Seed    uint64 `json:"seed"`
	Shard   string `json:"shard,omitempty"` // part of a run that several processes share, such as 2/4
	Digest  string `json:"digest"`          // of the event stream
	Build   string `json:"build"`           // hash of the RTL build; empty for the Go model
	// hash of the sources of the RTL, the same for all sizes and variants; empty for the Go model
	Sources string `json:"sources,omitempty"`
	// revision of this program's sources, with +changes if the tree had uncommitted ones; empty if unknown
	Revision   string  `json:"revision"`
	Home       *Home   `json:"home,omitempty"` // used by the command
	Checked    uint64  `json:"checked"`
	Mismatches uint64  `json:"mismatches"`
	Cycles     int64   `json:"cycles"` // of the device; in a replay, up to the last crossing
	SimPs      int64   `json:"sim_ps"`
	WallS      float64 `json:"wall_s"`
	Artifacts  string  `json:"artifacts"` // folder; empty: none

	Cut       []judge.Cut `json:"cut,omitempty"` // artifacts cut at --artifact-mb
	Error     string      `json:"error,omitempty"`
	Failure   Kind        `json:"failure,omitempty"`   // kind of failure
	Warnings  []string    `json:"warnings,omitempty"`  // what the result leaves out
	Findings  []Finding   `json:"findings,omitempty"`  // the most telling first
	Reproduce string      `json:"reproduce,omitempty"` // command line

	Shrunk *Shrunk `json:"shrunk,omitempty"`

	Captures []string `json:"captures,omitempty"` // files, as named by the user
	NIC      string   `json:"nic,omitempty"`      // rtl or model
	Link     string   `json:"link,omitempty"`     // way to an RTL device through an emulation shell, as --link has it
	Dir      string   `json:"dir,omitempty"`      // rx, tx or both
	Stall    *int     `json:"stall,omitempty"`    // percentage; omitted if each program or run has its own
	Ports    int      `json:"ports,omitempty"`    // of the NIC; omitted if it varies among fuzz programs

	Captured *Captured    `json:"captured,omitempty"`
	Rx       *Received    `json:"rx,omitempty"`
	Tx       *Transmitted `json:"tx,omitempty"`

	Latency []judge.Latency `json:"latency,omitempty"` // of a replay with artifacts

	Wall *Shares `json:"wall_share,omitempty"`
	// share of the wall time in which the RTL was simulated, in parallel with everything else
	RTLBusy float64 `json:"rtl_busy,omitempty"`

	Fuzz *Fuzzed `json:"fuzz,omitempty"`

	Board json.RawMessage `json:"board,omitempty"` // with every field, as printed by board show

	Blocks []BlockPlayed `json:"blocks,omitempty"`

	Played *DevicePlayed `json:"played,omitempty"`

	Waves []Wave `json:"waves,omitempty"`

	Bundle     *Bundled        `json:"bundle,omitempty"`      // of a run that failed
	FromBundle *FromBundle     `json:"from_bundle,omitempty"` // comparison with the bundle that was played
	BundleInfo json.RawMessage `json:"bundle_info,omitempty"` // bundle.json of a bundle that is shown

	Servers []ServerPlayed `json:"servers,omitempty"`

	Scenarios []ScenarioPlayed `json:"scenarios,omitempty"`

	RTLCoverage *coverage.Report `json:"rtl_coverage,omitempty"`
	Bins        *Covered         `json:"bins,omitempty"` // bins of the contract that any of several runs hit

	Gate *Gated `json:"gate,omitempty"`

	Version *Version `json:"version,omitempty"`
	DUTs    []DUT    `json:"duts,omitempty"`

	Clean *cache.Cleaned `json:"clean,omitempty"`

	Results any `json:"results,omitempty"` // of measurements
	Claims  any `json:"claims,omitempty"`  // of papers, all of them
}

// Captured counts the packets of the captures by outcome, for one pass.
type Captured struct {
	Frames      int `json:"frames"`       // played
	NotPlayable int `json:"not_playable"` // empty packets
	LeftOut     int `json:"left_out"`     // by --limit
	Truncated   int `json:"truncated"`    // played, but shorter in the file than on the wire
	Sections    int `json:"sections_skipped"`
	Shortened   int `json:"gaps_shortened"`

	CutOff []*capture.CutOff `json:"cut_off,omitempty"` // captures that end in the middle of a packet
	// captures not read to the end because --limit was reached; left_out does not count their packets
	NotRead []string `json:"not_read,omitempty"`
}

// Received counts frames of the receive direction.
type Received struct {
	In        int               `json:"in"`
	Delivered int               `json:"delivered"`
	Bytes     int64             `json:"bytes"`
	Drops     map[string]uint64 `json:"drops"` // by cause
	PerQueue  []int             `json:"per_queue"`
	PerPort   []ReceivedOn      `json:"per_port"`
}

// ReceivedOn counts frames received on a port.
type ReceivedOn struct {
	In        int `json:"in"`
	Delivered int `json:"delivered"`
}

// Transmitted counts frames of the transmit direction.
type Transmitted struct {
	Posted  int   `json:"posted"`
	Out     int   `json:"out"`
	Refused int   `json:"refused"`
	Bytes   int64 `json:"bytes"`
}

// Shares breaks down the wall time, in parts that add up to 1; see [replay.Shares].
type Shares struct {
	RTL     float64 `json:"rtl"`
	Bridge  float64 `json:"bridge"`
	Models  float64 `json:"models"`
	Referee float64 `json:"referee"`
}

// IsSummary returns an error if text is not a summary that nictwin wrote; another program may have written a file of
// that name.
func IsSummary(text []byte) error {
	var o struct {
		Schema int    `json:"schema"`
		Result string `json:"result"`
	}
	switch err := json.Unmarshal(text, &o); {
	case err != nil && !json.Valid(text):
		return fmt.Errorf("is not ours, or damaged: %w", err)
	case err != nil || o.Schema == 0 || o.Result == "":
		return errors.New("is not ours: want a schema and a result in it")
	}
	return nil
}
