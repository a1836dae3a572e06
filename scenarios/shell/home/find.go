package home

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Env names the variable that holds the folder when no flag does.
const Env = "NICTWIN_HOME"

// NotFoundError tells that no home was found, or that the one named is none.
type NotFoundError struct {
	Named  string // flag or variable that names a folder, empty when it was searched for
	Looked string // where
}

func (e *NotFoundError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("%s: %s is not nictwin's folder: it has no %s", e.Named, e.Looked, harness)
	}
	return fmt.Sprintf("nictwin's folder (the one with %s) was not found above %s, where the program is; name it "+
		"with --home or %s",
		harness, e.Looked, Env)
}

// UntrustedError tells that somebody put a home above the program who could not have put the program there.
type UntrustedError struct {
	Path  string
	Owner int // user id
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s belongs to user %d, who is neither you nor root nor the owner of the program or of the "+
		"folder: "+
		"it is not taken for nictwin's; name the right folder with --home or %s", e.Path, e.Owner, Env)
}

// Find returns the folder named by flag, else by $NICTWIN_HOME, else the nearest one upward from the program. The
// working folder is not looked at: whoever can make a folder above it could have their code compiled in. Errors:
// *NotFoundError, *UntrustedError.
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

// search looks for a home above a program.
type search struct {
	user  int
	owner func(path string) (int, error)
}

// above returns the nearest home above a program. Who could replace the program is trusted with its home: the user,
// root, the program's owner, and the owner of the folder that both lie in. Others may have made files there, as in
// /tmp; what is theirs is refused, not passed over: a home farther up would be another one than the user sees.
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

// owner is the user who made a file; of a link, who made the link.
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
