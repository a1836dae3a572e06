package home

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Env is the environment variable that names the home if no flag does.
const Env = "NICTWIN_HOME"

// NotFoundError reports that no home was found, or that the folder named by the user is not one.
type NotFoundError struct {
	Named  string // flag or variable by which the user named the folder; empty: nictwin searched for it
	Looked string // folder that the user named, or that the search began in
}

func (e *NotFoundError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("%s: %s is not nictwin's folder: it has no %s", e.Named, e.Looked, harness)
	}
	return fmt.Sprintf("nictwin's folder (the one with %s) was not found above %s, where the program is; name it "+
		"with --home or %s",
		harness, e.Looked, Env)
}

// UntrustedError reports a home above the program whose owner could not have installed the program.
type UntrustedError struct {
	Path  string
	Owner int // user id of the home's owner
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s belongs to user %d, who is neither you nor root nor the owner of the program or of the "+
		"folder: "+
		"it is not taken for nictwin's; name the right folder with --home or %s", e.Path, e.Owner, Env)
}

// Find returns the home named by flag, else by $NICTWIN_HOME, else the nearest home above the program. It does not
// search the working folder: whoever can create a folder above that could have their code compiled. It returns a
// *NotFoundError or an *UntrustedError.
func Find(flag string) (Home, error) {
	if flag != "" {
		return named("--home", flag)
	}
	if dir := os.Getenv(Env); dir != "" {
		return named(Env, dir)
	}
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return Home{}, fmt.Errorf("%w: where the program is, is not known: %w", &NotFoundError{Looked: "the program"},
			err)
	}
	return search{os.Geteuid(), owner}.above(exe)
}

func named(by, dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil || !isHome(abs) {
		return Home{}, &NotFoundError{by, dir}
	}
	return Home{abs}, nil
}

// search finds a home above a program.
type search struct {
	user  int
	owner func(path string) (int, error)
}

// above returns the nearest home above a program. It trusts everybody who could replace the program: the user, root,
// the program's owner, and the owner of the folder that contains program and home. Others may have created a home
// there, as in /tmp. Such a home is refused rather than skipped, because the user would not expect one farther up to be
// used.
func (s search) above(exe string) (Home, error) {
	trusted := []int{s.user, 0}
	if id, err := s.owner(exe); err == nil {
		trusted = append(trusted, id)
	}
	for dir := filepath.Dir(exe); ; dir = filepath.Dir(dir) {
		if isHome(dir) {
			return Home{dir}, s.trust(dir, trusted)
		}
		if dir == filepath.Dir(dir) {
			return Home{}, &NotFoundError{Looked: filepath.Dir(exe)}
		}
	}
}

func (s search) trust(dir string, users []int) error {
	id, err := s.owner(dir)
	if err != nil {
		return err
	}
	users = append(users, id)
	path := dir
	for _, word := range strings.Split(mark, string(filepath.Separator)) {
		path = filepath.Join(path, word)
		id, err := s.owner(path)
		if err != nil {
			return err
		}
		if !slices.Contains(users, id) {
			return &UntrustedError{path, id}
		}
	}
	return nil
}

// owner returns the owner of a file; for a link, of the link itself.
func owner(path string) (int, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: its owner is not known", path)
	}
	return int(st.Uid), nil
}

var (
	_ error = (*NotFoundError)(nil)
	_ error = (*UntrustedError)(nil)
)
