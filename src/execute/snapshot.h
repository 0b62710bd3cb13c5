// Snapshot: the bytes of a program, read once, for the analyzer and the compiler alike.
//
// Both see a private copy, so a file that changes between the two is no way in. Only what the
// program includes by name is copied: the file itself and, transitively, its `#include "…"` headers
// below the folder of the file. Nothing else of the user's folder exists for the compiler (`#embed
// ".env"`).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::execute {

struct Source {
  std::string display;  // how messages call it: "agent.cpp", "<code>", "<stdin>"
  std::filesystem::path
      folder;        // where `#include "…"` looks; empty: the program has no local headers
  std::string name;  // file name of the main source inside the snapshot
  std::string text;
};

// Reads FILE; the text must be valid UTF-8 without NUL bytes and not empty.
[[nodiscard]] Result<Source> source_from_file(const std::filesystem::path& file);
[[nodiscard]] Result<Source> source_from_text(std::string text, std::string display);

class Snapshot {
 public:
  // Copies below `temporary`, removed with the snapshot.
  static Result<Snapshot> take(const Source& source, const std::filesystem::path& temporary);

  // The copy; its parent is private, so that no other user of the machine reaches it.
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path() / "source"; }
  [[nodiscard]] const std::string& main_text() const { return files_.at(main_); }
  [[nodiscard]] std::string main_inside() const;
  // Path below the folder -> bytes.
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }
  // SHA-256 over every name and byte.
  [[nodiscard]] std::string digest() const;
  // Turns "/source/agent.cpp" back into the user's own name for it, everywhere in a text.
  [[nodiscard]] std::string to_user(std::string text) const;
  // The text of a file by the name the user knows, for showing source lines; null when not part of
  // it.
  [[nodiscard]] const std::string* text_of(const std::string& display) const;

 private:
  Snapshot(TemporaryFolder folder, const Source& source)
      : folder_(std::move(folder)), main_(source.name), display_(source.display) {}
  TemporaryFolder folder_;
  std::map<std::string, std::string> files_;  // path below the folder -> bytes
  std::string main_;
  std::string display_;
};

}  // namespace mcpac::execute
