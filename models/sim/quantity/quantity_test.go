package quantity

import (
	"encoding"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// parsers read each kind of quantity and return it with its String.
var parsers = map[string]func(text string) (int64, string, error){
	"time":  func(s string) (int64, string, error) { v, err := ParseTime(s); return int64(v), v.String(), err },
	"bytes": func(s string) (int64, string, error) { v, err := ParseBytes(s); return int64(v), v.String(), err },
	"rate":  func(s string) (int64, string, error) { v, err := ParseRate(s); return int64(v), v.String(), err },
	"frequency": func(s string) (int64, string, error) {
		v, err := ParseFrequency(s)
		return int64(v), v.String(), err
	},
}

func TestParse(t *testing.T) {
	for _, x := range []struct {
		kind, text string
		want       int64
		written    string // expected result of the method String; empty: equal to text
	}{
		{"time", "7ps", 7, ""}, {"time", "20ms", 20e9, ""}, {"time", "1.5us", 1_500_000, ""},
		{"time", "2500ps", 2500, "2.5ns"}, {"time", "0.001ns", 1, "1ps"}, {"time", "1000s", 1e15, ""},
		{"time", "1.50ns", 1500, "1.5ns"}, {"time", "0", 0, "0ps"}, {"time", "0.0s", 0, "0ps"},
		{"time", "9223372.036854775807s", math.MaxInt64, ""},
		{"bytes", "64B", 64, ""}, {"bytes", "64KiB", 65536, ""}, {"bytes", "1.5KiB", 1536, "1536B"},
		{"bytes", "2MB", 2_000_000, "2000000B"}, {"bytes", "3MiB", 3 << 20, ""}, {"bytes", "1GB", 1e9, "1000000000B"},
		{"bytes", "2GiB", 2 << 30, ""}, {"bytes", "1KB", 1000, "1000B"}, {"bytes", "0B", 0, ""},
		{"bytes", "512", 512, "512B"}, {"bytes", "0", 0, "0B"},
		{"rate", "200Gbps", 200e9, ""}, {"rate", "25GB/s", 200e9, "200Gbps"}, {"rate", "0.125B/s", 1, "1bps"},
		{"rate", "2.5Mbps", 2_500_000, ""}, {"rate", "3KB/s", 24_000, "24Kbps"}, {"rate", "4MB/s", 32e6, "32Mbps"},
		{"rate", "56Kbps", 56_000, ""}, {"rate", "9bps", 9, ""},
		{"frequency", "1.1GHz", 1_100_000_000, ""}, {"frequency", "250MHz", 250e6, ""},
		{"frequency", "32.768kHz", 32768, ""}, {"frequency", "50Hz", 50, ""},
	} {
		n, written, err := parsers[x.kind](x.text)
		require.NoError(t, err, x.text)
		require.Equal(t, x.want, n, x.text)
		if x.written == "" {
			x.written = x.text
		}
		require.Equal(t, x.written, written)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, x := range []struct{ kind, text, err string }{
		{"time", "20", `"20": no unit: want ps, ns, us, ms or s behind it`},
		{"time", "20min", `"20min": unknown unit "min": want ps, ns, us, ms or s`},
		{"time", "20 ms", `"20 ms": unknown unit " ms": want ps, ns, us, ms or s`},
		{"time", "1.5ps", `"1.5ps": want a whole number of ps`},
		{"time", "-5ms", `"-5ms": negative: want 0 or more`},
		{"time", "9223373s", `"9223373s": too large: want at most 9223372s`},
		{"time", "010ms", `"010ms": a number does not begin with 0: want a time, such as 20ms`},
		{"time", "", `"": no quantity: want a time, such as 20ms`},
		{"time", "ms", `"ms": no quantity: want a time, such as 20ms`},
		{"time", ".5ms", `".5ms": no quantity: want a time, such as 20ms`},
		{"time", "1.ms", `"1.ms": no quantity: want a time, such as 20ms`},
		{"time", "1e3ns", `"1e3ns": unknown unit "e3ns": want ps, ns, us, ms or s`},
		{"time", "+1ns", `"+1ns": no quantity: want a time, such as 20ms`},
		{"time", strings.Repeat("9", 100) + "s", `"` +
			strings.Repeat("9", 64) + `"…: no quantity: want a time, such as 20ms`},
		{"time", strings.Repeat("9", 60) + "s", `"` + strings.Repeat("9", 60) + `s": too large: want at most 9223372s`},
		{"bytes", "1.5", `"1.5": no unit: want B, KB, KiB, MB, MiB, GB or GiB behind it`},
		{"rate", "5", `"5": no unit: want bps, Kbps, Mbps, Gbps, B/s, KB/s, MB/s or GB/s behind it`},
		{"bytes", "64kb", `"64kb": unknown unit "kb": want B, KB, KiB, MB, MiB, GB or GiB`},
		{"bytes", "0.3KiB", `"0.3KiB": want a whole number of B`},
		{"bytes", "8GiB2", `"8GiB2": unknown unit "GiB2": want B, KB, KiB, MB, MiB, GB or GiB`},
		{"rate", "1Gbit", `"1Gbit": unknown unit "Gbit": want bps, Kbps, Mbps, Gbps, B/s, KB/s, MB/s or GB/s`},
		{"rate", "0.1bps", `"0.1bps": want a whole number of bps`},
		{"frequency", "1.1Ghz", `"1.1Ghz": unknown unit "Ghz": want Hz, kHz, MHz or GHz`},
	} {
		_, _, err := parsers[x.kind](x.text)
		require.EqualError(t, err, x.err)
	}
}

// A quantity that is refused leaves a field as it was.
func TestDecodeWord(t *testing.T) {
	d, b, r, f := Time(1), Bytes(1), Rate(1), Frequency(1)
	require.Error(t, d.DecodeWord("1h"))
	require.Equal(t, Time(1), d)
	require.NoError(t, d.DecodeWord("2ns"))
	require.NoError(t, b.DecodeWord("2KiB"))
	require.NoError(t, r.DecodeWord("2GB/s"))
	require.NoError(t, f.DecodeWord("2GHz"))
	require.Equal(t, []int64{2000, 2048, 16e9, 2e9}, []int64{int64(d), int64(b), int64(r), int64(f)})
	for want, v := range map[string]encoding.TextMarshaler{"2ns": d, "2KiB": b, "16Gbps": r, "2GHz": f} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

func TestStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		for name, parse := range parsers {
			text := map[string]string{"time": Time(n).String(), "bytes": Bytes(n).String(), "rate": Rate(n).String(),
				"frequency": Frequency(n).String()}[name]
			got, _, err := parse(text)
			require.NoError(t, err)
			require.Equal(t, n, got, text)
		}
	})
}

// Negative quantities, which no text gives, are written with a sign.
func TestStringOfNegatives(t *testing.T) {
	require.Equal(t, "-1.5us", Time(-1_500_000).String())
	require.Equal(t, "-9223372.036854775808s", Time(math.MinInt64).String())
	require.Equal(t, "-2KiB", Bytes(-2048).String())
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"20ms", "1.5us", "64KiB", "200Gbps", "25GB/s", "1.1GHz", "-1s", "9223373s", "0",
		"00", "1.5ps", "1µs", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, parse := range parsers {
			n, written, err := parse(text)
			if err != nil {
				require.Zero(t, n, name)
				continue
			}
			require.GreaterOrEqual(t, n, int64(0), name)
			again, _, err := parse(written)
			require.NoError(t, err, name)
			require.Equal(t, n, again, name)
		}
	})
}
