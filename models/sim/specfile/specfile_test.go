package specfile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
)

type inner struct {
	Size  int    `yaml:"size"`
	Small uint8  `yaml:"small"`
	Name  string `yaml:"name"`
}

type base struct {
	Rate int64 `yaml:"rate"`
}

type outer struct {
	base  `yaml:",inline"`
	Base2 `yaml:",inline"`
	On    bool     `yaml:"on"`
	Some  *inner   `yaml:"some"`
	List  []inner  `yaml:"list"`
	Two   [2]int   `yaml:"two"`
	Own   func()   `yaml:"-"`
	Words []string `yaml:"words"`
	Share float64  `yaml:"share"`
}

// Base2 is embedded inline: its fields are fields of outer in a file.
type Base2 struct {
	Far int `yaml:"far"`
}

func innerPreset(name string) (inner, error) {
	if name != "big" {
		return inner{}, field.Errorf("preset", "%q: want big", name)
	}
	return inner{Size: 100, Small: 7, Name: "big"}, nil
}

var testPresets = Presets{reflect.TypeFor[inner](): Of(innerPreset)}

func TestDecode(t *testing.T) {
	shared := &inner{Size: 1, Small: 2}
	v := outer{Some: shared, Two: [2]int{1, 2}}
	_, err := Decode("f.yaml", []byte(`
far: 0x10
on: true
some: {size: 9}
list:
- {preset: big, size: 3}
- {small: 255}
two: [5, 6]
words: [a, "1"]
`), testPresets, &v)
	require.NoError(t, err)
	require.Equal(t, outer{
		Base2: Base2{16}, On: true, Some: &inner{Size: 9, Small: 2}, List: []inner{{3, 7, "big"}, {0, 255, ""}},
		Two: [2]int{5, 6}, Words: []string{"a", "1"},
	}, v)
	require.Equal(t, inner{Size: 1, Small: 2}, *shared, "what a preset shares is not changed")
	_, err = Decode("f.yaml", []byte("some: null"), testPresets, &v)
	require.NoError(t, err)
	require.Nil(t, v.Some)
}

func TestErrorsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":     "f.yaml:1: empty: want a mapping of fields",
		"a: [": "f.yaml:1: ",
		"- 1": "f.yaml:1: a list: want a mapping of fields: rate, far, on, some, list, " +
			"two, words",
		"on: true\nfast: 1":                 "f.yaml:2: fast: no such field: want one of rate, far, on, some",
		"rate: x":                           `f.yaml:1: rate: "x": want a whole number`,
		"on: 1":                             `f.yaml:1: on: "1": want true or false`,
		"on: yes":                           `f.yaml:1: on: "yes": want true or false`,
		"share: .inf":                       `f.yaml:1: share: ".inf": want a decimal number`,
		"share: .nan":                       `f.yaml:1: share: ".nan": want a decimal number`,
		"share: 1e999":                      `f.yaml:1: share: "1e999": want a decimal number`,
		"share: half":                       `f.yaml:1: share: "half": want a decimal number`,
		"far: 1.5":                          `f.yaml:1: far: "1.5": want a whole number within`,
		"far: 99999999999999999999":         `want a whole number within ±9223372036854775807`,
		"far:\n  - 1":                       "f.yaml:2: far: a list: want a whole number",
		"some:\n  small: 256":               `f.yaml:2: some.small: "256": want a whole number from 0 to 255`,
		"some:\n  small: -1":                `f.yaml:2: some.small: "-1": want a whole number from 0 to 255`,
		"some: {name: 1}":                   `f.yaml:1: some.name: "1": want a word`,
		"some: {preset: huge}":              `f.yaml:1: some.preset "huge": want big`,
		"some: {preset: [big]}":             "f.yaml:1: some.preset: a list: want a name",
		"preset: big\non: true":             "f.yaml:1: preset: no such field",
		"list:\n- {}\n- {size: x}":          `f.yaml:3: list[1].size: "x": want a whole number`,
		"two: [1]":                          "f.yaml:1: two: 1 entries: want 2",
		"two: 1":                            `f.yaml:1: two: "1": want a list`,
		"far: 1\non: true\nfar: 2":          "f.yaml:3: far: a second time: first in line 1",
		"some: &x {size: 1}\nlist: [*x]":    "f.yaml:1: some: an anchor or alias: want the value itself",
		"far: !!str 1":                      "f.yaml:1: far: tag !!str: want a plain value",
		"<<: {far: 1}":                      "f.yaml:1: <<: no such field",
		"[1]: 2\non: true":                  "f.yaml:1: a list as a key: want one of",
		"on: true\n---\non: true":           "f.yaml:2: a second document: want one",
		"far: null":                         "f.yaml:1: far: null: want a whole number",
		strings.Repeat(" ", MaxBytes) + "1": "bytes: want at most 1048576",
	} {
		var v outer
		_, err := Decode("f.yaml", []byte(text), testPresets, &v)
		require.ErrorContains(t, err, want, "%.40q", text)
	}
	var v outer
	_, err := Decode("f.yaml", []byte("fast: 1\non: 7\nsome: {size: x}"), testPresets, &v)
	require.Len(t, field.Each(err), 3, "every error: %v", err)
}

// TestOtherFilesAreNotShown: errors about another kind of file quote nothing of it, since it may
// hold secrets.
func TestOtherFilesAreNotShown(t *testing.T) {
	for _, text := range []string{
		"root:$6$secret:1:\ndaemon:*:secret:\n", "secret\nsecret\n", "- secret\n",
		"on: true\npassword: secret\nsecret: 1\n", "on: *secret\n", "secret: *x",
		"{\"private_key\": \"secret\"}", "secret: [\n", "!!int secret\n", "\"secret\n", "preset: secret\n",
		"secret: &x {<<: *x}",
	} {
		var v outer
		_, err := Decode("f.yaml", []byte(text), nil, &v)
		require.ErrorContains(t, err, "f.yaml:", text)
		require.NotContains(t, err.Error(), "secret", text)
	}
	var v outer
	_, err := Decode("f.yaml", []byte("on: "+strings.Repeat("x", 100_000)), nil, &v)
	require.Less(t, len(err.Error()), 200, "a value is cut")
}

// TestNumbers: only numbers that all versions of YAML read alike are accepted.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"010": `"010": 8 in YAML 1.1, where a 0 makes it octal, 10 in YAML 1.2: want 8 or 10`,
		"-0_17": `"-0_17": -15 in YAML 1.1, where a 0 makes it octal, ` +
			`-17 in YAML 1.2: want -15 or -17`,
		"007":                       `"007": a number does not begin with 0: want 7`,
		"+00":                       `"+00": a number does not begin with 0: want 0`,
		"09":                        `"09": a number does not begin with 0: want 9`,
		"0o17":                      `"0o17": octal numbers are not read: want 15`,
		"-0O1_7":                    `"-0O1_7": octal numbers are not read: want -15`,
		"0b1_01":                    `"0b1_01": YAML 1.2 has no binary numbers: want 5`,
		"1_000":                     `"1_000": no number in YAML 1.2: want 1000`,
		"1_0.5":                     `"1_0.5": no number in YAML 1.2: want 10.5`,
		"0x1_0":                     `"0x1_0": no number in YAML 1.2: want 16`,
		"-0x10":                     `"-0x10": no number in YAML 1.2: want -16`,
		"0X10":                      `"0X10": no number in YAML 1.2: want 16`,
		"1:30":                      `"1:30": a number of base 60 in YAML 1.1, a word in YAML 1.2: want 90`,
		"-1:00:30.5":                `"-1:00:30.5": a number of base 60 in YAML 1.1, a word in YAML 1.2: want -3630.5`,
		"0777777777777777777777777": "in YAML 1.1, where a 0 makes it octal",
	} {
		require.ErrorContains(t, CheckNumber(text), want)
	}
	for _, text := range []string{"0", "-0", "+5", "10", "0x1f", "1.5", "0.5", ".5", "5.", "1e3", "1e-06", "-1.5e+3",
		"tcp:1.2.3.4:70", "1..64", "", "x010", "8'h0_1"} {
		require.NoError(t, CheckNumber(text), text)
	}
	for text, want := range map[string]string{
		"far: 010":           "f.yaml:1: far: \"010\": 8 in YAML 1.1",
		"share: 01":          "f.yaml:1: share: \"01\": a number does not begin with 0",
		"share: 1:30":        "f.yaml:1: share: \"1:30\": a number of base 60",
		"some: {small: 1_0}": "f.yaml:1: some.small: \"1_0\": no number in YAML 1.2: want 10",
		"two: [0o7, 1]":      "f.yaml:1: two[0]: \"0o7\": octal",
		"far: \"010\"":       "f.yaml:1: far: \"010\": want a whole number",
	} {
		var v outer
		_, err := Decode("f.yaml", []byte(text), nil, &v)
		require.ErrorContains(t, err, want)
	}
}

type eager struct {
	Size int `yaml:"size"`
	Rate int `yaml:"rate"`
}

func (e *eager) SetDefaults() { *e = eager{Size: 7, Rate: 9} }

// TestEntriesBegin: entries of a list and optional parts begin from their type's default values.
func TestEntriesBegin(t *testing.T) {
	type spec struct {
		List []eager `yaml:"list"`
		Part *eager  `yaml:"part"`
	}
	var v spec
	_, err := Decode("f.yaml", []byte("list: [{}, {size: 1}]\npart: {rate: 2}"), nil, &v)
	require.NoError(t, err)
	require.Equal(t, spec{[]eager{{7, 9}, {1, 9}}, &eager{7, 2}}, v)
	text, err := MarshalOver(&v, &spec{}, nil)
	require.NoError(t, err)
	require.Equal(t, "list:\n  - {}\n  - size: 1\npart:\n  rate: 2\n", string(text))
	var again spec
	_, err = Decode("f.yaml", text, nil, &again)
	require.NoError(t, err)
	require.Equal(t, v, again)
}

func TestLocate(t *testing.T) {
	var v outer
	p, err := Decode("f.yaml", []byte("on: true\nlist:\n- size: 1\n- small: 2\n  size: 3\n"), nil, &v)
	require.NoError(t, err)
	require.NoError(t, p.Locate(nil))
	for path, line := range map[field.Path]int{
		"list[1].size": 5, "list[1].name": 4, "list": 2, "list[7]": 2, "some.size": 1, "on": 1,
	} {
		require.EqualError(t, p.Locate(field.Errorf(path, "3: want less")),
			fmt.Sprintf("f.yaml:%d: %s 3: want less", line, path))
	}
}

// TestDefaultsAreNotBlamed: an error in a field that the file leaves at its default is reported for
// the related field that the file sets.
func TestDefaultsAreNotBlamed(t *testing.T) {
	var v outer
	p, err := Decode("f.yaml", []byte("on: true\nsome: {name: x}\nfar: 7\n"), nil, &v)
	require.NoError(t, err)
	require.EqualError(t, p.Locate(field.Errorf("share", "0.5: want %v or less", field.Path("far"))),
		"f.yaml:3: far: conflicts with a value that the file does not set: share 0.5: want far or less")
	require.EqualError(t, p.Locate(field.Against(field.Errorf("some.size", "3: want less"), "two", "some.name")),
		"f.yaml:2: some.name: conflicts with a value that the file does not set: some.size 3: want less")
	require.EqualError(t, p.Locate(field.Errorf("far[0]", "7: want less than %v", field.Path("some.name"))),
		"f.yaml:3: far[0] 7: want less than some.name", "a list that the file writes as one word")
	require.EqualError(t, p.Locate(field.Errorf("on", "true: want %v", field.Path("far"))),
		"f.yaml:1: on true: want far")
	require.EqualError(t, p.Locate(field.Errorf("words", ": none: want some, or %v", field.Path("list"))),
		"f.yaml:1: words: none: want some, or list")
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	v := outer{Base2: Base2{-3}, On: true, List: []inner{{1, 2, "a: \"b\"\n"}, {3, 4, "null"}}, Two: [2]int{5, 6},
		Words: []string{"yes", "12"}}
	text, err := Marshal(v)
	require.NoError(t, err)
	obj, err := JSON(v)
	require.NoError(t, err)
	require.True(t, json.Valid(obj), "%s", obj)
	for _, b := range [][]byte{text, obj} {
		var back outer
		_, err = Decode("f", b, nil, &back)
		require.NoError(t, err, "%s", b)
		require.Equal(t, v, back)
	}
}

// TestDecimals: decimal numbers keep their values through Decode and Marshal.
func TestDecimals(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "0.01": 0.01, "-2.5e-3": -0.0025, "3e2": 300} {
		var v outer
		_, err := Decode("f.yaml", []byte("share: "+text), nil, &v)
		require.NoError(t, err)
		require.Equal(t, want, v.Share)
		again, err := Marshal(v)
		require.NoError(t, err)
		var back outer
		_, err = Decode("again", again, nil, &back)
		require.NoError(t, err)
		require.Equal(t, v.Share, back.Share)
	}
}

// span is a spec that a file may give as the single word "all".
type span struct {
	From int `yaml:"from"`
	To   int `yaml:"to"`
}

func (s *span) DecodeWord(w string) error {
	if w != "all" {
		return fmt.Errorf("%q: want all, or from and to", w)
	}
	s.To = 99
	return nil
}

// even is an integer with an unmarshaler of its own, which accepts even numbers only.
type even int

func (e *even) UnmarshalYAML(n *yaml.Node) error {
	if err := n.Decode((*int)(e)); err != nil || *e%2 != 0 {
		return fmt.Errorf("%q: want an even number", n.Value)
	}
	return nil
}

// TestDecodeNode: a part of a document is decoded with maps, words in place of mappings, and types
// with their own unmarshalers. Errors have the path from the part on and the line in the document.
func TestDecodeNode(t *testing.T) {
	type part struct {
		Spans map[string]span `yaml:"spans"`
		Evens map[string]even `yaml:"evens"`
	}
	read := func(text string) (p part, err error) {
		var n yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte("other: 1\npart:\n"+text), &n))
		_, err = DecodeNode("f.yaml", n.Content[0].Content[3], "part", &p)
		return p, err
	}
	p, err := read("  spans: {a: all, b: {from: 3}}\n  evens: {x: 4}")
	require.NoError(t, err)
	require.Equal(t, part{map[string]span{"a": {0, 99}, "b": {3, 0}}, map[string]even{"x": 4}}, p)
	for text, want := range map[string]string{
		"  spans: {a: none}":        `f.yaml:3: part.spans.a: "none": want all, or from and to`,
		"  spans: {b: {till: 3}}":   "f.yaml:3: part.spans.b.till: no such field: want one of from, to",
		"  evens: {x: 3}":           `part.evens.x: "3": want an even number`,
		"  evens: 5":                `part.evens: "5": want a mapping of names`,
		"  evens: {x: 4, x: 6}":     "part.evens.x: a second time",
		"  spans: {[1]: {from: 1}}": "a list as a key: want a name",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want, text)
	}
}

// A field of a quantity's type wants the unit; a bare number has none.
func TestQuantities(t *testing.T) {
	type spec struct {
		Wait quantity.Time   `yaml:"wait"`
		Size *quantity.Bytes `yaml:"size"`
	}
	var v spec
	_, err := Decode("f.yaml", []byte("wait: 20ms\nsize: 64KiB\n"), nil, &v)
	require.NoError(t, err)
	require.Equal(t, spec{20e9, new(quantity.Bytes(65536))}, v)
	text, err := Marshal(v)
	require.NoError(t, err)
	require.Equal(t, "wait: 20ms\nsize: 64KiB\n", string(text))
	_, err = Decode("f.yaml", []byte("wait: 20\nsize: 1.5\n"), nil, &v)
	require.EqualError(t, err, "f.yaml:1: wait: \"20\": no unit: want ps, ns, us, ms or s behind it\n"+
		"f.yaml:2: size: \"1.5\": no unit: want B, KB, KiB, MB, MiB, GB or GiB behind it")
	_, err = Decode("f.yaml", []byte("wait: 0\nsize: null\n"), nil, &v)
	require.NoError(t, err)
	require.Equal(t, spec{}, v)
}
