// SPDX-License-Identifier: Apache-2.0

// Store: tokens and registrations of logins, one file a server and URL, readable by the user only.
//
// Everything belongs to the issuer that gave it: credentials of one authorization server are never
// shown to another (SEP-2352). Without a folder it lives as long as the object.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::mcp::oauth {

struct ClientId {
  std::string id{};
  std::string secret{};
  std::string method{};             // of the token endpoint: "none", "client_secret_basic", …
  std::uint16_t redirect_port = 0;  // that it is registered with; 0: not registered by us, or
                                    // without a redirect address
  std::string redirect_host{};      // and the host; empty: kRedirectHost
};

struct Tokens {
  std::string access{};
  std::string refresh{};
  std::string scope{};  // granted, or asked for where the answer names none
};

struct Kept {
  std::string issuer{};
  // SHA-256 of the server's URL, expanded. The file's name knows it as it is written: with another
  // value of a variable in it that is another server.
  std::string place{};
  ClientId client{};
  Tokens tokens{};
  std::string wanted_scope{};  // that a server asked for when no person was there to log in
};

class Store {
 public:
  // `folder` may be empty. `server` is its name, `url` what it is called at: both name the file.
  Store(const std::filesystem::path& folder, const std::string& server, const std::string& url);

  // Nothing kept is an empty value. A file that others can read is not believed.
  [[nodiscard]] Result<Kept> load() const;
  [[nodiscard]] Result<void> save(const Kept& kept);
  // True when there was something.
  bool forget();

  // For one process at a time, from reading a refresh token to saving what came for it: an
  // authorization server that sees one of them twice takes it for stolen, and ends the login (OAuth
  // 2.1, section 4.3.1). Nothing while another process has it; it ends with the descriptor, or the
  // process.
  [[nodiscard]] Result<std::optional<UniqueFd>> try_turn() const;
  // Which process had the turn last, by its own word: a number, for people. Empty: it is not known.
  [[nodiscard]] std::string holder() const;

 private:
  [[nodiscard]] std::filesystem::path turn_file() const;
  std::filesystem::path file_;
  Kept memory_;
};

}  // namespace mcpac::mcp::oauth
