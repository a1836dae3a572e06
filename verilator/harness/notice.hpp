// Messages for people, written without waiting.
#pragma once

#include <string>

namespace nictwin {

// Writes a line to standard error. It is lost if standard error has no reader any more, or if writing would block.
void notice(const std::string& line);

}  // namespace nictwin
