package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nictwin/scenarios/shell/files"
)

// ErrUnfinished reports a folder of artifacts whose run left no summary: it was killed.
var ErrUnfinished = errors.New("the run did not finish: it left no " + Summary)

// ReadSummary returns the summary of a folder of artifacts.
func ReadSummary(dir string) (*Object, error) {
	path := filepath.Join(dir, Summary)
	text, err := files.Read(path, maxSummary)
	if errors.Is(err, os.ErrNotExist) {
		if _, marked := os.Stat(filepath.Join(dir, Marker)); marked == nil {
			return nil, fmt.Errorf("%s: %w", dir, ErrUnfinished)
		}
		return nil, fmt.Errorf("%s: no %s: want a folder that a run left with --out", dir, Summary)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := IsSummary(text); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	o, err := ParseSummary(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

// SchemaError reports a summary of another version of nictwin.
type SchemaError struct{ Schema int }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("schema %d: want %d, which this version of nictwin reads", e.Schema, Schema)
}

var _ error = (*SchemaError)(nil)

// ParseSummary reads a text that is a summary, as IsSummary says. Errors about its version are *SchemaError.
func ParseSummary(text []byte) (*Object, error) {
	o := &Object{}
	err := json.Unmarshal(text, o)
	if o.Schema != 0 && o.Schema != Schema {
		return nil, &SchemaError{o.Schema}
	}
	if err != nil {
		return nil, files.JSONError(err)
	}
	return o, o.consistent()
}

// consistent returns an error about a summary that no run of nictwin left, such as one that was edited: a result that
// contradicts the counts, or a name that would look like a line of its own where it is shown.
func (o *Object) consistent() error {
	known := func(x outcome) bool { return x.name == o.Result }
	if !slices.ContainsFunc(outcomes[:], known) {
		return fmt.Errorf("result %q: want pass, mismatch, usage, infrastructure or interrupted", o.Result)
	}
	if o.Result == Pass.String() && (o.Mismatches > 0 || len(o.Findings) > 0) {
		return fmt.Errorf("result %s: contradicts mismatches %d and the %d findings", o.Result, o.Mismatches,
			len(o.Findings))
	}
	if !(o.WallS >= 0) {
		return fmt.Errorf("wall_s %v: want 0 or more", o.WallS)
	}
	if o.Command == "" {
		return errors.New("command: is empty: want the name of the command that ran")
	}
	names := []struct{ field, text string }{{"command", o.Command}, {"nic", o.NIC}, {"dir", o.Dir}, {"shard", o.Shard},
		{"build", o.Build}, {"revision", o.Revision}, {"sources", o.Sources}, {"digest", o.Digest},
		{"played.device", o.Device()}}
	for i := range o.Scenarios {
		names = append(names, struct{ field, text string }{"scenarios.name", o.Scenarios[i].Name})
	}
	for i := range o.Blocks {
		names = append(names, struct{ field, text string }{"blocks.name", o.Blocks[i].Name})
	}
	for i := range o.Findings {
		f := &o.Findings[i]
		names = append(names, []struct{ field, text string }{{"findings.rule", f.Rule},
			{"findings.domain", string(f.Domain)}, {"findings.scenario", f.Scenario}, {"findings.nic", f.NIC}}...)
	}
	for _, n := range names {
		if strings.Contains(n.text, "\n") {
			return fmt.Errorf("%s %q: want no line break", n.field, n.text)
		}
	}
	return nil
}

// SameRun returns an error that names the difference if two summaries are not of shards of one run: of the same command
// on the same NIC, sources, program and build. The commands run and play may differ in the build, since each shard
// builds only the parameters that its cases or runs need.
func SameRun(dirA string, a *Object, dirB string, b *Object) error {
	for _, x := range []struct{ what, a, b string }{
		{"command", a.Command, b.Command}, {"nic", a.NIC, b.NIC}, {"device", a.Device(), b.Device()},
		{"sources", a.Sources, b.Sources}, {"revision", a.Revision, b.Revision},
		{"build", a.build(), b.build()},
	} {
		if x.a != x.b {
			return fmt.Errorf("%s has %s %s, but %s has %s: want shards of one run", dirA, x.what,
				cmp.Or(x.a, "none"), dirB, cmp.Or(x.b, "none"))
		}
	}
	return nil
}

// Complete returns an error that names the folders unless the summaries are those of all shards of one run, each once.
// Of runs without --shard there may be any number of summaries.
func Complete(dirs []string, list []*Object) error {
	by := map[string]string{} // folder by shard
	for i, o := range list {
		if o.Shard == "" && list[0].Shard == "" {
			continue
		}
		_, of, _ := strings.Cut(o.Shard, "/")
		if _, first, _ := strings.Cut(list[0].Shard, "/"); of != first || o.Seed != list[0].Seed {
			return fmt.Errorf("%s has shard %s of seed %d, but %s has shard %s of seed %d: want shards of one run",
				dirs[0], cmp.Or(list[0].Shard, "none"), list[0].Seed, dirs[i], cmp.Or(o.Shard, "none"), o.Seed)
		}
		if other, twice := by[o.Shard]; twice {
			return fmt.Errorf("%s and %s both have shard %s: want each shard once", other, dirs[i], o.Shard)
		}
		by[o.Shard] = dirs[i]
	}
	_, of, _ := strings.Cut(list[0].Shard, "/")
	n, err := strconv.Atoi(of)
	if list[0].Shard == "" || err == nil && len(list) == n {
		return nil
	}
	return fmt.Errorf("%s has shard %s, and there are %d folders: want those of all %s shards", dirs[0], list[0].Shard,
		len(list), of)
}

// build returns the hash of the build that all shards must have; empty if each may have its own.
func (o *Object) build() string {
	if o.Command == "run" || o.Command == "play" {
		return ""
	}
	return o.Build
}

// Device returns the name of the device that command `play` drove; empty for other commands.
func (o *Object) Device() string {
	if o.Played == nil {
		return ""
	}
	return o.Played.Device
}
