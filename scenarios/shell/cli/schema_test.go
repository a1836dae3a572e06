package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"

	"nictwin/models/nic/boundary"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/observe/gate"
	"nictwin/scenarios/observe/report"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/papers"
)

// schemaFile returns a schema as parsed JSON.
func schemaFile(t *testing.T, name string) (s map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(resulttest.Dir(), name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &s))
	return s
}

// anyTypes holds, by field, the types of the values in fields of Go type `any`.
var anyTypes = map[string]reflect.Type{
	"summary.results": reflect.TypeFor[[]bench.Result](),
	"summary.claims":  reflect.TypeFor[papers.Claims](),
}

// sameShape requires a schema to have exactly the fields of a Go type, each with its type, and required if it is always
// written.
func sameShape(t *testing.T, at string, s map[string]any, typ reflect.Type) {
	if typ == reflect.TypeFor[json.RawMessage]() { // an object that another document describes
		require.Equal(t, "object", s["type"], at)
		return
	}
	t.Helper()
	if ref, ok := s["$ref"].(string); ok {
		s = schemaFile(t, ref)
	}
	if known := anyTypes[at]; known != nil {
		typ = known
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	kinds, _ := s["type"].([]any)
	if kind, ok := s["type"].(string); ok {
		kinds = []any{kind}
	}
	require.Contains(t, kinds, jsonKind(typ), "%s is a %v", at, typ)
	switch typ.Kind() {
	case reflect.Slice:
		sameShape(t, at+"[]", s["items"].(map[string]any), typ.Elem())
	case reflect.Map:
		sameShape(t, at+"{}", s["additionalProperties"].(map[string]any), typ.Elem())
	case reflect.Struct:
		require.Equal(t, false, s["additionalProperties"], at)
		props := s["properties"].(map[string]any)
		var names, always []string
		for _, f := range jsonFields(typ) {
			names = append(names, f.name)
			if !f.optional {
				always = append(always, f.name)
			}
			require.Contains(t, props, f.name, "%s: a field that the schema does not have", at)
			sameShape(t, at+"."+f.name, props[f.name].(map[string]any), f.typ)
		}
		for name := range props {
			require.Contains(t, names, name, "%s: a field of the schema that nobody writes", at)
		}
		required, _ := s["required"].([]any)
		for _, name := range always {
			require.Contains(t, required, name, "%s: always written, and not required", at)
		}
	}
}

func jsonKind(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}

type jsonField struct {
	name     string
	optional bool
	typ      reflect.Type
}

func jsonFields(typ reflect.Type) (list []jsonField) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			list = append(list, jsonFields(f.Type)...)
		case name != "-" && f.IsExported():
			list = append(list, jsonField{name, strings.Contains(options, "omitempty"), f.Type})
		}
	}
	return list
}

// The schemas of summaries and findings have exactly the fields that the code writes. Otherwise valid results could
// fail the check, or new fields be undocumented.
func TestSchemaIsTheCode(t *testing.T) {
	sameShape(t, "summary", schemaFile(t, resulttest.Summary), reflect.TypeFor[result.Object]())
	require.EqualValues(t, result.Schema,
		schemaFile(t, resulttest.Summary)["properties"].(map[string]any)["schema"].(map[string]any)["const"])
}

// TestReportSchemaIsTheCode checks that the schema of report.json has exactly the fields that the code writes.
func TestReportSchemaIsTheCode(t *testing.T) {
	sameShape(t, "report", schemaFile(t, resulttest.Report), reflect.TypeFor[report.JSON]())
	require.EqualValues(t, report.Schema,
		schemaFile(t, resulttest.Report)["properties"].(map[string]any)["schema"].(map[string]any)["const"])
}

// TestBaselineSchemaIsTheCode checks that the schema of the gate's baseline has the fields of the Go type.
func TestBaselineSchemaIsTheCode(t *testing.T) {
	sameShape(t, "baseline", schemaFile(t, "baseline.json"), reflect.TypeFor[gate.Baseline]())
}

// fieldsOf returns the fields of a schema with their types, sorted by path.
func fieldsOf(at string, s map[string]any) (list []string) {
	for _, inner := range []string{"items", "additionalProperties"} {
		if of, ok := s[inner].(map[string]any); ok {
			list = append(list, fieldsOf(at+"[]", of)...)
		}
	}
	kinds, _ := s["oneOf"].([]any)
	for _, of := range kinds {
		list = append(list, fieldsOf(at, of.(map[string]any))...)
	}
	props, _ := s["properties"].(map[string]any)
	for name, p := range props {
		p := p.(map[string]any)
		kind := p["type"]
		if kind == nil {
			kind = p["$ref"]
		}
		list = append(list, fmt.Sprintf("%s.%s %v", at, name, kind))
		list = append(list, fieldsOf(at+"."+name, p)...)
	}
	return list
}

// As long as the schema keeps its version, no field disappears or changes its type, as docs/results.md promises.
func TestFieldsStay(t *testing.T) {
	var now []string
	for _, name := range []string{resulttest.Summary, resulttest.Finding, resulttest.Event, resulttest.Stats} {
		now = append(now, fieldsOf(strings.TrimSuffix(name, ".json"), schemaFile(t, name))...)
	}
	slices.Sort(now)
	now = slices.Compact(now)
	path := fmt.Sprintf("testdata/fields-%d.txt", result.Schema)
	text, err := os.ReadFile(path)
	require.NoError(t, err, "a list of the fields of each schema is kept")
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Greater(t, len(listed), 50)
	require.Equal(t, slices.Compact(slices.Sorted(slices.Values(listed))), listed, "each once, in order")
	for _, f := range listed {
		require.Contains(t, now, f, "this field has gone or has another type: that takes a step of Schema")
	}
	for _, f := range now {
		require.Contains(t, listed, f, "this field is new: add it to %s, so that it stays", path)
	}
	page, err := os.ReadFile("../../../docs/results.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(page)), " "),
		fmt.Sprintf("`schema`, now %d, is incremented when a field is removed or changes its type or meaning",
			result.Schema))
}

func schemaNamed(t *testing.T, name string) *resulttest.Schema {
	t.Helper()
	s, err := resulttest.Load(name)
	require.NoError(t, err)
	return s
}

// leftBy plays a replay on the Go NIC, checks its artifacts against their schemas and returns the result object.
// Function `observe` may alter crossings, function `change` the settings.
func leftBy(t *testing.T, observe boundary.Observer, change func(*Replay)) *result.Object {
	t.Helper()
	r := NewReplay()
	r.NIC, r.Out, r.Again, r.Observe = "model", filepath.Join(t.TempDir(), "out"), "nictwin replay …", observe
	r.Captures = []string{"../../captures/softroce/ud_send6.pcap"}
	change(r)
	e := r.Run(t.Context())
	require.Contains(t, []result.Outcome{result.Pass, result.Mismatch}, e.Outcome, "%v", e.Err)
	text, err := os.ReadFile(filepath.Join(r.Out, result.Summary))
	require.NoError(t, err)
	require.NoError(t, schemaNamed(t, resulttest.Summary).Check(text), "%s", text)
	events, err := os.ReadFile(filepath.Join(r.Out, judge.EventsFile))
	require.NoError(t, err)
	n, err := schemaNamed(t, resulttest.Event).Lines(events)
	require.NoError(t, err)
	require.Greater(t, n, 10)
	return &e.Object
}

// Artifacts fit their schemas: those of a run that passes, of one whose artifacts are truncated, and of a run with
// every kind of bug in the device.
func TestArtifactsValidate(t *testing.T) {
	o := leftBy(t, nil, func(*Replay) {})
	require.Equal(t, "pass", o.Result)
	require.Equal(t, []string{"../../captures/softroce/ud_send6.pcap"}, o.Captures)
	require.Equal(t, []any{"model", "both", 0, 1}, []any{o.NIC, o.Dir, *o.Stall, o.Ports})

	o = leftBy(t, nil, func(r *Replay) { r.Loop, r.ArtifactMB, r.Dir = 3000, 1, "rx" })
	require.NotEmpty(t, o.Cut)

	n := 0
	o = leftBy(t, func(c boundary.Crossing) { // alters outputs of every kind
		if n++; n%7 == 0 && c.Kind == boundary.TLPOut && len(c.TLP.Data) > 0 {
			c.TLP.Data[len(c.TLP.Data)/2] ^= 0x41
		}
		if n%5 == 0 && c.Kind == boundary.FrameOut {
			c.Frame.Data[20] ^= 1
		}
	}, func(r *Replay) { r.Loop = 3 })
	require.Equal(t, "mismatch", o.Result)
	require.Greater(t, len(o.Findings), 5)
	for i := range o.Findings {
		require.Equal(t, "nictwin replay …", o.Findings[i].Command)
	}
}

// The schemas refuse objects that nictwin does not write: with unknown fields at any level, wrong types, or findings
// without a command.
func TestSchemasRefuse(t *testing.T) {
	finding := `{"domain":"rx","text":"x","command":"y"}`
	summary := func(more string) string {
		return `{"schema":2,"command":"replay","result":"mismatch","seed":1,"digest":"","build":"","checked":1,` +
			`"mismatches":1,"cycles":1,"sim_ps":1,` +
			`"revision":"","wall_s":0.5,"artifacts":""` + more + `}`
	}
	event := `{"kind":"frame_in","port":0,"n":0,"first":1,"last":2,"bytes":60,"crc32":"0badcafe"}`
	for _, c := range []struct {
		schema, good string
		bad          []string
	}{
		{resulttest.Finding, finding, []string{
			`{"domain":"rx","text":"x"}`, `{"domain":"rx","command":"y"}`,
			`{"domain":"nowhere","text":"x","command":"y"}`, `"text"`,
			strings.Replace(finding, `"rx"`, `"rx","more":1`, 1),
			strings.Replace(finding, `"rx"`, `"rx","rule":"R"`, 1),
			strings.Replace(finding, `"rx"`, `"rx","frame":{"dir":"rx","port":0,"number":1,"capture":"x"}`, 1),
			strings.Replace(finding, `"rx"`, `"rx","frame":{"dir":"rx","port":0,"number":1,"more":1}`, 1),
		}},
		{resulttest.Summary, summary(`,"findings":[` + finding + `]`), []string{
			summary(""), summary(`,"findings":[]`), summary(`,"findings":["text"]`),
			summary(`,"findings":[` + finding + `],"more":1`),
			strings.Replace(summary(`,"findings":[`+finding+`]`), `"schema":2`, `"schema":1`, 1),
			strings.Replace(summary(`,"findings":[`+finding+`]`), `"mismatch"`, `"pass"`, 1),
			strings.Replace(summary(""), `"mismatch"`, `"usage"`, 1),
			summary(`,"findings":[` + finding + `],"tx":{"posted":1,"out":1,"refused":0,"bytes":1,"more":1}`),
		}},
		{resulttest.Event, event, []string{
			`{"kind":"cut"}`, strings.Replace(event, "frame_in", "frame_out", 1),
			strings.Replace(event, "frame_in", "tlp_in", 1),
			strings.Replace(event, "60", `60,"more":1`, 1), strings.Replace(event, "0badcafe", "bad", 1),
		}},
	} {
		s := schemaNamed(t, c.schema)
		require.NoError(t, s.Check([]byte(c.good)))
		for _, bad := range c.bad {
			require.Error(t, s.Check([]byte(bad)), "%s: %s", c.schema, bad)
		}
	}
}

// The examples in docs/results.md fit the schemas.
func TestExamplesOfThePageValidate(t *testing.T) {
	page, err := os.ReadFile("../../../docs/results.md")
	require.NoError(t, err)
	kinds := map[string]int{}
	for i, block := range bytes.Split(page, []byte("```")) {
		name, text, _ := strings.Cut(string(block), "\n")
		if i%2 == 0 || !strings.HasPrefix(name, "json") {
			continue
		}
		kind := strings.TrimSpace(strings.TrimPrefix(name, "json"))
		require.True(t, slices.Contains([]string{"finding", "event"}, kind), "an example of %q", kind)
		kinds[kind]++
		if kind == "event" {
			_, err = schemaNamed(t, resulttest.Event).Lines([]byte(text))
		} else {
			err = schemaNamed(t, resulttest.Finding).Check([]byte(text))
		}
		require.NoError(t, err, "%s", text)
	}
	require.Len(t, kinds, 2)
}

// Findings of the fuzz command name the program that shows them, and the command that plays it.
func TestFuzzFindingsValidate(t *testing.T) {
	f := NewFuzz()
	f.Self, f.NIC = "nictwin", device.Model
	e := &FuzzEnded{Ended: Ended{Outcome: result.Mismatch, Object: result.Object{Command: "fuzz"}},
		Result: &fuzz.Result{Failures: []result.Failure{
			{Number: 3, Key: "[R8] hdr_len", Ops: 40, Shrunk: 2, Program: "out/program-3.json",
				Finding: result.OfMismatch(&verdict.Mismatch{
					Rule: "R8", Field: "hdr_len", At: verdict.Domain{Kind: verdict.DomainRxq, Index: 1}, Index: 2,
					Frame: &verdict.FrameID{N: 7},
				})},
			{Number: 5, Ops: 9, Shrunk: 9, Finding: result.OfError(&player.StuckError{What: "the queue is off"})},
			{Number: 6, Ops: 1, Shrunk: 1,
				Finding: result.OfError(errors.Join(&device.StreamError{Stream: "m_axis_tlp", Port: -1, Rule: 2}))},
		}}}
	f.describe(e)
	f.settings(e)
	e.Object.End(result.Mismatch, nil)
	text, err := json.Marshal(&e.Object)
	require.NoError(t, err)
	require.NoError(t, schemaNamed(t, resulttest.Summary).Check(text), "%s", text)
	list := e.Object.Findings
	require.Equal(t, &result.Program{Number: 3, Operations: 2, Of: 40, File: "out/program-3.json"}, list[0].Program)
	require.Equal(t, "nictwin fuzz --nic model --program out/program-3.json", list[0].Command)
	require.Contains(t, list[1].Command, "--skip 5 --runs 1")
	require.Equal(t, []string{"C3", "progress", "the queue is off"},
		[]string{list[1].Rule, list[1].Field, list[1].Expected})
	require.Equal(t, []any{"B6", result.Streams}, []any{list[2].Rule, list[2].Domain})
	require.Equal(t, []any{device.Model, 0}, []any{e.Object.NIC, e.Object.Ports})
	require.Nil(t, e.Object.Stall, "each program has its own")
}
