// SPDX-License-Identifier: Apache-2.0

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

namespace {

class Reader {
 public:
  Reader(std::string_view file, std::string_view run_id, const std::vector<PublicKey>& keys)
      : file_(file), keys_(keys), before_(chain_start("run", run_id)) {
    verdict_.run_id = run_id;
  }

  void line(std::string_view text) {
    const std::uint64_t place = verdict_.records++;
    if (closed_) return complain("a record stands behind the one that closed the run");
    const auto read = open_line(text);
    if (!read) return broken("it is no record of a chain: changed or inserted");
    const auto json = parse_json(std::string(read->body) + "}", "", kLineLimits);
    const auto event = json ? event_from_json(*json) : Result<Event>(pass(json));
    const Json* seq = json ? find_member(*json, "seq") : nullptr;
    if (!event || seq == nullptr || !seq->is_number_unsigned())
      return broken("it is no record: changed or inserted");
    if (event->run_id != verdict_.run_id) {
      return broken(fmt::format("it is a record of the run {}: a file was swapped or renamed",
                                event->run_id.substr(0, 64)));
    }
    const bool in_place = !lost_ && chain_next(before_, read->body) == read->hash;
    if (const auto number = seq->get<std::uint64_t>(); number != place && !lost_) {
      broken(fmt::format("record {} stands where record {} belongs: {}", number, place,
                         number > place ? "something before it was removed or moved"
                                        : "it was inserted, or moved here"));
    } else if (!in_place && !lost_) {
      broken("it does not fit what is before it: this record was changed, or the one before it");
    }
    // Behind a break only what the lines themselves say can be looked at.
    before_ = read->hash;
    if (place == 0) first_ = read->hash;
    check_signature(*event, *read, !lost_);
  }

  RunVerdict finish(const IndexEntry* entry, std::size_t torn, bool is_alive) {
    verdict_.torn_bytes = torn;
    verdict_.head = before_;
    hold_against(entry);
    if (closed_ && torn > 0) {
      ++verdict_.records;
      complain("something stands behind the record that closed the run");
      --verdict_.records;
    }
    if (!verdict_.problems.empty()) {
      verdict_.standing = Standing::kTampered;
    } else if (!closed_) {
      const bool accepted = entry != nullptr && entry->accepted_head;
      verdict_.standing = is_alive   ? Standing::kRunning
                          : accepted ? Standing::kAccepted
                                     : Standing::kUnfinished;
    }
    return std::move(verdict_);
  }

 private:
  static std::unexpected<Error> pass(const Result<Json>& failed) {
    return std::unexpected(failed.error());
  }

  void complain(std::string what) {
    if (verdict_.problems.size() < kMaxProblems) {
      verdict_.problems.push_back({fmt::format("{}:{}", file_, verdict_.records), std::move(what)});
    }
  }
  // The chain does not lead on from here.
  void broken(std::string what) {
    if (!std::exchange(lost_, true)) complain(std::move(what));
  }

  void check_signature(const Event& event, const ChainLine& read, bool counts) {
    const bool is_checkpoint = event.kind == kCheckpointKind;
    if (!is_checkpoint && !read.signature) return;
    const std::string name = string_member(event.payload, "key");
    const auto key = std::ranges::find(keys_, name, key_name);
    if (is_checkpoint && read.signature && key == keys_.end()) {
      return complain(fmt::format("it is signed with another key ({})", name.substr(0, 16)));
    }
    if (!is_checkpoint || !read.signature ||
        !is_signed(*key, kCheckpointDomain, read.hash, *read.signature)) {
      return complain("its signature is not one of this log's key");
    }
    if (!counts) return;
    verdict_.signed_records = verdict_.records;
    const Json* closes = find_member(event.payload, "closes");
    closed_ = closes != nullptr && closes->is_boolean() && closes->get<bool>();
  }

  void hold_against(const IndexEntry* entry) {
    const auto missed = [&](std::string what) {
      if (verdict_.problems.size() < kMaxProblems)
        verdict_.problems.push_back({std::string(file_), std::move(what)});
    };
    if (entry == nullptr) {
      if (verdict_.records > 0)
        missed("the index does not know this run: the index was cut, or the file was put here");
      return;
    }
    if (first_ && entry->first && entry->first != first_)
      missed("it does not begin with the record that the index names: the file was swapped");
    if (entry->head && (verdict_.records != entry->records || before_ != *entry->head)) {
      missed(fmt::format("the run ended with {} records, and {} are here", entry->records,
                         verdict_.records));
    }
    if (entry->accepted_head &&
        (verdict_.records != entry->accepted_records || before_ != *entry->accepted_head)) {
      missed(fmt::format("the run was accepted with {} records, and {} are here",
                         entry->accepted_records, verdict_.records));
    }
  }

  std::string_view file_;
  const std::vector<PublicKey>& keys_;
  RunVerdict verdict_;
  Digest before_;
  std::optional<Digest> first_;
  bool lost_ = false;
  bool closed_ = false;
};

// A file of before the chain: no line of it has a hash, and no index ever knew it.
bool is_unchained(std::string_view text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos || open_line(text.substr(0, end))) return false;
  const auto json = parse_json(text.substr(0, end), "", kLineLimits);
  return json && event_from_json(*json) && find_member(*json, "seq") == nullptr &&
         find_member(*json, "hash") == nullptr;
}

}  // namespace

RunVerdict verify_run(std::string_view file, std::string_view run_id, std::string_view text,
                      const IndexEntry* entry, bool is_alive, const std::vector<PublicKey>& keys) {
  if (entry == nullptr && is_unchained(text)) {
    return {.run_id = std::string(run_id),
            .standing = Standing::kUnprovable,
            .records = static_cast<std::uint64_t>(std::ranges::count(text, '\n')),
            .signed_records = 0,
            .torn_bytes = 0,
            .head = {},
            .problems = {}};
  }
  Reader reader(file, run_id, keys);
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    reader.line(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return reader.finish(entry, text.size(), is_alive);
}

}  // namespace mcpac::audit
