package result

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/play"
	"nictwin/scenarios/run/probe/output"
	"nictwin/scenarios/shell/files"
)

// CoverageFile is the name of the coverage report in a folder of artifacts.
const CoverageFile = "coverage.json"

// Summary is the name of the file in a folder of artifacts that holds the Object.
const Summary = "summary.json"

// PageFile and ReportFile are the names of the report as a page and for scripts.
const (
	PageFile   = "report.html"
	ReportFile = "report.json"
)

// Marker is the file that marks a folder of artifacts. It is written first, so that the folder of a killed run has it,
// too.
const Marker = ".nictwin"

const markerText = "nictwin artifacts\nFiles in this folder are replaced by later runs with the same --out.\n"

// Mark marks a subfolder of a folder of artifacts, so that later runs replace the files in it.
func Mark(dir *files.Folder) error { return dir.Write(Marker, []byte(markerText)) }

// reOurs matches the numbered and named files of a run.
var reOurs = regexp.MustCompile(`^(program-[0-9]+\.json|wave-.+\.(fst|gtkw))$`)

// ours lists the files that runs may write, besides those that reOurs matches.
var ours = append([]string{
	Marker, Summary, CoverageFile, PageFile, ReportFile, TransactionsFile, play.FSTFile, play.SaveFile,
	judge.EventsFile, judge.PcapngFile, wiretap.File, JUnit, CodeQuality, ShrunkCapture, shrunkSecondPort,
	ShrunkScenario, Bundle,
}, output.Files()...)

// Bundle is the name of the file with the input of a run that failed.
const Bundle = "bundle.zip"

// Names of the files for CI systems in a folder of artifacts.
const (
	JUnit       = "junit.xml"
	CodeQuality = "gl-code-quality-report.json"
)

// Folder is a folder of artifacts in use by one run. The zero value discards everything.
type Folder struct {
	Dir    string
	Files  *files.Folder
	made   []string // folders that did not exist before, innermost first
	marked bool     // the folder was empty or foreign: only this run's marker makes it nictwin's
	there  []string // names that existed before this run
	aside  []string // renamed files of an earlier run, by path in the folder, until this run ends
	lock   *os.File
}

// OpenFolder creates the folder or takes an existing one for this run: an empty one, one of an earlier run or, if
// overwrite is set, any folder. dir may be a symbolic link to a folder; links inside it are refused. Files of an
// earlier run are renamed, except inputs of this run: Close removes them, Drop restores them. In a folder that nictwin
// did not make, only files that this run writes are replaced.
func OpenFolder(dir string, overwrite bool, inputs ...string) (f *Folder, err error) {
	if dir == "" {
		return &Folder{}, nil
	}
	const tries = 10 // another run may remove the folder while this one opens it
	for range tries {
		if f, err = open(dir, overwrite, inputs); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", dir, err)
	}
	return f, nil
}

// open creates or takes the folder. The error is an os.ErrNotExist if another run has removed it in the meantime.
func open(dir string, overwrite bool, inputs []string) (*Folder, error) {
	f := &Folder{Dir: dir}
	var err error
	if f.made, err = files.Make(dir); err == nil {
		f.Files, err = files.OpenFolder(dir)
	}
	if err == nil {
		f.lock, err = f.Files.Self()
	}
	if err == nil {
		err = f.take(overwrite, inputs)
	}
	if err != nil {
		f.Drop()
		return nil, err
	}
	return f, nil
}

// take locks the folder, checks that this run may use it, writes the marker, and sets aside files of an earlier run.
func (f *Folder) take(overwrite bool, inputs []string) error {
	if err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.made = nil // another run holds the lock and uses these folders: Drop must not remove them
		return fmt.Errorf("another run writes there (%w)", err)
	}
	if !f.present() {
		f.made = nil // if the folders exist, another run made them
		return fmt.Errorf("another run has removed it: %w", os.ErrNotExist)
	}
	for _, name := range ours {
		if err := f.Files.Replaceable(name); err != nil {
			return fmt.Errorf("%w; choose another folder", err)
		}
	}
	there, err := f.Files.Names()
	if err != nil {
		return err
	}
	f.there = there
	why := f.foreign(there)
	if why != nil && !overwrite {
		return fmt.Errorf("%w; choose another folder, or replace what is in the way by --overwrite", why)
	}
	f.marked = why != nil || len(there) == 0
	if why != nil || !slices.Contains(there, Marker) {
		if err := f.Files.Write(Marker, []byte(markerText)); err != nil {
			return fmt.Errorf("%w; choose another folder", err)
		}
	}
	if why != nil {
		return f.setAside(f.Files, "", []string{Summary}, inputs)
	}
	return f.sweep(f.Files, "", there, inputs)
}

// present reports whether the folder is still where it was opened: another run may have removed it.
func (f *Folder) present() bool {
	mine, err := f.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Dir)
	return err == nil && os.SameFile(mine, there)
}

// maxSummary bounds a summary in bytes.
const maxSummary = 256 << 20

// foreign returns an error if a folder that contains these names is neither empty nor of an earlier run.
func (f *Folder) foreign(there []string) error {
	marked := false
	if slices.Contains(there, Marker) {
		text, err := f.Files.Read(Marker, int64(len(markerText)))
		if marked = err == nil && bytes.Equal(text, []byte(markerText)); !marked {
			return fmt.Errorf("%s is not ours", Marker)
		}
	}
	if slices.Contains(there, Summary) {
		text, err := f.Files.Read(Summary, maxSummary)
		if err == nil {
			err = IsSummary(text)
		}
		if err != nil {
			return fmt.Errorf("%s %w", Summary, err)
		}
		return nil
	}
	if marked || len(there) == 0 {
		return nil
	}
	const shown = 3
	names := files.Shown(strings.Join(there[:min(shown, len(there))], ", "))
	if len(there) > shown {
		names += fmt.Sprintf(" and %d more", len(there)-shown)
	}
	return fmt.Errorf("it is neither empty nor of an earlier run: it has %s", names)
}

// Write writes the summary, completely or not at all.
func (f *Folder) Write(o *Object) error {
	if f.Dir == "" {
		return nil
	}
	text, err := o.Text()
	if err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	if err := f.Files.Write(Summary, text); err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	return nil
}

// Attachments lists the files of this run that are worth a look beside the verdict, in order.
func (f *Folder) Attachments() ([]string, error) {
	names, err := f.Files.Names()
	if err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	list := slices.DeleteFunc(names, func(name string) bool {
		return name == Marker || name == JUnit || name == CodeQuality ||
			!slices.Contains(ours, name) && !reOurs.MatchString(name)
	})
	slices.Sort(list)
	return list, nil
}

// Drop undoes OpenFolder for a run that did not take place. A folder in which the run has written something remains
// marked.
func (f *Folder) Drop() {
	f.restore()
	if f.marked && f.untouched() {
		_ = f.Files.Remove(Marker) // if this fails, the remaining marker does no harm
	}
	defer f.Close() // keeps the lock until the folders are removed, so that no other run takes them
	for _, d := range f.made {
		if err := os.Remove(d); err != nil && !errors.Is(err, os.ErrNotExist) { // the folder is not empty
			return
		}
	}
}

// untouched reports whether this run has added nothing but the marker.
func (f *Folder) untouched() bool {
	now, err := f.Files.Names()
	return err == nil &&
		!slices.ContainsFunc(now, func(name string) bool { return name != Marker && !slices.Contains(f.there, name) })
}

// Close ends the use of the folder and removes what an earlier run left in it.
func (f *Folder) Close() {
	f.clear()
	if f.lock != nil {
		_ = f.lock.Close() // errors do not matter: it was only read, and the lock is released with it
		f.lock = nil
	}
	if f.Files != nil {
		_ = f.Files.Close() // errors do not matter: it was only read
		f.Files = nil
	}
}
