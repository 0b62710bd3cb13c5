#include "codegen/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "codegen/facts.h"
#include "codegen/resolve.h"

namespace mcpac::codegen {
namespace {

// How much a word weighs by where it stands, and by how it matches.
constexpr double kInName = 8;
constexpr double kInTitle = 5;
constexpr double kInServer = 4;
constexpr double kInArgument = 3;
constexpr double kInDescription = 2;
constexpr double kByBeginning = 0.6;
constexpr std::size_t kMinBeginning = 3;
constexpr std::size_t kMaxQueryWords = 32;

using Weights = std::map<std::string, double, std::less<>>;  // word -> its best weight in one tool

// Lower-case words; "createIssue", "create-issue" and "create_issue" are the same two.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  bool after_lower = false;
  bool in_word = false;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    const bool digit = c >= '0' && c <= '9';
    if (!upper && !lower && !digit) {
      in_word = false;
    } else {
      if (!in_word || (upper && after_lower)) words.emplace_back();
      words.back() += upper ? static_cast<char>(c - 'A' + 'a') : c;
      in_word = true;
    }
    after_lower = lower;
  }
  return words;
}

void add(Weights& weights, std::string_view text, double weight) {
  for (std::string& word : split(text)) {
    double& best = weights[std::move(word)];
    best = std::max(best, weight);
  }
}

Weights words_of_tool(const LockedServer& server, const LockedTool& tool) {
  Weights weights;
  add(weights, server.name, kInServer);
  add(weights, tool.name, kInName);
  add(weights, text_of(tool.definition, "title"), kInTitle);
  add(weights, text_of(tool.definition, "description"), kInDescription);
  const OrderedJson* schema = keyword(tool.definition, "inputSchema");
  const OrderedJson* properties = schema == nullptr ? nullptr : keyword(*schema, "properties");
  if (properties == nullptr || !properties->is_object()) return weights;
  for (const auto& [name, property] : properties->items()) {
    add(weights, name, kInArgument);
    add(weights, text_of(property, "description"), kInDescription / 2);
  }
  return weights;
}

double match(const Weights& weights, const std::string& word) {
  const auto whole = weights.find(word);
  double best = whole == weights.end() ? 0 : whole->second;
  if (word.size() < kMinBeginning) return best;
  for (auto at = weights.lower_bound(word); at != weights.end() && at->first.starts_with(word);
       ++at) {
    best = std::max(best, at->second * kByBeginning);
  }
  return best;
}

}  // namespace

std::vector<SearchHit> search_tools(const Lock& lock, std::string_view words, std::size_t limit) {
  std::vector<std::string> query = split(words);
  if (query.size() > kMaxQueryWords) query.resize(kMaxQueryWords);
  struct Candidate {
    SearchHit hit;
    std::vector<double> matches;  // one a word of the query
  };
  std::vector<Candidate> candidates;
  std::vector<double> found(query.size(), 0);
  double tools = 0;
  for (const LockedServer& server : lock.servers) {
    for (const LockedTool& tool : server.tools) {
      ++tools;
      const Weights weights = words_of_tool(server, tool);
      Candidate candidate{{&server, &tool, 0}, {}};
      for (std::size_t i = 0; i < query.size(); ++i) {
        candidate.matches.push_back(match(weights, query[i]));
        if (candidate.matches.back() > 0) ++found[i];
      }
      if (std::ranges::any_of(candidate.matches, [](double m) { return m > 0; })) {
        candidates.push_back(std::move(candidate));
      }
    }
  }
  std::vector<SearchHit> hits;
  for (Candidate& candidate : candidates) {
    double matched = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
      if (candidate.matches[i] <= 0) continue;
      ++matched;
      candidate.hit.score += candidate.matches[i] * std::log1p(tools / found[i]);
    }
    const double share = matched / static_cast<double>(query.size());
    candidate.hit.score *= share * share;  // all words somewhere beat one word in the name
    hits.push_back(candidate.hit);
  }
  // Equal scores stay in the order of the lock, which is by name.
  std::ranges::sort(hits, [](const SearchHit& a, const SearchHit& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::tie(a.server->name, a.tool->name) < std::tie(b.server->name, b.tool->name);
  });
  if (hits.size() > limit) hits.resize(limit);
  return hits;
}

}  // namespace mcpac::codegen
