// Package verbstest checks an implementation of package verbs against the promises of libibverbs: RunContract connects
// queue pairs of two devices, or of two contexts of one, and checks completions, states, error numbers and memory.
//
// A device must refuse the features that it lacks (DeviceAttr) with EOPNOTSUPP: no check is skipped silently. Checks
// for which one type of queue pair suffices use the first of DeviceAttr.Types. The package checks neither packets nor
// time.
package verbstest
