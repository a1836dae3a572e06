// Reading files that a user names, which may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nictwin {

// Reads a regular file; returns what is wrong with it, or "". A pipe or a device is refused without waiting for it, a file
// longer than `limit` bytes without reading it; with `secret`, one that others than its owner have access to.
std::string read_file(const std::string& path, size_t limit, bool secret, std::vector<uint8_t>& bytes);

}  // namespace nictwin
