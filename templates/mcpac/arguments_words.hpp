// Arguments in words: one line that tells the person who gave a run its arguments what to change.
// It names the place by its JSON pointer, what was expected there, and what came.
//
// Of a text that came only its kind is said: it may be a secret that stands in the wrong place, and
// this line ends up in logs. Names that were given are cut, and escaped as JSON escapes them:
// nothing in them can draw on a terminal or end the line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"
#include "json.hpp"
#include "json_form.hpp"

namespace mcpac::detail {

// `kind` in the data of these errors, whose message says whose arguments they are, and where.
inline constexpr ::std::string_view kOfTheRun = "arguments of the run";

// Printable ASCII, without the quotes around it.
[[nodiscard]] inline ::std::string shown(::std::string_view text) {
  constexpr ::std::size_t kMostShown = 120;
  const bool is_cut = text.size() > kMostShown;
  ::std::string escaped =
      Json(text.substr(0, kMostShown)).dump(-1, ' ', true, Json::error_handler_t::replace);
  for (::std::size_t at = 0; (at = escaped.find('\x7f', at)) != ::std::string::npos;)
    escaped.replace(at, 1, "\\u007f");
  return escaped.substr(1, escaped.size() - 2) + (is_cut ? "..." : "");
}

[[nodiscard]] inline ::std::string in_quotes(::std::string_view text) {
  return '"' + shown(text) + '"';
}

// "the number 3.5", "a string".
[[nodiscard]] inline ::std::string kind_of_value(const Json& value) {
  if (value.is_string())
    return value.get_ref<const ::std::string&>().empty() ? "an empty string" : "a string";
  if (value.is_object()) return "an object";
  if (value.is_array())
    return value.empty() ? "an empty array" : "an array of " + ::std::to_string(value.size());
  return (value.is_number() ? "the number " : "") + value.dump();
}

// ": pass the array" where the value that was expected stands in a text, as models write it.
[[nodiscard]] inline ::std::string advice_of(const Json& value, ::std::string_view expected) {
  constexpr ::std::size_t kMostRead = ::std::size_t{1} << 20U;
  const auto* const text = value.get_ptr<const ::std::string*>();
  if (text == nullptr || text->size() > kMostRead) return {};
  const Json held = Json::parse(*text, nullptr, false);
  const auto is_expected = [expected](::std::string_view kind) {
    return expected.starts_with(kind);
  };
  if (held.is_array() && is_expected("an array")) return " that holds an array: pass the array";
  if (held.is_object() && is_expected("an object")) return " that holds an object: pass the object";
  if (held.is_number() && (is_expected("a number") || is_expected("an integer")))
    return " that holds a number: pass the number";
  if (held.is_boolean() && is_expected("true or false"))
    return " that holds true or false: pass that without quotes";
  return {};
}

// A list of values for a message: `"a", "b", ...`.
struct Choices {
  ::std::string text{};
  ::std::size_t count = 0;
  void add(const Json& value) {
    constexpr ::std::size_t kMostShown = 12;
    if (++count > kMostShown + 1) return;
    if (count > 1) text += ", ";
    text += count > kMostShown  ? "..."
            : value.is_string() ? in_quotes(value.get<::std::string>())
                                : value.dump();
  }
};

// Insertions, deletions and replacements, capitals alike. Beyond 64 bytes nothing is a typing
// error.
[[nodiscard]] inline ::std::size_t edits(::std::string_view a, ::std::string_view b) {
  constexpr auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  ::std::vector<::std::size_t> row(b.size() + 1);
  ::std::iota(row.begin(), row.end(), ::std::size_t{0});
  for (::std::size_t i = 1; i <= a.size(); ++i) {
    ::std::size_t diagonal = row[0];
    row[0] = i;
    for (::std::size_t j = 1; j <= b.size(); ++j) {
      const ::std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = ::std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The one of `names` that was probably meant, as on the host (src/core/nearest_name.h); else empty.
[[nodiscard]] inline ::std::string_view nearest(::std::string_view wrong,
                                                const ::std::vector<::std::string_view>& names) {
  constexpr ::std::size_t kMostCompared = 64;
  ::std::string_view best;
  if (wrong.size() > kMostCompared) return best;
  ::std::size_t least = ::std::max<::std::size_t>(2, wrong.size() / 3) + 1;
  for (const ::std::string_view name : names) {
    if (name.size() > kMostCompared) continue;
    if (const ::std::size_t distance = edits(wrong, name);
        distance < least && distance < ::std::max(wrong.size(), name.size())) {
      least = distance;
      best = name;
    }
  }
  return best;
}

// Whether all members have names that are known; the first that has not is the misfit.
[[nodiscard]] inline bool knows_all(const Json& object,
                                    const ::std::vector<::std::string_view>& known, Misfit& at) {
  for (const auto& member : object.items()) {
    const ::std::string& name = member.key();
    if (::std::find(known.begin(), known.end(), name) != known.end()) continue;
    // Of a name that is there already none is a misspelling.
    ::std::vector<::std::string_view> left;
    ::std::copy_if(known.begin(), known.end(), ::std::back_inserter(left),
                   [&](auto one) { return !object.contains(one); });
    const ::std::string_view near = nearest(name, left);
    Choices choices;
    for (const ::std::string_view one : known) choices.add(one);
    at.fault = Fault::unknown;
    at.expected = !near.empty()   ? "did you mean " + in_quotes(near) + "?"
                  : known.empty() ? "no members are known here"
                                  : "known are " + choices.text;
    step_out(at, name);
    return false;
  }
  return true;
}

[[nodiscard]] inline ::std::string words_of(const Misfit& at, const Json& all) {
  const ::std::string place = shown(at.pointer);
  if (at.fault == Fault::missing)
    return place + " is missing: expected " + at.expected +
           (all.empty() ? "; none were given" : "");
  if (at.fault == Fault::unknown) return place + " is unknown: " + at.expected;
  const Json::json_pointer there(at.pointer);
  const ::std::string came = all.contains(there) ? ", got " + kind_of_value(all.at(there)) +
                                                       advice_of(all.at(there), at.expected)
                                                 : "";
  return (place.empty() ? "" : place + ": ") + "expected " + at.expected + came;
}

[[nodiscard]] inline InvalidArguments unfit_arguments(const Misfit& at, const Json& all) {
  const char* const rule = at.fault == Fault::missing   ? "required"
                           : at.fault == Fault::unknown ? "additionalProperties"
                                                        : "type";
  return InvalidArguments({.kind = ErrorKind::invalid_arguments,
                           .message = ::std::string(kOfTheRun) + ": " + words_of(at, all),
                           .data = {{"kind", kOfTheRun}, {"pointer", at.pointer}, {"rule", rule}}});
}

}  // namespace mcpac::detail
