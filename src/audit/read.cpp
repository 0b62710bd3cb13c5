// SPDX-License-Identifier: Apache-2.0

// The reading side: whole files, line by line, while their runs may still write.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "audit/limits.h"
#include "audit/log.h"
#include "audit/run_index.h"
#include "audit/verify.h"
#include "core/file.h"

namespace mcpac::audit {
namespace {

std::unexpected<Error> malformed(const std::filesystem::path& path, std::size_t line,
                                 std::string_view what) {
  return fail(ErrorId::kAuditUnreadable, fmt::format("the audit log is damaged: {}", what),
              {.where = fmt::format("{}:{}", path.string(), line),
               .why = "a record is never skipped in silence",
               .fix = "look at the line; move the file away to read the other runs"});
}

Result<Event> read_line(std::string_view line, std::string_view run_id) {
  auto json = parse_json(line, "", kLineLimits);
  if (!json) return pass_on(json);
  auto event = event_from_json(*json);
  if (event && event->run_id != run_id) {
    return fail(ErrorId::kAuditUnreadable, "the event belongs to another run");
  }
  return event;
}

Result<std::vector<Event>> read_run_once(const std::filesystem::path& path) {
  auto text = read_file(path, kMaxRunBytes);
  if (!text) {
    return fail(ErrorId::kAuditUnreadable, text.error().what, {.where = path.string()});
  }
  const std::string run_id = path.stem().string();
  std::vector<Event> events;
  std::string_view rest = *text;
  for (std::size_t number = 1;; ++number) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return events;  // what remains is a line still being written
    auto event = read_line(rest.substr(0, end), run_id);
    if (!event) return malformed(path, number, event.error().what);
    events.push_back(*std::move(event));
    rest.remove_prefix(end + 1);
  }
}

// Nothing: there is none yet, or it is longer than any event.
std::string first_line(const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{16} << 10U;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (std::string piece(kPiece, '\0'); file && text.size() <= kMaxEventBytes;) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    const auto end = text.find('\n', text.size() - static_cast<std::size_t>(file.gcount()));
    if (end != std::string::npos) return text.substr(0, end);
  }
  return {};
}

// A writer on a full disk takes half a line back; a reader that had read that half sees a line that
// never was. Damage is what is there twice.
Result<std::vector<Event>> read_run(const std::filesystem::path& path) {
  auto events = read_run_once(path);
  return events ? std::move(events) : read_run_once(path);
}

}  // namespace

Result<std::vector<std::filesystem::path>> run_files(const std::filesystem::path& folder,
                                                     std::string_view start) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (!std::filesystem::exists(folder, error) && !error) return files;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto& path = at->path();
    if (path.extension() == kFileEnding && path.stem().string().starts_with(start))
      files.push_back(path);
  }
  if (error) {
    return fail(ErrorId::kAuditUnreadable,
                fmt::format("cannot list {}: {}", folder.string(), error.message()),
                {.where = folder.string()});
  }
  std::ranges::sort(files);
  return files;
}

std::unexpected<Error> unknown_run(std::string_view id, std::size_t matches) {
  return fail(ErrorId::kUnknownRun,
              matches == 0
                  ? fmt::format("no run's id starts with '{}'", id.substr(0, 64))
                  : fmt::format("'{}' is the start of {} run ids", id.substr(0, 64), matches),
              {.fix = "mcpac audit list shows the ids of all runs"});
}

Result<std::vector<Event>> read_events(const std::filesystem::path& folder, const Query& query) {
  auto files = run_files(folder, query.run_id.value_or(""));
  if (!files) return pass_on(files);
  if (query.run_id) {
    // The whole id of one run may be the start of another's.
    const auto whole = std::ranges::find(*files, *query.run_id,
                                         [](const auto& path) { return path.stem().string(); });
    if (whole != files->end()) *files = {std::filesystem::path(*whole)};
    if (files->size() != 1 || query.run_id->empty())
      return unknown_run(*query.run_id, files->size());
  }
  std::vector<Event> all;
  for (const auto& file : *files) {
    auto events = read_run(file);
    if (!events) return pass_on(events);
    std::ranges::move(*events, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &Event::event_id);
  return all;
}

Result<std::vector<Event>> read_first_events(const std::filesystem::path& folder,
                                             std::string_view after) {
  auto files = run_files(folder, "");
  if (!files) return pass_on(files);
  std::vector<Event> events;
  for (const auto& file : *files) {
    const std::string run_id = file.stem().string();
    if (run_id <= after) continue;
    if (auto event = read_line(first_line(file), run_id)) events.push_back(*std::move(event));
  }
  return events;
}

namespace {

constexpr std::size_t kMaxIndexBytes = std::size_t{256} << 20U;

std::optional<Digest> digest_member(const Json& json, std::string_view name) {
  Digest digest{};
  const std::string text = string_member(json, name);
  if (!read_hex(text, digest.data(), digest.size())) return std::nullopt;
  return digest;
}

// The first thing that is wrong with a line; empty for nothing. Adds what it says to `view`.
std::string read_line(std::string_view text, std::uint64_t place, Digest& before,
                      const std::vector<PublicKey>& keys, IndexView& view) {
  const auto line = open_line(text);
  auto json = line ? parse_json(std::string(line->body) + "}") : Result<Json>(Json());
  if (!line || !json) return "it is no line of the index: changed or inserted";
  const Json* seq = find_member(*json, "seq");
  if (seq == nullptr || !seq->is_number_unsigned() || seq->get<std::uint64_t>() != place)
    return fmt::format("entry {} belongs here: something was removed, inserted or moved", place);
  if (chain_next(before, line->body) != line->hash)
    return "it does not fit what is before it: this entry was changed, or the one before it";
  if (!line->signature || std::ranges::none_of(keys, [&](const PublicKey& key) {
        return is_signed(key, kRunsDomain, line->hash, *line->signature);
      })) {
    return "its signature is not one of this log's key";
  }
  before = line->hash;
  const std::string event = string_member(*json, "event");
  const std::string run_id = string_member(*json, "run_id");
  if (event == "began") view.runs[run_id].first = digest_member(*json, "first");
  const Json* records = find_member(*json, "records");
  const bool counted = records != nullptr && records->is_number_unsigned();
  if (event == "ended") {
    view.runs[run_id].head = digest_member(*json, "head");
    if (counted) view.runs[run_id].records = records->get<std::uint64_t>();
  }
  if (event == "accepted") {
    view.runs[run_id].accepted_head = digest_member(*json, "head");
    if (counted) view.runs[run_id].accepted_records = records->get<std::uint64_t>();
  }
  return {};
}

}  // namespace

Result<IndexView> read_index(const std::filesystem::path& file,
                             const std::vector<PublicKey>& keys) {
  IndexView view;
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() == std::filesystem::file_type::not_found)
    return view;
  const auto text = read_file(file, kMaxIndexBytes);
  if (!text) {
    return fail(ErrorId::kAuditUnreadable, "the index of runs cannot be read",
                {.where = file.string(), .why = text.error().what});
  }
  Digest before = chain_start("runs", "");
  std::string_view rest = *text;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    auto wrong = read_line(rest.substr(0, end), view.verdict.lines, before, keys, view);
    ++view.verdict.lines;
    rest.remove_prefix(end + 1);
    if (wrong.empty()) continue;
    // What follows cannot be believed either: nothing of it is in `view`.
    view.verdict.problems.push_back(
        {fmt::format("{}:{}", file.string(), view.verdict.lines), std::move(wrong)});
    return view;
  }
  view.verdict.torn_bytes = rest.size();
  if (view.verdict.lines > 0) view.verdict.head = hex(before);
  return view;
}

}  // namespace mcpac::audit
