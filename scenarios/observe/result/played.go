package result

import (
	"fmt"

	"nictwin/scenarios/play"
)

// DevicePlayed is the outcome of `play` on a device, as JSON reports it.
type DevicePlayed struct {
	Device   string         `json:"device"`
	Check    string         `json:"check"` // identity, route, rules or reference
	Builds   []string       `json:"builds"`
	Runs     int            `json:"runs"`
	Taken    int            `json:"taken"`    // transactions of inputs
	Compared int            `json:"compared"` // transactions of outputs
	Coverage *play.Coverage `json:"coverage"` // what was driven and seen

	Failed *DeviceFailed `json:"failed,omitempty"`
}

// DeviceFailed is the failing run after shrinking.
type DeviceFailed struct {
	Seed         uint64         `json:"seed"`
	Parameters   []string       `json:"parameters,omitempty"`
	Transactions int            `json:"transactions"` // transactions left after shortening
	Of           int            `json:"of"`           // transactions of the original run
	Keep         string         `json:"keep"`         // numbers of the transactions that shortening kept
	Drawn        *play.Settings `json:"drawn"`
	Stream       string         `json:"stream,omitempty"`
	Transaction  uint64         `json:"transaction"` // of the stream, from 0
	Cycle        uint64         `json:"cycle"`
	Field        string         `json:"field"`
	Expected     string         `json:"expected"`
	Got          string         `json:"got"`
}

// TransactionsFile is the name of the file with the transactions of the failing run, one per line: cycles of the
// first and last beat, direction, stream and number, fields and data.
const TransactionsFile = "transactions.txt"

// Wave is the waveform of a run.
type Wave struct {
	FST      string `json:"fst"`
	SaveFile string `json:"save_file"` // for GTKWave
	From     uint64 `json:"from"`      // cycle
	To       int64  `json:"to"`        // cycle; -1: the end
	Note     string `json:"note,omitempty"`
}

func (w *Wave) String() string {
	to := "the end"
	if w.To >= 0 {
		to = fmt.Sprint(w.To)
	}
	s := fmt.Sprintf("%s, cycles %d to %s; gtkwave %s", w.FST, w.From, to, w.SaveFile)
	if w.Note != "" {
		s += "; " + w.Note
	}
	return s
}

// Bundled is the bundle of a run that failed.
type Bundled struct {
	File string `json:"file,omitempty"`
	Note string `json:"note,omitempty"` // reason why no bundle was written, or what it lacks
}

// FromBundle says what became of a bundle that was played.
type FromBundle struct {
	File       string `json:"file"`
	Reproduced bool   `json:"reproduced"` // the run ended as the one that left the bundle, with the same finding
	Finding    string `json:"finding"`    // of the run that left the bundle: rule and field, or the error it ended with
	// files of the bundle that are damaged and not played; what differs from the run that left the bundle: revision,
	// device
	Notes []string `json:"notes,omitempty"`
}

// Gated is a comparison with a baseline, as JSON reports it.
type Gated struct {
	Baseline string     `json:"baseline"` // file
	Written  bool       `json:"written"`  // the file was written, and nothing compared
	Runs     []GatedRun `json:"runs"`
}

// GatedRun compares a run, or the shards of one, with the run of that name in the baseline.
type GatedRun struct {
	Name          string  `json:"name"`
	Folders       int     `json:"folders"`
	Checked       uint64  `json:"checked"`
	CheckedBefore uint64  `json:"checked_before"` // 0: the run is new
	WallS         float64 `json:"wall_s"`
	WallSBefore   float64 `json:"wall_s_before"`
}
