#include "codegen/names.h"

#include <algorithm>

namespace mcpac::codegen {
namespace {

// Compilers must take 1,024 significant characters ([implimits]); people cannot read 200.
constexpr std::size_t kMaxIdentifier = 200;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_letter(char c) {
  return is_upper(c) || is_lower(c);
}
bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string to_identifier(std::string_view original) {
  std::string name;
  for (const char c : original) {
    if (name.size() >= kMaxIdentifier) break;
    if (is_letter(c) || is_digit(c) || c == '_') {
      name += c;
    } else if (!is_continuation_byte(c)) {
      name += '_';
    }
  }
  if (name.empty() || is_digit(name.front())) name.insert(name.begin(), '_');
  return name;
}

std::vector<std::string> assign_names(const std::vector<std::string>& originals,
                                      const std::set<std::string>& own_words) {
  std::vector<std::string> names;
  std::vector<std::size_t> changed;
  NameScope taken(own_words);
  for (std::size_t i = 0; i < originals.size(); ++i) {
    std::string name = to_identifier(originals[i]);
    if (is_reserved_word(name) || own_words.contains(name)) name += '_';
    if (name != originals[i]) {
      changed.push_back(i);
    } else {
      taken.take(name);
    }
    names.push_back(std::move(name));
  }
  std::ranges::sort(changed, {}, [&](std::size_t i) -> const std::string& { return originals[i]; });
  for (const std::size_t i : changed) names[i] = taken.claim(names[i]);
  return names;
}

std::string to_pascal_case(std::string_view text) {
  std::string name;
  bool word_starts = true;
  for (const char c : text) {
    if (name.size() >= kMaxIdentifier) break;
    if (!is_letter(c) && !is_digit(c)) {
      word_starts = true;
      continue;
    }
    name += word_starts && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    word_starts = false;
  }
  if (!name.empty() && is_digit(name.front())) name.insert(name.begin(), 'N');
  return is_reserved_word(name) ? name + "_" : name;
}

std::string NameScope::claim(const std::string& base) {
  if (taken_.insert(base).second) return base;
  for (std::size_t& number = next_.try_emplace(base, 2).first->second;; ++number) {
    std::string name = base + "_" + std::to_string(number);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace mcpac::codegen
