// SPDX-License-Identifier: Apache-2.0

#include "policy/match/path_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/glob.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "core/unicode_folding.h"
#include "policy/match/path_readings.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

bool is_wild(const std::string& component) {
  return component.find('*') != std::string::npos;
}

// Does the glob match all of the components (or, with `prefix`, the first few of them)? A table
// over both lengths, so that no glob takes more than glob × path steps.
bool components_match(std::span<const std::string> glob, std::span<const std::string> path,
                      bool prefix) {
  std::vector<char> row(path.size() + 1, 0);
  row[0] = 1;
  for (const auto& piece : glob) {
    if (piece == "**") {
      for (std::size_t i = 1; i <= path.size(); ++i)
        row[i] = static_cast<char>(row[i] | row[i - 1]);
      continue;
    }
    for (std::size_t i = path.size(); i > 0; --i) {
      row[i] = static_cast<char>(row[i - 1] != 0 && glob_matches(piece, path[i - 1]) ? 1 : 0);
    }
    row[0] = 0;
  }
  return prefix ? std::ranges::any_of(row, [](char c) { return c != 0; }) : row.back() != 0;
}

Components folded_names(std::span<const std::string> names) {
  Components plain;
  for (const auto& name : names) plain.push_back(case_folded(name));
  return plain;
}

std::span<const std::string> from(const Components& path, std::size_t at) {
  return std::span(path).subspan(std::min(at, path.size()));
}

struct Anchored {
  enum class Anchor : std::uint8_t { kRoot, kHere, kHome, kServer };
  Anchor anchor = Anchor::kRoot;
  Components components;
};

// The place that "./a/../b" means by its text; where it leaves its anchor, from the root.
std::string without_climbing(const std::string& text, const Bases& bases) {
  if (text.starts_with('/')) return printable(join(collapse(split(text))));
  const bool is_home = text.starts_with("~/");
  const std::string& start = is_home ? bases.home : bases.current_directory;
  if (text.starts_with('@') || !start.starts_with('/')) return "write the path without '..'";
  Components whole = split(start);
  for (auto& name : split(std::string_view(text).substr(2))) whole.push_back(std::move(name));
  const Components place = collapse(whole);
  if (!begins_with(place, split(start))) return printable(join(place));
  const Components below(place.begin() + static_cast<std::ptrdiff_t>(split(start).size()),
                         place.end());
  return printable((is_home ? "~" : ".") + join(below));
}

Checked<Anchored> read_anchor(const std::string& text, ast::Offset at,
                              const Environment& environment) {
  using Anchor = Anchored::Anchor;
  constexpr std::pair<std::string_view, Anchor> kAnchors[] = {{"/", Anchor::kRoot},
                                                              {"./", Anchor::kHere},
                                                              {"~/", Anchor::kHome},
                                                              {"@server/", Anchor::kServer}};
  for (const auto& [start, anchor] : kAnchors) {
    if (!text.starts_with(start)) continue;
    const auto path = read_path(text);
    if (!path) {
      return complain(ErrorId::kRuleSyntax, at,
                      fmt::format("'{}' is not a path that a rule may name", printable(text)),
                      "control bytes, backslashes, text that is not in normalisation form C and "
                      "characters that "
                      "Unicode has not assigned are refused",
                      "");
    }
    Anchored anchored{anchor, split(std::string_view(text).substr(start.size()))};
    if (std::ranges::find(anchored.components, "..") != anchored.components.end()) {
      return complain(ErrorId::kRuleSyntax, at,
                      fmt::format("'..' in the path '{}' of a rule", printable(text)),
                      "a rule names the place it means", without_climbing(text, environment.bases));
    }
    return anchored;
  }
  const std::string with = with_anchor(text, environment);
  return complain(ErrorId::kRuleSyntax, at,
                  fmt::format("the path '{}' has no anchor", printable(text)),
                  "a path begins with / (absolute), ./ (here), ~/ (home) or @server/ (the server's "
                  "declared root)",
                  with.empty() ? "write the whole path, from /" : printable(with));
}

// What a 'within' with '*' means: all below a folder, or else a pattern.
std::string fix_of_wild(std::string_view text) {
  for (const std::string_view all : {"/**/*", "/**", "/*"}) {
    if (!text.ends_with(all)) continue;
    const auto folder = text.substr(0, text.size() - all.size());
    if (folder.find('/') == std::string_view::npos || folder.find('*') != std::string_view::npos)
      break;
    return fmt::format("within {}", printable(folder));
  }
  return fmt::format("matches {}{}", printable(text), text.ends_with("/**") ? "" : "/**");
}

Checked<PathBase> resolve_base(const std::string& anchor_path, const Components& fixed,
                               ast::Offset at, const World& world) {
  PathBase base{split(anchor_path), {}};
  if (anchor_path.empty() || anchor_path.front() != '/') {
    return complain(ErrorId::kRuleSyntax, at,
                    "the place that this path is anchored at is not known", "",
                    "write an absolute path");
  }
  base.written.insert(base.written.end(), fixed.begin(), fixed.end());
  base.real = base.written;
  if (world.environment.resolver == nullptr) return base;
  auto real = world.environment.resolver->resolve(join(base.written));
  if (!real) {
    return std::unexpected(
        Complaint{.at = at,
                  .what = fmt::format("the path {} cannot be resolved: {}", join(base.written),
                                      real.error().what),
                  .why = "the base of a path test is resolved once, when the rule is loaded",
                  .fix = {}});
  }
  base.real = split(*real);
  return base;
}

}  // namespace

std::string with_anchor(const std::string& text, const Environment& environment) {
  const Bases& bases = environment.bases;
  const auto behind = [&](std::string_view name) -> std::optional<std::string> {
    if (!text.starts_with(name)) return std::nullopt;
    const auto rest = std::string_view(text).substr(name.size());
    if (!rest.empty() && rest.front() != '/') return std::nullopt;
    return std::string(rest.substr(std::min(rest.find_first_not_of('/'), rest.size())));
  };
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"$PWD", "./"},          {"${PWD}", "./"},        {".", "./"},
      {"$HOME", "~/"},         {"${HOME}", "~/"},       {"~", "~/"},
      {"@server", "@server/"}, {"%USERPROFILE%", "~/"}, {"file://", "/"},
      {"file:", "/"}};
  for (const auto& [name, anchor] : kNames) {
    const auto rest = behind(name);
    if (!rest) continue;
    // "~" is the account's home: where $HOME is another folder, that is meant.
    const std::string& home = environment.home_variable;
    const bool is_other = name.contains("HOME") && home.starts_with('/') && home != bases.home;
    return is_other ? join(collapse(split(home + "/" + *rest))) : std::string(anchor) + *rest;
  }
  const auto components = split(text);
  const bool climbs = std::ranges::find(components, "..") != components.end();
  const bool is_other = text.empty() || std::string_view("~$%@").contains(text.front());
  if (is_other || (climbs && !bases.current_directory.starts_with('/'))) return {};
  if (!climbs) return "./" + text;
  Components whole = split(bases.current_directory);
  whole.insert(whole.end(), components.begin(), components.end());
  return join(collapse(whole));
}

Checked<PathPattern> PathPattern::compile(const std::string& text, ast::Offset at, Kind kind,
                                          const World& world) {
  auto anchored = read_anchor(text, at, world.environment);
  if (!anchored) return std::unexpected(anchored.error());
  auto& components = anchored->components;
  auto wild = std::ranges::find_if(components, is_wild);
  if (kind == Kind::kWithin && wild != components.end()) {
    return complain(ErrorId::kRuleSyntax, at,
                    fmt::format("'*' in the path '{}' of a 'within'", printable(text)),
                    "'within' names one directory; 'matches' takes wildcards", fix_of_wild(text));
  }
  PathPattern pattern;
  pattern.text_ = printable(text);
  // A glob without wildcards names one file; its base is the directory of that file, so that the
  // file itself is looked at when it is a link.
  if (kind == Kind::kMatches && wild == components.end() && !components.empty()) --wild;
  pattern.glob_.assign(wild, components.end());
  pattern.everything_below_ = kind != Kind::kMatches;
  const Components fixed(components.begin(), wild);
  pattern.relative_to_here_ = anchored->anchor == Anchored::Anchor::kHere;
  const auto& bases = world.environment.bases;
  if (anchored->anchor != Anchored::Anchor::kServer) {
    const std::string& start = anchored->anchor == Anchored::Anchor::kHere ? bases.current_directory
                               : anchored->anchor == Anchored::Anchor::kHome ? bases.home
                                                                             : std::string("/");
    auto base = resolve_base(start, fixed, at, world);
    if (!base) return std::unexpected(base.error());
    pattern.base_ = std::move(*base);
    return pattern;
  }
  for (const auto& server : world.servers) {
    const auto root = bases.roots.find(server);
    if (root == bases.roots.end()) {
      return std::unexpected(Complaint{
          .at = at,
          .what = fmt::format("'@server/' in a rule for server {}, which declares no root",
                              printable(server)),
          .why = "without a root the path means nothing",
          .fix = fmt::format("mcpac server set {} --root DIR, or write ./ or an absolute path",
                             shell_quoted(printable(server)))});
    }
    auto base = resolve_base(root->second, fixed, at, world);
    if (!base) return std::unexpected(base.error());
    pattern.by_server_.emplace(server, std::move(*base));
  }
  return pattern;
}

const PathBase& PathPattern::base_for(const std::string& server) const {
  const auto found = by_server_.find(server);
  return found == by_server_.end() ? base_ : found->second;
}

bool PathPattern::fits(std::span<const std::string> below) const {
  return components_match(glob_, below, everything_below_);
}

bool PathPattern::covers(const Components& path, const std::string& server) const {
  const PathBase& base = base_for(server);
  for (const Components* start : {&base.written, &base.real}) {
    if (begins_with(path, *start) && fits(std::span(path).subspan(start->size()))) return true;
  }
  return false;
}

bool PathPattern::covers(const Sighting& seen, const Sighting& base) const {
  if (seen.steps.empty() || base.steps.empty()) return false;
  const Components path = split(seen.path);
  const Components named = split(base.path);
  const auto missing = from(named, base.steps.size() - 1);
  for (std::size_t at = 0; at < seen.steps.size(); ++at) {
    if (seen.steps[at] != base.steps.back()) continue;
    const auto rest = from(path, at);
    if (rest.size() < missing.size()) continue;
    const auto below = rest.subspan(missing.size());
    if (std::ranges::equal(missing, rest.first(missing.size())) && fits(below)) return true;
    if (seen.folds && folded_names(missing) == folded_names(rest.first(missing.size())) &&
        components_match(folded_names(glob_), folded_names(below), everything_below_))
      return true;
  }
  return false;
}

std::optional<Components> PathPattern::one_file(const std::string& server) const {
  if (everything_below_ || glob_.empty() || std::ranges::any_of(glob_, is_wild))
    return std::nullopt;
  Components path = base_for(server).real;
  path.insert(path.end(), glob_.begin(), glob_.end());
  return path;
}

bool PathPattern::fits_longer(std::span<const std::string> below) const {
  for (std::size_t pieces = 0; pieces < glob_.size(); ++pieces) {
    if (components_match(std::span(glob_).first(pieces), below, false)) return true;
  }
  return false;
}

bool PathPattern::lies_below(const Components& folder, const std::string& server,
                             Wildcards wildcards) const {
  const PathBase& base = base_for(server);
  for (const Components* start : {&base.written, &base.real}) {
    if (start->size() > folder.size() && begins_with(*start, folder)) return true;
    if (start->size() > folder.size() || !begins_with(folder, *start)) continue;
    const auto below = from(folder, start->size());
    // Of the base itself a wildcard leaves no doubt.
    if ((below.empty() || wildcards == Wildcards::kCount) && fits_longer(below)) return true;
  }
  return false;
}

bool PathPattern::lies_below(const Sighting& folder, const Sighting& base) const {
  if (folder.steps.empty() || base.steps.empty()) return false;
  const std::size_t there = base.steps.size() - 1;  // components of the base
  const auto above = std::span(base.steps).first(there);
  if (std::ranges::find(above, folder.steps.back()) != above.end()) return true;
  if (there < split(base.path).size()) return folder.steps.back() == base.steps.back();
  const Components path = split(folder.path);
  for (std::size_t at = 0; at < folder.steps.size(); ++at) {
    if (folder.steps[at] == base.steps.back() && fits_longer(from(path, at))) return true;
  }
  return false;
}

PathPattern::Meant PathPattern::may_mean(const Components& path, const std::string& server,
                                         Stars stars) const {
  const bool has_others =
      std::ranges::any_of(path, [](const auto& name) { return has_wildcards(name); });
  if (!has_others && std::ranges::none_of(path, [](const auto& name) { return is_stars(name); }))
    return Meant::kNothing;
  const PathBase& base = base_for(server);
  Meant meant = Meant::kNothing;
  for (const Components* start : {&base.written, &base.real}) {
    Components names = *start;
    names.insert(names.end(), glob_.begin(), glob_.end());
    // The name that has to be written out, where stars pass.
    std::size_t last = names.size();
    if (stars == Stars::kPass) {
      while (last > 0 && is_stars(names[last - 1])) --last;
      if (last > start->size() && has_others) last = 0;
      last = last == 0 ? names.size() : last - 1;
    }
    const auto meets = [&](std::size_t at, const std::string& in) {
      if (is_stars(in)) return at != last;
      return names[at] == in ||
             (has_wildcards(in) ? may_meet(names[at], in)
                                : at >= start->size() && glob_matches(names[at], in));
    };
    // Which names, from the first on, the components that were looked at may stand for.
    std::vector<char> row(names.size() + 1, 0);
    row[0] = 1;
    const auto passes_names = [&](std::vector<char>& to) {  // "**" of the pattern, for none
      for (std::size_t i = start->size(); i < names.size(); ++i)
        if (to[i] != 0 && names[i] == "**") to[i + 1] = 1;
    };
    passes_names(row);
    const auto is_covered = [&] { return everything_below_ && row.back() != 0; };
    for (const auto& in : path) {
      if (is_covered()) break;
      std::vector<char> next(names.size() + 1, 0);
      const bool is_many = is_stars(in) && in.size() > 1;
      for (std::size_t i = 0; i <= names.size(); ++i) {
        const bool is_here = row[i] != 0 || (is_many && next[i] != 0);
        if (!is_here) continue;
        if (is_many) next[i] = 1;
        if (i == names.size()) continue;
        if (i >= start->size() && names[i] == "**") next[i] = 1;
        if (meets(i, in)) next[i + 1] = 1;
      }
      passes_names(next);
      row = std::move(next);
      if (std::ranges::none_of(row, [](char c) { return c != 0; })) break;
    }
    if (row.back() != 0) return Meant::kCovered;
    const auto above = std::span(row).first(start->size());
    if (stars == Stars::kCount && std::ranges::any_of(above, [](char c) { return c != 0; }))
      meant = Meant::kAbove;
  }
  return meant;
}

bool PathPattern::may_cover(const Components& path, const std::string& server) const {
  if (std::ranges::none_of(path, has_unassigned)) return false;
  const PathBase& base = base_for(server);
  const auto is_plain = [](const std::string& name) {
    return std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  for (const Components* start : {&base.written, &base.real}) {
    if (path.size() < start->size()) continue;
    const bool may_begin =
        std::equal(start->begin(), start->end(), path.begin(), [&](const auto& is, const auto& in) {
          return is == in || (!is_plain(is) && has_unassigned(in));
        });
    if (!may_begin) continue;
    const auto below = from(path, start->size());
    const bool may_fit =
        !std::ranges::all_of(glob_, is_plain) &&
        std::ranges::any_of(below, [](const auto& in) { return has_unassigned(in); });
    if (may_fit || fits(below)) return true;
  }
  return false;
}

}  // namespace mcpac::policy
