// SPDX-License-Identifier: Apache-2.0

#include "codegen/names.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/ascii.h"

namespace mcpac::codegen {
namespace {

// Compilers must take 1,024 significant characters ([implimits]); people cannot read 200.
constexpr std::size_t kMaxIdentifier = 200;

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

namespace {

// "x_" and the name without its leading underscores, none of them doubled: what no '_' behind it
// frees (`__FILE_`, `_Bool`, `LC_ALL`) would else be a macro or belong to the implementation.
std::string prefixed(std::string_view name) {
  std::string text = "x_";
  for (const char c : name) {
    if (c != '_' || !text.ends_with('_')) text += c;
  }
  return text;
}

bool is_base_of(std::string_view base, std::string_view identifier) {
  if (!identifier.starts_with(base)) return false;
  std::string_view rest = identifier.substr(base.size());
  if (rest.empty() || rest == "_") return true;
  if (rest.starts_with("__")) rest.remove_prefix(1);
  rest.remove_prefix(1);
  const bool number = !rest.empty() && rest.size() <= 7 && std::ranges::all_of(rest, is_digit);
  return identifier[identifier.size() - rest.size() - 1] == '_' && number && rest.front() != '0' &&
         rest != "1";
}

using IsFree = std::function<bool(const std::string&)>;

std::string freed(std::string name, const IsFree& is_free) {
  if (is_free(name)) return name;
  if (is_free(name + "_")) return name + "_";
  std::string other = prefixed(name);
  while (!is_free(other)) other += '_';
  return other;
}

// A number behind a name can make a macro of it, too (`M_2`); of "x_" it cannot.
std::string claim_free(NameScope& taken, const std::string& base, const IsFree& is_free) {
  std::string name = taken.claim(base);
  return is_free(name) ? name : taken.claim(prefixed(base));
}

bool is_unreserved(const std::string& name) {
  return !is_reserved_word(name);
}

}  // namespace

bool is_name_of(std::string_view identifier, std::string_view original) {
  const std::string base = to_identifier(original);
  return is_base_of(base, identifier) || is_base_of(prefixed(base), identifier);
}

std::string unreserved(std::string name) {
  return freed(std::move(name), is_unreserved);
}

std::string claim_unreserved(NameScope& taken, const std::string& base) {
  return claim_free(taken, base, is_unreserved);
}

std::vector<std::string> assign_names_in(const Scope& scope,
                                         const std::vector<std::string>& originals) {
  const NameScope own(scope.own_words, scope.letters);
  NameScope taken = own;
  std::vector<std::size_t> order(originals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return originals[i]; });

  std::vector<std::string> names(originals.size());
  const auto is_free_word = [&](const std::string& name) {
    return !is_reserved_word(name) && !own.has(name);
  };
  for (const std::size_t i : order) {
    const auto pin = scope.pinned.find(originals[i]);
    if (pin == scope.pinned.end() || !is_name_of(pin->second, originals[i])) continue;
    if (is_free_word(pin->second) && taken.take(pin->second)) names[i] = pin->second;
  }
  for (const std::size_t i : order) {
    const std::string& own_name = originals[i];
    const bool legal = to_identifier(own_name) == own_name && is_free_word(own_name);
    if (names[i].empty() && legal && taken.take(own_name)) names[i] = own_name;
  }
  for (const std::size_t i : order) {
    if (!names[i].empty()) continue;
    names[i] = claim_free(taken, freed(to_identifier(originals[i]), is_free_word), is_free_word);
  }
  return names;
}

std::vector<std::string> assign_names(const std::vector<std::string>& originals,
                                      const std::set<std::string>& own_words) {
  return assign_names_in({.own_words = own_words}, originals);
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
  if (!is_reserved_word(name)) return name;
  return is_reserved_word(name + "_") ? "X" + name : name + "_";
}

std::string NameScope::key(std::string name) const {
  if (letters_ == Letters::kDiffer) return name;
  for (char& c : name) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

std::string NameScope::claim(const std::string& base) {
  if (take(base)) return base;
  for (std::size_t& number = next_.try_emplace(key(base), 2).first->second;; ++number) {
    std::string name = base + "_" + std::to_string(number);
    if (take(name)) return name;
  }
}

}  // namespace mcpac::codegen
