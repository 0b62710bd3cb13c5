// SPDX-License-Identifier: Apache-2.0

#include "policy/match/path_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "core/json_writer.h"

namespace mcpac::policy {
namespace {

// In steps of work, beside the letters of the path: of every question, with what is done to come to
// it, and of one that is asked and noted.
constexpr std::size_t kWorkOfQuestion = 100;
constexpr std::size_t kWorkOfNote = 300;

std::unexpected<Error> too_much() {
  return fail(ErrorId::kFileUnreadable, "the call asks for too many paths, or too long ones");
}

// Components hold no '/', so the text tells them apart.
std::string joined(const std::vector<std::string>& components) {
  std::string text;
  for (const auto& component : components) {
    if (!text.empty()) text += '/';
    text += component;
  }
  return text;
}

// No base has a NUL in it.
std::string key_of(std::string_view base, std::string_view path) {
  std::string key;
  key.reserve(base.size() + 1 + path.size());
  return key.append(base).append(1, '\0').append(path);
}

// What a question what stands at a path is found by: no base looks like it.
constexpr std::string_view kSeen = "\x01";
constexpr std::string_view kSeenOwn = "\x02";
constexpr std::string_view kOwn = "own ";
// The same of what a folder holds, with what was meant behind it.
constexpr std::string_view kHeld = "\x03";
constexpr std::string_view kHolds = "holds ";
constexpr std::string_view kYes = "yes";
constexpr std::string_view kNo = "no";

std::string held_key(std::string_view meaning) {
  return std::string(kHeld).append(meaning);
}

constexpr std::array<std::string_view, 4> kKinds = {"unknown", "missing", "file", "folder"};

std::string text_of(const Sighting& sighting) {
  std::string text(kKinds[static_cast<std::size_t>(sighting.kind)]);
  if (sighting.folds) text += " folds";
  for (const auto& step : sighting.steps) {
    std::array<char, 2 * 16 + 2> id{};
    char* const end = id.data() + id.size();
    id[0] = ' ';
    char* at = std::to_chars(id.data() + 1, end, step.device, 16).ptr;
    *at++ = ':';
    at = std::to_chars(at, end, step.inode, 16).ptr;
    text.append(id.data(), at);
  }
  return text;
}

std::optional<FileId> read_id(std::string_view word) {
  FileId id;
  const char* const end = word.data() + word.size();
  const auto device = std::from_chars(word.data(), end, id.device, 16);
  if (device.ec != std::errc() || device.ptr == end || *device.ptr != ':') return std::nullopt;
  const auto inode = std::from_chars(device.ptr + 1, end, id.inode, 16);
  if (inode.ec != std::errc() || inode.ptr != end) return std::nullopt;
  return id;
}

std::optional<Sighting> read_sighting(std::string path, std::string_view text) {
  Sighting sighting{.path = std::move(path)};
  for (bool first = true; !text.empty(); first = false) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (first) {
      const auto kind = std::ranges::find(kKinds, word);
      if (kind == kKinds.end()) return std::nullopt;
      sighting.kind = static_cast<Sighting::Kind>(kind - kKinds.begin());
    } else if (word == "folds") {
      sighting.folds = true;
    } else if (const auto id = read_id(word)) {
      sighting.steps.push_back(*id);
    } else {
      return std::nullopt;
    }
  }
  return sighting;
}

Result<Sighting> sighting_of(const PathFact& fact) {
  if (fact.real && fact.seen) {
    std::string_view seen = *fact.seen;
    if (seen.starts_with(kOwn)) seen.remove_prefix(kOwn.size());
    if (auto sighting = read_sighting(*fact.real, seen)) return std::move(*sighting);
  }
  return fail(ErrorId::kFileUnreadable, "it could not be resolved then");
}

Result<bool> held_of(const PathFact& fact) {
  if (fact.real) return *fact.real != kNo;
  return fail(ErrorId::kFileUnreadable, "it could not be looked at then");
}

Result<std::string> answer_of(const PathFact& fact) {
  if (fact.real) return *fact.real;
  return fail(ErrorId::kFileUnreadable, "it could not be resolved then");
}

}  // namespace

void PathFacts::add(PathFact fact) {
  std::string held;
  if (fact.seen && fact.seen->starts_with(kHolds))
    held = held_key(fact.seen->substr(kHolds.size()));
  const std::string_view base = !fact.seen                     ? std::string_view(fact.base)
                                : !held.empty()                ? std::string_view(held)
                                : fact.seen->starts_with(kOwn) ? kSeenOwn
                                                               : kSeen;
  if (places_.try_emplace(key_of(base, fact.path), list_.size()).second)
    list_.push_back(std::move(fact));
}

const PathFact* PathFacts::find_seen(std::string_view path, PathResolver::Names names) const {
  return find(names == PathResolver::Names::kOwn ? kSeenOwn : kSeen, path);
}

const PathFact* PathFacts::find_held(std::string_view folder, std::string_view meaning) const {
  return list_.empty() ? nullptr : find(held_key(meaning), folder);
}

const PathFact* PathFacts::find(std::string_view base, std::string_view path) const {
  if (list_.empty()) return nullptr;
  const auto place = places_.find(key_of(base, path));
  return place == places_.end() ? nullptr : &list_[place->second];
}

std::vector<PathFact> PathFacts::take() {
  places_.clear();
  return std::exchange(list_, {});
}

std::size_t recorded_size(const std::vector<PathFact>& facts) {
  constexpr std::size_t kNames = std::string_view(R"({"base":,"path":,"real":},)").size();
  std::size_t size = 2;
  std::string text;
  for (const auto& fact : facts) {
    text.clear();
    append_json_string(text, fact.base);
    append_json_string(text, fact.path);
    append_json_string(text, fact.real.value_or("null"));
    // Nothing in it is escaped.
    if (fact.seen) text.append(R"("seen":"",)").append(*fact.seen);
    size += text.size() + kNames;
  }
  return size;
}

void PathWitness::begin(PathBounds bounds) {
  notes_ = true;
  most_questions_ = bounds.questions;
  facts_ = {};
  folders_.clear();
  work_ = Work(bounds.work);
  is_beyond_ = false;
}

std::vector<PathFact> PathWitness::take() {
  notes_ = false;
  return facts_.take();
}

bool PathWitness::may_ask(std::size_t size, const PathFact* known) const {
  const std::size_t cost = kWorkOfQuestion + size;
  if (is_beyond_ || !work_.suffices_for(cost)) return !(is_beyond_ = true);
  work_.spend(cost);
  if (known != nullptr) return true;
  if (facts_.size() >= most_questions_ || !work_.suffices_for(kWorkOfNote))
    return !(is_beyond_ = true);
  work_.spend(kWorkOfNote);
  return true;
}

template <class Ask>
Result<std::string> PathWitness::noted(std::string_view base, std::string path, Ask ask) const {
  const PathFact* known = facts_.find(base, path);
  if (!may_ask(base.size() + path.size(), known)) return too_much();
  if (known != nullptr) return answer_of(*known);
  auto answer = ask();
  if (work_.left() == 0) {
    is_beyond_ = true;
    return too_much();
  }
  facts_.add({std::string(base), std::move(path),
              answer ? std::optional(*answer) : std::optional<std::string>()});
  return answer;
}

// From the second path of a folder on what leads to it is known.
Result<Sighting> PathWitness::look_anew(std::string_view path, Names names) const {
  const std::size_t slash = path.rfind('/');
  const std::string name(path.substr(std::min(slash, path.size() - 1) + 1));
  if (by_folder_ == nullptr || slash == std::string_view::npos || slash == 0 || name.empty() ||
      name == "." || name == "..")
    return inner_.look(path, names, &work_);
  std::string at(path.substr(0, slash));
  const auto [known, is_new] = folders_.try_emplace({names, std::move(at)});
  Folder& folder = known->second;
  if (is_new) return inner_.look(path, names, &work_);
  if (!std::exchange(folder.was_looked_at, true)) {
    auto sighting = inner_.look(known->first.second, names, &work_);
    const bool is_it = sighting && sighting->kind == Sighting::Kind::kFolder &&
                       sighting->path == known->first.second;
    if (is_it) folder.sighting = std::move(*sighting);
  }
  return folder.sighting ? by_folder_->look_in(*folder.sighting, name, names, folder.folds, &work_)
                         : inner_.look(path, names, &work_);
}

Result<Sighting> PathWitness::look(std::string_view path, Names names, Work* work) const {
  if (!notes_) return inner_.look(path, names, work);
  const PathFact* known = facts_.find_seen(path, names);
  if (!may_ask(path.size(), known)) return too_much();
  if (known != nullptr) return sighting_of(*known);
  auto answer = look_anew(path, names);
  if (work_.left() == 0) {
    is_beyond_ = true;
    return too_much();
  }
  PathFact fact{"", std::string(path), std::nullopt, std::string(names == Names::kOwn ? kOwn : "")};
  if (answer) {
    fact.real = answer->path;
    *fact.seen += text_of(*answer);
  }
  facts_.add(std::move(fact));
  return answer;
}

Result<bool> PathWitness::holds(std::string_view folder, std::string_view meaning,
                                const IsMeant& is_meant, Work* work) const {
  if (!notes_) return inner_.holds(folder, meaning, is_meant, work);
  const PathFact* known = facts_.find_held(folder, meaning);
  if (!may_ask(folder.size() + meaning.size(), known)) return too_much();
  if (known != nullptr) return held_of(*known);
  const auto answer = inner_.holds(folder, meaning, is_meant, &work_);
  if (work_.left() == 0) {
    is_beyond_ = true;
    return too_much();
  }
  PathFact fact{"", std::string(folder), std::nullopt, std::string(kHolds).append(meaning)};
  if (answer) fact.real = *answer ? kYes : kNo;
  facts_.add(std::move(fact));
  return answer;
}

Result<std::string> PathWitness::resolve(std::string_view path, Work* work) const {
  if (!notes_) return inner_.resolve(path, work);
  return noted("", std::string(path), [&] { return inner_.resolve(path, &work_); });
}

Result<std::string> PathWitness::resolve_beneath(std::string_view base,
                                                 const std::vector<std::string>& components,
                                                 Work* work) const {
  if (!notes_) return inner_.resolve_beneath(base, components, work);
  return noted(base, joined(components),
               [&] { return inner_.resolve_beneath(base, components, &work_); });
}

Result<std::string> RecordedPaths::find(std::string_view base, std::string_view path) const {
  const PathFact* fact = facts_.find(base, path);
  if (fact != nullptr) return answer_of(*fact);
  missed_ = true;
  return fail(ErrorId::kAuditUnreadable, "nobody asked for this path then");
}

Result<std::string> RecordedPaths::resolve(std::string_view path, Work* /*work*/) const {
  return find("", path);
}

Result<std::string> RecordedPaths::resolve_beneath(std::string_view base,
                                                   const std::vector<std::string>& components,
                                                   Work* /*work*/) const {
  return find(base, joined(components));
}

Result<Sighting> RecordedPaths::look(std::string_view path, Names names, Work* /*work*/) const {
  if (const PathFact* fact = facts_.find_seen(path, names)) return sighting_of(*fact);
  missed_ = true;
  return fail(ErrorId::kAuditUnreadable, "nobody asked for this path then");
}

Result<bool> RecordedPaths::holds(std::string_view folder, std::string_view meaning,
                                  const IsMeant& /*is_meant*/, Work* /*work*/) const {
  if (const PathFact* fact = facts_.find_held(folder, meaning)) return held_of(*fact);
  missed_ = true;
  return fail(ErrorId::kAuditUnreadable, "this folder was not asked about then");
}

void RecordedPaths::set(std::vector<PathFact> facts) {
  facts_ = {};
  for (auto& fact : facts) facts_.add(std::move(fact));
  missed_ = false;
}

}  // namespace mcpac::policy
