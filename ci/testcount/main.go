// Command testcount reads `go test -json` output and prints the output of tests that failed or were skipped, and
// counts. It exits 1 if a test failed, was skipped, or none ran: a run that tested nothing must not pass.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

type key struct{ pkg, test string }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: testcount FILE (the output of go test -json)")
		os.Exit(2)
	}
	code, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
		os.Exit(3)
	}
	os.Exit(code)
}

func run(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // read only: closing loses nothing

	output := map[key][]string{}
	counts := map[string]int{}
	var bad []key
	var packages []event
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	for line := 1; in.Scan(); line++ {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return 0, fmt.Errorf("%s:%d: not an event of go test -json: %w", path, line, err)
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			if k.pkg == "" {
				k.pkg = e.ImportPath
			}
			output[k] = append(output[k], e.Output)
		case "build-fail":
			bad = append(bad, key{e.ImportPath, ""})
		case "pass", "fail", "skip":
			if e.Test == "" {
				packages = append(packages, e)
				if e.Action == "fail" {
					bad = append(bad, k)
				}
				continue
			}
			counts[e.Action]++
			if e.Action != "pass" {
				bad = append(bad, k)
			}
		}
	}
	if err := in.Err(); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return report(output, counts, bad, packages), nil
}

func report(output map[key][]string, counts map[string]int, bad []key, packages []event) int {
	sort.Slice(packages, func(i, j int) bool { return packages[i].Package < packages[j].Package })
	for _, p := range packages {
		fmt.Printf("%-5s %-50s %7.2fs\n", p.Action, p.Package, p.Elapsed)
	}
	for _, k := range bad {
		fmt.Printf("\n--- %s %s\n", k.pkg, k.test)
		for _, l := range output[k] {
			fmt.Print(l)
		}
	}
	fmt.Printf("\n%d passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	if len(bad) > 0 || counts["pass"] == 0 {
		return 1
	}
	return 0
}
