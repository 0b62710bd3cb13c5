// SPDX-License-Identifier: Apache-2.0

#include "history/changes/change.h"

#include <array>
#include <filesystem>

namespace mcpac::history {
namespace {

constexpr std::array<std::string_view, 6> kKinds{"added",        "modified",       "deleted",
                                                 "folder-added", "folder-deleted", "refused"};

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Json to_json(const FileState& state) {
  return {{"device", state.device}, {"inode", state.inode},       {"size", state.size},
          {"mode", state.mode},     {"modified", state.modified}, {"changed", state.changed}};
}

template <class Number>
bool read_number(const Json& json, const char* name, Number& number) {
  const Json* member = find_member(json, name);
  if (member == nullptr || !member->is_number_integer()) return false;
  number = member->get<Number>();
  return true;
}

std::optional<FileState> state_from_json(const Json& json) {
  FileState state;
  const bool whole =
      read_number(json, "device", state.device) && read_number(json, "inode", state.inode) &&
      read_number(json, "size", state.size) && read_number(json, "mode", state.mode) &&
      read_number(json, "modified", state.modified) && read_number(json, "changed", state.changed);
  if (!whole) return std::nullopt;
  return state;
}

// Each component a plain name: what is below a place stays below it.
bool is_inner_path(const std::string& text) {
  const std::filesystem::path path(text);
  if (path.empty() || path.is_absolute() || path.lexically_normal() != path) return false;
  return *path.begin() != ".." && *path.begin() != "." && path.has_filename();
}

}  // namespace

FileState FileState::of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .mode = info.st_mode,
          .modified = nanoseconds(info.st_mtim),
          .changed = nanoseconds(info.st_ctim)};
}

std::string_view to_string(Change::Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

Json to_json(const Change& change) {
  Json json = {{"kind", to_string(change.kind)}, {"path", change.path}};
  if (!change.digest.empty()) {
    json["size"] = change.size;
    json["digest"] = change.digest;
  }
  if (change.mode != 0) json["mode"] = change.mode;
  if (change.before) json["before"] = to_json(*change.before);
  if (change.moved_on) json["moved_on"] = true;
  if (!change.why.empty()) json["why"] = change.why;
  return json;
}

std::optional<Change> change_from_json(const Json& json) {
  Change change;
  const std::string kind = string_member(json, "kind");
  std::size_t at = 0;
  while (at < kKinds.size() && kKinds.at(at) != kind) ++at;
  if (at == kKinds.size()) return std::nullopt;
  change.kind = static_cast<Change::Kind>(at);
  change.path = string_member(json, "path");
  if (!is_inner_path(change.path)) return std::nullopt;
  change.digest = string_member(json, "digest");
  if (!change.digest.empty() && !read_number(json, "size", change.size)) return std::nullopt;
  read_number(json, "mode", change.mode);
  change.mode &= 0777U;
  if (const Json* before = find_member(json, "before"); before != nullptr) {
    change.before = state_from_json(*before);
    if (!change.before) return std::nullopt;
  }
  const Json* moved = find_member(json, "moved_on");
  change.moved_on = moved != nullptr && moved->is_boolean() && moved->get<bool>();
  change.why = string_member(json, "why");
  return change;
}

}  // namespace mcpac::history
