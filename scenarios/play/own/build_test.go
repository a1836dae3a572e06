package own

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/ref"
	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/scenarios/shell/home/hometest"
)

// reference returns the source of a reference that expects value n for each transaction.
func reference(n int) string {
	return fmt.Sprintf(`package x

import "nictwin/models/ref"

func Reference(p *ref.Player) {
	p.On("s", func(*ref.Msg) { p.Expect("o", ref.Fields{"v": %d}, nil) })
}
`, n)
}

// options returns options that build a reference of the given source, in a folder and a cache of the test.
func options(t *testing.T, text string) Options {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	t.Setenv("NICTWIN_CACHE", t.TempDir())
	dir := t.TempDir()
	write(t, dir, text)
	return Options{Home: h.Dir, Dir: dir, Limits: DefaultLimits()}
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ref.go"), []byte(text), 0o644))
}

// table is a Host that only counts the transactions offered to it: there is no device.
type table struct{ offers int }

func (h *table) Offer(ref.Offer)   { h.offers++ }
func (h *table) Job() bool         { return true }
func (h *table) Sampled() []uint64 { return nil }
func (h *table) Now() uint64       { return 0 }

// expects delivers one transaction to a program's reference, and returns what the reference then expects of the output.
func expects(t *testing.T, p *Program) string {
	t.Helper()
	v := []ref.Field{{Name: "v", Bits: 8}}
	s, o := &ref.Stream{Name: "s", In: true, Kind: ref.Record, Fields: v},
		&ref.Stream{Name: "o", Kind: ref.Record, Fields: v}
	c := p.Start(t.Context(), &table{}, &Run{Streams: []*ref.Stream{s, o}})
	defer c.Close()
	c.Deliver(&ref.Msg{Of: s, Side: []byte{0}})
	require.False(t, c.Over())
	c.Stuck(1, "nothing")
	require.NoError(t, c.Err())
	return c.Failed().Expected
}

// A program's name follows from the contents of its sources: changing a file gives another program, and changing it
// back gives the first one, from the cache.
func TestBuildsAreKeyedByContent(t *testing.T) {
	o := options(t, reference(1))
	var log bytes.Buffer
	o.Log = &log
	build := func() *Program {
		p, err := Build(t.Context(), o)
		require.NoError(t, err)
		return p
	}
	one := build()
	write(t, o.Dir, reference(2))
	two := build()
	require.NotEqual(t, one.Binary, two.Binary)
	write(t, o.Dir, reference(1))
	again := build()
	require.Equal(t, one.Binary, again.Binary)
	require.Equal(t, 2, strings.Count(log.String(), "building reference"))
	require.Equal(t, "v=0x1", expects(t, one), "built before the folder changed")
	require.Equal(t, "v=0x2", expects(t, two))
	require.Equal(t, "v=0x1", expects(t, again))

	elsewhere := t.TempDir()
	write(t, elsewhere, reference(1))
	o.Dir = elsewhere
	p := build()
	require.Equal(t, filepath.Join(elsewhere, "ref.go"), p.userFile("nictwin/userref/ref.go"),
		"places are those of the folder that was named")

	require.NoError(t, os.Remove(one.Binary))
	require.NoError(t, os.WriteFile(one.Binary, []byte("damaged"), 0o755))
	require.Equal(t, "v=0x1", expects(t, build()), "a damaged program is built anew")
}

// Concurrent builds of the same sources compile them once, even if the folder changes meanwhile.
func TestBuildsTogether(t *testing.T) {
	o := options(t, reference(7))
	var mu sync.Mutex
	var log bytes.Buffer
	o.Log = writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	})
	var wg sync.WaitGroup
	programs, errs := make([]*Program, 4), make([]error, 4)
	for i := range programs {
		wg.Go(func() { programs[i], errs[i] = Build(t.Context(), o) })
	}
	wg.Wait()
	write(t, o.Dir, "package broken\n")
	for i, p := range programs {
		require.NoError(t, errs[i])
		require.Equal(t, "v=0x7", expects(t, p))
	}
	require.Equal(t, 1, strings.Count(log.String(), "building reference"), log.String())
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A program is an entry of the build cache: cleaning lists it, and keeps it while it is in use.
func TestCleaned(t *testing.T) {
	o := options(t, reference(3))
	p, err := Build(t.Context(), o)
	require.NoError(t, err)
	c, err := cache.Clean(cache.CleanOptions{All: true})
	require.NoError(t, err)
	require.Empty(t, c.Removed)
	require.Len(t, c.Kept, 1)
	require.Equal(t, cache.Reference, c.Kept[0].Kind)
	require.Contains(t, c.Kept[0].Why, "in use", "by this test")
	require.Equal(t, filepath.Base(filepath.Dir(p.Binary)), c.Kept[0].Name)
	require.Greater(t, c.Kept[0].Bytes, int64(1<<20))
}

// A folder that is no reference, or does not compile, is refused with the names of its files and leaves nothing in the
// cache.
func TestFoldersThatAreNone(t *testing.T) {
	o := options(t, "package x\n\nfunc Reference() { nosuch() }\n")
	_, err := Build(t.Context(), o)
	var wrong *FolderError
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, filepath.Join(o.Dir, "ref.go")+":3:")
	require.ErrorContains(t, err, "undefined: nosuch")
	left, err := os.ReadDir(filepath.Join(os.Getenv("NICTWIN_CACHE"), "rtl"))
	require.NoError(t, err)
	require.Empty(t, left)

	for name, text := range map[string]string{
		"no Go files": "", "more than 4194304 bytes": "package x\n" + strings.Repeat("// x\n", 1<<20),
		"no regular file": "pipe",
	} {
		o.Dir = t.TempDir()
		switch text {
		case "":
		case "pipe":
			require.NoError(t, os.Mkdir(filepath.Join(o.Dir, "ref.go"), 0o755))
		default:
			write(t, o.Dir, text)
		}
		_, err := Build(t.Context(), o)
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, name)
	}
	o.Dir = filepath.Join(o.Dir, "nosuch")
	_, err = Build(t.Context(), o)
	require.ErrorAs(t, err, &wrong)
}

// Canceled builds and a missing Go tool are not reported as errors of the folder.
func TestNoGo(t *testing.T) {
	o := options(t, reference(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Build(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	t.Setenv("PATH", t.TempDir())
	_, err = Build(t.Context(), o)
	require.ErrorIs(t, err, toolchain.ErrToolMissing)
	require.ErrorContains(t, err, "go is not installed, which builds --ref "+o.Dir)
}

func TestLimits(t *testing.T) {
	require.NoError(t, new(DefaultLimits()).Validate())
	err := (&Limits{S: 0, MB: 63, Count: 2_000_000_000}).Validate()
	require.ErrorContains(t, err, "ref_s 0: want 1 to 86400")
	require.ErrorContains(t, err, "ref_mb 63: want 64 to 1048576")
	require.ErrorContains(t, err, "ref_count 2000000000: want 1 to 1000000000")
}
