// What the tests of changesets share: a folder, a run of it, and what a program left, written as
// the kernel writes it.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/file.h"
#include "core/ids.h"
#include "history/changes/apply.h"
#include "history/changes/changeset.h"

namespace mcpac::history::testing {

namespace fs = std::filesystem;
using Kind = Change::Kind;

inline const SystemClock kClock;

inline void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

inline std::string get(const fs::path& file) {
  auto text = read_file(file);
  return text ? *text : "absent";
}

// Files older than the run that follows: the clock that stamps them has ticks.
inline void let_a_tick_pass() {
  const auto folder =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  const auto stamp = [&] {
    put(folder.path() / "stamp", "text");
    struct stat info {};
    REQUIRE(::stat((folder.path() / "stamp").c_str(), &info) == 0);
    return FileState::of(info).changed;
  };
  const auto first = stamp();
  while (stamp() == first) {
  }
}

struct Run {
  TemporaryFolder home =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  fs::path folder = home.path() / "work";
  fs::path kept = home.path() / "state" / "changes";
  std::string id = new_uuid_v7(kClock);
  std::vector<sandbox::Mount> mounts;

  Run() { fs::create_directories(folder); }

  OpenChangeset begin() {
    let_a_tick_pass();
    struct stat info {};
    REQUIRE(::stat(folder.c_str(), &info) == 0);
    mounts = {{.host = folder,
               .inside = folder,
               .access = sandbox::Mount::Access::kReadWrite,
               .identity = {.device = info.st_dev, .inode = info.st_ino}}};
    auto made = OpenChangeset::create(kept, id, "agent.cpp", mounts, kClock);
    REQUIRE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] fs::path upper() const { return mounts.front().changes / "upper"; }
  Changeset keep(OpenChangeset& open) const {
    auto changes = open.keep(kClock);
    REQUIRE(changes.has_value());
    REQUIRE(changes->has_value());
    return std::move(**changes);
  }
  // As the kernel writes them.
  void white_out(const std::string& name) const {
    REQUIRE(::mknod((upper() / name).c_str(), S_IFCHR, makedev(0, 0)) == 0);
  }
};

inline std::string described(const Changeset& changes) {
  std::string text;
  for (const auto& place : changes.places) {
    for (const Change& change : place.changes)
      text += std::string(to_string(change.kind)) + " " + change.path + "\n";
  }
  return text;
}

inline Result<void> anywhere(const fs::path&) {
  return {};
}

inline std::string apply_error(const Changeset& changes, const MayWrite& may = anywhere) {
  const auto applied = history::apply(changes, {}, may);
  return applied ? "applied" : to_string(applied.error().id) + " " + applied.error().what;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace mcpac::history::testing
