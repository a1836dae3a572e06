package specfile

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/field"
)

type timed struct {
	Wait   int64   `yaml:"wait_ps"`
	Most   *int64  `yaml:"most_ps"`
	Period int64   `yaml:"period_ps"`
	Line   int64   `yaml:"line_bps"`
	Peak   int64   `yaml:"peak_mbps"`
	Gbps   int     `yaml:"gbps"`
	Size   uint32  `yaml:"size_bytes"`
	Sizes  []int   `yaml:"sizes" unit:"bytes"`
	Share  float64 `yaml:"share_ps"` // no whole number: it has no short form
	Parts  []timed `yaml:"parts"`
}

func TestUnits(t *testing.T) {
	var v timed
	places, err := Decode("f.yaml", []byte(`wait: 1.5us
most: 20ms
frequency: 1.1GHz
line: 40Gbps
peak: 25.6GB/s
rate: 252Gbps
size_bytes: 64KiB
sizes: [64, 64KiB, 2MB]
share_ps: 0.5
parts:
- {wait_ps: 7, most_ps: null}
- {period: 909ps, line_bps: 5, gbps: 3}
`), nil, &v)
	require.NoError(t, err)
	require.Equal(t, timed{Wait: 1_500_000, Most: new(int64(20e9)), Period: 909, Line: 40e9, Peak: 204_800, Gbps: 252,
		Size: 65536, Sizes: []int{64, 65536, 2_000_000}, Share: 0.5,
		Parts: []timed{{Wait: 7}, {Period: 909, Line: 5, Gbps: 3}}}, v)
	require.Equal(t, []Long{{"f.yaml", 11, "parts[0].wait_ps", "wait"}, {"f.yaml", 11, "parts[0].most_ps", "most"},
		{"f.yaml", 12, "parts[1].line_bps", "line"}, {"f.yaml", 12, "parts[1].gbps", "rate"}}, places.Longs())

	text, err := MarshalOver(v, timed{}, nil)
	require.NoError(t, err)
	require.Contains(t, string(text), "wait: 1.5us\nmost: 20ms\nperiod: 909ps\nline: 40Gbps\npeak: 204.8Gbps\n"+
		"rate: 252Gbps\nsize_bytes: 65536\n")
	var again timed
	_, err = Decode("f.yaml", text, nil, &again)
	require.NoError(t, err)
	require.Equal(t, v, again)
}

func TestUnitsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"wait: 20":       `wait: "20": no unit: want ps, ns, us, ms or s behind it`,
		"wait: 20h":      `wait: "20h": unknown unit "h": want ps, ns, us, ms or s`,
		"wait: -20ms":    `wait: "-20ms": negative: want 0 or more`,
		"wait: 9223373s": `wait: "9223373s": too large: want at most 9223372s`,
		"wait: 1.5ps":    `wait: "1.5ps": want a whole number of ps`,
		"wait: [1ns]":    `wait: a list: want a number with its unit`,
		"wait: null":     `wait: null: want a number with its unit`,
		"wait_ps: 20ms": `wait_ps: "20ms": want a whole number within ±9223372036854775807 (ps), or a number ` +
			`with its unit for wait`,
		"wait_ps: 1\nwait: 2ns":        `f.yaml:2: wait: a second time: wait_ps in line 1 is the same field`,
		"period: 2ns\nfrequency: 1GHz": `f.yaml:2: frequency: a second time: period in line 1 is the same field`,
		"frequency: 0":                 `frequency: "0": want 1Hz to 1000GHz`,
		"frequency: 1001GHz":           `frequency: "1001GHz": want 1Hz to 1000GHz`,
		"frequency: 2ns":               `frequency: "2ns": unknown unit "ns": want Hz, kHz, MHz or GHz`,
		"peak: 1bps":                   `peak: "1bps": want a whole number of Mbps`,
		"size_bytes: 4GiB":             `size_bytes: "4GiB": want a whole number from 0 to 4294967295`,
		"size_bytes: 64kB":             `size_bytes: "64kB": unknown unit "kB": want B, KB, KiB, MB, MiB, GB or GiB`,
		"size_bytes: 1.5":              `want a whole number from 0 to 4294967295, or a number with its unit`,
		"sizes: [1, 0.3KiB]":           `sizes[1]: "0.3KiB": want a whole number of B`,
		"wait_ps: 1\nshare: 1ps":       "share: no such field: want one of wait, most, period, line, peak, rate",
	} {
		var v timed
		_, err := Decode("f.yaml", []byte(text+"\n"), nil, &v)
		require.ErrorContains(t, err, "f.yaml:", text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "\n", text)
	}
}

// An error about a field has the name that the file writes.
func TestErrorsSpellFieldsAsTheFile(t *testing.T) {
	var v timed
	places, err := Decode("f.yaml", []byte("parts:\n- {wait: 2ns}\n- {wait_ps: 3}\n"), nil, &v)
	require.NoError(t, err)
	fault := func(i string) error {
		return places.Locate(field.Errorf(field.Path("parts["+i+"].wait_ps"), "%d: want less than %v", 2,
			field.Path("parts[0].wait_ps")))
	}
	require.EqualError(t, fault("0"), "f.yaml:2: parts[0].wait 2: want less than parts[0].wait")
	require.EqualError(t, fault("1"), "f.yaml:3: parts[1].wait_ps 2: want less than parts[0].wait")
	require.EqualError(t, fault("2"), "f.yaml:2: parts[0].wait: conflicts with a value that the file does not set: "+
		"parts[2].wait_ps 2: want less than parts[0].wait")
}

// Recognise counts long forms, too.
func TestRecogniseLongForms(t *testing.T) {
	var v timed
	_, err := Decode("f.yaml", []byte("wait_ps: 1\nline_bps: 2\n"), nil, &v)
	require.NoError(t, err)
	require.Equal(t, "wait, most, period, line, peak, rate, size_bytes, sizes, share_ps, parts",
		known(reflect.TypeFor[timed]()))
}
