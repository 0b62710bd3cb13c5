// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/private_file.h"

namespace mcpac::mcp::oauth {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

Json to_json(const Kept& kept) {
  return {{"version", 1},
          {"issuer", kept.issuer},
          {"place", kept.place},
          {"client",
           {{"id", kept.client.id},
            {"secret", kept.client.secret},
            {"method", kept.client.method},
            {"redirectPort", kept.client.redirect_port},
            {"redirectHost", kept.client.redirect_host}}},
          {"tokens",
           {{"access", kept.tokens.access},
            {"refresh", kept.tokens.refresh},
            {"scope", kept.tokens.scope}}},
          {"wantedScope", kept.wanted_scope}};
}

Kept from_json(const Json& json) {
  Kept kept;
  kept.issuer = string_member(json, "issuer");
  kept.place = string_member(json, "place");
  kept.wanted_scope = string_member(json, "wantedScope");
  if (const Json* client = find_member(json, "client"); client != nullptr) {
    kept.client.id = string_member(*client, "id");
    kept.client.secret = string_member(*client, "secret");
    kept.client.method = string_member(*client, "method");
    kept.client.redirect_host = string_member(*client, "redirectHost");
    const Json* port = find_member(*client, "redirectPort");
    if (port != nullptr && port->is_number_unsigned()) kept.client.redirect_port = *port;
  }
  if (const Json* tokens = find_member(json, "tokens"); tokens != nullptr) {
    kept.tokens.access = string_member(*tokens, "access");
    kept.tokens.refresh = string_member(*tokens, "refresh");
    kept.tokens.scope = string_member(*tokens, "scope");
  }
  return kept;
}

}  // namespace

Store::Store(const std::filesystem::path& folder, const std::string& server,
             const std::string& url) {
  if (folder.empty()) return;
  file_ = folder / fmt::format("{}-{}.json", server, sha256_hex(url).substr(0, 16));
}

Result<Kept> Store::load() const {
  if (file_.empty()) return memory_;
  auto text = read_private_file(file_, kMaxFile);
  if (!text) {
    return fail(ErrorId::kFileUnreadable,
                fmt::format("{} is not used: {}", file_.string(), text.error().what),
                {.why = "tokens belong into a file that only you can read",
                 .fix = fmt::format("rm {}, then mcpac login", file_.string())});
  }
  if (!*text) return Kept();
  auto json = parse_json(**text, file_.string());
  if (!json) return pass_on(json);
  return from_json(*json);
}

Result<void> Store::save(const Kept& kept) {
  if (file_.empty()) {
    memory_ = kept;
    return {};
  }
  auto turn = take_turn(file_.parent_path(), "logins");
  if (!turn) return pass_on(turn);
  return write_file_atomic(file_, to_text(to_json(kept)) + "\n", 0600);
}

bool Store::forget() {
  if (file_.empty()) return !std::exchange(memory_, Kept()).issuer.empty();
  std::error_code error;
  return std::filesystem::remove(file_, error);
}

// A file of its own beside the tokens, which are replaced and removed: a lock on those would be one
// on what is no longer there. It stays.
Result<std::optional<UniqueFd>> Store::try_turn() const {
  if (file_.empty()) return std::optional(UniqueFd());
  if (auto made = take_turn(file_.parent_path(), "logins"); !made) return pass_on(made);
  const auto name = turn_file();
  UniqueFd turn(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (turn && ::flock(turn.get(), LOCK_EX | LOCK_NB) == 0) {
    // Only for a message: that it cannot be written does not matter.
    const std::string id = std::to_string(::getpid());
    if (::ftruncate(turn.get(), 0) == 0)
      std::ignore = ::pwrite(turn.get(), id.data(), id.size(), 0);
    return std::optional(std::move(turn));
  }
  const int error = errno;
  if (turn && (error == EWOULDBLOCK || error == EINTR)) return std::nullopt;
  return fail(ErrorId::kFileUnwritable, fmt::format("{} cannot be locked: {}", name.string(),
                                                    std::system_category().message(error)));
}

std::filesystem::path Store::turn_file() const {
  auto name = file_;
  return name.replace_extension(".lock");
}

std::string Store::holder() const {
  constexpr std::size_t kMost = 20;
  if (file_.empty()) return {};
  auto text = read_private_file(turn_file(), kMost);
  if (!text || !*text || (*text)->find_first_not_of("0123456789") != std::string::npos) return {};
  return **text;
}

}  // namespace mcpac::mcp::oauth
