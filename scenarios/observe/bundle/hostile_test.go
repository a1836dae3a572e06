package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
)

// patched changes bytes of the local and the central header of an entry: at is the offset in the local one, the
// central one has it two bytes later.
func patched(t *testing.T, raw []byte, name string, at int, value uint16) []byte {
	t.Helper()
	raw = bytes.Clone(raw)
	local := bytes.Index(raw, []byte(name)) - 30
	central := bytes.LastIndex(raw, []byte(name)) - 46
	require.Positive(t, local+1)
	require.Greater(t, central, local)
	binary.LittleEndian.PutUint16(raw[local+at:], value)
	binary.LittleEndian.PutUint16(raw[central+at+2:], value)
	return raw
}

// Archives that are damaged, encrypted or cut off, or that are no bundles, are refused.
func TestHostileArchives(t *testing.T) {
	good := archive(t, valid(t, nil)...)
	const input = "inputs/1-ud_send6.pcapng"
	refused(t, patched(t, good, input, 6, 1), `entry "`+input+`": is encrypted`)
	refused(t, patched(t, good, input, 8, 12), `entry "`+input+`": compression method 12: want stored or deflated`)
	for n := range len(good) {
		refused(t, good[:n], "bundle b.zip: ")
	}
	refused(t, good[:len(good)/2], "is cut off, or no zip archive")
	damaged := bytes.Clone(good)
	damaged[bytes.Index(good, []byte(input))+len(input)+2] ^= 0xff
	refused(t, damaged, `entry "`+input+`": is damaged`)
	refused(t, append([]byte("#!/bin/sh\n"), good...), "has bytes before its first entry: want the archive alone")
	refused(t, append(bytes.Clone(good), good...), "has bytes before its first entry: want the archive alone")
	refused(t, append(bytes.Clone(good), "\n"...), "has bytes after its end: want the archive alone")
	refused(t, archive(t), "no bundle: its first entry is not bundle.json")
	refused(t, archive(t, entry{name: "word/document.xml"}), "no bundle: its first entry is not bundle.json")
	refused(t, archive(t, valid(t, nil)[:1]...), `entry "`+input+`": is missing: bundle.json names it`)
	_, err := Parse("b.zip", bytes.NewReader(nil), MaxBytes+1)
	require.ErrorContains(t, err, "want at most 268435456")
	_, err = Read(t.TempDir())
	require.ErrorContains(t, err, "is a folder: want the zip archive that a run left")
}

// Unpacking a zip bomb ends at a limit, whatever the headers claim; archives of very many entries are refused.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", MaxWave+1)
	bomb := archive(t, append(valid(t, nil), entry{name: "wave-1.fst", text: zeros})...)
	require.Less(t, len(bomb), 100_000)
	refused(t, bomb, `entry "wave-1.fst": more than 33554432 bytes, unpacked`)

	refused(t, archive(t, entry{name: InfoFile, text: strings.Repeat(" ", maxInfo+1)}),
		`entry "bundle.json": more than 1048576 bytes`)

	list := valid(t, nil)
	for i := range MaxBytes/MaxWave + 1 {
		list = append(list, entry{name: fmt.Sprintf("rtl/%d", i), text: zeros})
	}
	refused(t, archive(t, list...), `entry "rtl/7": more than`)

	list = valid(t, nil)
	for i := range maxEntries {
		list = append(list, entry{name: fmt.Sprintf("wave-%d.fst", i)})
	}
	refused(t, archive(t, list...), "has too many entries: want at most 64")
	for i := range maxRTL + 1 {
		list = append(list, entry{name: fmt.Sprintf("rtl/%d", i)})
	}
	refused(t, archive(t, list[:2+maxRTL]...), "has too many entries")

	list = valid(t, nil)
	for i := range 70_000 { // the list of so many entries exceeds the limit for reading it
		stored := func(h *zip.FileHeader) { h.Method = zip.Store }
		list = append(list, entry{fmt.Sprintf("rtl/%d", i), "", stored})
	}
	refused(t, archive(t, list...), "has too many entries")
}

// Nonsense in bundle.json is refused, and the error names the field or the flag.
func TestHostileInfo(t *testing.T) {
	text := func(info string) []byte {
		return archive(t, entry{name: InfoFile, text: info}, valid(t, nil)[1])
	}
	good := valid(t, nil)[0].text
	for want, info := range map[string]string{
		"unexpected end":                        "",
		"invalid character":                     "PK",
		"is of kind array: want an object":      "[]",
		"seed: string: want a whole number":     strings.Replace(good, `"seed":`, `"seed":"x","seed2":`, 1),
		"schema 0: this nictwin reads 1":        "{}",
		"schema 2: this nictwin reads 1":        `{"schema":2}`,
		"is not UTF-8":                          "\xff",
		`field "exec": no such field`:           strings.Replace(good, `"schema":1`, `"schema":1,"exec":"rm"`, 1),
		`field "shell": no such field`:          strings.Replace(good, `"domain":`, `"shell":1,"domain":`, 1),
		"invalid character '{' after top-level": good + "{}",
	} {
		refused(t, text(info), want)
	}
	flags := func(list ...string) func(i *Info) { return func(i *Info) { i.Flags = list } }
	role := func(r Role) func(i *Info) { return func(i *Info) { i.Inputs[0].Role = r } }
	for want, change := range map[string]func(i *Info){
		"finding: is missing: want that of the mismatch": func(i *Info) {
			i.Result, i.Finding = result.Mismatch.String(), nil
		},
		`command "rm": want fuzz, play, replay, run`:                func(i *Info) { i.Command = "rm" },
		`flag "--out=/etc": a bundle of replay cannot set it: want`: flags("--out=/etc"),
		`flag "--board=x": a bundle of replay cannot set it`:        flags("--board=x"),
		`flag "--dut=x": a bundle of replay cannot set it`:          flags("--dut=x"),
		`flag "-n": a bundle of replay cannot set it`:               flags("-n"),
		`flag "nic=rtl": a bundle of replay cannot set it`:          flags("nic=rtl"),
		`flag "--nic=\x1b": has control characters`:                 flags("--nic=\x1b"),
		"flags: 257: want at most 256":                              flags(make([]string, 257)...),
		"70006 bytes: want at most 65536":                           flags("--nic=" + repeat(70_000)),
		`role "shell": a bundle of replay has board, capture`:       role("shell"),
		`role "program": a bundle of replay has board, capture`:     role(Program),
		`input "../x": want inputs/NAME`:                            func(i *Info) { i.Inputs[0].Name = "../x" },
		"is there twice": func(i *Info) {
			i.Inputs = append(i.Inputs, i.Inputs[0])
		},
		"none with role capture, so there is nothing": func(i *Info) { i.Inputs = nil },
		"more than 1 with role board": func(i *Info) {
			i.Inputs = append(i.Inputs, Input{"inputs/a", Board}, Input{"inputs/b", Board})
		},
		`dut.name "../nic": want a device's name`:    func(i *Info) { i.DUT.Name = "../nic" },
		`dut.name "": want a device's name`:          func(i *Info) { i.DUT.Name = "" },
		`dut.manifest_sha256 "00": want 64`:          func(i *Info) { i.DUT.Manifest = "00" },
		`dut.build "x y": want a hash`:               func(i *Info) { i.DUT.Build = "x y" },
		`result "pass": want mismatch or infrastruc`: func(i *Info) { i.Result = "pass" },
		"packets -1: want 0 or more":                 func(i *Info) { i.Shrunk["packets"] = -1 },
		`"a b": want a word`:                         func(i *Info) { i.Original["a b"] = 1 },
		"revision: has control characters":           func(i *Info) { i.Revision = "a\nresult pass" },
		"dut: missing: play has a device": func(i *Info) {
			i.Command, i.Inputs, i.Flags, i.DUT = "play", nil, nil, nil
		},
	} {
		refused(t, archive(t, valid(t, change)...), want)
		b := sample()
		change(&b.Info)
		_, err := b.Bytes()
		require.ErrorContains(t, err, want, "what is refused is not written")
	}
}

// Method Bytes refuses files that Parse would refuse in a bundle: bad names, and contents that are too large.
func TestWritesNoBadNames(t *testing.T) {
	b := sample()
	b.Files["../x"] = nil
	_, err := b.Bytes()
	require.ErrorContains(t, err, `"../x"`)
	b = sample()
	b.Files["wave-1.fst"] = make([]byte, MaxBytes)
	_, err = b.Bytes()
	require.ErrorContains(t, err, "a bundle at most 268435456")
}

// When a bundle is shown, a text with line breaks in it cannot imitate another row.
func TestShow(t *testing.T) {
	b := sample()
	b.Files["rtl/a.sv"] = nil
	b.Info.Finding = &result.Finding{Text: "first\nresult    pass\n"}
	b.Info.Error = "died\nresult    pass"
	b.Remarks = []string{"entry \"x\": is damaged"}
	require.Equal(t, `command      replay
flags        --nic=rtl --dir=both --seed=1 --pad
capture      inputs/1-ud_send6.pcapng, 7 bytes
device       nic, manifest 0a0a0a0a0a0a0a0a, build cf86
revision     unknown
seed         1
shrunk       to 2 packets, from 4000 packets
result       mismatch
finding      first
             | result    pass
error        died
             | result    pass
file         summary.json, 51 bytes
file         wave-1.fst, 339 bytes
RTL          1 files in rtl/
warning      entry "x": is damaged
`, b.String())
}

// A summary or a waveform that is damaged, or of another run, is named in a remark and ignored; the inputs are played.
func TestRemarks(t *testing.T) {
	schema := fmt.Sprintf(`"schema":%d`, result.Schema)
	cutOff := wave()
	longer := append(wave(), fstHierarchy, 0, 0, 0, 0, 0, 0, 0, 99)
	for _, x := range []struct{ name, text, want string }{
		{SummaryFile, "{}", "is not ours: want a schema and a result in it"},
		{SummaryFile, summary[:30], "is not ours, or damaged: unexpected end of JSON input"},
		{SummaryFile, strings.Replace(summary, "replay", "run", 1), `command "run": want replay, as in bundle.json`},
		{SummaryFile, strings.Replace(summary, "mismatch", "pass", 1), `result "pass": want mismatch, as in`},
		{SummaryFile, strings.Replace(summary, "mismatch", "great", 1), `result "great": want pass, mismatch`},
		{SummaryFile, strings.Replace(summary, `"replay"`, "7", 1), "command: number: want a string"},
		{SummaryFile, strings.Replace(summary, schema, `"schema":1,"nic":7`, 1), ""}, // of an older version
		{"wave-1.fst", "", "is empty: want an FST file"},
		{"wave-1.fst", "hallo", "is cut off: 5 bytes after the last block"},
		{"wave-1.fst", strings.Repeat("x", 400), "is no waveform: want an FST file"},
		{"wave-1.fst", string(cutOff[:330]), "is cut off: the names of its signals are missing"},
		{"wave-1.fst", string(cutOff[:338]), "is cut off: 8 bytes after the last block"},
		{"wave-1.fst", string(longer), "is cut off or damaged: a block of 99 bytes at byte 339, 8 are left"},
	} {
		b := sample()
		b.Files[x.name] = []byte(x.text)
		raw := written(t, b)
		read, err := Parse("b.zip", bytes.NewReader(raw), int64(len(raw)))
		require.NoError(t, err)
		require.Equal(t, b.Files, read.Files)
		if x.want == "" {
			require.Empty(t, read.Remarks)
			continue
		}
		require.Len(t, read.Remarks, 1, x.want)
		require.Contains(t, read.Remarks[0], fmt.Sprintf("entry %q: %s", x.name, x.want))
		require.Contains(t, read.Remarks[0], "; nothing is played from it")
	}
	raw := archive(t, append(valid(t, nil), entry{name: "wave-1.fst", text: string(wave())})...)
	raw[bytes.Index(raw, []byte("wave-1.fst"))+len("wave-1.fst")+2] ^= 0xff
	read, err := Parse("b.zip", bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	require.NotContains(t, read.Files, "wave-1.fst")
	require.Len(t, read.Remarks, 1)
	require.Contains(t, read.Remarks[0], `entry "wave-1.fst": is damaged: `)
}

// FuzzParse checks that whatever is read ends with a bundle that can be written and read again, or with an *Error.
func FuzzParse(f *testing.F) {
	good, err := sample().Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := Parse("b.zip", bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			var known *Error
			require.ErrorAs(t, err, &known)
			return
		}
		_ = b.String()
		text, err := b.Bytes()
		require.NoError(t, err)
		again, err := Parse("b.zip", bytes.NewReader(text), int64(len(text)))
		require.NoError(t, err)
		require.Equal(t, b.Files, again.Files)
	})
}
