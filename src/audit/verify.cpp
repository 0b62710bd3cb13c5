#include "audit/verify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "audit/limits.h"
#include "audit/run_index.h"
#include "core/file.h"

namespace mcpac::audit {
namespace {

RunVerdict no_file(const std::filesystem::path& path, std::string what) {
  return {.run_id = path.stem().string(),
          .standing = Standing::kTampered,
          .records = 0,
          .signed_records = 0,
          .torn_bytes = 0,
          .head = {},
          .problems = {{path.string(), std::move(what)}}};
}

// The index first and the file then: a run that ends in between is closed in the file already.
Result<RunVerdict> verify_file(const std::filesystem::path& path, const IndexEntry* entry,
                               const std::vector<PublicKey>& keys) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  if (!fd && errno == ELOOP) return no_file(path, "a link lies in the place of its file");
  if (!fd) {
    return fail(ErrorId::kAuditUnreadable, "the log of a run cannot be read",
                {.where = path.string(), .why = std::system_category().message(errno)});
  }
  // Asked before the file is read: a run closed in between was closed well.
  const bool is_alive = ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  auto text = read_descriptor(fd.get(), path.string(), kMaxRunBytes);
  if (!text) return pass_on(text);
  return verify_run(path.string(), path.stem().string(), *text, entry, is_alive, keys);
}

// What a damaged index no longer knows cannot be said: that is reported once, of it.
const IndexEntry* entry_of(const IndexView& index, const std::string& run_id) {
  static const IndexEntry kUnknown{};
  const auto found = index.runs.find(run_id);
  if (found != index.runs.end()) return &found->second;
  return index.verdict.problems.empty() ? nullptr : &kUnknown;
}

Result<std::set<std::string>> ids_of(const std::filesystem::path& folder) {
  std::set<std::string> ids;
  auto files = run_files(folder, "");
  if (!files) return pass_on(files);
  for (const auto& file : *files) ids.insert(file.stem().string());
  return ids;
}

// The ids that `start` names: itself, or the ones that begin with it.
std::set<std::string> named(const std::set<std::string>& ids, const std::string& start) {
  if (ids.contains(start)) return {start};
  std::set<std::string> found;
  std::ranges::copy_if(ids, std::inserter(found, found.end()),
                       [&](const std::string& id) { return id.starts_with(start); });
  return found;
}

}  // namespace

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::kProven: return "proven";
    case Standing::kRunning: return "running";
    case Standing::kAccepted: return "accepted";
    case Standing::kUnfinished: return "unfinished";
    case Standing::kUnprovable: return "unprovable";
    case Standing::kTampered: break;
  }
  return "tampered";
}

Standing Verification::standing() const {
  Standing worst = index.problems.empty() ? Standing::kProven : Standing::kTampered;
  for (const auto& run : runs) worst = std::max(worst, run.standing);
  return worst;
}

Result<std::vector<PublicKey>> own_keys(const std::filesystem::path& folder) {
  std::error_code error;
  const auto is_there = [&error](const std::filesystem::path& path) {
    return std::filesystem::symlink_status(path, error).type() !=
           std::filesystem::file_type::not_found;
  };
  const auto keys = key_folder(folder);
  if (!is_there(keys / "public") && !is_there(keys / "secret") && !is_there(folder / kIndexFile))
    return std::vector<PublicKey>{};
  return read_public_keys(keys / "public");
}

Result<Verification> verify(const std::filesystem::path& folder, const std::vector<PublicKey>& keys,
                            const std::optional<std::string>& run) {
  // Files before the index: a run writes itself into the index before its first record.
  auto files = ids_of(folder);
  if (!files) return pass_on(files);
  auto index = read_index(folder / kIndexFile, keys);
  if (!index) return pass_on(index);
  std::set<std::string> ids = *files;
  for (const auto& [id, entry] : index->runs) ids.insert(id);
  if (run) {
    ids = named(ids, *run);
    if (ids.size() != 1 || run->empty()) return unknown_run(*run, ids.size());
  }
  Verification result;
  for (const auto& id : ids) {
    std::error_code error;
    const auto path = folder / (id + std::string(kFileEnding));
    if (!files->contains(id) && !std::filesystem::exists(path, error)) {
      result.runs.push_back(no_file(path, "the index knows this run, and its file is gone"));
      continue;
    }
    auto verdict = verify_file(path, entry_of(*index, id), keys);
    if (!verdict) return pass_on(verdict);
    if (verdict->standing == Standing::kTampered && entry_of(*index, id) == nullptr) {
      // It may have begun since the index was read.
      auto again = read_index(folder / kIndexFile, keys);
      if (!again) return pass_on(again);
      verdict = verify_file(path, entry_of(*again, id), keys);
      if (!verdict) return pass_on(verdict);
    }
    result.runs.push_back(*std::move(verdict));
  }
  result.index = std::move(index->verdict);
  return result;
}

Json to_json(const Verification& verification) {
  const auto problems = [](const std::vector<Problem>& list) {
    Json all = Json::array();
    for (const auto& problem : list)
      all.push_back({{"where", problem.where}, {"what", problem.what}});
    return all;
  };
  Json runs = Json::array();
  for (const auto& run : verification.runs) {
    runs.push_back({{"run_id", run.run_id},
                    {"standing", to_string(run.standing)},
                    {"records", run.records},
                    {"signed_records", run.signed_records},
                    {"torn_bytes", run.torn_bytes},
                    {"problems", problems(run.problems)}});
  }
  const auto& index = verification.index;
  return {{"verdict", to_string(verification.standing())},
          {"index",
           {{"lines", index.lines},
            {"head", index.head},
            {"torn_bytes", index.torn_bytes},
            {"problems", problems(index.problems)}}},
          {"runs", std::move(runs)}};
}

}  // namespace mcpac::audit
