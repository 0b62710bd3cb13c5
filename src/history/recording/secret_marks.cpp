// SPDX-License-Identifier: Apache-2.0

#include "history/recording/secret_marks.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/json_compare.h"
#include "core/text_finder.h"
#include "gate/secret_places.h"

namespace mcpac::history {
namespace {

std::string below(const std::string& pointer, std::string_view name) {
  std::string text = pointer + "/";
  for (const char c : name) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

bool have_same_names(const Json& a, const Json& b) {
  return a.size() == b.size() && std::ranges::all_of(a.items(), [&](const auto& member) {
           return b.contains(member.key());
         });
}

void hide(const Json& before, const Json& after, const std::string& pointer,
          std::vector<std::string>& hidden) {
  const bool same_objects =
      before.is_object() && after.is_object() && have_same_names(before, after);
  if (same_objects) {
    for (const auto& [name, member] : before.items())
      hide(member, after.at(name), below(pointer, name), hidden);
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      hide(before[i], after[i], below(pointer, std::to_string(i)), hidden);
  } else if (before != after) {
    hidden.push_back(pointer);
  }
}

struct Mark {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// In order; none is inside of another.
std::vector<Mark> marks_in(std::string_view text) {
  static const std::vector<std::string> kBegins = {gate::kRedactedText,
                                                   "${env:", "${file:", "${login:"};
  static const TextFinder finder(kBegins);
  std::vector<Mark> marks;
  bool may_close = true;
  for (const auto& place : finder.find(text)) {
    if (!marks.empty() && place.begin < marks.back().end) continue;
    if (place.needle == 0) {
      marks.push_back({place.begin, place.end});
      continue;
    }
    const auto close = may_close ? text.find('}', place.end) : std::string_view::npos;
    may_close = close != std::string_view::npos;
    if (may_close) marks.push_back({place.begin, close + 1});
  }
  return marks;
}

class Comparison {
 public:
  Comparison(const std::vector<std::string>& hidden, std::size_t most)
      : hidden_(hidden.begin(), hidden.end()), most_(most) {}

  void compare(const Json& recorded, const Json& made, const std::string& pointer) {
    if (is_full() || may_be(recorded, made, pointer)) return;
    if (recorded.is_object() && made.is_object()) return members(recorded, made, pointer);
    if (recorded.is_array() && made.is_array()) return elements(recorded, made, pointer);
    if (!json_equal(recorded, made)) found_.push_back({pointer, recorded, made});
  }
  [[nodiscard]] std::vector<JsonDifference> take() { return std::move(found_); }

 private:
  [[nodiscard]] bool is_full() const { return found_.size() >= most_; }

  // Of a hidden value that is no text, names of members were hidden: all of it may have been.
  bool may_be(const Json& recorded, const Json& made, const std::string& pointer) const {
    if (!hidden_.contains(pointer)) return false;
    if (!recorded.is_string()) return recorded.type() == made.type();
    if (!made.is_string()) return recorded == gate::kRedactedText;
    return fits_marks(recorded.get_ref<const std::string&>(), made.get_ref<const std::string&>());
  }

  void members(const Json& recorded, const Json& made, const std::string& pointer) {
    std::set<std::string> names;
    for (const Json* object : {&recorded, &made}) {
      for (const auto& [name, member] : object->items()) names.insert(name);
    }
    for (const std::string& name : names)
      one(find_member(recorded, name), find_member(made, name), below(pointer, name));
  }

  void elements(const Json& recorded, const Json& made, const std::string& pointer) {
    for (std::size_t i = 0; i < std::max(recorded.size(), made.size()) && !is_full(); ++i)
      one(i < recorded.size() ? &recorded[i] : nullptr, i < made.size() ? &made[i] : nullptr,
          below(pointer, std::to_string(i)));
  }

  void one(const Json* recorded, const Json* made, const std::string& pointer) {
    if (recorded != nullptr && made != nullptr) return compare(*recorded, *made, pointer);
    if (is_full()) return;
    const auto value = [](const Json* json) {
      return json == nullptr ? std::nullopt : std::optional(*json);
    };
    found_.push_back({pointer, value(recorded), value(made)});
  }

  std::set<std::string> hidden_;
  std::size_t most_;
  std::vector<JsonDifference> found_;
};

}  // namespace

Cleaned cleaned(const Json& before, Json after) {
  Cleaned result{std::move(after)};
  hide(before, result.value, "", result.hidden);
  return result;
}

bool fits_marks(std::string_view marked, std::string_view text) {
  if (marked == text) return true;
  std::size_t in_text = 0;
  std::size_t at = 0;
  bool after_mark = false;  // then something, at least one byte, stands before the next literal
  for (const Mark& mark : marks_in(marked)) {
    const auto literal = marked.substr(at, mark.begin - at);
    const auto found = after_mark ? text.find(literal, in_text + 1) : text.find(literal, in_text);
    if (found == std::string_view::npos || (!after_mark && found != in_text)) return false;
    in_text = found + literal.size();
    at = mark.end;
    after_mark = true;
  }
  const auto literal = marked.substr(at);
  if (!after_mark) return literal == text;
  return text.size() > in_text + literal.size() && text.ends_with(literal);
}

std::vector<JsonDifference> differences(const Cleaned& recorded, const Json& made,
                                        std::size_t most) {
  Comparison comparison(recorded.hidden, most);
  comparison.compare(recorded.value, made, "");
  return comparison.take();
}

}  // namespace mcpac::history
