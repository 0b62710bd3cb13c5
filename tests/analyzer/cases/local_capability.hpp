#pragma once
#include <mcpac.hpp>
#include <string>

namespace shared_work {

using Capability = mcpac::Requires<mcp::filesystem::read_text_file>;

inline std::string first_line(const Capability& rt) {
  return rt.filesystem.read_text_file({.path = "notes.txt", .head = 1}).text();
}

}  // namespace shared_work
