// SPDX-License-Identifier: Apache-2.0

// Approver: interface that answers the questions of `ask` rules (docs/asking.md).
//
// A question shows one call exactly as it would be sent, and the rules that want an answer. What a
// yes means beyond this call is said by its scope, and it is worth something only for the program,
// headers, lock and policy that it was given for (ADR 0014).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "core/error.h"
#include "core/json.h"
#include "gate/caller.h"
#include "policy/authority.h"

namespace mcpac::gate {

// SHA-256 digests, in hexadecimal, of all that a run stands on. An answer holds for these alone.
struct Binding {
  std::string program;  // every byte of its sources, or the compiled file and its arguments
  std::string headers;
  std::string lock;
  std::string policy;       // the rules of every layer, and where their paths lead
  std::string servers;      // their entries in mcpac.json, secrets unexpanded
  std::string arguments{};  // of the run (docs/adr/0039); empty: it was given none
  [[nodiscard]] std::string digest() const;
  friend bool operator==(const Binding&, const Binding&) = default;
};
[[nodiscard]] Json to_json(const Binding& binding);
// The same for the log, where arguments have a keyed digest: its reader must not try values out.
[[nodiscard]] Json recorded(const Binding& binding, const audit::Sink& audit);

struct Question {
  std::string id;  // keyed digest of everything below but the last two
  std::string permission;
  Json arguments;           // as they would be sent
  std::string call_digest;  // of permission and arguments
  std::vector<policy::AskRule> rules;
  Binding binding;
  std::size_t waiting = 0;                   // further questions behind this one
  std::shared_ptr<Caller> caller = nullptr;  // who made the call; may be null
};
[[nodiscard]] std::string call_digest(std::string_view permission, const Json& arguments);
// Makes call_digest, and an id without a key: Asking has that.
[[nodiscard]] Question make_question(std::string permission, Json arguments,
                                     std::vector<policy::AskRule> rules, Binding binding);

enum class Answered : std::uint8_t {
  kOnce,    // this call
  kRun,     // every call of this tool, in this run, that these rules ask about
  kUntil,   // the same, also in later runs under the same binding, until a time
  kNo,      // not this call
  kNever,   // no call of this tool that these rules ask about, in this and later runs, likewise
  kNobody,  // there was no answer: counts as a no, and nothing is kept
};
[[nodiscard]] std::string_view to_string(Answered answer);
[[nodiscard]] std::optional<Answered> answered_from(std::string_view text);
[[nodiscard]] constexpr bool is_yes(Answered answer) {
  return answer == Answered::kOnce || answer == Answered::kRun || answer == Answered::kUntil;
}

struct Reply {
  Answered answer = Answered::kNobody;
  std::chrono::system_clock::time_point until{};  // of kUntil
  std::string who{};                              // "root at the terminal", "approver ./approve.sh"
  std::string detail{};  // kNobody: why; for the user's side, never for the program
  // The part of it that the caller may hear: words of ours, about its own side alone.
  std::string for_caller{};
};

class Approver {
 public:
  using Done = std::function<void(Reply)>;
  virtual ~Approver() = default;
  // One question at a time. `done` comes once on the loop's thread, unless cancel() came first.
  virtual void ask(const Question& question, Done done) = 0;
  // The question in work is taken back.
  virtual void cancel() = 0;
};

// Answers that outlive their run (kUntil, kNever), of this run's binding alone.
class ApprovalMemory {
 public:
  virtual ~ApprovalMemory() = default;
  [[nodiscard]] virtual std::optional<Reply> find(const policy::AskRule& rule) = 0;
  [[nodiscard]] virtual Result<void> keep(const std::vector<policy::AskRule>& rules,
                                          const Reply& reply) = 0;
};

}  // namespace mcpac::gate
