package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	tokenDigits  = 64
	maxTokenFile = 4 << 10                // bytes: room for a token and white space
	tokenWait    = 10 * time.Second       // longest wait for the writer of a pipe
	tokenPoll    = 100 * time.Millisecond // time between two checks for an interruption
)

// readToken reads the token of the device whose address is Connect.
func (r *Replay) readToken(ctx context.Context) error {
	if r.Connect == "" {
		return nil
	}
	r.Token = strings.Repeat("0", tokenDigits) // a valid token, so that only this function reports faults of the file
	if r.TokenFile == "" {
		return fmt.Errorf("--connect %s: --token-file is missing", r.Connect)
	}
	token, err := tokenIn(ctx, r.TokenFile)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	r.Token = token
	return nil
}

// tokenIn reads a token from a file or a pipe. Its errors do not quote what it has read.
func tokenIn(ctx context.Context, path string) (string, error) {
	text, err := readSecret(ctx, path, tokenWait)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if b, err := hex.DecodeString(token); err != nil || len(b) != tokenDigits/2 {
		return "", fmt.Errorf("%s: want %d hexadecimal digits in it", path, tokenDigits)
	}
	return token, nil
}

// readSecret reads a short file that only its owner can access, or a pipe, so that a secret need not be stored in a
// file. It waits for at most the given patience, or until an interruption.
func readSecret(ctx context.Context, path string, patience time.Duration) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	if err := ownersAlone(fd, path); err != nil {
		return nil, err
	}
	begin := time.Now()
	var text []byte
	for {
		part, end, err := readSome(fd)
		text = append(text, part...)
		switch {
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		case len(text) > maxTokenFile:
			return nil, fmt.Errorf("%s: longer than %d bytes: this is no token", path, maxTokenFile)
		case end:
			return text, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%s: %w", path, context.Cause(ctx))
		case time.Since(begin) > patience:
			return nil, fmt.Errorf("%s: no whole token within %v: whoever writes to a pipe must close it then", path,
				patience)
		}
	}
}

// ownersAlone refuses a regular file that other users can access. A pipe is allowed: it is empty once it has been read.
func ownersAlone(fd int, path string) error {
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if is.Mode&unix.S_IFMT == unix.S_IFREG && is.Mode&0o077 != 0 {
		return fmt.Errorf("%s has mode %04o: only its owner may have access to it; run: chmod 600 %s", path,
			is.Mode&0o7777, path)
	}
	return nil
}

// readSome waits briefly for input. A pipe that nobody has opened for writing is not at its end: the writer may still
// come.
func readSome(fd int) (part []byte, end bool, err error) {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(tokenPoll.Milliseconds()))
	if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	part = make([]byte, maxTokenFile+1)
	n, err = unix.Read(fd, part)
	if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return part[:n], n == 0, nil
}
