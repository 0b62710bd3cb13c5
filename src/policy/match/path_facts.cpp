#include "policy/match/path_facts.h"

#include <utility>

#include "core/json_writer.h"

namespace mcpac::policy {
namespace {

// In steps of work, beside the letters of the path: of every question, with what is done to come to
// it, and of one that is asked and noted.
constexpr std::size_t kWorkOfQuestion = 100;
constexpr std::size_t kWorkOfNote = 300;

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

Result<std::string> answer_of(const PathFact& fact) {
  if (fact.real) return *fact.real;
  return fail(ErrorId::kFileUnreadable, "it could not be resolved then");
}

}  // namespace

void PathFacts::add(PathFact fact) {
  if (places_.try_emplace(key_of(fact.base, fact.path), list_.size()).second)
    list_.push_back(std::move(fact));
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
    size += text.size() + kNames;
  }
  return size;
}

void PathWitness::begin(PathBounds bounds) {
  notes_ = true;
  most_questions_ = bounds.questions;
  facts_ = {};
  work_ = Work(bounds.work);
  is_beyond_ = false;
}

std::vector<PathFact> PathWitness::take() {
  notes_ = false;
  return facts_.take();
}

template <class Ask>
Result<std::string> PathWitness::noted(std::string_view base, std::string path, Ask ask) const {
  const auto beyond = [this] {
    is_beyond_ = true;
    return fail(ErrorId::kFileUnreadable, "the call asks for too many paths, or too long ones");
  };
  const std::size_t cost = kWorkOfQuestion + base.size() + path.size();
  if (is_beyond_ || !work_.suffices_for(cost)) return beyond();
  work_.spend(cost);
  if (const PathFact* known = facts_.find(base, path)) return answer_of(*known);
  if (facts_.size() >= most_questions_ || !work_.suffices_for(kWorkOfNote)) return beyond();
  work_.spend(kWorkOfNote);
  auto answer = ask();
  if (work_.left() == 0) return beyond();
  facts_.add({std::string(base), std::move(path),
              answer ? std::optional(*answer) : std::optional<std::string>()});
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

void RecordedPaths::set(std::vector<PathFact> facts) {
  facts_ = {};
  for (auto& fact : facts) facts_.add(std::move(fact));
  missed_ = false;
}

}  // namespace mcpac::policy
