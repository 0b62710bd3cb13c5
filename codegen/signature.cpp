// SPDX-License-Identifier: Apache-2.0

#include "codegen/signature.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <vector>

#include "codegen/facts.h"
#include "codegen/resolve.h"
#include "codegen/text_escape.h"
#include "codegen/tool_model.h"
#include "core/ascii.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

// About 400 tokens: more than any tool that a person wrote by hand needs.
constexpr std::size_t kMaxSignature = 1600;
constexpr std::size_t kShownEnumerators = 24;
constexpr int kLevels = 6;
// Words about members are worth their tokens while there are few members.
constexpr std::size_t kMaxWithWords = 800;
constexpr std::size_t kMaxWords = 60;
constexpr std::string_view kMore = "…";

enum class MemberWords : std::uint8_t { kShow, kLeaveOut };

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) letters += to_lower(c);
  }
  return letters;
}

// What the schema says of a member beyond its name ("The project ID" says nothing of projectId).
std::string member_words(const Field& field) {
  std::string words = prompt_line(first_sentence(field.words.description), kMaxWords);
  while (words.ends_with('.')) words.pop_back();
  std::string letters = letters_of(words);
  for (const std::string_view article : {"the", "an", "a"}) {
    if (!letters.starts_with(article)) continue;
    letters.erase(0, article.size());
    break;
  }
  const std::string name = letters_of(field.name);
  const bool repeats =
      name.contains(letters) || (letters.starts_with(name) && letters.size() < name.size() + 6);
  return repeats ? "" : " /*" + words + "*/";
}

// Writes one shape, nested types at their first use and at most `levels` deep.
class Writer {
 public:
  Writer(const Shape& shape, int levels, MemberWords words)
      : shape_(shape), levels_(levels), words_(words) {}

  std::string fields(const std::vector<Field>& fields, int level) {
    std::string out;
    for (const Field& field : fields) {
      const std::string text =
          field.required ? type(field.type, level) : plain(field.type, level) + "?";
      out += fmt::format("{}{} {}{}", out.empty() ? "" : "; ", text, field.cpp_name,
                         words_ == MemberWords::kShow ? member_words(field) : "");
    }
    return out;
  }

 private:
  std::string list(const std::vector<Type>& types, int level) {
    std::string out;
    for (const Type& inner : types) out += (out.empty() ? "" : ", ") + type(inner, level);
    return out;
  }

  std::string type(const Type& type, int level) {
    return plain(type, level) + (type.nullable ? "|null" : "");
  }

  std::string plain(const Type& type, int level) {
    switch (type.kind) {
      case Kind::kJson: return "Json";
      case Kind::kString: return "string";
      case Kind::kInteger: return "int";
      case Kind::kUnsigned: return "uint64_t";
      case Kind::kNumber: return "double";
      case Kind::kBoolean: return "bool";
      case Kind::kArray: return fmt::format("vector<{}>", list(type.of, level));
      case Kind::kMap: return fmt::format("map<string, {}>", list(type.of, level));
      case Kind::kTuple: return fmt::format("tuple<{}>", list(type.of, level));
      case Kind::kVariant: return fmt::format("variant<{}>", list(type.of, level));
      case Kind::kNamed: break;
    }
    return named(type.named, level);
  }

  std::string named(std::size_t index, int level) {
    const NamedType& type = shape_.types[index];
    if (!shown_.insert(index).second) return type.cpp_name;
    if (type.is_enum()) return fmt::format("enum {}{{{}}}", type.cpp_name, enumerators(type));
    if (level >= levels_) return fmt::format("{}{{{}}}", type.cpp_name, kMore);
    return fmt::format("{}{{{}}}", type.cpp_name, fields(type.fields, level + 1));
  }

  static std::string enumerators(const NamedType& type) {
    std::string out;
    for (std::size_t i = 0; i < type.values.size(); ++i) {
      if (i >= kShownEnumerators) return out + ", " + std::string(kMore);
      out += (i == 0 ? "" : ", ") + type.values[i].cpp_name;
    }
    return out;
  }

  const Shape& shape_;
  int levels_;
  MemberWords words_;
  std::set<std::size_t> shown_{};
};

// With words, else as many levels as fit; a shape whose first level is too long is cut, and says
// so.
std::string bounded(const Shape& shape, MemberWords words) {
  std::string text = Writer(shape, kLevels, words).fields(shape.fields, 0);
  if (text.size() <= kMaxWithWords) return text;
  for (int levels = kLevels; levels >= 0; --levels) {
    text = Writer(shape, levels, MemberWords::kLeaveOut).fields(shape.fields, 0);
    if (text.size() <= kMaxSignature) return text;
  }
  return cut(text, kMaxSignature);
}

// Many servers repeat the text of every answer as a member "content".
bool says_more_than_text(const Shape& result) {
  if (result.free_form || result.fields.empty()) return false;
  return result.fields.size() > 1 || result.fields.front().name != "content";
}

}  // namespace

std::string short_name(const std::string& cpp_name) {
  return cpp_name.substr(cpp_name.rfind(':') + 1);
}

std::string signature(const LockedServer& server, const LockedTool& tool) {
  std::vector<Note> unused;  // generate has shown them
  const ToolModel model =
      model_of(tool.definition, server.name + "." + tool.name, short_name(tool.cpp_name), unused);
  std::string text = model.cpp_name;
  text += model.args.free_form ? "(Json)" : "{" + bounded(model.args, MemberWords::kShow) + "}";
  if (model.result && says_more_than_text(*model.result))
    text += " -> {" + bounded(*model.result, MemberWords::kLeaveOut) + "}";
  return text;
}

std::string summary(const LockedTool& tool, std::size_t max_bytes) {
  std::string text = text_of(tool.definition, "description");
  if (text.empty()) text = text_of(tool.definition, "title");
  if (const OrderedJson* annotations = keyword(tool.definition, "annotations");
      text.empty() && annotations != nullptr) {
    text = text_of(*annotations, "title");
  }
  return prompt_line(first_sentence(text), max_bytes);
}

}  // namespace mcpac::codegen
