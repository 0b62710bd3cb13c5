// LongTexts: the long strings of a JSON text, read beside the library.
//
// What tools answer is one long text with a few members around it, and the library reads texts
// letter by letter: ten times as long as everything else that is done with a call. So long strings
// are cut out before, decoded here in runs, and put back when the library comes to their place.
// Only what is certain to be a string of JSON is cut out; whatever else it may be is left to the
// library, which alone says what is wrong with a text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac {

class LongTexts {
 public:
  // Nothing where no string is long.
  [[nodiscard]] static std::optional<LongTexts> cut_from(std::string_view text);

  // The text with "" in their places: JSON if, and only if, the whole is.
  [[nodiscard]] const std::string& rest() const { return rest_; }

  // To be called for each string of rest(), names included, in their order: `text` becomes what
  // stood in its place.
  void put_back(std::string& text);

 private:
  struct Cut {
    std::size_t number;  // among all strings
    std::string text;
  };
  std::string rest_;
  std::vector<Cut> cuts_;
  std::size_t next_ = 0;     // of cuts_
  std::size_t strings_ = 0;  // put_back() was called for
};

}  // namespace mcpac
