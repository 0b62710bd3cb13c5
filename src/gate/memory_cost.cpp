#include "gate/memory_cost.h"

#include <string>

namespace mcpac::gate {
namespace {

// A piece has a word of its own before it, and sixteen bytes are the step.
constexpr std::size_t piece(std::size_t bytes) {
  constexpr std::size_t kWord = sizeof(void*);
  constexpr std::size_t kStep = 2 * kWord;
  return bytes == 0 ? 0 : (bytes + kWord + kStep - 1) / kStep * kStep;
}

// Beside the object itself; a short text lies in it.
std::size_t text_bytes(const std::string& text) {
  static const std::size_t kInside = std::string().capacity();
  return text.capacity() <= kInside ? 0 : piece(text.capacity() + 1);
}

// A node of std::map has three pointers and a colour before its value.
constexpr std::size_t kMember = piece(4 * sizeof(void*) + sizeof(Json::object_t::value_type));

}  // namespace

std::size_t memory_cost(const Json& value) {
  if (const auto* text = value.get_ptr<const Json::string_t*>())
    return piece(sizeof *text) + text_bytes(*text);
  if (const auto* elements = value.get_ptr<const Json::array_t*>()) {
    std::size_t bytes = piece(sizeof *elements) + piece(elements->capacity() * sizeof(Json));
    for (const Json& element : *elements) bytes += memory_cost(element);
    return bytes;
  }
  if (const auto* members = value.get_ptr<const Json::object_t*>()) {
    std::size_t bytes = piece(sizeof *members);
    for (const auto& [name, member] : *members)
      bytes += kMember + text_bytes(name) + memory_cost(member);
    return bytes;
  }
  return 0;
}

}  // namespace mcpac::gate
