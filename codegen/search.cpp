#include "codegen/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "codegen/facts.h"
#include "codegen/resolve.h"
#include "codegen/search_words.h"
#include "codegen/sqlite.h"

namespace mcpac::codegen {
namespace {

// Names and texts are two tables, because bm25 weighs a word by the length of the whole row: a tool
// must not lose by its name because its description is long.
constexpr std::string_view kTables = R"(
create virtual table names using fts5(server, tool, joined, title, content='',
  tokenize='porter unicode61 remove_diacritics 2');
create virtual table texts using fts5(description, arguments, details, content='',
  tokenize='porter unicode61 remove_diacritics 2');
)";
// What a column weighs against the others of its table, and the tables against each other.
constexpr std::string_view kRankNames = "bm25(names, 5.0, 10.0, 6.0, 4.0)";
constexpr std::string_view kRankTexts = "bm25(texts, 4.0, 2.0, 1.0)";
constexpr double kNames = 2.0;
constexpr double kTexts = 1.0;
// What a match is worth beside its bm25, which is nothing where half of the tools have the word: in
// a small lock every word is common.
constexpr double kAnyMatch = 1.0;

// A word that only means the same counts less, but it does answer the question.
constexpr double kOtherWord = 0.5;
constexpr double kOtherMatches = 0.8;
// What fits so much worse than the best is noise: one common word of several.
constexpr double kLeastShare = 0.1;
constexpr std::size_t kMinBeginning = 3;
// Longer texts repeat themselves; and a server must not make every search of its user slow.
constexpr std::size_t kMaxText = 2048;
constexpr std::size_t kMaxArgumentText = 300;
constexpr std::size_t kMaxArguments = 400;
constexpr std::size_t kMaxTypes = 4;  // levels of nested arguments that are looked at

struct Argument {
  std::string name;
  std::string description;
};

std::string bounded(std::string text, std::size_t most = kMaxText) {
  if (text.size() > most) text.resize(most);
  return text;
}

// The arguments of a tool, nested ones too, and the values of enums beside the descriptions.
void collect(const OrderedJson& schema, std::size_t depth, std::vector<Argument>& arguments) {
  if (depth > kMaxTypes || !schema.is_object()) return;
  if (const OrderedJson* items = keyword(schema, "items")) collect(*items, depth + 1, arguments);
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return;
  for (const auto& [name, property] : properties->items()) {
    if (arguments.size() >= kMaxArguments) return;
    std::string text = bounded(text_of(property, "description"), kMaxArgumentText);
    if (const OrderedJson* values = keyword(property, "enum");
        values != nullptr && values->is_array()) {
      for (const auto& value : *values) {
        if (value.is_string() && text.size() < 2 * kMaxArgumentText)
          text += " " + value.get<std::string>();
      }
    }
    arguments.push_back({bounded(name), bounded(std::move(text))});
    collect(property, depth + 1, arguments);
  }
}

std::vector<Argument> arguments_of(const LockedTool& tool) {
  std::vector<Argument> arguments;
  if (const OrderedJson* schema = keyword(tool.definition, "inputSchema"))
    collect(*schema, 0, arguments);
  return arguments;
}

std::string title_of(const OrderedJson& definition) {
  std::string title = text_of(definition, "title");
  const OrderedJson* annotations = keyword(definition, "annotations");
  if (title.empty() && annotations != nullptr) title = text_of(*annotations, "title");
  return bounded(std::move(title));
}

class Index {
 public:
  explicit Index(const Lock& lock) {
    database_.run(fmt::format("{}begin;", kTables));
    Statement names(database_,
                    "insert into names(rowid, server, tool, joined, title) values (?,?,?,?,?)");
    Statement texts(database_,
                    "insert into texts(rowid, description, arguments, details) values (?,?,?,?)");
    for (const LockedServer& server : lock.servers) {
      for (const LockedTool& tool : server.tools) {
        add(names, texts, server, tool);
        tools_.push_back({&server, &tool});
      }
    }
    database_.run("commit");
  }

  [[nodiscard]] std::size_t size() const { return tools_.size(); }
  [[nodiscard]] SearchHit hit(std::size_t row, double score) const {
    return {.server = tools_[row].first, .tool = tools_[row].second, .score = score};
  }

  // Row -> how well one expression fits it; higher is better.
  [[nodiscard]] std::map<std::size_t, double> match(const std::string& expression) const {
    std::map<std::size_t, double> rows;
    const auto look = [&](std::string_view table, std::string_view rank, double weight) {
      Statement found(database_,
                      fmt::format("select rowid, {} from {} where {} match ?", rank, table, table));
      found.bind(0, expression);
      while (found.next()) {  // bm25 in FTS5 is negative, the better the lower
        rows[static_cast<std::size_t>(found.integer(0))] += weight * (kAnyMatch - found.real(1));
      }
    };
    look("names", kRankNames, kNames);
    look("texts", kRankTexts, kTexts);
    return rows;
  }

 private:
  void add(Statement& names, Statement& texts, const LockedServer& server, const LockedTool& tool) {
    const auto row = static_cast<std::int64_t>(tools_.size());
    static_cast<void>(names.bind(0, row)
                          .bind(1, index_text(server.name))
                          .bind(2, index_text(tool.name))
                          .bind(3, joined_names(tool.name))
                          .bind(4, index_text(title_of(tool.definition)))
                          .next());
    std::string arguments;
    std::string details;
    for (const Argument& argument : arguments_of(tool)) {
      arguments += argument.name + " ";
      if (details.size() < kMaxText) details += argument.description + " ";
    }
    static_cast<void>(texts.bind(0, row)
                          .bind(1, index_text(bounded(text_of(tool.definition, "description"))))
                          .bind(2, index_text(arguments))
                          .bind(3, index_text(bounded(std::move(details))))
                          .next());
  }

  Database database_;
  std::vector<std::pair<const LockedServer*, const LockedTool*>> tools_;
};

// A word of ours as an FTS5 expression: always in quotes, whole or as a beginning.
std::string expression_of(std::string_view word) {
  // query_words() leaves no quote in a word
  return word.size() < kMinBeginning ? fmt::format("\"{}\"", word)
                                     : fmt::format("\"{}\" OR \"{}\"*", word, word);
}

// The words that say the same, without the word itself; "" if there are none.
std::string expression_of_others(std::string_view word) {
  std::string expression;
  for (const std::string_view other : other_words(word)) {
    if (other == word) continue;
    expression += fmt::format("{}\"{}\"", expression.empty() ? "" : " OR ", other);
  }
  return expression;
}

// How well a tool fits, for every row that has any of the words. Words are looked up one by one: a
// tool with all of them must beat one that has a single one often, which a sum does not promise.
std::map<std::size_t, double> rank(const Index& index, const std::vector<std::string>& words) {
  struct Row {
    double score = 0;
    double matched = 0;
  };
  std::map<std::size_t, Row> rows;
  double all = 0;
  for (const std::string& word : words) {
    auto found = index.match(expression_of(word));
    std::set<std::size_t> by_other;
    if (const std::string others = expression_of_others(word); !others.empty()) {
      for (const auto& [row, score] : index.match(others)) {
        double& best = found[row];
        if (score * kOtherWord > best) by_other.insert(row);
        best = std::max(best, score * kOtherWord);
      }
    }
    const double rarity = std::log1p(static_cast<double>(index.size()) /
                                     static_cast<double>(std::max<std::size_t>(1, found.size())));
    all += rarity;
    for (const auto& [row, score] : found) {
      rows[row].score += score;
      rows[row].matched += by_other.contains(row) ? rarity * kOtherMatches : rarity;
    }
  }
  std::map<std::size_t, double> scores;
  for (const auto& [row, value] : rows) {
    const double share = value.matched / all;
    scores[row] = value.score * share * share * share;
  }
  return scores;
}

// The argument that fits best, asked of a small index of the tool's own.
std::string best_argument(const LockedTool& tool, const std::vector<std::string>& words) {
  const std::vector<Argument> arguments = arguments_of(tool);
  if (arguments.empty()) return "";
  Database database;
  database.run(
      "create virtual table arguments using fts5(name, description, "
      "tokenize='porter unicode61 remove_diacritics 2')");
  Statement insert(database, "insert into arguments(rowid, name, description) values (?,?,?)");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    static_cast<void>(insert.bind(0, static_cast<std::int64_t>(i))
                          .bind(1, index_text(arguments[i].name))
                          .bind(2, index_text(arguments[i].description))
                          .next());
  }
  std::string expression;
  for (const std::string& word : words) {
    if (!expression.empty()) expression += " OR ";
    expression += expression_of(word);
  }
  Statement found(database,
                  "select rowid from arguments where arguments match ? "
                  "order by bm25(arguments, 10.0, 1.0), rowid limit 1");
  return found.bind(0, expression).next()
             ? arguments[static_cast<std::size_t>(found.integer(0))].name
             : "";
}

}  // namespace

std::vector<SearchHit> search_tools(const Lock& lock, std::string_view question,
                                    std::size_t limit) {
  const std::vector<std::string> words = query_words(question);
  if (words.empty()) return {};
  const Index index(lock);
  std::vector<SearchHit> hits;
  for (const auto& [row, score] : rank(index, words)) hits.push_back(index.hit(row, score));
  // Equal scores stand in the order of the lock, which is by name.
  std::ranges::sort(hits, [](const SearchHit& a, const SearchHit& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::tie(a.server->name, a.tool->name) < std::tie(b.server->name, b.tool->name);
  });
  std::erase_if(hits, [least = hits.empty() ? 0 : hits.front().score * kLeastShare](
                          const SearchHit& hit) { return hit.score < least; });
  if (hits.size() > limit) hits.resize(limit);
  for (SearchHit& hit : hits) hit.argument = best_argument(*hit.tool, words);
  return hits;
}

}  // namespace mcpac::codegen
