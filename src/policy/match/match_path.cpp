// SPDX-License-Identifier: Apache-2.0

// Paths: `within` and `matches`, lexically, as the file system resolves them, and by what files and
// folders are, whatever they are called (docs/grants.md).
//
// An allow needs all readings inside, a deny or ask is content with one. A text with ".." has two
// on the disk: the kernel goes up from where a link leads, and many servers tidy the text first. A
// relative one is counted from every folder that the server may count from. By its device and
// inode a folder is found behind another mount, and by a name in the other case; that never makes
// an allow wider, it finds what it excepts. A folder that a denied or excepted place lies in counts
// as that place: a tool that moves, lists or searches it reaches what is in it.
// A text may be a list: an allow needs each item inside that names a place of its own, and a deny,
// an ask and an exception are content with one (value_parts.h, path_readings.h).
// What the server opens later is a name, and the directory may change in between: decisions bind
// names, the server's own root and the sandbox bind files.
#include <algorithm>
#include <functional>
#include <optional>

#include "core/ascii.h"
#include "core/printable.h"
#include "policy/match/call_starts.h"
#include "policy/match/path_pattern.h"
#include "policy/match/path_readings.h"
#include "policy/match/readings.h"
#include "policy/match/value_parts.h"

namespace mcpac::policy {
namespace {

// Parts of one text that are looked up on the disk; of a command all are.
constexpr std::size_t kMostLookedUp = 64;

class PathMatcher final : public Matcher {
 public:
  // `meant`: what the argument is for, kNamed or kCommand.
  PathMatcher(PathPattern pattern, std::vector<PathPattern> exceptions, MeantAs meant,
              const Environment& environment)
      : pattern_(std::move(pattern)),
        exceptions_(std::move(exceptions)),
        meant_(meant),
        resolver_(environment.resolver),
        bases_(environment.bases) {
    for (const auto& exception : exceptions_)
      denied_.push_back(PathMatcher(exception, {}, meant, environment));
  }

  Outcome match(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const auto& text = value.get_ref<const std::string&>();
    const Asking asking = asking_of(call);
    if (call.any_string) return any_holds(value, asking) ? Outcome::kPass : Outcome::kFail;
    const Outcome whole = match_whole(text, asking);
    if (call.reading == Reading::kCatch)
      return whole == Outcome::kFail && names_part(value, call) ? Outcome::kPass : whole;
    if (whole != Outcome::kPass) return whole;
    return stray_item(text, asking) || names_excepted(value, call) ? Outcome::kFail : whole;
  }
  // An allow hangs on it where the text alone would admit, a deny or ask where it would not catch:
  // in both as if a path named no folder, which only the file system knows.
  bool asks_file_system(const Json& value, const CallView& call) const override {
    if (!value.is_string() || !resolves(call.server)) return false;
    const auto& text = value.get_ref<const std::string&>();
    Asking asking = asking_of(call);
    asking.look = Look::kLexical;
    if (asking.above == Above::kCounts) asking.above = Above::kIfThere;
    if (call.any_string) {
      PathReadings own;
      return !readings_of_path(value, call, own).named.empty() && !any_holds(value, asking);
    }
    const auto path = read_path_value(text);
    if (!path || holds(*path, asking) != (call.reading == Reading::kAdmit)) return false;
    if (call.reading == Reading::kAdmit) return !stray_item(text, asking);
    CallView by_text = call;
    by_text.lexical = true;
    return !names_part(value, by_text);
  }

  std::optional<Json> taken_for(const Json& value, const CallView& call) const override {
    if (!value.is_string() || call.reading != Reading::kAdmit) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    const Asking asking = asking_of(call);
    if (match_whole(text, asking) != Outcome::kPass) return std::nullopt;
    return stray_item(text, asking);
  }

  std::string remark(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return {};
    const auto& text = value.get_ref<const std::string&>();
    Asking asking = asking_of(call);
    const bool is_caught = call.reading == Reading::kCatch;
    const auto outcome = [&] {
      if (call.any_string) return any_holds(value, asking);
      const auto path = read_path_value(text);
      return path && (holds(*path, asking) || (is_caught && names_part(value, call)));
    };
    if (outcome() != is_caught) return {};
    PathReadings own;
    const CallView any_string = call.any_string ? call : as_any_string(call);
    if (is_caught && bases_.by_identity && readings_of_path(value, any_string, own).unclear)
      return "may name more paths than are read of one text (send it in parts): " +
             pattern_.text() + " may be one";
    if (const auto folder = other_start(value, call); !folder.empty())
      return "counts from " + folder +
             " as well, which another argument names (a whole path counts from none)";
    asking.above = Above::kPasses;
    if (outcome() == is_caught) return {};
    if (is_caught) return "contains the denied " + pattern_.text();
    std::string names;
    for (const auto& exception : exceptions_)
      names += (names.empty() ? "" : ", ") + exception.text();
    return "contains what is excepted: " + names;
  }

  Types types() const override { return kStringType; }

 private:
  enum class Look : std::uint8_t { kLexical, kResolved };
  // What a folder is to the rule that a denied or excepted place lies in. kIfThere: for a text that
  // may or may not be a path.
  enum class Above : std::uint8_t { kPasses, kIfThere, kCounts };

  // The folder of another argument that decides about a relative value, where there is one.
  [[nodiscard]] std::string other_start(const Json& value, const CallView& call) const {
    if (call.starts == nullptr) return {};
    const bool is_caught = call.reading == Reading::kCatch;
    const auto& named = call.starts->found(bases_.home);
    const auto& folders = is_caught ? named.to_catch : named.admit;
    CallView alone = call;
    alone.starts = nullptr;
    const bool holds_alone = (match(value, alone) == Outcome::kPass);
    if (holds_alone == is_caught) return {};
    if (named.too_many) return "more folders than are read of one call";
    if (named.is_unreadable || folders.empty()) return "a folder that is written as no path";
    const PathValue& folder = folders.front().path;
    const std::string first = join(folder.components);
    return printable(folder.absolute ? first : "." + first, 60);
  }

  // Whether a pattern of a shell may stand for ".." there: "[.][.]".
  [[nodiscard]] static bool may_climb(const PathValue& path) {
    return std::ranges::any_of(path.components, [](const std::string& name) {
      return has_wildcards(name) && may_meet("..", name);
    });
  }

  // How one call is looked at.
  struct Asking {
    const CallView& call;
    Look look;
    Above above;
    const std::vector<PathValue>* entered = nullptr;  // folders that the text itself enters
    bool reads_wildcards = true;                      // those of a shell, in the text
  };

  // Of a text that is one path, or several by its braces.
  [[nodiscard]] Outcome match_whole(const std::string& text, const Asking& asking) const {
    const bool admits = asking.call.reading == Reading::kAdmit;
    const auto path = read_path_value(text);
    if (!path) return Outcome::kUnreadable;
    const auto expanded = brace_alternatives(text);
    if (!expanded) return Outcome::kUnreadable;
    if (admits && may_climb(*path)) return Outcome::kUnreadable;
    const bool is_held = holds(*path, asking);
    if (is_held != admits || expanded->empty()) return is_held ? Outcome::kPass : Outcome::kFail;
    // "{a,b}/x" is a name to most servers, and two to those that expand patterns.
    for (const auto& one : *expanded) {
      const auto meant = read_path_value(one);
      if (!meant || (admits && may_climb(*meant))) return Outcome::kUnreadable;
      if (holds(*meant, asking) != is_held) return is_held ? Outcome::kFail : Outcome::kPass;
    }
    return is_held ? Outcome::kPass : Outcome::kFail;
  }

  // A deny or an ask of one argument finds in it what one over "*" would, and each item of a list.
  [[nodiscard]] bool names_part(const Json& value, const CallView& call) const {
    if (!bases_.by_identity || is_one_name(value.get_ref<const std::string&>())) return false;
    const CallView view = as_any_string(call);
    return any_holds(value, asking_of(view));
  }
  [[nodiscard]] CallView as_any_string(CallView call) const {
    call.any_string = true;
    call.is_named = true;
    call.in_document = false;
    call.meant = meant_;
    return call;
  }

  // "notes/private notes": a name that goes on behind a blank, and no list of places.
  [[nodiscard]] static bool goes_on_behind_blank(std::string_view text) {
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos || text.substr(blank).contains('/')) return false;
    const auto is_of_name = [](char c) { return is_bare(c) || c == '/' || c == '.' || c == ' '; };
    return text.substr(0, blank).contains('/') && text.front() != '-' && !text.contains("..") &&
           !text.contains(" -") && std::ranges::all_of(text, is_of_name);
  }

  // An exception is to an allow what it would be to a deny.
  [[nodiscard]] bool names_excepted(const Json& value, CallView call) const {
    if (meant_ == MeantAs::kNamed && goes_on_behind_blank(value.get_ref<const std::string&>()))
      return false;
    call.reading = Reading::kCatch;
    return std::ranges::any_of(
        denied_, [&](const PathMatcher& denied) { return denied.names_part(value, call); });
  }

  // To an allow: an item of a list that is not inside. It counts where it names a place of its own,
  // or, between marks of lists, something that is there: "report, final.txt" is a name.
  [[nodiscard]] std::optional<Json> stray_item(const std::string& text,
                                               const Asking& asking) const {
    // Of JSON each text is a reading of its own.
    if (!bases_.by_identity || !may_be_list(text) || is_json_document(text)) return std::nullopt;
    for (const auto& [item, is_listed] : path_items(text)) {
      if (item.size() == text.size()) continue;
      const auto path = read_path_value(item);
      const Leaves leaves = leaves_its_start(item);
      const bool counts = leaves != Leaves::kNot || (is_listed && path && is_there(*path, asking));
      const bool is_read = path && leaves != Leaves::kUnclear && !may_climb(*path);
      if (!counts || (is_read && admits(*path, asking))) continue;
      // Of "/My Folder/a" the beginning, where the rule says "/My Folder".
      if (is_read && item.data() == text.data() && begins_base(*path, asking)) continue;
      return Json(item);
    }
    return std::nullopt;
  }

  // Whether the first name of a relative path is there.
  [[nodiscard]] bool is_there(const PathValue& path, const Asking& asking) const {
    if (path.absolute || asking.look == Look::kLexical) return false;
    const auto starts = relative_starts(bases_, asking.call.server).admit;
    return std::ranges::any_of(starts, [&](const std::string& start) {
      Components first = split(start);
      if (!path.components.empty()) first.push_back(path.components.front());
      const auto seen = resolver_->look(join(first), PathResolver::Names::kAsked);
      return !seen || seen->kind != Sighting::Kind::kMissing;
    });
  }

  [[nodiscard]] bool begins_base(const PathValue& path, const Asking& asking) const {
    std::vector<std::string> starts = {""};
    if (!path.absolute) starts = relative_starts(bases_, asking.call.server).admit;
    if (std::ranges::find(path.components, "..") != path.components.end()) return false;
    const PathBase& base = pattern_.base_for(asking.call.server);
    return std::ranges::all_of(starts, [&](const std::string& start) {
      Components whole = split(start);
      whole.insert(whole.end(), path.components.begin(), path.components.end());
      const std::string name = join(whole);
      return join(base.written).starts_with(name) || join(base.real).starts_with(name);
    });
  }

  [[nodiscard]] Asking asking_of(const CallView& call) const {
    const bool lexical = call.lexical || !resolves(call.server);
    // A folder in a document, "baseUrl": ".", is written more often than walked, and so is one in
    // what is prose by its name, or a separator. "/" of a server elsewhere is not that of here.
    const bool is_elsewhere =
        call.any_string && is_remote(call.server) && !bases_.roots.contains(call.server);
    const bool is_standard = call.is_root_by_default && !has_folders(call.server);
    const bool passes = !bases_.by_identity || is_elsewhere || is_standard ||
                        (call.any_string && (call.in_document || is_text(call.meant))) ||
                        (call.tool != nullptr && bases_.entry_only.contains(*call.tool));
    const bool is_unsure = call.lexical && !call.takes_for_folders;
    // What is written into a file, or said, mentions more places than can be looked up.
    const bool is_data = call.any_string && call.in_document && is_for_prose(call.meant);
    return {call, lexical || is_data ? Look::kLexical : Look::kResolved,
            passes      ? Above::kPasses
            : is_unsure ? Above::kIfThere
                        : Above::kCounts};
  }

  // Whether anything says that the server works on folders of this machine.
  [[nodiscard]] bool has_folders(const std::string& server) const {
    return bases_.roots.contains(server) || bases_.given_folders.contains(server) ||
           bases_.working_directories.contains(server) || bases_.mounts.contains(server) ||
           bases_.unknown_starts.contains(server);
  }

  [[nodiscard]] bool is_remote(const std::string& server) const {
    return bases_.remote_servers.contains(server);
  }
  [[nodiscard]] bool resolves(const std::string& server) const {
    return resolver_ != nullptr && !is_remote(server);
  }

  [[nodiscard]] bool holds(const PathValue& path, const Asking& asking) const {
    return asking.call.reading == Reading::kAdmit ? admits(path, asking) : catches(path, asking);
  }

  // A member of a document is prose, whatever its place is for.
  [[nodiscard]] const PathReadings& readings_of_path(const Json& text, const CallView& call,
                                                     PathReadings& own) const {
    const bool is_member = call.in_document && !is_for_prose(call.meant);
    const MeantAs meant = is_member ? MeantAs::kDocument : call.meant;
    if (call.readings != nullptr) return call.readings->paths_in(text, bases_.home, meant);
    own = path_readings(text.get_ref<const std::string&>(), bases_.home, meant);
    return own;
  }

  // "*": any reading is enough, for only a deny or an ask looks at any string.
  [[nodiscard]] bool any_holds(const Json& text, const Asking& asking) const {
    PathReadings own;
    const auto& readings = readings_of_path(text, asking.call, own);
    if (readings.unclear && bases_.by_identity) return true;
    const MeantAs meant = asking.call.in_document ? MeantAs::kText : asking.call.meant;
    const bool is_searched = meant == MeantAs::kCommand || meant == MeantAs::kNamed;
    Asking of_text = asking;
    of_text.entered = &readings.starts;
    const auto& written = text.get_ref<const std::string&>();
    const bool is_query = asking.call.meant == MeantAs::kQuery && !is_anchored(written);
    if (is_query || is_sign(written, asking.call)) of_text.above = Above::kPasses;
    Asking of_part = of_text;
    // A folder that is named in passing is not walked, but by a command.
    if (asking.call.meant != MeantAs::kCommand) of_part.above = Above::kPasses;
    // So many are a list or a document, and are held by their text.
    if (readings.named.size() > kMostLookedUp && !is_searched) of_part.look = Look::kLexical;
    const MeantAs is_for = asking.call.meant;
    return std::ranges::any_of(readings.named, [&](const NamedPath& one) {
      if (bases_.by_identity && is_no_place(one, written, is_for)) return false;
      of_text.reads_wildcards = of_part.reads_wildcards = reads_wildcards(one, written, is_for);
      if (!one.is_part) return holds(one.path, of_text);
      if (!bases_.by_identity) return false;
      const bool acts_on_entry =
          one.use == FolderUse::kEntry ||
          (one.use == FolderUse::kEntered && is_where_it_starts(one.path, asking.call.server));
      Asking of_this = one.is_listed ? of_text : of_part;
      if (acts_on_entry) of_this.above = Above::kPasses;
      return holds_part(one.path, of_this);
    });
  }

  [[nodiscard]] static bool is_anchored(std::string_view text) {
    return std::ranges::any_of(std::initializer_list<std::string_view>{"/", "~", "./", "../", "$"},
                               [&](std::string_view start) { return text.starts_with(start); });
  }
  [[nodiscard]] static bool has_blank(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return c == ' ' || is_control(c); });
  }
  // "!**/dist/**": a glob of what is left out, among others.
  [[nodiscard]] static bool is_negated(std::string_view text, MeantAs meant) {
    return text.starts_with('!') && !text.starts_with("!(") && text.contains('*') &&
           meant != MeantAs::kCommand && meant != MeantAs::kNamed;
  }

  // What is written or left out there, and names no file to be opened. To a pattern that may begin
  // anywhere ("./**/.env") every sentence about such a file would end in its name.
  [[nodiscard]] bool is_no_place(const NamedPath& one, std::string_view text, MeantAs meant) const {
    const bool is_relative = !one.path.absolute && !is_anchored(text);
    if (meant == MeantAs::kExcluded && is_relative)
      return text.find_first_of("/\\") == std::string_view::npos || text.contains('*');
    if (is_negated(text, meant) && text.starts_with("!**/")) return true;
    if (pattern_.glob().empty() || pattern_.glob().front() != "**") return false;
    const bool says = is_for_prose(meant) || meant == MeantAs::kCommand;
    return (meant == MeantAs::kText && !one.path.absolute && (is_relative || has_blank(text))) ||
           (says && !one.is_part && has_blank(text));
  }

  // Of a line of commands each word is a pattern by itself.
  [[nodiscard]] static bool reads_wildcards(const NamedPath& one, std::string_view text,
                                            MeantAs meant) {
    if (is_negated(text, meant)) return false;
    if (meant == MeantAs::kCommand) return one.is_part || !has_blank(text);
    return !is_pattern(meant) || one.path.absolute || is_anchored(text);
  }

  // "/", "~", "." and the like, and names of variables or of fields of a database, where nothing
  // says that the place is for a folder: separators and queries have these more often than walks.
  [[nodiscard]] static bool is_sign(std::string_view text, const CallView& call) {
    constexpr std::size_t kLongestSign = 3;
    const bool is_unsure = call.meant == MeantAs::kUnknown || call.meant == MeantAs::kQuery;
    if (!is_unsure || text.empty()) return false;
    const auto is_plain = [](char c) {
      return is_word(c) || static_cast<unsigned char>(c) >= 0x80;
    };
    if (text.size() <= kLongestSign && std::ranges::none_of(text, is_plain)) return true;
    return text.starts_with('$') && std::ranges::all_of(text.substr(1), is_word);
  }

  // Whether a folder that is entered is one that the server starts from, or in one: that widens
  // nothing.
  [[nodiscard]] bool is_where_it_starts(const PathValue& path, const std::string& server) const {
    const RelativeStarts starts = relative_starts(bases_, server);
    return std::ranges::any_of(starts.to_catch, [&](const std::string& start) {
      const Components folder = collapse(split(start));
      Components whole = path.absolute ? Components() : folder;
      whole.insert(whole.end(), path.components.begin(), path.components.end());
      return begins_with(collapse(whole), folder);
    });
  }

  // Of a remote server a relative path may be any, and a word of a text is not taken for one.
  [[nodiscard]] bool holds_part(const PathValue& path, const Asking& asking) const {
    const bool is_anywhere = !path.absolute && is_remote(asking.call.server) &&
                             !bases_.roots.contains(asking.call.server);
    return is_anywhere ? catches_from_named(path, asking) : holds(path, asking);
  }

  [[nodiscard]] bool admits(const PathValue& path, const Asking& asking) const {
    if (path.absolute) return admits_at({}, path.components, asking);
    const RelativeStarts starts = relative_starts(bases_, asking.call.server);
    if (starts.is_unknown || (!starts.has_root && !pattern_.relative_to_here())) return false;
    return std::ranges::all_of(starts.admit,
                               [&](const std::string& start) {
                                 return admits_at(start, path.components, asking);
                               }) &&
           admits_from_named(path, starts, asking);
  }

  // From each folder that the call names for what is relative in it; of that folder itself no more
  // is asked.
  [[nodiscard]] bool admits_from_named(const PathValue& path, const RelativeStarts& starts,
                                       const Asking& asking) const {
    if (asking.call.starts == nullptr || !bases_.by_identity) return true;
    const auto& named = asking.call.starts->found(bases_.home);
    if (named.too_many || named.is_unreadable) return false;
    const bool is_inside = std::ranges::all_of(named.admit, [&](const NamedFolder& folder) {
      if (folder.path == path) return true;
      // Of "/My, Folder/a" the beginning, where the rule says "/My, Folder".
      if (folder.is_beginning && begins_base(folder.path, asking)) return true;
      const Components whole = below(folder.path, path);
      if (folder.path.absolute) return admits_at({}, whole, asking);
      return std::ranges::all_of(
          starts.admit, [&](const std::string& start) { return admits_at(start, whole, asking); });
    });
    return is_inside && !is_excepted_from_named(path, asking);
  }

  // An exception is to an allow what it would be to a deny, also below folders that only may be
  // starts.
  [[nodiscard]] bool is_excepted_from_named(const PathValue& path, const Asking& asking) const {
    if (denied_.empty()) return false;
    CallView call = asking.call;
    call.reading = Reading::kCatch;
    return std::ranges::any_of(denied_, [&](const PathMatcher& denied) {
      return denied.catches_from_named(path, Asking{call, asking.look, asking.above});
    });
  }

  [[nodiscard]] static Components below(const PathValue& folder, const PathValue& path) {
    Components whole = folder.components;
    whole.insert(whole.end(), path.components.begin(), path.components.end());
    return whole;
  }

  // A relative path, from each folder that the call or the text itself names.
  [[nodiscard]] bool catches_from_named(const PathValue& path, const Asking& asking) const {
    static const CallStarts::Found kNone = {};
    if (!bases_.by_identity) return false;
    const auto& named =
        asking.call.starts == nullptr ? kNone : asking.call.starts->found(bases_.home);
    if (named.too_many || (named.is_unreadable && !asking.call.any_string)) return true;
    const auto catches_from = [&](const PathValue& folder) {
      const Components whole = below(folder, path);
      if (folder.absolute) return catches_at({}, whole, asking);
      if (is_remote(asking.call.server) && !bases_.roots.contains(asking.call.server)) return false;
      const RelativeStarts starts = relative_starts(bases_, asking.call.server);
      return std::ranges::any_of(starts.to_catch, [&](const std::string& start) {
        return catches_at(start, whole, asking);
      });
    };
    if (std::ranges::any_of(named.to_catch, catches_from, &NamedFolder::path)) return true;
    if (asking.entered == nullptr) return false;
    return std::ranges::any_of(*asking.entered, [&](const PathValue& folder) {
      return catches_from(folder) ||
             (!folder.absolute &&
              std::ranges::any_of(named.to_catch, [&](const NamedFolder& outer) {
                return catches_from({outer.path.absolute, below(outer.path, folder)});
              }));
    });
  }

  [[nodiscard]] bool admits_at(std::string_view start, const Components& components,
                               const Asking& asking) const {
    Components raw = split(start);
    raw.insert(raw.end(), components.begin(), components.end());
    const PathBase& base = pattern_.base_for(asking.call.server);
    return admits_below(raw, base.written, base.real, asking) ||
           (base.real != base.written && admits_below(raw, base.real, base.real, asking));
  }

  // `base` is the name by which the value must enter the base; ".." may only stand strictly below
  // it.
  [[nodiscard]] bool admits_below(const Components& raw, const Components& base,
                                  const Components& real, const Asking& asking) const {
    if (!begins_with(raw, base)) return false;
    const Components below(raw.begin() + static_cast<std::ptrdiff_t>(base.size()), raw.end());
    std::size_t depth = 0;
    for (const auto& component : below) {
      if (component == ".." && depth == 0) return false;
      depth += component == ".." ? std::size_t{0} - 1 : 1;
    }
    const Components lexical = collapse(below);
    if (!pattern_.fits(lexical)) return false;
    Components whole = base;
    whole.insert(whole.end(), lexical.begin(), lexical.end());
    const std::string& server = asking.call.server;
    const auto may_except = [&](const PathPattern& e) { return may_mean(e, whole, asking); };
    if (excepted(whole, server) || std::ranges::any_of(exceptions_, may_except)) return false;
    if (const auto mounted = mounted_at(whole, server))
      if (excepted(*mounted, server) || is_excepted_there(*mounted, asking)) return false;
    if (asking.look == Look::kLexical)
      return std::ranges::none_of(exceptions_,
                                  [&](const auto& e) { return lies_above(e, whole, asking); });
    if (!lies_below(below, real, asking)) return false;
    return lexical.size() == below.size() || lies_below(lexical, real, asking);
  }

  // Where these components lead on the disk.
  [[nodiscard]] bool lies_below(const Components& below, const Components& real,
                                const Asking& asking) const {
    const auto resolved = resolver_->resolve_beneath(join(real), below);
    if (!resolved) return false;
    const Components found = split(*resolved);
    return begins_with(found, real) && pattern_.fits(std::span(found).subspan(real.size())) &&
           !excepted(found, asking.call.server) && !excepted_by_identity(*resolved, asking);
  }

  [[nodiscard]] bool excepted_by_identity(const std::string& path, const Asking& asking) const {
    if (exceptions_.empty() || !bases_.by_identity) return false;
    const bool has_wildcards = std::ranges::any_of(
        exceptions_, [](const auto& exception) { return !exception.glob().empty(); });
    const auto seen = look(path, has_wildcards || are_missing(asking.call.server));
    if (!seen) return true;
    return std::ranges::any_of(exceptions_, [&](const PathPattern& exception) {
      return covers(exception, *seen, asking) || lies_above(exception, *seen, asking);
    });
  }

  // Where a container's name for a path leads on this machine.
  [[nodiscard]] std::optional<Components> mounted_at(const Components& path,
                                                     const std::string& server) const {
    const auto mounts = bases_.mounts.find(server);
    if (mounts == bases_.mounts.end()) return std::nullopt;
    std::optional<Components> found;
    std::size_t longest = 0;
    for (const auto& [inside, folder] : mounts->second) {
      const Components name = split(inside);
      if (!begins_with(path, name) || (found && name.size() < longest)) continue;
      longest = name.size();
      found = split(folder);
      found->insert(found->end(), path.begin() + static_cast<std::ptrdiff_t>(longest), path.end());
    }
    return found;
  }
  [[nodiscard]] bool is_excepted_there(const Components& path, const Asking& asking) const {
    if (std::ranges::any_of(exceptions_,
                            [&](const auto& e) { return lies_above(e, path, asking); }))
      return true;
    return asking.look == Look::kResolved && excepted_by_identity(join(path), asking);
  }

  [[nodiscard]] bool catches(const PathValue& path, const Asking& asking) const {
    const std::string& server = asking.call.server;
    if (path.absolute) {
      if (catches_at({}, path.components, asking)) return true;
      const auto mounted = mounted_at(collapse(path.components), server);
      return mounted && catches_at({}, *mounted, asking);
    }
    // The words of a document are too many to be looked up, each as a name.
    Asking asked = asking;
    if (asking.call.in_document && asking.call.any_string) asked.look = Look::kLexical;
    if (catches_from_named(path, asked)) return true;
    const RelativeStarts starts = relative_starts(bases_, server);
    if (is_remote(server) && !starts.has_root)
      return !asking.call.any_string || may_lie_inside(path.components, asking);
    return std::ranges::any_of(starts.to_catch, [&](const std::string& start) {
      return catches_at(start, path.components, asked);
    });
  }

  // Whether a relative path under "*" leads inside from a folder that the place lies in, or beside
  // it: so a server elsewhere may have it. That it starts inside of a denied place is not assumed,
  // for then each word would be caught.
  [[nodiscard]] bool may_lie_inside(const Components& components, const Asking& asking) const {
    Asking by_name = asking;
    by_name.look = Look::kLexical;
    by_name.above = Above::kPasses;
    const Components name = collapse(components);
    const PathBase& base = pattern_.base_for(asking.call.server);
    for (const Components& place : {std::cref(base.written), std::cref(base.real)}) {
      // What a wildcard begins with stands below the base itself.
      const std::size_t folders = place.size() + (pattern_.glob().empty() ? 0 : 1);
      Components start;
      for (std::size_t i = 0; i < folders; ++i) {
        if (catches_at(join(start), name, by_name)) return true;
        if (i < place.size()) start.push_back(place[i]);
      }
    }
    return base.written.empty();
  }

  [[nodiscard]] bool catches_at(std::string_view start, const Components& components,
                                const Asking& asking) const {
    Components raw = split(start);
    raw.insert(raw.end(), components.begin(), components.end());
    const Components lexical = collapse(raw);
    const std::string& server = asking.call.server;
    if (bases_.by_identity && ((asking.reads_wildcards && may_mean(pattern_, lexical, asking)) ||
                               (asking.call.any_string && pattern_.may_cover(lexical, server))))
      return true;
    bool inside = pattern_.covers(lexical, server);
    bool out = excepted(lexical, server);
    if (asking.look == Look::kLexical)
      return (inside && !out) || lies_above(pattern_, lexical, asking);
    if (inside && !out) return true;
    const bool wants_own = !pattern_.glob().empty() || is_missing(pattern_, server);
    for (const Components& asked : {std::cref(raw), std::cref(lexical)}) {
      const auto seen = look(join(asked), wants_own);
      if (!seen) return true;
      const Components real = split(seen->path);
      inside = inside || pattern_.covers(real, server) || covers(pattern_, *seen, asking);
      out = out && excepted(real, server);
      if (lies_above(pattern_, *seen, asking)) return true;
      if (lexical.size() == raw.size()) break;  // no "..": the same question
    }
    return inside && !out;
  }

  // By the wildcards of a path. Stars alone pass a rule over "*", for they are sent every day.
  [[nodiscard]] static bool may_mean(const PathPattern& pattern, const Components& path,
                                     const Asking& asking) {
    using Stars = PathPattern::Stars;
    const bool is_named = !asking.call.any_string || asking.call.is_named;
    const auto meant =
        pattern.may_mean(path, asking.call.server, is_named ? Stars::kCount : Stars::kPass);
    return meant == PathPattern::Meant::kCovered ||
           (meant == PathPattern::Meant::kAbove && asking.above == Above::kCounts);
  }

  [[nodiscard]] Result<Sighting> look(const std::string& path, bool wants_own) const {
    using Names = PathResolver::Names;
    if (bases_.by_identity) return resolver_->look(path, wants_own ? Names::kOwn : Names::kAsked);
    auto real = resolver_->resolve(path);
    if (!real) return pass_on(real);
    return Sighting{.path = std::move(*real)};
  }

  // What stands at the base of a pattern today. Nothing where it cannot be told.
  [[nodiscard]] Result<Sighting> base_of(const PathPattern& pattern,
                                         const std::string& server) const {
    return resolver_->look(join(pattern.base_for(server).real), PathResolver::Names::kAsked);
  }
  // What is not there has no identity: it is known by its name, in whatever case that is.
  [[nodiscard]] bool is_missing(const PathPattern& pattern, const std::string& server) const {
    if (!bases_.by_identity) return false;
    const auto base = base_of(pattern, server);
    return !base || base->kind == Sighting::Kind::kMissing;
  }
  [[nodiscard]] bool are_missing(const std::string& server) const {
    return std::ranges::any_of(exceptions_, [&](const auto& e) { return is_missing(e, server); });
  }

  // By what folders are, beside what the names say.
  [[nodiscard]] bool covers(const PathPattern& pattern, const Sighting& seen,
                            const Asking& asking) const {
    const std::string& server = asking.call.server;
    if (pattern.covers(split(seen.path), server)) return true;
    if (seen.steps.empty()) return false;
    const auto base = base_of(pattern, server);
    if (!base || pattern.covers(seen, *base)) return true;
    const auto file = pattern.one_file(server);
    return file && is_same(seen, join(*file));
  }

  [[nodiscard]] bool is_same(const Sighting& seen, const std::string& path) const {
    if (seen.kind == Sighting::Kind::kMissing) return false;
    const auto other = resolver_->look(path, PathResolver::Names::kAsked);
    return other && other->kind == seen.kind && !other->steps.empty() &&
           other->steps.back() == seen.steps.back();
  }

  // Only what is a folder can hold a denied place; where that is unknown it cannot be ruled out.
  [[nodiscard]] bool lies_above(const PathPattern& pattern, const Sighting& seen,
                                const Asking& asking) const {
    if (asking.above == Above::kPasses) return false;
    if (seen.kind == Sighting::Kind::kMissing || seen.kind == Sighting::Kind::kFile) return false;
    const std::string& server = asking.call.server;
    if (pattern.lies_below(split(seen.path), server)) return may_hold(pattern, seen.path, asking);
    if (seen.steps.empty()) return false;
    const auto base = base_of(pattern, server);
    return !base || pattern.lies_below(seen, *base);
  }

  // Under "*", of a folder that only a wildcard leads below: whether such an entry is there.
  // "./**/.env" may lie in every folder, and no call could name one. A rule with the argument's
  // name says that the folder counts.
  [[nodiscard]] bool may_hold(const PathPattern& pattern, const std::string& folder,
                              const Asking& asking) const {
    if (!asking.call.any_string || pattern.glob().empty()) return true;
    const std::string& server = asking.call.server;
    const PathBase& base = pattern.base_for(server);
    const bool is_below = begins_with(split(folder), base.real);
    if (!is_below && !begins_with(base.real, split(folder))) return true;
    const auto found = resolver_->holds(
        is_below ? folder : join(base.real), pattern.text(),
        [&](const std::string& path) { return pattern.covers(split(path), server); });
    return !found || *found;
  }

  // The same by the text alone.
  [[nodiscard]] bool lies_above(const PathPattern& pattern, const Components& path,
                                const Asking& asking) const {
    const bool is_compared = asking.call.lexical;
    const auto wildcards =
        is_compared ? PathPattern::Wildcards::kLeftOut : PathPattern::Wildcards::kCount;
    // mcpac itself stands in the current folder: that one is there, and all above it are.
    // Whether something is in it that a wildcard means, the text does not say.
    if (asking.above == Above::kIfThere && !is_compared && asking.call.any_string &&
        !pattern.glob().empty())
      return false;
    const bool counts =
        asking.above == Above::kCounts ||
        (asking.above == Above::kIfThere && begins_with(split(bases_.current_directory), path));
    return counts && pattern.lies_below(path, asking.call.server, wildcards);
  }

  [[nodiscard]] bool excepted(const Components& path, const std::string& server) const {
    return std::ranges::any_of(exceptions_, [&](const auto& e) { return e.covers(path, server); });
  }

  PathPattern pattern_;
  std::vector<PathPattern> exceptions_;
  std::vector<PathMatcher> denied_;  // the exceptions, as denies
  MeantAs meant_;
  const PathResolver* resolver_;
  Bases bases_;
};

}  // namespace

RelativeStarts relative_starts(const Bases& bases, const std::string& server) {
  RelativeStarts starts;
  const auto add = [](std::vector<std::string>& into, const std::string& folder) {
    if (std::ranges::find(into, folder) == into.end()) into.push_back(folder);
  };
  const auto root = bases.roots.find(server);
  starts.has_root = root != bases.roots.end();
  starts.is_unknown = !starts.has_root && bases.unknown_starts.contains(server);
  const auto working = bases.working_directories.find(server);
  const std::string& begins =
      working == bases.working_directories.end() ? bases.current_directory : working->second;
  if (starts.has_root) {
    starts.admit.push_back(root->second);
  } else {
    starts.admit.push_back(bases.current_directory);
    if (!bases.remote_servers.contains(server)) add(starts.admit, begins);
  }
  if (const auto given = bases.given_folders.find(server); given != bases.given_folders.end()) {
    for (const auto& folder : given->second) add(starts.admit, folder);
  }
  if (starts.has_root) starts.to_catch = starts.admit;
  if (bases.remote_servers.contains(server)) return starts;
  add(starts.to_catch, begins);
  for (const auto& folder : starts.admit) {
    const bool only_admits = !starts.has_root && folder == bases.current_directory;
    if (!only_admits || folder == begins) add(starts.to_catch, folder);
  }
  return starts;
}

Checked<MatcherPtr> compile_path(const ast::Test& test, const ast::PathTest& path,
                                 const std::vector<ast::Exception>& exceptions, MeantAs meant,
                                 const World& world) {
  const auto kind = path.kind == ast::PathTest::Kind::kWithin ? PathPattern::Kind::kWithin
                                                              : PathPattern::Kind::kMatches;
  auto pattern = PathPattern::compile(path.path, test.at, kind, world);
  if (!pattern) return std::unexpected(pattern.error());
  std::vector<PathPattern> excepted;
  for (const auto& exception : exceptions) {
    const auto* name = std::get_if<ast::PathException>(&exception.body);
    if (name == nullptr) continue;
    auto compiled =
        PathPattern::compile(name->path, exception.at, PathPattern::Kind::kException, world);
    if (!compiled) return std::unexpected(compiled.error());
    excepted.push_back(std::move(*compiled));
  }
  return std::make_unique<PathMatcher>(std::move(*pattern), std::move(excepted), meant,
                                       world.environment);
}

}  // namespace mcpac::policy
