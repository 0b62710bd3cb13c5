// SPDX-License-Identifier: Apache-2.0

// fuzz_schema: any bytes as the answer to tools/list. generate() must not crash, must not blow a
// small text up, must leave nothing of the text outside comments and literals (what is left is
// balanced and of the characters that C++ is made of), must give the same bytes twice, and the lock
// must read back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codegen/arguments.h"
#include "codegen/describe.h"
#include "codegen/generate.h"
#include "codegen/lock.h"
#include "codegen/lock_diff.h"
#include "codegen/search.h"

namespace {

using namespace mcpac;
using namespace mcpac::codegen;

// Every schema visited writes a bounded number of lines, and at most 20,000 are visited a shape.
constexpr std::size_t kMaxOutput = std::size_t{64} << 20U;

void require(bool holds) {
  if (!holds) std::abort();
}

// Lexes as C++ does after line splicing: comments and literals end where they should, and outside
// them every bracket has its partner.
void check_balance(std::string_view text) {
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    require(c != '\\');  // outside literals and comments there is none
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      require(i == text.size() || text[i - 1] != '\\');
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        require(text[i] != '\n');
        if (text[i] == '\\') ++i;
      }
      require(i < text.size());
    } else if (c == '(' || c == '{' || c == '[') {
      open += c;
    } else if (c == ')' || c == '}' || c == ']') {
      require(!open.empty() && open.back() == (c == ')' ? '(' : c == '}' ? '{' : '['));
      open.pop_back();
    } else {
      require(static_cast<unsigned char>(c) < 0x7f && c != '@' && c != '$');
      // An identifier of ours is ASCII; '`' stands in the one #error line, which is ours as well.
    }
  }
  require(open.empty());
}

void check(const ServerListing& listing) {
  const auto output = generate({listing});
  require(output.has_value());
  std::size_t bytes = 0;
  for (const auto& [path, text] : output->files) {
    bytes += text.size();
    for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  }
  require(bytes < kMaxOutput);
  check_balance(output->files.at("fuzz.hpp"));
  const auto again = generate({listing});
  require(again.has_value() && again->files == output->files);
  const std::string text = to_text(output->lock);
  const auto lock = parse_lock(text, "fuzz");
  require(lock.has_value() && to_text(*lock) == text);
  // The lock alone makes the same headers; and it differs from nothing but what is not in it.
  const auto from_lock = generate({listing_of(lock->servers.front())}, *lock);
  require(from_lock.has_value() && from_lock->files == output->files);
  std::vector<Note> notes;
  ServerListing live = lockable(listing, notes);
  require(compare_server(&lock->servers.front(), &live).empty());
  // Every tool against its neighbour's definition: any difference is said, in bounded text.
  for (std::size_t i = 1; i < live.tools.size(); ++i) {
    live.tools[i].definition = live.tools[i - 1].definition;
    live.tools[i].definition["name"] = live.tools[i].name;
  }
  require(to_lines(compare_server(&lock->servers.front(), &live)).size() < kMaxOutput);
  for (const LockedServer& server : lock->servers) {
    for (const LockedTool& tool : server.tools) {
      static_cast<void>(describe_tool(server, tool));
      static_cast<void>(arguments_from(tool, {{"a", "1"}, {"a", "[2]"}}));
    }
  }
  if (!listing.tools.empty()) static_cast<void>(search_tools(*lock, listing.tools.front().name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = parse_ordered_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json || !json->is_object() || !json->contains("tools") || !json->at("tools").is_array())
    return 0;
  ServerListing listing{.server = "fuzz",
                        .identity = "fuzz",
                        .implementation = "fuzz",
                        .protocol_version = "2025-06-18",
                        .tools = {}};
  for (const auto& tool : json->at("tools")) {
    if (!tool.is_object() || !tool.contains("name") || !tool.at("name").is_string()) continue;
    listing.tools.push_back({.name = tool.at("name").get<std::string>(), .definition = tool});
  }
  check(listing);
  return 0;
}
