package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// sample returns a bundle of a replay.
func sample() *Bundle {
	b := &Bundle{Info: Info{
		Schema: Schema, Command: "replay", Flags: []string{"--nic=rtl", "--dir=both", "--seed=1", "--pad"},
		DUT:  &DUT{Name: "nic", Manifest: strings.Repeat("0a", 32), Build: "cf86"},
		Seed: 1, Original: map[string]int{"packets": 4000}, Shrunk: map[string]int{"packets": 2}, Result: "mismatch",
		Finding: &result.Finding{Rule: "R8", Domain: result.Rx, Field: "hdr_len", Text: "cycle 7: hdr_len\n  more"},
	}}
	b.Add(Capture, "some/where/ud send6.pcapng", []byte("packets"))
	b.Files[SummaryFile], b.Files["wave-1.fst"] = []byte(summary), wave()
	return b
}

// summary is the summary of the sample.
var summary = fmt.Sprintf(`{"schema":%d,"command":"replay","result":"mismatch"}`, result.Schema)

// wave returns a waveform with a header and a hierarchy.
func wave() []byte {
	text := make([]byte, 1+fstHeaderSize, 1+fstHeaderSize+fstHead)
	binary.BigEndian.PutUint64(text[1:], fstHeaderSize)
	return binary.BigEndian.AppendUint64(append(text, fstHierarchy), fstHead-1)
}

func written(t *testing.T, b *Bundle) []byte {
	t.Helper()
	text, err := b.Bytes()
	require.NoError(t, err)
	return text
}

// Equal bundles have equal bytes, and reading gives what was written.
func TestRoundTrip(t *testing.T) {
	text := written(t, sample())
	require.Equal(t, text, written(t, sample()))
	b, err := Parse("b.zip", bytes.NewReader(text), int64(len(text)))
	require.NoError(t, err)
	require.Equal(t, sample(), b)
	require.Equal(t, text, written(t, b))
	require.Equal(t, []string{"inputs/1-ud_send6.pcapng"}, b.Info.WithRole(Capture))

	path := filepath.Join(t.TempDir(), "b.zip")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.True(t, Is(path))
	require.False(t, Is(filepath.Dir(path)))
	require.NoError(t, os.WriteFile(path+"2", []byte("PK"), 0o600))
	require.False(t, Is(path+"2"))
	_, err = Read(path)
	require.NoError(t, err)

	to := t.TempDir()
	dir, err := files.OpenFolder(to)
	require.NoError(t, err)
	require.NoError(t, b.Unpack(dir))
	require.NoError(t, dir.Close())
	var names []string
	require.NoError(t, filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	}))
	require.Equal(t, []string{"1-ud_send6.pcapng"}, names, "inputs alone are unpacked")
}

// A name from another bundle gets a new number in place of its old one, and equal names get different numbers.
func TestNames(t *testing.T) {
	b := new(Bundle)
	for _, file := range []string{"1-x.pcap", "x.pcap", "-", "../..", `a\b` + strings.Repeat("y", 100) + ".gz"} {
		b.Add(Capture, file, nil)
	}
	var names []string
	for _, x := range b.Info.Inputs {
		require.Regexp(t, inputForm(), x.Name)
		names = append(names, x.Name)
	}
	require.Equal(t, []string{"inputs/1-x.pcap", "inputs/2-x.pcap", "inputs/3--", "inputs/4-..",
		"inputs/5-" + strings.Repeat("y", 57) + ".gz"}, names)
}

// entry is an entry of an archive that a test makes.
type entry struct {
	name, text string
	change     func(h *zip.FileHeader)
}

// archive makes an archive.
func archive(t *testing.T, list ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.change != nil {
			e.change(h)
		}
		w, err := z.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(w, e.text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// valid returns the entries of a bundle.
func valid(t *testing.T, change func(i *Info)) []entry {
	t.Helper()
	b := sample()
	if change != nil {
		change(&b.Info)
	}
	text, err := json.Marshal(&b.Info)
	require.NoError(t, err)
	return []entry{{name: InfoFile, text: string(text)}, {name: "inputs/1-ud_send6.pcapng", text: "packets"}}
}

// refused checks that Parse refuses an archive, with an *Error whose text contains want.
func refused(t *testing.T, raw []byte, want string) {
	t.Helper()
	_, err := Parse("b.zip", bytes.NewReader(raw), int64(len(raw)))
	var known *Error
	require.ErrorAs(t, err, &known)
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "\n\n")
}

// Archive entries that no bundle contains are refused, and the error names the entry.
func TestHostileEntries(t *testing.T) {
	named := func(name string) entry { return entry{name: name, text: "x"} }
	special := func(name string, m fs.FileMode) entry {
		return entry{name, "x", func(h *zip.FileHeader) { h.SetMode(m) }}
	}
	for want, e := range map[string]entry{
		`entry "../evil": leads out of the bundle`:                      named("../evil"),
		`entry "inputs/../../evil": leads out of the bundle`:            named("inputs/../../evil"),
		`entry "rtl/..": leads out of the bundle`:                       named("rtl/.."),
		`entry "/etc/passwd": an absolute path`:                         named("/etc/passwd"),
		`entry "inputs\\evil": a backslash in its name`:                 named(`inputs\evil`),
		`entry "inputs/": is a folder`:                                  {name: "inputs/"},
		`entry "readme.txt": no bundle has it: want bundle.json`:        named("readme.txt"),
		`entry "inputs/a/b": no bundle has it`:                          named("inputs/a/b"),
		`entry "inputs/.hidden": no bundle has it`:                      named("inputs/.hidden"),
		`entry "inputs/a\nb": no bundle has it`:                         named("inputs/a\nb"),
		`entry "inputs/\x1b[2J": no bundle has it`:                      named("inputs/\x1b[2J"),
		`entry "bundle.json": is there twice`:                           named(InfoFile),
		`entry "inputs/1-ud_send6.pcapng": is there twice`:              named("inputs/1-ud_send6.pcapng"),
		`entry "inputs/other": bundle.json does not name it`:            named("inputs/other"),
		`entry "wave-1.fst": is a link or no file`:                      special("wave-1.fst", fs.ModeSymlink|0o777),
		`entry "rtl/p": is a link or no file`:                           special("rtl/p", fs.ModeNamedPipe|0o666),
		`entry "rtl/d": is a link or no file`:                           special("rtl/d", fs.ModeDevice|0o666),
		fmt.Sprintf(`entry "rtl/%s…": a name of 604 bytes`, repeat(76)): named("rtl/" + repeat(600)),
	} {
		refused(t, archive(t, append(valid(t, nil), e)...), want)
	}
}

func repeat(n int) string { return strings.Repeat("y", n) }
