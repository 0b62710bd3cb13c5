// SPDX-License-Identifier: Apache-2.0

// Sources: the owner of the file that a piece of text is in, decided by its real path.
//
// The generated headers and the lead come first, then the toolchain's, then the program's own
// folder; every other file is foreign. A name proves nothing: a file called mcpac.hpp beside the
// program is the program's.
#pragma once

#include <clang-c/Index.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/clang/cx.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// The place on the disk of a path that clang knows.
[[nodiscard]] std::filesystem::path on_disk(const std::filesystem::path& path);
// Clang's options for the overlay.
[[nodiscard]] const std::vector<std::string>& overlay_flags();

enum class Home : std::uint8_t { kNone, kProgram, kHeaders, kSystem, kForeign };

class Sources {
 public:
  explicit Sources(const Request& request);

  [[nodiscard]] Home home(CXFile file) const;
  [[nodiscard]] Home home(CXCursor cursor) const { return home(place_of(cursor).file); }
  [[nodiscard]] Home home_of_path(const std::filesystem::path& path) const;
  // The file that the request is about, under whatever name it was asked for. To clang the main
  // file is the lead.
  [[nodiscard]] bool is_main(CXFile file) const { return look_up(file).is_main; }
  [[nodiscard]] bool is_lead(CXFile file) const { return look_up(file).is_lead; }
  // The file as findings name it: the main file as the user did, others by their path.
  [[nodiscard]] std::string name(CXFile file) const;
  [[nodiscard]] const std::filesystem::path& main_path() const { return main_; }

 private:
  struct Known {
    Home home = Home::kNone;
    std::string name;
    bool is_main = false;
    bool is_lead = false;
  };
  const Known& look_up(CXFile file) const;

  std::string main_name_;
  std::filesystem::path main_;
  std::filesystem::path folder_;  // the program's own
  std::filesystem::path headers_;
  std::vector<std::filesystem::path> system_;
  mutable std::map<CXFile, Known> known_;  // one question a file: paths cost system calls
};

}  // namespace mcpac::analyzer
