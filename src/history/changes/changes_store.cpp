// SPDX-License-Identifier: Apache-2.0

#include "history/changes/changes_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/limits.h"
#include "core/canonical_json.h"
#include "core/hash.h"
#include "core/printable.h"
#include "history/changes/folder_access.h"
#include "history/changes/read_upper.h"
#include "project/private_folder.h"

namespace mcpac::history {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr std::size_t kLargestRecord = std::size_t{64} << 20U;
constexpr std::size_t kMostPlaces = 64;

std::unexpected<Error> damaged(const std::string& run, std::string why) {
  return fail(ErrorId::kChangesDamaged, fmt::format("the changes of run {} are damaged", run),
              {.why = std::move(why), .fix = fmt::format("mcpac changes discard {}", run)});
}

std::optional<ChangedPlace> place_from_json(const Json& json) {
  ChangedPlace place;
  place.path = string_member(json, "path");
  const Json* device = find_member(json, "device");
  const Json* inode = find_member(json, "inode");
  const Json* changes = find_member(json, "changes");
  const bool whole = place.path.is_absolute() && place.path.lexically_normal() == place.path &&
                     device != nullptr && device->is_number_unsigned() && inode != nullptr &&
                     inode->is_number_unsigned() && changes != nullptr && changes->is_array() &&
                     changes->size() <= kMostChanges;
  if (!whole) return std::nullopt;
  place.identity = {.device = device->get<std::uint64_t>(), .inode = inode->get<std::uint64_t>()};
  for (const Json& item : *changes) {
    auto change = change_from_json(item);
    if (!change) return std::nullopt;
    place.changes.push_back(std::move(*change));
  }
  return place;
}

bool read_places(const Json& json, Changeset& changes) {
  const Json* places = find_member(json, "places");
  if (places == nullptr || !places->is_array() || places->size() > kMostPlaces) return false;
  for (const Json& item : *places) {
    auto place = place_from_json(item);
    if (!place) return false;
    changes.places.push_back(std::move(*place));
  }
  return true;
}

bool read_kept(const Json& json, Changeset& changes) {
  const Json* kept = find_member(json, "kept");
  if (kept == nullptr) return true;  // mcpac 0.1 wrote none
  if (!kept->is_array()) return false;
  for (const Json& item : *kept) {
    if (!item.is_string()) return false;
    changes.kept_places.push_back(item.get<std::string>());
  }
  return true;
}

}  // namespace

Json to_json(const Changeset& changes) {
  Json places = Json::array();
  for (const ChangedPlace& place : changes.places) {
    Json list = Json::array();
    for (const Change& change : place.changes) list.push_back(to_json(change));
    places.push_back({{"path", place.path.string()},
                      {"device", place.identity.device},
                      {"inode", place.identity.inode},
                      {"changes", std::move(list)}});
  }
  Json json = {{"version", kVersion},        {"run", changes.run},
               {"program", changes.program}, {"started", changes.started},
               {"ended", changes.ended},     {"places", std::move(places)},
               {"kept", changes.kept_places}};
  json["digest"] = sha256_hex(to_text(json));
  return json;
}

Result<UniqueFd> lock_changes(const fs::path& folder) {
  if (auto made = project::make_private(folder); !made) return pass_on(made);
  UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  int locked = -1;
  do {
    locked = opened ? ::flock(opened.get(), LOCK_EX) : 0;
  } while (locked != 0 && errno == EINTR);
  if (!opened || locked != 0) {
    return fail(ErrorId::kFileUnwritable, "the folder of changes cannot be used",
                {.where = folder.string()});
  }
  return opened;
}

Result<UniqueFd> take_turn(const Changeset& changes) {
  const fs::path record = changes.folder / kRecord;
  UniqueFd held(::open(record.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (held && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorId::kChangesConflict, "somebody else is applying or discarding these changes",
                {.fix = "wait until that has ended"});
  // Its holder before may have discarded them meanwhile.
  struct stat info {};
  if (!held || ::fstat(held.get(), &info) != 0 || info.st_nlink == 0)
    return fail(ErrorId::kChangesUnknown, "the changes are not there any more",
                {.fix = "mcpac changes list"});
  return held;
}

Result<void> write_record(const Changeset& changes) {
  return write_file_atomic(changes.folder / kRecord, to_text(to_json(changes)), 0600);
}

Result<Changeset> read_record(const fs::path& folder, const std::string& run) {
  auto text = read_file(folder / run / kRecord, kLargestRecord);
  if (!text) return pass_on(text);
  auto json = parse_json(*text, (folder / run / kRecord).string(), {.max_bytes = kLargestRecord});
  if (!json) return damaged(run, json.error().what);
  const std::string digest = string_member(*json, "digest");
  json->erase("digest");
  if (digest != sha256_hex(to_text(*json))) return damaged(run, "its digest is another");
  const Json* version = find_member(*json, "version");
  if (version == nullptr || *version != kVersion)
    return damaged(run, "it was written by another version of mcpac");
  Changeset changes;
  changes.run = string_member(*json, "run");
  changes.program = string_member(*json, "program");
  changes.started = string_member(*json, "started");
  changes.ended = string_member(*json, "ended");
  changes.folder = folder / run;
  if (changes.run != run || !read_places(*json, changes) || !read_kept(*json, changes))
    return damaged(run, "it is not whole");
  return changes;
}

void sweep_changes(int changes) {
  const auto names = names_in(changes, kMostListed);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!audit::is_run_id(name)) continue;
    const UniqueFd folder = open_beneath(changes, name, O_RDONLY | O_DIRECTORY);
    if (!folder || look_beneath(folder.get(), kRecord)) continue;
    // A live process holds this.
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    static_cast<void>(remove_tree(changes, name));  // what cannot be removed now is met again
  }
}

}  // namespace mcpac::history
