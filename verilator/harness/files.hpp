// Reads files named by a user, which may be of any kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nictwin {

// Reads a regular file; returns a fault, or "". Refuses a pipe or a device without waiting for it, a file longer than
// `limit` bytes without reading it, and, with `secret`, a file that others than its owner can access.
std::string read_file(const std::string& path, size_t limit, bool secret, std::vector<uint8_t>& bytes);

}  // namespace nictwin
