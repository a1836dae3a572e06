// Words for people that the device does not wait to get rid of.
#pragma once

#include <string>

namespace nictwin {

// Writes a line to standard error. It is lost if nobody has that open any more, or if writing it would have to wait.
void notice(const std::string& line);

}  // namespace nictwin
