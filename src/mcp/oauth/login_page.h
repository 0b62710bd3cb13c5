// SPDX-License-Identifier: Apache-2.0

// LoginPage: the login prompt for a person, and the way the page's answer is pasted back.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/oauth/form.h"

namespace mcpac::mcp::oauth {

// The answer of a login page as a person brings it, held against the login's `state`. From any
// thread.
class PastedAnswer {
 public:
  explicit PastedAnswer(std::string state) : state_(std::move(state)) {}
  // The address that the browser was sent to, or the query in it. What is wrong with it, in words;
  // empty: it is the answer.
  [[nodiscard]] std::string hand_in(std::string_view text);
  [[nodiscard]] std::optional<Parameters> take();

 private:
  std::string state_;
  std::mutex turn_;
  std::optional<Parameters> answer_;
};

// What an error says when the time for a login was over.
inline constexpr const char* kNobodyLoggedIn = "nobody logged in";

// And where the authorization server has no page, and no code was asked for.
inline constexpr const char* kCodesAlone =
    "it logs in by a code alone (RFC 8628), and nothing binds the page of a code to the server "
    "that "
    "gave it: such a login is made where it is asked for";

struct LoginPage {
  std::string url{};
  std::string code{};  // to be typed there (RFC 8628); empty: none is needed
  // Takes the page's answer from a person whose browser is on another machine. Null with a code.
  std::shared_ptr<PastedAnswer> pasted{};
  operator const std::string&() const { return url; }  // for callers that only open it
};
// Shows the page; returns at once.
using ShowLogin = std::function<void(const LoginPage&)>;

}  // namespace mcpac::mcp::oauth
