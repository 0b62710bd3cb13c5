// UriPattern: a template (RFC 6570), made ready to be held against many URIs.
//
// Generous: an expression may stand for any text, and so does what is beyond the first 1,024 bytes
// and eight texts between expressions: a server with a template of that size claims more by it, not
// less. One URI takes time in proportion to its length, however both were chosen (Knuth, Morris,
// Pratt). Borrows the template's text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/algorithm/searching/knuth_morris_pratt.hpp>

#include "core/work.h"

namespace mcpac::gateway {

enum class Meaning : std::uint8_t { kNo, kMay, kCannotTell };

class UriPattern {
 public:
  explicit UriPattern(std::string_view uri_template);
  // kCannotTell: the work does not suffice.
  [[nodiscard]] Meaning may_mean(std::string_view uri, Work& work) const;

 private:
  using Search = boost::algorithm::knuth_morris_pratt<const char*>;
  struct Between {
    std::size_t length;
    Search search;
  };
  void add_between(std::string_view literal);

  std::string_view begin_;
  std::vector<Between> between_;
  std::string_view end_;
  bool has_expression_ = false;
};

}  // namespace mcpac::gateway
