// SPDX-License-Identifier: Apache-2.0

#include "toolchain/named_servers.h"

#include <algorithm>

#include "core/ascii.h"
#include "project/header_files.h"

namespace mcpac::toolchain {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

// A backslash, blanks that C++23 ignores, the end of the line: the next line goes on in this one.
std::string joined_lines(std::string_view source) {
  std::string joined;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      std::size_t end = i + 1;
      while (end < source.size() && is_blank(source[end])) ++end;
      if (end < source.size() && source[end] == '\n') {
        i = end;
        continue;
      }
    }
    joined += source[i];
  }
  return joined;
}

bool can_make_names(std::string_view joined) {
  return joined.contains("##") || joined.contains("%:%:");
}

}  // namespace

std::set<std::string> words_of(std::string_view source) {
  const std::string joined = joined_lines(source);
  std::set<std::string> words;
  for (auto at = joined.begin(); at != joined.end();) {
    const auto begin = std::find_if(at, joined.end(), is_word);
    at = std::find_if_not(begin, joined.end(), is_word);
    if (begin != at) words.emplace(begin, at);
  }
  return words;
}

std::set<std::string> named_servers(const Snapshot& snapshot, const codegen::Lock& lock) {
  std::set<std::string> words;
  bool every = false;
  for (const auto& [name, text] : snapshot.files()) {
    words.merge(words_of(text));
    every = every || can_make_names(joined_lines(text));
  }
  std::set<std::string> headers;
  for (const auto& server : lock.servers) {
    if (every || words.contains(project::word_of(server)))
      headers.insert(project::header_file_of(server));
  }
  return headers;
}

}  // namespace mcpac::toolchain
