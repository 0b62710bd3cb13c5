// SPDX-License-Identifier: Apache-2.0

#include "history/changes/changes_diff.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/file.h"
#include "core/line_diff.h"
#include "core/printable.h"
#include "history/changes/folder_access.h"

namespace mcpac::history {
namespace {

using Kind = Change::Kind;

constexpr std::size_t kLargestText = std::size_t{1} << 20U;
constexpr std::size_t kLongestLine = 2'000;

struct Content {
  std::string text;
  std::string problem;  // why there is no text
};

Content content_at(const UniqueFd& root, const std::string& path) {
  const UniqueFd file =
      open_beneath(root ? root.get() : -1, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return {"", "it cannot be read"};
  auto text = read_descriptor(file.get(), path, kLargestText);
  if (!text) return {"", fmt::format("it is larger than {} bytes", kLargestText)};
  if (text->find('\0') != std::string::npos) return {"", "it is binary"};
  return {std::move(*text), ""};
}

// Each byte is seen: what is left out of a line would still be applied. Tabs stay, a carriage
// return is ^M, and of a line that is too long it is said how much more there is.
std::string shown(std::string_view line) {
  std::string text;
  const std::size_t more = line.size() - std::min(line.size(), kLongestLine);
  line = line.substr(0, kLongestLine);
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of("\t\r"), line.size());
    text += printable_in_place(line.substr(0, end));
    if (end < line.size()) text += line[end] == '\t' ? "\t" : "^M";
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return more == 0 ? text : text + fmt::format("… ({} more bytes)", more);
}

std::string hunk_text(const std::vector<DiffLine>& lines, const DiffHunk& hunk) {
  std::size_t before = 0, after = 0, count_before = 0, count_after = 0;
  std::string body;
  for (std::size_t i = hunk.begin; i < hunk.end; ++i) {
    const DiffLine& line = lines[i];
    if (before == 0) before = line.before;
    if (after == 0) after = line.after;
    count_before += line.before > 0 ? 1 : 0;
    count_after += line.after > 0 ? 1 : 0;
    body += fmt::format("{}{}\n", static_cast<char>(line.kind), shown(line.text));
  }
  return fmt::format("@@ -{},{} +{},{} @@\n{}", before, count_before, after, count_after, body);
}

std::string compare(const std::string& before, const std::string& after) {
  const auto lines = diff_lines(before, after);
  std::string text;
  for (const DiffHunk& hunk : hunks_of(lines)) text += hunk_text(lines, hunk);
  if (!text.empty() || before == after) return text;
  return "(only the end of the last line differs)\n";
}

}  // namespace

std::string diff_of(const Changeset& changes, std::size_t place, const Change& change) {
  const std::string name = printable((changes.places[place].path / change.path).string(), 4'000);
  const bool was = change.before.has_value();
  // Also of what has no content: nothing may be applied, or left out, without its name.
  const bool is =
      !change.digest.empty() || change.kind == Kind::kFolderAdded || change.kind == Kind::kRefused;
  std::string text =
      fmt::format("--- {}\n+++ {}\n", was ? name : "/dev/null", is ? name : "/dev/null");
  if (change.kind == Kind::kRefused) return text + fmt::format("(never applied: {})\n", change.why);
  if (change.kind == Kind::kFolderAdded)
    return text + fmt::format("(folder-added, mode {:03o})\n", change.mode);
  if (change.kind == Kind::kFolderDeleted) return text + "(folder-deleted)\n";
  Content before, after;
  if (was) before = content_at(open_folder(changes.places[place].path), change.path);
  if (is) {
    const UniqueFd upper(
        ::open(changes.upper(place).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    after = content_at(upper, change.path);
  }
  if (is && !was) text += fmt::format("(new file mode {:03o})\n", change.mode);
  if (was && is && (change.before->mode & 0777U) != change.mode)
    text += fmt::format("(mode {:03o} becomes {:03o})\n", change.before->mode & 0777U, change.mode);
  if (!before.problem.empty() || !after.problem.empty())
    return text + fmt::format("(not shown: {})\n",
                              before.problem.empty() ? after.problem : before.problem);
  return text + compare(before.text, after.text);
}

}  // namespace mcpac::history
