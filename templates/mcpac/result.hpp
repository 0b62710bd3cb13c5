// ToolResult: what a tool answered, ready to be read as text, lines, JSON or content.
//
// Generated results derive from it and add the fields of the tool's output schema. A result that
// says isError never gets here: it was thrown as ToolError.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "content.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "json.hpp"

namespace mcpac {

class ToolResult {
 public:
  ToolResult() = default;
  explicit ToolResult(Json result) : content_(detail::contents_of(result)) {
    if (!result.is_object()) return;
    const auto found = result.find("structuredContent");
    if (found != result.end()) structured_ = ::std::move(*found);
  }

  // The text blocks, one below the other.
  [[nodiscard]] ::std::string text() const { return detail::text_of(content_); }

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

  // The text as JSON; where it is none, the structured content. Throws ToolError where there is
  // neither.
  [[nodiscard]] Json json() const {
    const ::std::string all = text();
    Json parsed = Json::parse(all, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
    if (!structured_.is_null()) return structured_;
    throw ToolError(Error({ErrorKind::tool, 0, {}, "the tool's answer is not JSON", {}, content_}));
  }

  // The forms for temporaries return values: `for (auto& c : rt.s.tool(…).content())` is safe.
  [[nodiscard]] const ::std::vector<Content>& content() const& { return content_; }
  [[nodiscard]] ::std::vector<Content> content() && { return ::std::move(content_); }

  // The structured content as it came, unknown members included; null where there was none.
  [[nodiscard]] const Json& structured() const& { return structured_; }
  [[nodiscard]] Json structured() && { return ::std::move(structured_); }

  // Where the structured content is not what the tool's output schema promised ("/entities/0:
  // expected a string"); empty where it fits. Fields that did not fit have their default values.
  [[nodiscard]] const ::std::string& schema_mismatch() const { return mismatch_; }

 private:
  template <class R>
  friend R make_result_of(Json result);
  ::std::vector<Content> content_{};
  Json structured_{};
  ::std::string mismatch_{};
};

// A generated result from the `result` of an answer.
template <class R>
[[nodiscard]] R make_result_of(Json result) {
  R made;
  static_cast<ToolResult&>(made) = ToolResult(::std::move(result));
  if constexpr (requires(detail::Reader & reader) { R::mcpac_visit(made, reader); }) {
    detail::Misfit at;
    // Servers of before structured content say the same in text.
    const Json* source = &made.structured_;
    Json parsed;
    if (source->is_null()) {
      parsed = Json::parse(static_cast<const ToolResult&>(made).text(), nullptr, false);
      source = &parsed;
    }
    if (!detail::JsonForm<R>::read(*source, made, at)) {
      made.mismatch_ = at.pointer + ": expected " + at.expected;
    }
  }
  return made;
}

}  // namespace mcpac
