// ToolResult: what a tool answered, ready to be read as text, lines, JSON or content.
//
// Generated results derive from it and add the fields of the tool's output schema. What never gets
// here was thrown as ToolError: a result that says isError, and one whose structured content is not
// what the schema promised (a field with a made-up value would be worse than no result).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments_words.hpp"
#include "content.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "json.hpp"

namespace mcpac {

namespace detail {
// `data()["kind"]` of the error where a result that is no JSON was read as such.
inline constexpr const char* kNoJson = "no_json";

// What a program's user is told of fields that hold only the mark of their type.
[[nodiscard]] inline ::std::string remark_of(const Misfit& at, ::std::string_view permission) {
  if (at.unread.empty()) return {};
  constexpr ::std::size_t kMostNamed = 4;
  ::std::string places;
  for (::std::size_t i = 0; i < ::std::min(at.unread.size(), kMostNamed); ++i)
    places += (i == 0 ? "" : ", ") + shown(at.unread[i]);
  if (at.unread.size() > kMostNamed)
    places += " and " + ::std::to_string(at.unread.size() - kMostNamed) + " more";
  return ::std::string(permission) + " answered what the type of its field cannot hold: " + places +
         " (read it from .structured())";
}

}  // namespace detail

class ToolResult {
 public:
  ToolResult() = default;
  explicit ToolResult(Json result) : content_(detail::contents_of(result)) {
    if (!result.is_object()) return;
    const auto found = result.find("structuredContent");
    if (found != result.end()) structured_ = ::std::move(*found);
  }

  // The text blocks, one below the other; each other block as a line ("image/png, 8 bytes"), and
  // last, as JSON in one line, the structured content where the text does not repeat it.
  [[nodiscard]] ::std::string text() const { return detail::view_of(content_, structured_); }

  // text() in lines, without their ends; no empty line after the last end.
  [[nodiscard]] ::std::vector<::std::string> lines() const {
    ::std::vector<::std::string> lines;
    const ::std::string all = text();
    ::std::string_view rest = all;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      ::std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == ::std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines.emplace_back(line);
    }
    return lines;
  }

  // The text blocks as JSON; where they are none, the structured content. Throws ToolError where
  // there is neither, and where the structured content is nothing but the text once more.
  [[nodiscard]] Json json() const {
    const ::std::string all = detail::text_of(content_);
    Json parsed = detail::json_of_text(all);
    if (!parsed.is_discarded()) return parsed;
    if (!structured_.is_null() && !repeats(all)) return structured_;
    throw no_json(all);
  }

  // The answer as a T: the text where it is JSON, and where that does not fit the structured
  // content. T is a generated struct, a standard type, an aggregate or a struct with a static
  // mcpac_visit, or what nlohmann's from_json knows. Throws ToolError that names the place that
  // does not fit.
  template <detail::readable T>
  [[nodiscard]] T as() const {
    const ::std::string all = detail::text_of(content_);
    Json first = detail::json_of_text(all);
    if (first.is_discarded()) {
      if (structured_.is_null()) throw no_json(all);
      first = structured_;
    }
    detail::Misfit at;
    T value = detail::blank<T>();
    if (detail::JsonForm<T>::read(first, value, at)) return value;
    if (!structured_.is_null()) {
      detail::Misfit ignored;
      T other = detail::blank<T>();
      if (detail::JsonForm<T>::read(structured_, other, ignored)) return other;
    }
    throw unfit("the tool's answer is not what was asked for", at);
  }

  // The forms for temporaries return values: `for (auto& c : rt.s.tool(…).content())` is safe.
  [[nodiscard]] const ::std::vector<Content>& content() const& { return content_; }
  [[nodiscard]] ::std::vector<Content> content() && { return ::std::move(content_); }

  // The structured content as it came, unknown members included; null where there was none.
  [[nodiscard]] const Json& structured() const& { return structured_; }
  [[nodiscard]] Json structured() && { return ::std::move(structured_); }

 private:
  template <class R>
  friend R make_result_of(Json result, ::std::string_view permission, ::std::string* remark);

  // Many servers wrap a text that has no structure: {"content": "…"}, {"result": "…"}.
  [[nodiscard]] bool repeats(const ::std::string& all) const {
    if (all.empty()) return false;
    const auto is_text = [&all](const Json& json) {
      return json.is_string() && json.get_ref<const ::std::string&>() == all;
    };
    return is_text(structured_) ||
           (structured_.is_object() && structured_.size() == 1 && is_text(*structured_.begin()));
  }

  // What the program asked for, and not what the tool did, is the mistake here.
  [[nodiscard]] ToolError no_json(const ::std::string& all) const {
    constexpr ::std::size_t kMostShown = 40;
    ::std::string message = "the answer has no text, and so no JSON";
    if (!all.empty()) {
      const ::std::string_view begin = ::std::string_view(all).substr(0, all.find('\n'));
      message =
          "the answer is text and no JSON: .text() or .lines() reads it; it begins " +
          Json(begin.substr(0, kMostShown)).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return ToolError({.kind = ErrorKind::tool,
                      .permission = ::std::string(permission_),
                      .message = ::std::move(message),
                      .data = {{"kind", detail::kNoJson}},
                      .content = content_});
  }

  // `data` has the place, what was expected there, and what came.
  [[nodiscard]] ToolError unfit(::std::string message, const detail::Misfit& at) const {
    Json data = {{"kind", "unfit"}};
    if (!at.expected.empty()) {
      message += (at.pointer.empty() ? "" : ": " + at.pointer) + ": expected " + at.expected;
      data["pointer"] = at.pointer;
      data["expected"] = at.expected;
    }
    if (!structured_.is_null()) data["structuredContent"] = structured_;
    return ToolError({.kind = ErrorKind::tool,
                      .permission = ::std::string(permission_),
                      .message = ::std::move(message),
                      .data = ::std::move(data),
                      .content = content_});
  }

  ::std::vector<Content> content_{};
  Json structured_{};
  ::std::string_view permission_{};  // of the tool; lives as long as the program
};

// A generated result from the `result` of an answer; throws ToolError where it breaks its schema.
//
// The tool has done its work by then. So a value that its C++ type cannot hold (an integer beyond
// 64 bits, a number with more digits than a double, an enum value that is new) costs that field
// alone: it holds the mark of its type (json_form.hpp), which no call takes as an argument, and
// `remark` says which fields those are.
template <class R>
[[nodiscard]] R make_result_of(Json result, ::std::string_view permission, ::std::string* remark) {
  R made;
  static_cast<ToolResult&>(made) = ToolResult(::std::move(result));
  made.permission_ = permission;
  if constexpr (detail::visited<R>) {
    detail::Misfit at;
    at.is_lenient = true;
    // Servers of before structured content say the same in text.
    const ToolResult& plain = made;
    const Json source = plain.structured_.is_null()
                            ? detail::json_of_text(detail::text_of(plain.content_))
                            : plain.structured_;
    if (!detail::JsonForm<R>::read(source, made, at))
      throw plain.unfit("the tool's answer breaks its own output schema", at);
    if (remark != nullptr) *remark = detail::remark_of(at, permission);
  }
  return made;
}
template <class R>
[[nodiscard]] R make_result_of(Json result, ::std::string_view permission) {
  return make_result_of<R>(::std::move(result), permission, nullptr);
}

}  // namespace mcpac
