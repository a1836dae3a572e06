// The program that simulates a board: starts it, ends it, and learns why it ended.
#pragma once

#include <string>

#include "open.hpp"
#include "options.hpp"

namespace nictwin {

class BoardProgram {
 public:
  // Starts the program: the link is its standard input and output; descriptor 3 takes the reason why it stops.
  // Throws SessionError.
  BoardProgram(const DeviceOptions& o, uint64_t seed);
  // Ends the program: closes the link, waits, kills it.
  ~BoardProgram();
  BoardProgram(const BoardProgram&) = delete;
  BoardProgram& operator=(const BoardProgram&) = delete;

  // The link's descriptor, for both ways; its user closes it.
  int link() const { return link_; }

  // Throws the design's reason if it ended the simulation; else the error, with how the program ended if it did.
  [[noreturn]] void explain(const SessionError& error);

 private:
  // Waits for the program's end, at most so long; returns whether it came.
  bool wait(unsigned ms);
  std::string last_words();

  int pid_ = -1, link_ = -1, words_ = -1, status_ = 0;
};

}  // namespace nictwin
