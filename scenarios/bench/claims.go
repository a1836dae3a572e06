package bench

import (
	"encoding/json"
	"fmt"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/papers"
	"nictwin/scenarios/replay"
)

// Claims lists the claims of the papers with the verdicts of earlier runs, whose folders are given. Errors about a
// folder are *replay.UsageError.
func Claims(folders []string) (*papers.Claims, error) {
	var all []papers.Measurement
	for _, dir := range folders {
		list, err := measured(dir)
		if err != nil {
			return nil, &replay.UsageError{Err: err}
		}
		all = append(all, list...)
	}
	c, err := papers.ListClaims(all)
	if err != nil && len(folders) > 0 {
		return nil, &replay.UsageError{Err: err}
	}
	return c, err
}

// usualPercent is the least Options.Percent of runs whose verdicts are listed.
const usualPercent = 100

// measured returns the claims that the run of a folder measured.
func measured(dir string) ([]papers.Measurement, error) {
	o, err := result.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	if o.Command != "bench" {
		return nil, fmt.Errorf("%s: %s is of command %s: want one of bench", dir, result.Summary, o.Command)
	}
	text, err := json.Marshal(o.Results)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	var results []Result
	if err := json.Unmarshal(text, &results); err != nil {
		return nil, fmt.Errorf("%s: results of %s: %w", dir, result.Summary, err)
	}
	var list []papers.Measurement
	for i := range results {
		r := &results[i]
		if r.Verdict != "" && r.Percent < usualPercent {
			return nil, fmt.Errorf("%s: claim %s: percent %d: want %d or more: fewer round trips leave rates unknown",
				dir, r.Name, r.Percent, usualPercent)
		}
		if r.Verdict != "" {
			list = append(list, papers.Measurement{From: dir, Claim: r.Name, Verdict: r.Verdict, Measured: r.Measured,
				Text: r.Text, Reason: r.Reason})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no claim among its results: want a run of %s", dir,
			papers.AnyGroup())
	}
	return list, nil
}
