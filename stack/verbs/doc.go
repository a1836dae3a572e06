// Package verbs is the interface between applications and a network stack: requests, completions, states and rights
// with the names, numbers and meaning of libibverbs.
//
// It is not a stack: it moves no byte and knows no packet. A stack implements Context, CQ, QP and SRQ; package
// verbstest checks it. Parts that are the same in every stack and need neither memory nor time are here as plain data
// and functions, so that all stacks decide alike:
//
//   - transitions.go: the attributes that ModifyQP requires and allows, by type and pair of states;
//   - requests.go: whether a request may be posted, and how it ends if it cannot be carried out;
//   - regions.go: keys, rights and bounds of memory regions;
//   - objects.go: object numbers, and which objects are still in use;
//   - notify.go: which completion raises the event requested by ReqNotify.
//
// # Control and data verbs
//
// A control verb takes time and calls its callback exactly once, during the call or later. Its error is nil or wraps an
// Errno; if it is not nil, nothing has changed.
//
// A data verb returns at once. PostSend and PostRecv take requests in order and stop at the first that cannot be
// posted: n of them were posted, request n is the bad one. Full queues and pipes return ENOMEM, everything else EINVAL.
//
// # Errors when posting and errors in completions
//
// Refused when posting, EINVAL unless stated (IBTA 10.8.3 and 11.4.1; the codes
// are those of ibv_post_send(3), ibv_post_recv(3) and their providers):
//
//   - the queue is full: ENOMEM;
//   - the state does not take requests: send in RESET, INIT, RTR; receive in RESET (IBTA 10.3.1);
//   - an operation that the type does not have, or that the device lacks (IBTA 9.2, table 35; a lack is EOPNOTSUPP);
//   - more SGEs than the queue pair was created with;
//   - inline data of more bytes than the queue pair was created with, or with an operation that returns data;
//   - a UD request without address handle, or with one of another protection domain (IBTA 11.2.2.1: checked here
//     because no later check could name the request);
//   - a receive request to a queue pair that has an SRQ;
//   - flags that libibverbs does not have.
//
// Ends in a completion (IBTA 11.6.2):
//
//   - a local key that does not exist, is of another protection domain, is out of bounds or lacks LOCAL_WRITE where
//     bytes are stored: local protection error. Pieces of 0 bytes are not checked;
//   - a message beyond MaxMessage, a UD message beyond the path's MTU, an atomic whose pieces are not 8 bytes: local
//     length error;
//   - a request posted in ERR, or in SQE to a send queue: flush error;
//   - a remote key that does not exist, or its rights or bounds: remote access error, and the responder's queue pair
//     goes to ERR. What the responder's queue pair does not allow, and misaligned atomics: remote invalid request
//     error;
//   - a SEND longer than the receive request: local length error there, remote invalid request error here; a receive
//     request with a bad key: local protection error there, remote operation error here.
//
// A completion in error is reported for unsignalled requests, too, and moves an RC queue pair to ERR, the send queue of
// others to SQE if the request was refused locally. All later requests are flushed in order.
//
// Not supported: memory windows, XRC, device memory, extended completions, address resolution (AHAttr has the MAC
// address), partitions other than the default, alternate paths.
package verbs
