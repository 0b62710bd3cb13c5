// SPDX-License-Identifier: Apache-2.0

#include "policy/match/readings.h"

#include <unistr.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/ascii.h"
#include "core/trimmed.h"
#include "policy/match/parameter_names.h"
#include "policy/match/value_parts.h"

namespace mcpac::policy {
namespace {

// 2^53: beyond it several integers are one double.
constexpr double kExactIntegers = 9007199254740992.0;

// Most values: they begin and end like a word or a path, so no server peels or decodes anything.
bool is_plain(std::string_view text) {
  const auto is_word = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("/._~-+=@#$%&*!?,;:|\\").contains(c);
  };
  const auto ends_plainly = [&](char c) { return is_word(c) || c == ')' || c == ']' || c == '}'; };
  return text.empty() || (is_word(text.front()) && ends_plainly(text.back()));
}

// Documents have quotes that no server takes off of a path.
constexpr std::size_t kLongestSpelling = 4096;

bool may_be_spelled(std::string_view text) {
  return text.size() <= kLongestSpelling && text.find_first_of("'\"\\$`") != text.npos;
}

// The end of a variable or a command of a shell that begins with the "$" or "`" here; `at` where it
// is none. "$id" at the front is a name (of routes), "$ID" is none.
std::size_t end_of_expansion(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto close = text.find(mark, from);
    return close == text.npos ? at : close + 1;
  };
  if (text[at] == '`') return behind("`", at + 1);
  if (at + 1 >= text.size()) return at;
  const char next = text[at + 1];
  if (next == '{') return behind("}", at + 2);
  if (next == '(') return behind(")", at + 2);
  if (!is_letter(next) && next != '_') return at;
  if (at == 0 && !is_upper(next)) return at;
  const auto end = std::ranges::find_if_not(text.substr(at + 1), is_word);
  return static_cast<std::size_t>(end - text.begin());
}

// The text as a shell leaves it that knows no variable of these names: without quotes and escapes.
// A last name that is a variable as a whole stays: without it the text is the folder above.
std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\'' || c == '"') continue;
    if (c == '\\' && at + 1 < text.size()) {
      plain += text[++at];
    } else if (c == '$' && at + 1 < text.size() && (text[at + 1] == '\'' || text[at + 1] == '"')) {
      continue;
    } else if (const auto end = c == '$' || c == '`' ? end_of_expansion(text, at) : at;
               end > at && !(end == text.size() && (at == 0 || text[at - 1] == '/'))) {
      at = end - 1;
    } else {
      plain += c;
    }
  }
  return plain;
}

// JSON as the most generous parser has it (also NaN, lone surrogates, single quotes, a member
// twice): all texts and all other scalars in it. The nesting is checked and nothing else, for what
// is no JSON to a stricter parser is one to another.
class JsonText {
 public:
  enum class Words : std::uint8_t { kLeftOut, kTaken };  // numbers, true, false, null
  struct Scalar {
    std::string_view spelling;  // with its quotes
    bool in_object = false;
  };
  // Nothing where the text is no JSON.
  static std::optional<std::vector<Scalar>> scalars(std::string_view text, Words words) {
    JsonText reader(text, words);
    if (!reader.read()) return std::nullopt;
    return std::move(reader.scalars_);
  }

 private:
  JsonText(std::string_view text, Words words) : rest_(text), words_(words) {}

  bool read() {
    do {
      while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
      if (rest_.empty() || !read_token()) return false;
    } while (!closers_.empty());
    return trimmed(rest_, is_space).empty();
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  bool read_token() {
    const char c = rest_.front();
    if (c == '[' || c == '{') {
      closers_ += c == '[' ? ']' : '}';
      objects_ += c == '{' ? 1 : 0;
    } else if (c == ']' || c == '}') {
      if (closers_.empty() || closers_.back() != c) return false;
      closers_.pop_back();
      objects_ -= c == '}' ? 1 : 0;
    } else if (c == '"' || c == '\'') {
      return read_string(c);
    } else if (c != ',' && c != ':') {
      return read_word();
    } else if (closers_.empty()) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool read_string(char quote) {
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\\') {
        ++i;
      } else if (rest_[i] == quote) {
        take(i + 1);
        return true;
      }
    }
    return false;
  }

  bool read_word() {
    const auto end = std::ranges::find_if(rest_, [](char c) {
      return !is_letter(c) && !is_digit(c) && c != '+' && c != '-' && c != '.';
    });
    const auto length = static_cast<std::size_t>(end - rest_.begin());
    if (words_ == Words::kTaken) {
      take(length);
    } else {
      rest_.remove_prefix(length);
    }
    return length > 0;
  }

  void take(std::size_t length) {
    scalars_.push_back({rest_.substr(0, length), objects_ > 0});
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  Words words_;
  std::string closers_;
  std::size_t objects_ = 0;  // that are open
  std::vector<Scalar> scalars_;
};

void append_code_unit(std::string& text, unsigned unit, unsigned& high) {
  std::uint8_t bytes[4];
  const bool pairs = high != 0 && unit >= 0xDC00 && unit < 0xE000;
  const ucs4_t c = pairs ? 0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00) : unit;
  high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
  if (high != 0) return;
  const int length = u8_uctomb(bytes, c, sizeof bytes);
  if (length > 0)
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

// The text that a string of JSON spells; what is no escape stands for itself.
std::string unescaped(std::string_view spelling) {
  std::string text;
  unsigned high = 0;  // the first half of a surrogate pair
  for (std::size_t i = 1; i + 1 < spelling.size(); ++i) {
    if (spelling[i] != '\\') {
      text += spelling[i];
      continue;
    }
    const char c = spelling[++i];
    constexpr std::string_view kShort = "bfnrt";
    constexpr std::string_view kMeant = "\b\f\n\r\t";
    if (const auto at = kShort.find(c); at != std::string_view::npos) {
      text += kMeant[at];
    } else if (c == 'u' && i + 5 < spelling.size() &&
               std::ranges::all_of(spelling.substr(i + 1, 4),
                                   [](char h) { return hex_value(h) >= 0; })) {
      const std::string digits(spelling.substr(i + 1, 4));
      append_code_unit(text, static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 16)),
                       high);
      i += 4;
    } else {
      text += c;
    }
  }
  return text;
}

class Reader {
 public:
  Reader(Subject subject, Reading reading) : subject_(subject), reading_(reading) {}

  Readings of(const Json& value) {
    if (value.is_string()) add_texts(value.get_ref<const std::string&>(), 0, false);
    if (value.is_number_integer()) add_nearest(value);
    return std::move(found_);
  }

 private:
  // Whose quotes are taken off, and whose JSON is decoded where it is one string alone.
  [[nodiscard]] bool is_generous() const {
    return reading_ == Reading::kCatch || subject_ == Subject::kPlace ||
           subject_ == Subject::kPath || subject_ == Subject::kExcluded;
  }

  // Tests that know other values than texts.
  [[nodiscard]] bool is_of_values() const {
    return subject_ == Subject::kLiteral || subject_ == Subject::kExcluded;
  }

  void add_texts(const std::string& text, int depth, bool in_document) {
    if (!is_plain(text)) add_bare(text, depth, in_document);
    if (subject_ != Subject::kPath || !may_be_spelled(text)) return;
    if (std::string plain = unquoted(text); plain != text) add_text(std::move(plain), in_document);
  }

  void add_bare(const std::string& text, int depth, bool in_document) {
    const auto trimmed = peeled(text, Peel::kBlanks);
    if (trimmed.size() < text.size()) add_text(std::string(trimmed), in_document);
    add_json(trimmed, depth, in_document);
    if (!is_generous()) return;
    const auto bare = peeled(trimmed, Peel::kQuotes);
    if (bare.size() == trimmed.size()) return;
    add_text(std::string(bare), in_document);
    add_json(bare, depth, in_document);
  }

  void add_json(std::string_view text, int depth, bool in_document) {
    if (subject_ == Subject::kLength || text.empty()) return;
    const bool is_container = text.front() == '[' || text.front() == '{';
    if (!is_container && !(is_generous() && text.front() == '"')) return;
    using Words = JsonText::Words;
    const auto scalars = JsonText::scalars(text, is_of_values() ? Words::kTaken : Words::kLeftOut);
    if (!scalars || scalars->empty()) return;
    if (depth == kMaxTextDepth) {
      found_.unreadable = true;
      return;
    }
    for (const auto& scalar : *scalars) {
      const bool inner = in_document || scalar.in_object;
      if (scalar.spelling.front() == '"' || scalar.spelling.front() == '\'') {
        const std::string member = unescaped(scalar.spelling);
        if (add_text(member, inner)) add_texts(member, depth + 1, inner);
      } else if (Json other = Json::parse(scalar.spelling, nullptr, false); !other.is_discarded()) {
        add({std::move(other), inner});
      }
      if (found_.unreadable) return;
    }
  }

  void add_nearest(const Json& value) {
    const auto nearest = value.get<double>();
    if (std::fabs(nearest) >= kExactIntegers) add({Json(nearest), false});
  }

  // Whether it is a new one.
  bool add_text(std::string text, bool in_document) {
    const auto [known, is_new] = texts_.try_emplace(text, found_.others.size());
    if (is_new) {
      add({Json(std::move(text)), in_document});
    } else if (known->second < found_.others.size()) {
      auto& flag = found_.others[known->second].in_document;
      flag = flag && in_document;
    }
    return is_new;
  }

  void add(Readings::One reading) {
    if (found_.others.size() >= kMaxReadings) {
      found_.unreadable = true;
      return;
    }
    found_.others.push_back(std::move(reading));
  }

  Subject subject_;
  Reading reading_;
  Readings found_;
  std::unordered_map<std::string, std::size_t> texts_;  // in found_.others
};

class ReadMatcher final : public Matcher {
 public:
  ReadMatcher(MatcherPtr matcher, Subject subject)
      : matcher_(std::move(matcher)), subject_(subject) {}

  Outcome match(const Json& value, const CallView& call) const override {
    const Outcome plain = matcher_->match(value, call);
    const Outcome goes_on = call.reading == Reading::kAdmit ? Outcome::kPass : Outcome::kFail;
    if (plain != goes_on || has_one_reading(value, call)) return plain;
    Readings own;
    const Readings& readings = of(value, call, own);
    for (const auto& one : readings.others) {
      if ((type_of(one.value) & types()) == 0) continue;
      const Outcome outcome = matcher_->match(one.value, viewed(one, readings, call));
      if (outcome != goes_on) return outcome;
    }
    // Data of any size may stand in what is for text: it is held as far as it is read.
    if (!readings.unreadable || (call.any_string && is_for_prose(call.meant))) return plain;
    return call.any_string ? Outcome::kPass : Outcome::kUnreadable;
  }

  bool asks_file_system(const Json& value, const CallView& call) const override {
    if (matcher_->asks_file_system(value, call)) return true;
    if (has_one_reading(value, call)) return false;
    Readings own;
    const Readings& readings = of(value, call, own);
    return std::ranges::any_of(readings.others, [&](const Readings::One& one) {
      return matcher_->asks_file_system(one.value, viewed(one, readings, call));
    });
  }

  std::optional<Json> taken_for(const Json& value, const CallView& call) const override {
    if (matcher_->match(value, call) != Outcome::kPass) return matcher_->taken_for(value, call);
    if (has_one_reading(value, call)) return std::nullopt;
    Readings own;
    const Readings& readings = of(value, call, own);
    for (const auto& one : readings.others) {
      if ((type_of(one.value) & types()) == 0) continue;
      const CallView view = viewed(one, readings, call);
      if (matcher_->match(one.value, view) == Outcome::kPass) continue;
      auto item = matcher_->taken_for(one.value, view);
      return item ? std::move(item) : std::optional(one.value);
    }
    return std::nullopt;
  }

  std::string remark(const Json& value, const CallView& call) const override {
    std::string remark = matcher_->remark(value, call);
    if (!remark.empty() || has_one_reading(value, call)) return remark;
    Readings own;
    const Readings& readings = of(value, call, own);
    for (const auto& one : readings.others) {
      remark = matcher_->remark(one.value, viewed(one, readings, call));
      if (!remark.empty()) return remark;
    }
    return {};
  }

  Types types() const override { return matcher_->types(); }

 private:
  [[nodiscard]] bool has_one_reading(const Json& value, const CallView& call) const {
    if (subject_ == Subject::kLiteral && call.reading == Reading::kAdmit) return true;
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      return is_plain(text) && !(is_path(call) && may_be_spelled(text));
    }
    return !value.is_number_integer() || std::fabs(value.get<double>()) < kExactIntegers;
  }

  // Many texts in what is for text are data, whatever their form.
  [[nodiscard]] static CallView viewed(const Readings::One& one, const Readings& all,
                                       CallView call) {
    constexpr std::size_t kMostNamed = 64;
    const bool is_data = is_for_prose(call.meant) && all.others.size() > kMostNamed;
    call.in_document = one.in_document || is_data;
    return call;
  }

  // Of any string the words are read one by one (path_readings.h).
  [[nodiscard]] bool is_path(const CallView& call) const {
    return subject_ == Subject::kPath && !call.any_string;
  }

  [[nodiscard]] const Readings& of(const Json& value, const CallView& call, Readings& own) const {
    const Subject subject =
        subject_ == Subject::kPath && call.any_string ? Subject::kPlace : subject_;
    if (call.readings != nullptr) return call.readings->of(value, subject, call.reading);
    own = readings_of(value, subject, call.reading);
    return own;
  }

  MatcherPtr matcher_;
  Subject subject_;
};

}  // namespace

Readings readings_of(const Json& value, Subject subject, Reading reading) {
  return Reader(subject, reading).of(value);
}

const Readings& KnownReadings::of(const Json& value, Subject subject, Reading reading) {
  // To a deny and an ask places and texts are read alike.
  const bool is_spelled = subject == Subject::kPath && value.is_string() &&
                          may_be_spelled(value.get_ref<const std::string&>());
  if (subject == Subject::kPath && !is_spelled) subject = Subject::kPlace;
  if (reading == Reading::kCatch && subject == Subject::kPlace) subject = Subject::kText;
  const auto [known, is_new] = known_.try_emplace({&value, subject, reading});
  if (is_new) known->second = readings_of(value, subject, reading);
  return known->second;
}

MeantAs KnownReadings::meaning_of(std::string_view name, const Json* schema) {
  const auto [known, is_new] = meanings_.try_emplace({schema, std::string(name)});
  if (is_new) known->second = meaning_of_member(name, schema);
  return known->second;
}

MeantAs KnownReadings::meaning_of_unnamed(std::string_view name) {
  const auto known = unnamed_.find(name);
  if (known != unnamed_.end()) return known->second;
  return unnamed_.emplace(name, policy::meaning_of_unnamed(name)).first->second;
}

const UrlReadings& KnownReadings::urls_in(const Json& text, TextIs is) {
  const auto [known, is_new] = urls_.try_emplace({&text, is});
  if (is_new) known->second = url_readings(text.get_ref<const std::string&>(), is);
  return known->second;
}

const PathReadings& KnownReadings::paths_in(const Json& text, std::string_view home,
                                            MeantAs meant) {
  const auto [known, is_new] = paths_.try_emplace({&text, meant});
  if (is_new) known->second = path_readings(text.get_ref<const std::string&>(), home, meant);
  return known->second;
}

const UrlReadings& url_readings(const Json& text, const CallView& call, UrlReadings& own) {
  const bool is_command = !call.any_string || call.meant == MeantAs::kCommand;
  const auto is = is_command ? TextIs::kCommand : TextIs::kUnknown;
  if (call.readings != nullptr) return call.readings->urls_in(text, is);
  own = url_readings(text.get_ref<const std::string&>(), is);
  return own;
}

MatcherPtr with_readings(MatcherPtr matcher, Subject subject) {
  return std::make_unique<ReadMatcher>(std::move(matcher), subject);
}

}  // namespace mcpac::policy
