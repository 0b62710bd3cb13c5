// SPDX-License-Identifier: Apache-2.0

#include "policy/match/call_starts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "core/ascii.h"
#include "policy/match/parameter_names.h"
#include "policy/match/path_readings.h"
#include "policy/match/readings.h"
#include "policy/match/shell_commands.h"
#include "policy/match/url.h"
#include "policy/match/value_parts.h"

namespace mcpac::policy {
namespace {

constexpr std::array<std::string_view, 11> kSureWords = {
    "cwd",     "dir",     "directory", "dirname", "folder",    "workdir",
    "basedir", "rootdir", "chdir",     "docroot", "relativeto"};
constexpr std::array<std::string_view, 11> kMaybeStarts = {
    "root",   "base",     "repo",        "repository", "workspace", "project",
    "prefix", "worktree", "directories", "searchpath", "pwd"};
constexpr std::array<std::string_view, 8> kBeforePath = {
    "repo", "repository", "root", "base", "work", "working", "workspace", "project"};
constexpr std::size_t kDeepest = 128;
// Beyond so many a text that may be a folder is prose, and its words are none.
constexpr std::ptrdiff_t kMostBlanks = 40;

// Whether the name ends with this word: "repoDir", "work_dir", "dir", "work_tree" with "worktree";
// not "redir".
bool ends_with_word(std::string_view name, std::string_view word) {
  auto at = name.size();
  while (!word.empty()) {
    if (at == 0) return false;
    const char c = name[--at];
    if (c == '_' || c == '-' || c == '.' || c == ' ') continue;
    if (to_lower(c) != word.back()) return false;
    word.remove_suffix(1);
  }
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

// What a member with this name is, below one that is `above`. Of several folders none is certainly
// the one that others count from.
StartName member_named(std::string_view member, const Json& value, StartName above) {
  const auto name = start_named(member);
  if (name != StartName::kNone) return value.is_array() ? StartName::kMaybe : name;
  const bool is_plural = member.ends_with('s') || member.ends_with('S');
  const bool is_folder =
      above == StartName::kSure ||
      (is_plural && start_named(member.substr(0, member.size() - 1)) != StartName::kNone) ||
      (above == StartName::kMaybe && place_named(member) == ParameterKind::kPath);
  return is_folder ? StartName::kMaybe : StartName::kNone;
}

bool is_written_as_path(std::string_view text) {
  return text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
}

// Of "https://host/x" what stands behind the colon: it names a host, and no folder.
bool is_host_of_web(std::string_view item, std::string_view text) {
  const auto at = static_cast<std::size_t>(item.data() - text.data());
  if (!item.starts_with("//") || at == 0 || text[at - 1] != ':') return false;
  const auto before = text.substr(0, at - 1);
  const auto begin = std::ranges::find_if_not(before.rbegin(), before.rend(), is_letter);
  const auto letters = static_cast<std::size_t>(begin - before.rbegin());
  return default_port(lowered(before.substr(before.size() - letters))) != 0;
}

// A component that a shell, or a tool that expands patterns, may take for "..".
bool may_climb_by_pattern(const PathValue& path) {
  return std::ranges::any_of(path.components, [](const std::string& name) {
    return has_wildcards(name) && may_meet("..", name);
  });
}

class StartFinder {
 public:
  explicit StartFinder(std::string_view home) : home_(home) {}

  CallStarts::Found find(const Json& arguments, const DefaultPlace* defaults) {
    look_into(arguments, {}, defaults);
    join_all(found_.to_catch);
    join_all(found_.admit);
    return std::move(found_);
  }

 private:
  // Where a value stands.
  struct At {
    std::string_view member = {};  // the name of it, or of the list around it
    StartName name = StartName::kNone;
    std::size_t argument = 0;
    std::size_t depth = 0;
    int texts = 0;  // that it is in
  };

  void join_all(std::vector<NamedFolder>& starts) {
    const std::vector<NamedFolder> single = starts;
    for (const auto& outer : single) {
      for (const auto& inner : single) {
        const bool is_other = outer.path.absolute || outer.argument != inner.argument;
        if (inner.path.absolute || outer.text == inner.text || !is_other) continue;
        NamedFolder whole = outer;
        whole.is_beginning = false;
        whole.path.components.insert(whole.path.components.end(), inner.path.components.begin(),
                                     inner.path.components.end());
        if (std::ranges::find(starts, whole.path, &NamedFolder::path) != starts.end()) continue;
        if (starts.size() >= CallStarts::kMostJoined) {
          found_.too_many = true;
          return;
        }
        starts.push_back(std::move(whole));
      }
    }
  }

  void look_into(const Json& value, At at, const DefaultPlace* place) {
    if (at.depth > kDeepest) found_.too_many = true;
    if (found_.too_many) return;
    ++at.depth;
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      if (at.name == StartName::kNone) return look_into_text(text, at);
      add_text(value, at);
    } else if (value.is_array()) {
      bool is_folder = false;  // behind "-C", in a list of the words of a command
      for (const Json& item : value) {
        At inner = at;
        if (is_folder) {
          inner.name = StartName::kMaybe;
          inner.argument = ++arguments_;
        }
        look_into(item, inner, place == nullptr ? nullptr : place->elements());
        is_folder = item.is_string() && precedes_folder(item.get_ref<const std::string&>());
      }
    } else if (value.is_object()) {
      for (const auto& [member, below] : value.items())
        look_into(below, below_member(member, below, at),
                  place == nullptr ? nullptr : place->member(member));
      if (place != nullptr) look_into_left_out(*place, at, &value);
    }
  }

  At below_member(std::string_view member, const Json& value, const At& at) {
    return {member, member_named(member, value, at.name), ++arguments_, at.depth, at.texts};
  }

  // What a server may put where the call leaves a member out, or says null. Each place is looked at
  // once: a schema may lead back into itself.
  void look_into_left_out(const DefaultPlace& place, const At& at, const Json* value) {
    if (place.is_unknown()) found_.too_many = true;
    for (const auto& [member, below] : place.members()) {
      if (found_.too_many) return;
      const auto* there = value == nullptr ? nullptr : find_member(*value, member);
      if ((there != nullptr && !there->is_null()) || !seen_.emplace(below, at.name).second)
        continue;
      for (const Json* standard : below->values())
        look_into(*standard, below_member(member, *standard, at), below);
      static const Json kObject = Json::object();
      look_into_left_out(*below, below_member(member, kObject, at), nullptr);
    }
  }

  // JSON in a text that is no folder itself, and not for prose or the content of a file.
  void look_into_text(const std::string& text, const At& at) {
    const auto trimmed = peeled(text, Peel::kBlanks);
    const auto bare = peeled(trimmed, Peel::kQuotes);
    const auto begins = [](std::string_view one) {
      return !one.empty() && std::string_view("{[\"").contains(one.front());
    };
    if ((!begins(trimmed) && !begins(bare)) || is_text(meaning_by_name(at.member))) return;
    if (at.texts == kMaxTextDepth) {
      found_.too_many = true;
      return;
    }
    if (begins(trimmed)) look_into_json(trimmed, at);
    if (begins(bare) && bare.size() < trimmed.size()) look_into_json(bare, at);
  }

  void look_into_json(std::string_view text, At at) {
    ++at.texts;
    std::size_t keys = 0;
    bool is_deep = false;
    const Json value = Json::parse(
        text,
        [&](int depth, Json::parse_event_t event, const Json&) {
          keys += event == Json::parse_event_t::key ? 1 : 0;
          is_deep = is_deep || static_cast<std::size_t>(depth) > kDeepest;
          return !is_deep;
        },
        false);
    if (is_deep) {
      found_.too_many = true;
      return;
    }
    if (!value.is_discarded() && keys == members_in(value)) return look_into(value, at, nullptr);
    // What only a generous parser takes for JSON, or with a member twice: it is uncertain which
    // text belongs to which name.
    const auto readings = readings_of(Json(text), Subject::kPlace, Reading::kCatch);
    found_.too_many = found_.too_many || readings.unreadable;
    At any = at;
    for (const auto& one : readings.others) {
      if (one.value.is_string())
        any.name = std::max(any.name, member_named(one.value.get_ref<const std::string&>(),
                                                   one.value, StartName::kNone));
    }
    if (any.name == StartName::kNone) return;
    for (const auto& one : readings.others) {
      any.argument = ++arguments_;
      look_into(one.value, any, nullptr);
    }
  }

  static std::size_t members_in(const Json& value) {
    std::size_t all = value.is_object() ? value.size() : 0;
    if (!value.is_structured()) return all;
    for (const Json& below : value) all += members_in(below);
    return all;
  }

  void add_text(const Json& value, const At& at) {
    ++texts_;
    const auto& text = value.get_ref<const std::string&>();
    read_to_catch(text, at);
    read_to_admit(text, at);
    const auto others = readings_of(value, Subject::kPlace, Reading::kCatch);
    found_.too_many = found_.too_many || others.unreadable;
    for (const auto& one : others.others) {
      if (found_.too_many) return;
      if (one.value.is_string()) read_to_catch(one.value.get_ref<const std::string&>(), at);
    }
    for (const auto& one : readings_of(value, Subject::kPlace, Reading::kAdmit).others) {
      if (found_.too_many) return;
      if (one.value.is_string()) read_to_admit(one.value.get_ref<const std::string&>(), at);
    }
  }

  // With the items of lists and other parts: what is certainly a folder has them also where no
  // slash is in them.
  void read_to_catch(const std::string& text, const At& at) {
    if (text.empty()) return;
    const bool is_prose =
        at.name != StartName::kSure && std::ranges::count(text, ' ') > kMostBlanks;
    const auto readings = path_readings(text, home_, is_prose ? MeantAs::kPlace : MeantAs::kNamed);
    found_.too_many = found_.too_many || (readings.unclear && !is_prose);
    for (const auto& one : readings.named) {
      add({one.path, false, texts_, at.argument}, found_.to_catch);
      add_without_stars({one.path, false, texts_, at.argument});
    }
  }

  // Stars alone are any name, and several of them any number of names.
  void add_without_stars(NamedFolder folder) {
    const auto is_stars = [](std::string_view name) {
      return !name.empty() && name.find_first_not_of('*') == std::string_view::npos;
    };
    const auto& names = folder.path.components;
    if (std::ranges::none_of(names, is_stars)) return;
    constexpr std::size_t kMostLevels = 4;
    const bool is_deep = std::ranges::any_of(
        names, [&](const std::string& name) { return name.size() > 1 && is_stars(name); });
    for (std::size_t levels = is_deep ? 0 : 1; levels <= (is_deep ? kMostLevels : 1); ++levels) {
      NamedFolder one = folder;
      one.path.components.clear();
      for (const auto& name : names) {
        const auto times = name.size() > 1 ? levels : 1;
        if (is_stars(name)) {
          one.path.components.insert(one.path.components.end(), times, "?*");
        } else {
          one.path.components.push_back(name);
        }
      }
      add(std::move(one), found_.to_catch);
    }
  }

  void read_to_admit(const std::string& text, const At& at) {
    if (text.empty()) return;
    const bool is_sure = at.name == StartName::kSure;
    const auto put = [&](const PathValue& path, std::string_view written, bool is_beginning) {
      if (!is_sure && !path.absolute && !is_written_as_path(written)) return;
      found_.is_unreadable = found_.is_unreadable || may_climb_by_pattern(path);
      add({path, is_beginning, texts_, at.argument}, found_.admit);
    };
    bool has_absolute = false;
    for (const auto& one : path_readings(text, home_, MeantAs::kPlace).named) {
      if (one.is_part) continue;
      has_absolute = has_absolute || one.path.absolute;
      put(one.path, text, false);
    }
    // A home that is known, and what stands behind a scheme, are among these.
    const bool is_filled = !text.starts_with('~') && !text.starts_with('$');
    const bool is_read = read_path(text) && (is_filled || has_absolute || read_path_value(text));
    found_.is_unreadable = found_.is_unreadable || (is_sure && !is_read);
    const auto expanded = brace_alternatives(text);
    found_.is_unreadable = found_.is_unreadable || (is_sure && !expanded);
    for (const auto& one : expanded ? *expanded : std::vector<std::string>()) {
      if (const auto path = read_path(one)) put(*path, one, false);
    }
    if (!may_be_list(text) || is_json_document(text)) return;
    for (const auto& item : path_items(text)) {
      const bool is_first = item.text.data() == text.data();
      const bool leaves = leaves_its_start(item.text) != Leaves::kNot;
      if (item.text.size() == text.size() || !(item.is_listed || leaves)) continue;
      if (is_host_of_web(item.text, text)) continue;
      for (const auto& one : path_readings(item.text, home_, MeantAs::kPlace).named) {
        if (!one.is_part) put(one.path, item.text, is_first);
      }
    }
  }

  void add(NamedFolder folder, std::vector<NamedFolder>& starts) {
    const auto known = std::ranges::find_if(starts, [&](const NamedFolder& one) {
      return one.argument == folder.argument && one.path == folder.path;
    });
    if (known != starts.end()) {
      known->is_beginning = known->is_beginning && folder.is_beginning;
    } else if (starts.size() >= CallStarts::kMost) {
      found_.too_many = true;
    } else {
      starts.push_back(std::move(folder));
    }
  }

  std::string_view home_;
  CallStarts::Found found_;
  std::size_t texts_ = 0;
  std::size_t arguments_ = 0;
  std::set<std::pair<const DefaultPlace*, StartName>> seen_;
};

}  // namespace

StartName start_named(std::string_view parameter) {
  if (ends_with_any(parameter, kSureWords) || is_path_of_start(parameter)) return StartName::kSure;
  return ends_with_any(parameter, kMaybeStarts) ? StartName::kMaybe : StartName::kNone;
}

const CallStarts::Found& CallStarts::found(std::string_view home) const {
  if (!found_)
    found_ = arguments_ == nullptr ? Found() : StartFinder(home).find(*arguments_, defaults_);
  return *found_;
}

}  // namespace mcpac::policy
