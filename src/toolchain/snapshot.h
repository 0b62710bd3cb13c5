// SPDX-License-Identifier: Apache-2.0

// Snapshot: the bytes of a program, read once, for the analyzer and the compiler alike.
//
// Both see what was read here, so a file that changes between the two is no way in. Only what the
// program includes by name is read: its source files and, transitively, their `#include "…"`
// headers below the folder of the program. Nothing else of the user's folder exists for the
// compiler: no `#embed`, no hidden file, and no file that is not C++ by its name, whose text a
// hostile source could read as code (`#include "tokens.json"`).
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::toolchain {

struct Source {
  std::string display;  // how messages call it: "agent.cpp", "<code>", "<stdin>"
  std::filesystem::path
      folder;        // where `#include "…"` looks; empty: the program has no local headers
  std::string name;  // of the source below that folder, and inside the snapshot
  std::string text;
  struct File {
    std::string display;
    std::string name;
    std::string text;
  };
  std::vector<File> further{};  // the other sources of the same program
};

// Reads FILE; the text must be valid UTF-8 without NUL bytes and not empty.
[[nodiscard]] Result<Source> source_from_file(const std::filesystem::path& file);
[[nodiscard]] Result<Source> source_from_text(std::string text, std::string display);

// Whether a file of this name may be included: nothing in it is hidden, and it ends like C++.
[[nodiscard]] bool is_includable(const std::filesystem::path& name);

class Snapshot {
 public:
  [[nodiscard]] static Result<Snapshot> take(const Source& source);
  // Into a folder without other writers, for a process that reads it.
  [[nodiscard]] Result<void> write(const std::filesystem::path& folder) const;

  // The sources of the program, the first in front: their paths inside the sandboxes.
  [[nodiscard]] std::vector<std::string> sources_inside() const;
  // The one that the user knows by this name; 0 where it is none.
  [[nodiscard]] std::size_t source_shown_as(std::string_view display) const;
  // Path below the folder -> bytes.
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }
  // Generated headers that the program includes by where they lie, and what these include in turn:
  // they are read a second time, as something of the program's.
  [[nodiscard]] std::set<std::string> generated() const;
  // The place where a file that is not in `names` includes one that is.
  struct Include {
    std::string file;  // as in files()
    unsigned line = 0;
    std::string name;  // as it is written
  };
  [[nodiscard]] std::vector<Include> includes_of(const std::set<std::string>& names) const;
  // SHA-256 over every name and byte.
  [[nodiscard]] std::string digest() const;
  // Turns "/source/agent.cpp" back into the user's own name for it, everywhere in a text.
  [[nodiscard]] std::string to_user(std::string text) const;

 private:
  struct Shown {
    std::string name;  // below the folder
    std::string display;
  };
  Snapshot() = default;
  Result<void> add_headers(const Source& source);
  std::map<std::string, std::string> files_;  // path below the folder -> bytes
  std::vector<Shown> sources_;
};

}  // namespace mcpac::toolchain
