package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"nictwin/scenarios/shell/files"
)

// dated is the time stamp of every entry: the earliest that zip can represent.
var dated = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// TooLargeError reports that a bundle would exceed MaxBytes, the limit for reading one.
type TooLargeError struct{ Bytes int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its input and waveform have %d bytes, a bundle at most %d", e.Bytes, MaxBytes)
}

// Bytes returns the archive. It refuses contents that Parse would refuse.
func (b *Bundle) Bytes() ([]byte, error) {
	info, err := json.MarshalIndent(&b.Info, "", "  ")
	if err != nil {
		return nil, err
	}
	total := int64(len(info))
	for _, text := range b.Files {
		total += int64(len(text))
	}
	if total > MaxBytes {
		return nil, &TooLargeError{total}
	}
	if _, err := parseInfo(info); err != nil {
		return nil, &Error{"", InfoFile, err}
	}
	if entry, err := b.whole(); err != nil {
		return nil, &Error{"", entry, err}
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	err = add(z, InfoFile, append(info, '\n'))
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		err = errors.Join(err, add(z, name, b.Files[name]))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	_, err = Parse("the new bundle", bytes.NewReader(out.Bytes()), int64(out.Len()))
	return out.Bytes(), err
}

// add adds an entry.
func add(z *zip.Writer, name string, text []byte) error {
	if err := checkName(name); err != nil {
		return &Error{"", name, err}
	}
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: dated}
	h.SetMode(0o644)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Add adds an input under a name made from that of its file.
func (b *Bundle) Add(role Role, file string, text []byte) {
	name := fmt.Sprintf("%s%d-%s", inputsDir, len(b.Info.Inputs)+1, plain(path.Base(file)))
	b.Info.Inputs = append(b.Info.Inputs, Input{name, role})
	if b.Files == nil {
		b.Files = map[string][]byte{}
	}
	b.Files[name] = text
}

// numbered matches the number that Add puts before a name.
var numbered = regexp.MustCompile(`^[0-9]+-`)

// plain replaces characters that names of entries must not contain, and cuts long names at their beginning, so that the
// extension stays. It drops the number of a name that comes from another bundle.
func plain(name string) string {
	const most = 60
	name = numbered.ReplaceAllString(name, "")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '_'
	}, name)
	return name[max(0, len(name)-most):]
}

// Unpack writes the inputs, and nothing else, into a folder, each under its base name.
func (b *Bundle) Unpack(to *files.Folder) error {
	for _, x := range b.Info.Inputs {
		if err := to.Write(path.Base(x.Name), b.Files[x.Name]); err != nil {
			return err
		}
	}
	return nil
}
