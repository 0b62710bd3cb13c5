// SPDX-License-Identifier: Apache-2.0

// JsonText: edits a foreign JSON file: one member is set or removed, and every other byte stays as
// it is.
//
// Comments and commas before a closing bracket are taken as editors take them ("JSON with
// comments"), and stay. Every edit is read again and held against what it should say: an edit that
// would change anything else is an error, and the text is as before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac {

class JsonText {
 public:
  // The whole must be an object; a text without any value counts as {}. Errors as parse_json().
  [[nodiscard]] static Result<JsonText> parse(std::string text, std::string where);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const OrderedJson& value() const { return value_; }

  // The member `name` of the object `object` of the whole; the object is made where there is none.
  [[nodiscard]] Result<void> set(const std::string& object, const std::string& name,
                                 const OrderedJson& value);
  // No such member: nothing is done.
  [[nodiscard]] Result<void> remove(const std::string& object, const std::string& name);
  // The text with "…" for every value and comment but in the member `name` of `object`, and there
  // for what stands in its "env": to be shown to whom it may not tell secrets.
  [[nodiscard]] std::string masked(const std::string& object, const std::string& name) const;

 private:
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Member {
    Span key;
    Span value;
    std::string name;
  };

  Result<void> read();
  [[nodiscard]] std::vector<Member> members_of(Span object) const;
  [[nodiscard]] const Member* find(const std::vector<Member>& members,
                                   const std::string& name) const;
  [[nodiscard]] Span whole() const;
  [[nodiscard]] std::string with_member(Span object, const std::string& name,
                                        const OrderedJson& value) const;
  [[nodiscard]] std::string without(const std::vector<Member>& members, const Member& gone) const;
  Result<void> become(std::string text, const OrderedJson& meant);

  std::string text_;
  std::string plain_;  // as long, blanks for comments and for commas before a closing bracket
  OrderedJson value_;
  std::string where_;
};

}  // namespace mcpac
