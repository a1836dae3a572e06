// How a device of another's making is reached.
#pragma once

#include <string>

namespace nictwin {

// Listens at "unix:/path" or "tcp:A.B.C.D:port" until a client presents the token, and returns its socket; -1 with `error` set
// on failure. Other clients are refused and told so, see admit(). The bound address (the port may have been 0) is printed as
// one line on standard output.
//
// The file of a unix socket is there while a client is waited for: it is removed when one was admitted, and when SIGHUP,
// SIGINT or SIGTERM ends the process. A socket that nobody listens on, left by a process that was killed, is replaced;
// whatever else is at the path stays, and is an error.
int listen_once(const std::string& address, const std::string& token, std::string& error);

// Whether an address that listen_once takes can be reached from other machines.
bool is_remote(const std::string& address);

}  // namespace nictwin
