// SPDX-License-Identifier: Apache-2.0

// SecretValues: the one place where `${env:NAME}`, `${env:NAME:-default}` and `${file:PATH}` become
// what they stand for.
//
// It remembers what it expanded, and redact() puts the reference back in place of the value, so
// that errors, stderr lines and results of servers can be shown to people, logs and agents. A
// value's JSON form, its percent-encoded form and the single lines of a text of several lines are
// found as well; other encodings (base64, say) are not. Values under 4 bytes are not redacted: they
// occur in any text. A variable that every server gets anyway (environment.h: HOME, USER, …) is no
// secret: putting
// `${env:HOME}` into the paths that a server answers would only break the calls that use them.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/text_finder.h"

namespace mcpac::mcp {

class SecretValues {
 public:
  // `where` names the place in errors: "mcpServers.github.env.TOKEN". Text that is no reference,
  // such as "$5" or "${HOME}", stays; "$${" is "${". kSecretMissing when a reference leads nowhere.
  [[nodiscard]] Result<std::string> expand(std::string_view text, std::string_view where);

  // A value that is no text of the configuration: a token. `reference` stands in its place. The
  // last kMostKept are known: a server that issues tokens would else fill memory with ones that
  // were replaced long ago.
  static constexpr std::size_t kMostKept = 64;
  void keep(const std::string& value, const std::string& reference);
  // The same for callers that bound their number: never forgotten.
  void know(const std::string& value, const std::string& reference);

  [[nodiscard]] bool empty() const { return forms_.empty(); }
  // Whether both look for the same values, and say the same in their place.
  friend bool operator==(const SecretValues& one, const SecretValues& other) {
    return one.forms_ == other.forms_;
  }
  // Of all that is looked for: a value in its several forms. What finds them takes many times that.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool occurs_in(std::string_view text) const;
  [[nodiscard]] bool occurs_within(const Json& value) const;  // as redact() looks
  [[nodiscard]] std::string redact(std::string_view text) const;
  [[nodiscard]] Error redact(Error error) const;
  // Every string in the value, names of members too.
  void redact(Json& value) const;
  void redact(OrderedJson& value) const;

 private:
  void remember(const std::string& value, const std::string& reference);
  void forget(const std::string& value, const std::string& reference);

  struct Search {
    TextFinder finder;
    std::vector<std::string> references;  // in the order of what it looks for
  };
  [[nodiscard]] const Search& search() const;

  std::map<std::string, std::string> forms_;              // value → reference
  std::size_t bytes_ = 0;                                 // of the values there
  mutable std::shared_ptr<const Search> search_;          // for forms_; made when it is needed
  std::deque<std::pair<std::string, std::string>> kept_;  // by keep(), oldest first
};

}  // namespace mcpac::mcp
