// Json: nlohmann's, under one name. Free-form arguments and results are values of this type.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mcpac {

using Json = ::nlohmann::json;

namespace detail {

// Of a text in a tool's answer. Json is written, copied and compared by recursion, which takes some
// hundred bytes of stack a level: a server must not end a program by a text of brackets.
inline constexpr ::std::size_t kDeepestJson = 4'096;

// The JSON that a text is; a discarded value where it is none, or nests deeper than that.
[[nodiscard]] inline Json json_of_text(::std::string_view text) {
  ::std::size_t depth = 0;
  bool is_quoted = false;
  for (::std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_quoted) {
      at += c == '\\' ? 1 : 0;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return Json(Json::value_t::discarded);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return Json::parse(text, nullptr, false);
}

}  // namespace detail
}  // namespace mcpac

// For std::ranges the iterators of a Json have random access, so that it sorts an array. They can
// do all of it, and call themselves bidirectional because those of objects throw where they are
// moved by more than one. The members below count the steps there.
template <>
struct std::iterator_traits<::mcpac::Json::iterator> {
  using iterator_concept = ::std::random_access_iterator_tag;
  using iterator_category = ::std::bidirectional_iterator_tag;
  using value_type = ::mcpac::Json;
  using difference_type = ::std::ptrdiff_t;
  using pointer = ::mcpac::Json*;
  using reference = ::mcpac::Json&;
};

template <>
inline ::mcpac::Json::iterator& mcpac::Json::iterator::operator+=(difference_type i) {
  if (m_object->is_object()) {
    ::std::advance(m_it.object_iterator, i);
  } else if (m_object->is_array()) {
    m_it.array_iterator += i;
  } else {
    m_it.primitive_iterator += i;
  }
  return *this;
}
template <>
inline ::std::ptrdiff_t mcpac::Json::iterator::operator-(const iter_impl& other) const {
  if (m_object->is_object()) {
    const auto begin = m_object->begin().m_it.object_iterator;
    return ::std::distance(begin, m_it.object_iterator) -
           ::std::distance(begin, other.m_it.object_iterator);
  }
  return m_object->is_array() ? m_it.array_iterator - other.m_it.array_iterator
                              : m_it.primitive_iterator - other.m_it.primitive_iterator;
}
template <>
inline bool mcpac::Json::iterator::operator<(const iter_impl& other) const {
  if (m_object != other.m_object) {
    throw ::mcpac::Json::invalid_iterator::create(
        212, "cannot compare iterators of different containers", m_object);
  }
  return *this - other < 0;
}
template <>
inline ::mcpac::Json& mcpac::Json::iterator::operator[](difference_type n) const {
  return *(*this + n);
}
