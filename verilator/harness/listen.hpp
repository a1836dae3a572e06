// Listens for the client of a device that was not started by that client.
#pragma once

#include <string>

namespace nictwin {

// Listens at "unix:/path" or "tcp:A.B.C.D:port" until a client presents the token, and returns its socket; -1 with
// `error` set on failure. Other clients are refused, see admit(). The bound address (the port may have been 0) is
// printed as one line on standard output.
//
// The file of a unix socket exists while the device waits for a client: it is removed when one has been admitted, and
// when SIGHUP, SIGINT or SIGTERM ends the process. A socket without a listener, left by a killed process, is replaced;
// any other file at the path is left alone, and is an error.
int listen_once(const std::string& address, const std::string& token, std::string& error);

// Ends the process as SIGTERM does once its standard input has ended: with the program that holds the other end of
// that pipe, even if that is killed.
void end_with_input();

// Returns whether an address for listen_once can be reached from other machines.
bool is_remote(const std::string& address);

}  // namespace nictwin
