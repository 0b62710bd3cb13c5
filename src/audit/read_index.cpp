// The index of runs, read and checked.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "audit/run_index.h"
#include "audit/verify.h"
#include "core/file.h"

namespace mcpac::audit {
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
