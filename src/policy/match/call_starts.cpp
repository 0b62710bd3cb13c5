#include "policy/match/call_starts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/ascii.h"
#include "policy/match/path_readings.h"
#include "policy/match/shell_commands.h"

namespace mcpac::policy {
namespace {

constexpr std::array<std::string_view, 9> kSureWords = {
    "cwd", "dir", "directory", "dirname", "folder", "workdir", "basedir", "rootdir", "chdir"};
constexpr std::array<std::string_view, 8> kMaybeStarts = {
    "root", "base", "repo", "repository", "workspace", "project", "prefix", "worktree"};
constexpr std::array<std::string_view, 8> kBeforePath = {
    "repo", "repository", "root", "base", "work", "working", "workspace", "project"};
constexpr std::size_t kDeepest = 128;

// Whether the name ends with this word: "repoDir", "work_dir", "dir"; not "redir".
bool ends_with_word(std::string_view name, std::string_view word) {
  if (name.size() < word.size()) return false;
  const auto at = name.size() - word.size();
  if (!std::ranges::equal(name.substr(at), word, {}, to_lower)) return false;
  return at == 0 || !is_letter(name[at - 1]) || is_upper(name[at]);
}

bool ends_with_any(std::string_view name, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return ends_with_word(name, word); });
}

// "repo_path", "rootPath"; also "repopath".
bool is_path_of_start(std::string_view name) {
  constexpr std::string_view kPath = "path";
  if (name.size() <= kPath.size() ||
      !std::ranges::equal(name.substr(name.size() - kPath.size()), kPath, {}, to_lower))
    return false;
  name.remove_suffix(kPath.size());
  while (!name.empty() && !is_letter(name.back())) name.remove_suffix(1);
  return ends_with_any(name, kBeforePath);
}

class Finder {
 public:
  explicit Finder(std::string_view home) : home_(home) {}

  CallStarts::Found find(const Json& arguments) {
    look_into(arguments, StartName::kNone, 0);
    const auto join_all = [&](std::vector<PathValue>& starts) {
      const std::vector<PathValue> single = starts;
      for (const auto& outer : single) {
        for (const auto& inner : single) {
          if (outer.absolute && !inner.absolute) add(below(outer, inner), starts);
        }
      }
    };
    join_all(found_.to_catch);
    join_all(found_.admit);
    return std::move(found_);
  }

 private:
  static PathValue below(PathValue outer, const PathValue& inner) {
    outer.components.insert(outer.components.end(), inner.components.begin(),
                            inner.components.end());
    return outer;
  }

  void look_into(const Json& value, StartName name, std::size_t depth) {
    if (depth > kDeepest) found_.too_many = true;
    if (found_.too_many) return;
    if (value.is_string()) {
      add_text(value.get_ref<const std::string&>(), name);
    } else if (value.is_array()) {
      bool is_folder = false;  // behind "-C", in a list of the words of a command
      for (const Json& item : value) {
        look_into(item, is_folder ? StartName::kMaybe : name, depth + 1);
        is_folder = item.is_string() && precedes_folder(item.get_ref<const std::string&>());
      }
    } else if (value.is_object()) {
      for (const auto& [member, below] : value.items())
        look_into(below, below.is_string() ? start_named(member) : list_named(member), depth + 1);
    }
  }

  // Of several folders none is certainly the one that others count from.
  static StartName list_named(std::string_view member) {
    const bool is_plural = member.ends_with('s') || member.ends_with('S');
    const auto name = start_named(is_plural ? member.substr(0, member.size() - 1) : member);
    return name == StartName::kNone ? name : StartName::kMaybe;
  }

  void add_text(const std::string& text, StartName name) {
    if (name == StartName::kNone || text.empty()) return;
    for (const auto& one : path_readings(text, home_, MeantAs::kPlace).named) {
      if (one.is_part) continue;
      add(one.path, found_.to_catch);
      if (name == StartName::kSure || one.path.absolute || is_written_as_path(text))
        add(one.path, found_.admit);
    }
  }

  static bool is_written_as_path(std::string_view text) {
    return text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
  }

  void add(PathValue path, std::vector<PathValue>& starts) {
    if (std::ranges::find(starts, path) != starts.end()) return;
    if (starts.size() >= CallStarts::kMost) {
      found_.too_many = true;
    } else {
      starts.push_back(std::move(path));
    }
  }

  std::string_view home_;
  CallStarts::Found found_;
};

}  // namespace

StartName start_named(std::string_view parameter) {
  if (ends_with_any(parameter, kSureWords) || is_path_of_start(parameter)) return StartName::kSure;
  return ends_with_any(parameter, kMaybeStarts) ? StartName::kMaybe : StartName::kNone;
}

const CallStarts::Found& CallStarts::found(std::string_view home) const {
  if (!found_) found_ = arguments_ == nullptr ? Found() : Finder(home).find(*arguments_);
  return *found_;
}

}  // namespace mcpac::policy
