package verbs

import "fmt"

// Errno is the error number of a verb, numbered as on Linux.
type Errno uint16

// Error numbers of verbs.
const (
	EIO        Errno = 5   // the completion queue has overrun, or the device has failed
	ENOMEM     Errno = 12  // a queue or pipe is full, or no number, key or memory is left
	EACCES     Errno = 13  // a right that the memory does not grant
	EFAULT     Errno = 14  // an address that is not memory of the process
	EBUSY      Errno = 16  // other objects still use this one
	EINVAL     Errno = 22  // an invalid attribute, state or object
	EOPNOTSUPP Errno = 95  // the device lacks the feature: see DeviceAttr
	ETIMEDOUT  Errno = 110 // the device does not answer
)

var errnos = map[Errno]string{
	EIO: "EIO", ENOMEM: "ENOMEM", EACCES: "EACCES", EFAULT: "EFAULT", EBUSY: "EBUSY", EINVAL: "EINVAL",
	EOPNOTSUPP: "EOPNOTSUPP", ETIMEDOUT: "ETIMEDOUT",
}

func (e Errno) Error() string {
	if s := errnos[e]; s != "" {
		return s
	}
	return fmt.Sprintf("errno %d", uint16(e))
}

// Error is the error of a verb: a number for programs, and a text for users.
type Error struct {
	Verb   string
	Errno  Errno
	Detail string // what was wrong, and what would be right
}

func (e *Error) Error() string { return fmt.Sprintf("verbs: %s: %v: %s", e.Verb, e.Errno, e.Detail) }

// Unwrap returns the error number, for errors.Is.
func (e *Error) Unwrap() error { return e.Errno }

// Errorf returns the error of a verb.
func Errorf(verb string, n Errno, format string, args ...any) error {
	return &Error{verb, n, fmt.Sprintf(format, args...)}
}

// Errors of full queues are frequent, so they are allocated once.
var (
	ErrSendFull error = &Error{"post_send", ENOMEM, "the send queue or its pipe is full: want completions polled first"}
	ErrRecvFull error = &Error{"post_recv", ENOMEM, "the receive queue or its pipe is full: want completions polled " +
		"first"}
	ErrOverrun error = &Error{"poll_cq", EIO, "the completion queue has overrun: want one with an entry for each " +
		"outstanding request"}
)
