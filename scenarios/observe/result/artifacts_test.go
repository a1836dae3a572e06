package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"nictwin/scenarios/bed/judge"

	"github.com/stretchr/testify/require"
)

func TestFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := OpenFolder("a/b", false)
	require.NoError(t, err)
	_, err = OpenFolder("a/b", false)
	require.ErrorContains(t, err, "another run writes there")
	f.Drop()
	require.NoDirExists(t, "a")

	require.NoError(t, os.Mkdir("a", 0o755))
	f, err = OpenFolder("a/b/c", false)
	require.NoError(t, err)
	f.Drop()
	require.DirExists(t, "a", "it was there before")
	require.NoDirExists(t, "a/b")

	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	var o Object
	o.End(Mismatch, errors.New("x"))
	require.NoError(t, f.Write(&o))
	f.Close()
	require.FileExists(t, filepath.Join("a", Summary))
	left, err := os.ReadDir("a")
	require.NoError(t, err)
	require.Len(t, left, 2, "the verdict and the marker")
	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join("a", Summary), "no verdict of an earlier run")
	f.Close()

	for name, text := range map[string]string{"list": "[]", "text": "hello", "other": `{"result":"pass"}`,
		"empty": ""} {
		require.NoError(t, os.Mkdir(name, 0o755))
		path := filepath.Join(name, Summary)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := OpenFolder(name, false)
		require.ErrorContains(t, err, "is not ours", name)
		require.FileExists(t, path)
	}
}

// TestInnerRunsStay checks that a run sets aside the folders of an earlier run's cases, but not subfolders with the
// artifacts of another run or report.
func TestInnerRunsStay(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), Marker), []byte(markerText), 0o644))
	}
	for _, path := range []string{"a/junit.xml", "a/case/events.jsonl", "a/run/events.jsonl", "a/run/junit.xml",
		"a/page/report.html"} {
		write(path)
	}
	f, err := OpenFolder("a", false)
	require.NoError(t, err)
	f.Close()
	require.NoDirExists(t, "a/case")
	require.FileExists(t, "a/run/events.jsonl")
	require.FileExists(t, "a/run/junit.xml")
	require.FileExists(t, "a/page/report.html")
}

// TestSummariesThatContradict checks that a summary which no run can have written is refused by an error that names the
// field at fault.
func TestSummariesThatContradict(t *testing.T) {
	for text, want := range map[string]string{
		`"result": "great"`:                                  `result "great": want pass, mismatch,`,
		`"result": "pass", "mismatches": 3`:                  "contradicts mismatches 3 and the 0 findings",
		`"result": "pass", "findings": [{}]`:                 "contradicts mismatches 0 and the 1 findings",
		`"result": "pass", "wall_s": -1`:                     "wall_s -1: want 0 or more",
		`"result": "pass", "command": ""`:                    "command: is empty",
		`"result": "pass", "command": "replay\nPASS"`:        `command "replay\nPASS": want no line break`,
		`"result": "mismatch", "findings": [{"rule": "\n"}]`: `findings.rule "\n": want no line break`,
		`"result": "pass", "scenarios": [{"name": "a\nb"}]`:  `scenarios.name "a\nb": want no line break`,
		`"result": "pass", "checked": -1`:                    "checked: number -1: want a whole number of 0 or more",
		`"result": "pass", "captures": 1`:                    "captures: number: want a list",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, Summary),
			[]byte(`{"schema": 2, "command": "replay", `+text+"}"), 0o644))
		_, err := ReadSummary(dir)
		require.ErrorContains(t, err, want, text)
	}
}

// TestOneNewFolderForSeveral starts several runs with the same new folder at the same time: one must get it, and the
// others must not remove it when they end.
func TestOneNewFolderForSeveral(t *testing.T) {
	t.Chdir(t.TempDir())
	for n := range 100 {
		var won atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				f, err := OpenFolder("new/folder", false)
				if err != nil {
					require.ErrorContains(t, err, "another run writes there")
					return
				}
				won.Add(1)
				_, err = f.Files.Names()
				require.NoError(t, err)
				require.FileExists(t, "new/folder/"+Marker)
				if n%2 == 0 {
					f.Drop()
				}
				f.Close()
			})
		}
		all.Wait()
		require.Positive(t, won.Load())
	}
}

// put creates files that contain their names.
func put(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(p), 0o644))
	}
}

// TestForeignFolder checks that a folder not made by nictwin is left alone unless overwrite is set, and belongs to
// nictwin afterwards.
func TestForeignFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	events := filepath.Join("theirs", judge.EventsFile)
	put(t, events, "theirs/a", "theirs/b", "theirs/c", "marked/"+Marker, "hidden/.gitkeep")
	for dir, why := range map[string]string{
		"theirs": "--out theirs: it is neither empty nor of an earlier run: it has a, b, c and 1 more; choose " +
			"another folder, or replace what is in the way by --overwrite",
		"marked": "--out marked: .nictwin is not ours",
		"hidden": "it has .gitkeep;",
	} {
		_, err := OpenFolder(dir, false)
		require.ErrorContains(t, err, why)
	}
	require.NoFileExists(t, filepath.Join("theirs", Marker))
	f, err := OpenFolder("theirs", true)
	require.NoError(t, err)
	f.Drop()
	_, err = OpenFolder("theirs", false)
	require.Error(t, err, "the run that was allowed it did not take place")

	f, err = OpenFolder("theirs", true)
	require.NoError(t, err)
	text, err := os.ReadFile(events)
	require.NoError(t, err)
	require.Equal(t, events, string(text), "only what is written is replaced")
	f.Close()
	f, err = OpenFolder("theirs", false)
	require.NoError(t, err, "it is ours now")
	f.Close()
}

// TestFolderOfAKilledRun checks that the next run takes the folder of a run that was killed before it wrote a summary,
// and a folder with a summary but without a marker, as earlier versions left it.
func TestFolderOfAKilledRun(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := OpenFolder("a", false)
	require.NoError(t, err)
	put(t, "a/"+judge.EventsFile)
	f.Close() // closed like the files of a killed process
	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	f.Drop()
	f, err = OpenFolder("a", false)
	require.NoError(t, err, "it stays ours when a later run does not take place")
	f.Close()

	require.NoError(t, os.Mkdir("old", 0o755))
	require.NoError(t, os.WriteFile("old/"+Summary, []byte(`{"schema":1,"result":"pass"}`), 0o644))
	f, err = OpenFolder("old", false)
	require.NoError(t, err)
	f.Drop()
	f, err = OpenFolder("old", false)
	require.NoError(t, err)
	f.Close()
}

// TestFilesOfAnEarlierRun checks that a run removes the files of an earlier run, in marked subfolders as well, but
// neither other files nor its own inputs.
func TestFilesOfAnEarlierRun(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := OpenFolder("a", false)
	require.NoError(t, err)
	for _, dir := range []string{"case", "kept"} {
		sub, err := f.Files.Sub(dir)
		require.NoError(t, err)
		require.NoError(t, Mark(sub))
		require.NoError(t, sub.Close())
	}
	f.Close()
	gone := []string{
		"wave.fst", "wave.gtkw", "wave-s0_nic.fst", "wave-s0_nic.gtkw", TransactionsFile, CoverageFile,
		judge.EventsFile, judge.PcapngFile, "wires.pcapng", "program-12.json",
	}
	stay := []string{"notes", "wave", "program-x.json", "kept/notes", "theirs/" + judge.EventsFile, "theirs/wave.fst"}
	for _, name := range gone {
		put(t, "a/"+name, "a/case/"+name, "a/kept/"+name)
	}
	for _, name := range stay {
		put(t, "a/"+name)
	}
	put(t, "a/program-3.json") // the earlier run was killed: it left no verdict
	f, err = OpenFolder("a", false, "a/program-3.json", "nosuch")
	require.NoError(t, err)
	f.Close()
	for _, name := range gone {
		require.NoFileExists(t, "a/"+name)
		require.NoFileExists(t, "a/kept/"+name)
	}
	require.NoDirExists(t, "a/case", "nothing of it is left")
	for _, name := range append(stay, "program-3.json", Marker) {
		require.FileExists(t, "a/"+name)
	}
}

// TestFilesOfAnEarlierRunStay checks that a run that does not take place leaves the files of an earlier one unchanged,
// and that files renamed by a killed run are removed by the next one.
func TestFilesOfAnEarlierRunStay(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := OpenFolder("a", false)
	require.NoError(t, err)
	sub, err := f.Files.Sub("case")
	require.NoError(t, err)
	require.NoError(t, Mark(sub))
	require.NoError(t, sub.Close())
	o := &Object{Command: "play"}
	o.End(Pass, nil)
	require.NoError(t, f.Write(o))
	f.Close()
	stay := []string{Marker, Summary, "wave.fst", "case/" + Marker, "case/" + judge.EventsFile, "case/wave.gtkw"}
	for _, name := range stay {
		if !strings.HasSuffix(name, Marker) && name != Summary {
			put(t, "a/"+name)
		}
	}
	before := tree(t, "a")
	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	require.NoFileExists(t, "a/wave.fst", "for this run")
	put(t, "a/case/"+judge.EventsFile) // by this run
	require.NoError(t, os.WriteFile("a/wave.fst", []byte("of this run"), 0o644))
	f.Drop()
	require.Equal(t, before, tree(t, "a"))

	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	require.NoError(t, f.lock.Close()) // the lock of a killed run is released
	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	f.Close()
	require.Equal(t, map[string]string{Marker: markerText}, tree(t, "a"))

	require.NoError(t, os.Mkdir("a/program-1.json", 0o755))
	put(t, "a/wave.fst")
	_, err = OpenFolder("a", false)
	require.EqualError(t, err, "--out a: write a/program-1.json: program-1.json exists and is not a file")
	require.FileExists(t, "a/wave.fst")
}

// tree returns the contents of the files in a folder, by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	}))
	return all
}

// TestLinksInAFolder checks that nothing is written through a symbolic link inside the folder, whatever the options.
// The folder itself may be a link.
func TestLinksInAFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "victim")
	for _, name := range ours {
		dir := "dir" + name
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.Symlink("../victim", filepath.Join(dir, name)))
		for _, overwrite := range []bool{false, true} {
			_, err := OpenFolder(dir, overwrite)
			require.EqualError(t, err, "--out "+dir+": "+name+" is a link, and nothing is written through links; "+
				"choose another folder")
		}
	}
	text, err := os.ReadFile("victim")
	require.NoError(t, err)
	require.Equal(t, "victim", string(text))

	require.NoError(t, os.Mkdir("real", 0o755))
	require.NoError(t, os.Symlink("real", "link"))
	f, err := OpenFolder("link", false)
	require.NoError(t, err)
	require.NoError(t, f.Write(&Object{}))
	f.Close()
	require.FileExists(t, filepath.Join("real", Summary))
}

// TestFolderOfARunThatBrokeOff checks that a folder into which a run wrote before it gave up is still taken as
// nictwin's.
func TestFolderOfARunThatBrokeOff(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := OpenFolder("a", false)
	require.NoError(t, err)
	put(t, "a/"+judge.EventsFile)
	f.Drop()
	f, err = OpenFolder("a", false)
	require.NoError(t, err)
	f.Close()
	f, err = OpenFolder("b/c", false)
	require.NoError(t, err)
	f.Drop()
	require.NoDirExists(t, "b")
}

// A report's folder that is refused stays as it was; a new one is made and marked.
func TestBesideKeepsForeignFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("theirs", 0o755))
	require.NoError(t, os.WriteFile("theirs/x", nil, 0o644))
	_, err := OpenBeside("theirs", false)
	require.ErrorContains(t, err, "it is neither empty nor of an earlier run: it has x; choose another folder")
	require.FileExists(t, "theirs/x")
	require.NoFileExists(t, filepath.Join("theirs", Marker))
	dir, err := OpenBeside("new/deep", false)
	require.NoError(t, err)
	require.NoError(t, dir.Close())
	require.FileExists(t, filepath.Join("new/deep", Marker))
}
