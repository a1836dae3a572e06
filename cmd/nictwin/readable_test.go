package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdReadable is "readable FOLDER": checks the artifacts of a run that was broken off. All lines of events.jsonl are
// whole, tshark reads frames.pcapng to its end, and junit.xml is well formed.
func cmdReadable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: readable FOLDER")
	}
	dir := ts.MkAbs(args[0])
	events, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	ts.Check(err)
	if len(events) == 0 {
		ts.Fatalf("%s: no events", args[0])
	}
	for line := range bytes.Lines(events) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			ts.Fatalf("%s: a line that is not whole: %q", args[0], line)
		}
	}
	out, err := exec.Command("tshark", "-r", filepath.Join(dir, "frames.pcapng"), "-Y", "frame.number == 1",
		"-T", "fields", "-e", "frame.interface_name").CombinedOutput()
	if err != nil {
		ts.Fatalf("%s: tshark: %v\n%s", args[0], err, out)
	}
	text, err := os.Open(filepath.Join(dir, "junit.xml"))
	ts.Check(err)
	defer text.Close()
	for d, tokens := xml.NewDecoder(text), 0; ; tokens++ {
		_, err := d.Token()
		if errors.Is(err, io.EOF) && tokens > 0 {
			return
		}
		ts.Check(err)
	}
}
