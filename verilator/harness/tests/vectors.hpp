// Shared by the protocol's tests: the vector file, and the streams to which its frames refer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "protocol.hpp"

struct Vector {
  std::string name, sender;
  std::vector<uint8_t> bytes;
  std::string want;
};

inline std::vector<Vector> read_vectors(const char* path) {
  std::ifstream in(path);
  std::vector<Vector> all;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    size_t a = line.find(' '), b = line.find(' ', a + 1), c = line.find(' ', b + 1);
    Vector v{line.substr(0, a), line.substr(a + 1, b - a - 1), {}, line.substr(c + 1)};
    for (size_t i = b + 1; i + 1 < c; i += 2) {
      v.bytes.push_back(uint8_t(std::strtoul(line.substr(i, 2).c_str(), nullptr, 16)));
    }
    all.push_back(v);
  }
  if (all.empty()) std::printf("no vectors in %s\n", path);
  return all;
}

inline const std::vector<nictwin::StreamInfo>& test_table() {
  static const std::vector<nictwin::StreamInfo> t = {
      {"eth_in", nictwin::StreamKind::kAxis, false, true, 1, 64, 0, 0, {}},
      {"tlp_in", nictwin::StreamKind::kTlp, false, true, 4, 128, 16, 0, {{"thdr", 128}}},
      {"eth_out", nictwin::StreamKind::kAxis, true, true, 1, 64, 2, 0, {{"tuser", 9}}},
      {"req", nictwin::StreamKind::kRecord, false, false, 0, 0, 3, 1, {{"addr", 12}, {"go", 1}}},
  };
  return t;
}

inline const nictwin::Start& test_start() {
  static const nictwin::Start s = [] {
    nictwin::Start x;
    x.streams = {{25, 3, nictwin::kUnlimited, 16384},
                 {0, 0, nictwin::kUnlimited, 4096},
                 {100, 0, 5, 16384},
                 {0, 0, nictwin::kUnlimited, 16384}};
    return x;
  }();
  return s;
}
