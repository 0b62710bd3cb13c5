#include "policy/match/path_facts.h"

#include <algorithm>

namespace mcpac::policy {
namespace {

// Components hold no '/', so the text tells them apart.
std::string joined(const std::vector<std::string>& components) {
  std::string text;
  for (const auto& component : components) {
    if (!text.empty()) text += '/';
    text += component;
  }
  return text;
}

const PathFact* find_fact(const std::vector<PathFact>& facts, std::string_view base,
                          std::string_view path) {
  const auto fact = std::ranges::find_if(
      facts, [&](const PathFact& f) { return f.base == base && f.path == path; });
  return fact == facts.end() ? nullptr : &*fact;
}

Result<std::string> answer_of(const PathFact& fact) {
  if (fact.real) return *fact.real;
  return fail(ErrorId::kFileUnreadable, "it could not be resolved then");
}

}  // namespace

template <class Ask>
Result<std::string> PathWitness::noted(std::string_view base, std::string path, Ask ask) const {
  if (const PathFact* known = find_fact(*facts_, base, path)) return answer_of(*known);
  auto answer = ask();
  facts_->push_back({std::string(base), std::move(path),
                     answer ? std::optional(*answer) : std::optional<std::string>()});
  return answer;
}

Result<std::string> PathWitness::resolve(std::string_view path) const {
  const auto ask = [&] { return inner_.resolve(path); };
  return facts_ == nullptr ? ask() : noted("", std::string(path), ask);
}

Result<std::string> PathWitness::resolve_beneath(std::string_view base,
                                                 const std::vector<std::string>& components) const {
  const auto ask = [&] { return inner_.resolve_beneath(base, components); };
  return facts_ == nullptr ? ask() : noted(base, joined(components), ask);
}

Result<std::string> RecordedPaths::find(std::string_view base, std::string_view path) const {
  const PathFact* fact = find_fact(facts_, base, path);
  if (fact != nullptr) return answer_of(*fact);
  missed_ = true;
  return fail(ErrorId::kAuditUnreadable, "nobody asked for this path then");
}

Result<std::string> RecordedPaths::resolve(std::string_view path) const {
  return find("", path);
}

Result<std::string> RecordedPaths::resolve_beneath(
    std::string_view base, const std::vector<std::string>& components) const {
  return find(base, joined(components));
}

void RecordedPaths::set(std::vector<PathFact> facts) {
  facts_ = std::move(facts);
  missed_ = false;
}

}  // namespace mcpac::policy
