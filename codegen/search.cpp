// SPDX-License-Identifier: Apache-2.0

#include "codegen/search.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "codegen/facts.h"
#include "codegen/resolve.h"
#include "core/ascii.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mcpac::codegen {
namespace {

// Search words: texts and queries as the words that search compares.
//
// Names are written in many ways (create_issue, create-issue, createIssue, lark's v1.appTable), and
// Chinese and Japanese without spaces; here all of them become words between spaces. The same rule
// serves what is searched and what is asked, so the two always meet.

// Text for the index: words between single spaces; "getHTTPUrl" becomes "get HTTP Url". Signs of
// scripts without spaces (Han, Kana, Hangul) stand alone.
[[nodiscard]] std::string index_text(std::string_view text);

// A name written together, for people who write it so: "mind_map_tool" becomes "mindmap maptool
// mindmaptool".
[[nodiscard]] std::string joined_names(std::string_view name);

// The words of a question, lower case, without those that every question has ("the", "to"), unless
// it has no others; at most 32. A word may hold several signs with spaces between them: a phrase.
[[nodiscard]] std::vector<std::string> query_words(std::string_view question);

// Words that people use for the same when they speak of tools ("buy": purchase, order), the word
// itself among them; empty for most words.
[[nodiscard]] std::span<const std::string_view> other_words(std::string_view word);

constexpr std::size_t kMaxQueryWords = 32;
constexpr std::size_t kMaxQueryBytes = 4096;
constexpr std::size_t kMaxJoined = 12;  // parts of a name

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}
bool is_of_word(char c) {
  return is_upper(c) || is_lower(c) || is_digit(c) || is_beyond_ascii(c);
}

// Bytes of the sign at the start of `text` if it is one of a script without spaces (U+2E80 to
// U+9FFF, U+AC00 to U+D7AF, U+F900 to U+FAFF), else 0. Invalid UTF-8 is not for us to find: the
// tokenizer copes with it.
std::size_t sign_length(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto a = static_cast<unsigned char>(text[0]);
  const auto b = static_cast<unsigned char>(text[1]);
  const bool han = (a == 0xE2 && b >= 0xBA) || (a >= 0xE3 && a <= 0xE9);
  const bool hangul =
      a >= 0xEA && a <= 0xED && !(a == 0xEA && b < 0xB0) && !(a == 0xED && b > 0x9E);
  const bool compatibility = a == 0xEF && (b >= 0xA4 && b <= 0xAB);
  return han || hangul || compatibility ? 3 : 0;
}

// Whether a new word begins at `at` within a run of letters: "get|Url", "HTTP|Server", "v1|App".
bool is_hump(std::string_view run, std::size_t at) {
  if (at == 0 || !is_upper(run[at])) return false;
  if (is_lower(run[at - 1]) || is_digit(run[at - 1])) return true;
  return is_upper(run[at - 1]) && at + 1 < run.size() && is_lower(run[at + 1]);
}

// Calls `use` for the parts of a run of letters without anything between them.
template <class Use>
void for_each_part(std::string_view run, Use use) {
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (end > begin) use(run.substr(begin, end - begin));
  };
  for (std::size_t i = 0; i < run.size();) {
    if (const std::size_t sign = sign_length(run.substr(i)); sign > 0) {
      close(i);
      use(run.substr(i, sign));
      i += sign;
      begin = i;
    } else {
      if (i > begin && is_hump(run, i)) {
        close(i);
        begin = i;
      }
      ++i;
    }
  }
  close(run.size());
}

template <class Use>
void for_each_run(std::string_view text, Use use) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end > i) use(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool says_nothing(const std::string& word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"a",    "an",     "and",  "are",      "as",   "at",    "be",    "between", "by",
       "can",  "do",     "does", "for",      "from", "have",  "how",   "i",       "in",
       "into", "is",     "it",   "its",      "me",   "my",    "of",    "on",      "or",
       "our",  "please", "some", "somebody", "that", "the",   "their", "them",    "these",
       "this", "to",     "want", "we",       "what", "which", "with",  "you",     "your"});
  return std::ranges::find(kWords, word) != kWords.end();
}

std::string index_text(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for_each_run(text, [&](std::string_view run) {
    for_each_part(run, [&](std::string_view part) { out.append(part).append(" "); });
  });
  return out;
}

std::string joined_names(std::string_view name) {
  std::vector<std::string_view> parts;
  for_each_run(name, [&](std::string_view run) {
    for_each_part(run, [&](std::string_view part) { parts.push_back(part); });
  });
  std::string out;
  std::string whole;
  for (std::size_t i = 0; i < parts.size() && i < kMaxJoined; ++i) {
    whole += parts[i];
    if (i > 0) out.append(parts[i - 1]).append(parts[i]).append(" ");
  }
  return parts.size() > 2 ? out + whole : out;
}

std::vector<std::string> query_words(std::string_view question) {
  std::vector<std::string> all;
  for_each_run(question.substr(0, kMaxQueryBytes), [&](std::string_view run) {
    bool phrase = false;  // signs without spaces stay together
    for_each_part(run, [&](std::string_view part) {
      const bool sign = sign_length(part) > 0;
      if (phrase && sign) {
        all.back().append(" ").append(part);
      } else {
        all.push_back(lower(std::string(part)));
      }
      phrase = sign;
    });
  });
  std::vector<std::string> words;
  for (const std::string& word : all) {
    if (!says_nothing(word) && std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  if (words.empty()) words = std::move(all);
  if (words.size() > kMaxQueryWords) words.resize(kMaxQueryWords);
  return words;
}

std::span<const std::string_view> other_words(std::string_view word) {
  // Groups of words that people use for one thing when they speak of tools. The stem decides, so
  // "pictures" is not needed beside "picture".
  using Group = std::array<std::string_view, 6>;
  static constexpr auto kGroups = std::to_array<Group>({
      {"create", "add", "new", "make", "insert", "generate"},
      {"delete", "remove", "drop", "erase", "uninstall", "clear"},
      {"update", "edit", "change", "modify", "set", "patch"},
      {"get", "show", "read", "fetch", "retrieve", "view"},
      {"find", "search", "query", "lookup", "locate", "discover"},
      {"send", "post", "publish", "submit"},
      {"run", "execute", "start", "launch", "trigger", "invoke"},
      {"stop", "cancel", "terminate", "kill", "abort", "close"},
      {"buy", "purchase", "order"},
      {"rename", "move"},
      {"copy", "duplicate", "clone", "fork"},
      {"download", "export", "fetch"},
      {"upload", "import", "attach"},
      {"connect", "link", "relate", "relation"},
      {"folder", "directory"},
      {"image", "picture", "photo", "screenshot"},
      {"ticket", "issue", "bug", "task", "story"},
      {"repo", "repository"},
      {"message", "chat", "notification"},
      {"person", "people", "user", "member"},
      {"powerpoint", "presentation", "slide", "deck"},
      {"spreadsheet", "excel", "sheet"},
      {"chart", "graph", "plot", "diagram", "draw"},
      {"website", "webpage", "page", "url", "site"},
      {"db", "database"},
      {"directions", "route", "navigation"},
      {"logs", "log", "output"},
      {"count", "number", "total"},
      {"sum", "add", "total"},
      {"price", "cost", "quote"},
      {"error", "exception", "failure", "problem"},
      {"config", "configuration", "settings"},
      {"doc", "docs", "document", "documentation"},
      {"pr", "pull", "merge"},
      {"env", "environment"},
      {"info", "information", "details", "metadata"},
  });
  const auto length = [](const Group& group) {
    return static_cast<std::size_t>(std::ranges::find(group, "") - group.begin());
  };
  for (const Group& group : kGroups) {
    if (!word.empty() && std::ranges::find(group, word) != group.end())
      return {group.data(), length(group)};
  }
  return {};
}

}  // namespace

namespace {

// sqlite: the few calls of SQLite that search needs, as values that clean up after themselves.
//
// The database lives in memory and holds nothing but what the lock says; it is made and dropped by
// one question. Text from outside is always bound to a parameter, never part of a statement. A call
// that fails is a bug of ours (the statements are constant) and throws std::runtime_error.
class Database {
 public:
  Database();
  void run(const std::string& statements);
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// One prepared statement; parameters and columns count from 0.
class Statement {
 public:
  Statement(const Database& database, const std::string& text);
  Statement& bind(int index, std::string_view text);  // the text is copied
  Statement& bind(int index, std::int64_t number);
  [[nodiscard]] bool next();  // false: no further row; the statement is then ready for new values
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;

 private:
  void must(int code, std::string_view doing) const;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

[[noreturn]] void broken(sqlite3* handle, std::string_view doing) {
  throw std::runtime_error("sqlite: " + std::string(doing) + ": " + sqlite3_errmsg(handle));
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Database::Database() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
      nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) broken(handle, "opening");
}

void Database::run(const std::string& statements) {
  if (sqlite3_exec(get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    broken(get(), "running");
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

Statement::Statement(const Database& database, const std::string& text) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  must(sqlite3_prepare_v2(database.get(), text.c_str(), -1, &handle, nullptr), "preparing");
  handle_.reset(handle);
}

void Statement::must(int code, std::string_view doing) const {
  if (code != SQLITE_OK) broken(database_.get(), doing);
}

Statement& Statement::bind(int index, std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error("sqlite: a text of more than 2 GiB");
  must(sqlite3_bind_text(handle_.get(), index + 1, text.data(), static_cast<int>(text.size()),
                         SQLITE_TRANSIENT),
       "binding");
  return *this;
}

Statement& Statement::bind(int index, std::int64_t number) {
  must(sqlite3_bind_int64(handle_.get(), index + 1, number), "binding");
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) broken(database_.get(), "stepping");
  must(sqlite3_reset(handle_.get()), "resetting");
  return false;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

}  // namespace

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
