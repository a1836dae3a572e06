package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// sparse makes a long file that takes no disk space.
func sparse(t *testing.T, path string, bytes int64) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, bytes))
}

// TestLimitsOfSources checks the limits on what a manifest makes nictwin read; errors name the field.
func TestLimitsOfSources(t *testing.T) {
	const mb = 1 << 20
	for _, x := range []struct {
		from, to string
		sizes    map[string]int64 // MB
		err      string
	}{
		{"[a.sv]", "[a.sv, 'rtl/*.sv']", map[string]int64{"rtl/z.sv": 10240}, "dut.yaml:3: sources: "},
		{"[a.sv]", "[a.sv, x.f]", map[string]int64{"rtl/z.sv": 10240}, "x.f:2: "},
		{"[a.sv]", "[a.sv, 'rtl/*.sv']", map[string]int64{"rtl/z.sv": 257},
			"z.sv has more than 256 MB, the limit of a source"},
		{"[a.sv]", "[a.sv, 'rtl/*.sv']",
			map[string]int64{"rtl/b.sv": 256, "rtl/c.sv": 256, "rtl/d.sv": 256, "rtl/e.sv": 256},
			"e.sv: sources and include folders have more than 1024 MB in all, the limit"},
		{"top: m", "top: m\ninclude_dirs: [., inc]", map[string]int64{"inc/z.svh": 300}, "dut.yaml:3: include_dirs: "},
		{"top: m", "top: m\ninclude_dirs: [.,\n  /proc]", nil,
			"dut.yaml:4: include_dirs: /proc is no regular file or folder: the kernel makes"},
		{"top: m", "top: m\ninclude_dirs: [/]", nil, "dut.yaml:3: include_dirs: "},
		{"[a.sv]", "[a.sv, y.f]", nil, "y.f:1: /sys is no regular file or folder"},
	} {
		dir := manifesttest.Plant(t, x.from, x.to,
			map[string]string{"x.f": "// list\nrtl/*.sv\n", "y.f": "+incdir+/sys\n"})
		for name, size := range x.sizes {
			sparse(t, filepath.Join(dir, name), size*mb)
		}
		m, err := manifest.Load(dir)
		require.NoError(t, err)
		_, err = Check(t.Context(), m, true)
		require.ErrorContains(t, err, x.err)
		var me *manifest.Error
		require.ErrorAs(t, err, &me)
	}
}

// asNobody runs the rest of the test as a user without access to all files, even if root runs the tests.
func asNobody(t *testing.T) {
	const nobody = 65534
	runtime.LockOSThread()
	setUser := func(id int) {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(id), 0, 0) // returns no error
	}
	setUser(nobody)
	t.Cleanup(func() {
		setUser(os.Geteuid())
		runtime.UnlockOSThread()
	})
}

// TestUnreadableSources checks that a source or folder that cannot be read is reported as a fault of the
// manifest.
func TestUnreadableSources(t *testing.T) {
	for path, err := range map[string]string{"a.sv": "dut.yaml:4: sources: ",
		"inc/secret": "dut.yaml:3: include_dirs: not all of "} {
		t.Run(path, func(t *testing.T) {
			dir := manifesttest.Plant(t, "top: m", "top: m\ninclude_dirs: [inc]",
				map[string]string{"inc/secret/x.svh": ""})
			require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755))
			require.NoError(t, os.Chmod(filepath.Join(dir, path), 0))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, path), 0o755) })
			m, loadErr := manifest.Load(dir)
			require.NoError(t, loadErr)
			asNobody(t)
			_, got := prepare(m, Options{})
			var me *manifest.Error
			require.ErrorAs(t, got, &me)
			require.ErrorContains(t, got, err)
			require.ErrorContains(t, got, "permission denied")
		})
	}
}

// TestSourcesAreReadUntilInterrupted checks that canceling the context ends the reading of sources.
func TestSourcesAreReadUntilInterrupted(t *testing.T) {
	m, err := manifest.Load(manifesttest.Plant(t, "top: m", "top: m", nil))
	require.NoError(t, err)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err = Check(ctx, m, true)
	require.ErrorIs(t, err, stop)

	h := newHasher(ctx)
	require.ErrorIs(t, h.file("a.sv", m.Abs("a.sv")), stop, "within a file")
	require.ErrorIs(t, h.tree(".", m.Dir(), isVerilog), stop, "within a folder")
}

// TestIncludes checks that files included by a plain name are checked before Verilator reads them.
func TestIncludes(t *testing.T) {
	for _, x := range []struct{ from, to, a, err string }{
		{"", "", "`include \"/dev/zero\"\n",
			"dut.yaml:3: sources: a.sv:1: `include \"/dev/zero\": /dev/zero is a pipe or a device"},
		{"", "", "\n`include \"b.svh\"\n",
			"dut.yaml:3: sources: a.sv:2: `include \"b.svh\": b.svh:1: `include \"inc/pipe\": "},
		{"top: m", "top: m\ninclude_dirs: [inc]", "`include \"pipe\"\n",
			"pipe is a pipe or a device, which may never end"},
		{"top: m", "top: m\nverilator_flags: [-Iinc]", "`include \"pipe\"\n", "pipe is a pipe or a device"},
		{"top: m", "top: m\nverilator_flags: [-v, inc/pipe]", "", "dut.yaml:3: verilator_flags: "},
		{"", "", "`include \"/proc/self/maps\"\n", "is no regular file or folder: the kernel makes"},
		{"", "", "`include \"big/huge.svh\"\n", "huge.svh has more than 256 MB"},
		{"", "", "// `include \"/dev/zero\"\n", ""},
		{"", "", "`include \"c.svh\"\n", ""},
	} {
		dir := manifesttest.Plant(t, x.from, x.to, map[string]string{
			"a.sv": x.a + manifesttest.Module, "b.svh": "`include \"inc/pipe\"\n",
			"c.svh": "`ifndef C\n`define C\n`include \"c.svh\"\n`endif\n", "inc/x.svh": "",
		})
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "inc/pipe"), 0o600))
		sparse(t, filepath.Join(dir, "big/huge.svh"), 257<<20)
		m, err := manifest.Load(dir)
		require.NoError(t, err)
		if _, err = prepare(m, Options{}); x.err == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, x.err)
		var me *manifest.Error
		require.ErrorAs(t, err, &me)
	}
}
