// SPDX-License-Identifier: Apache-2.0

// Asking: the questions of one run, one at a time in their order, and the answers that stand.
//
// A program decides how often it makes a call, so how many questions may wait and how many a minute
// brings is bounded: beyond that, asking is denied without a question. Every answer is recorded
// (event Approval) before it is worth anything. Single-threaded, like the gate.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "core/clock.h"
#include "gate/approver.h"

namespace mcpac::gate {

struct AskSetup {
  Approver* approver = nullptr;      // borrowed; null: no approver, and asking means denied
  ApprovalMemory* memory = nullptr;  // borrowed; null: nothing outlives the run
  Binding binding{};
  // More than a person can have in mind, and what one look at a screen can answer.
  std::size_t max_waiting = 32;
  // A person answers some in a minute, a program of theirs more; a flood is neither's business.
  std::size_t max_per_minute = 60;
};

class Asking {
 public:
  // State of a question, and its record.
  struct Standing {
    Answered answer = Answered::kNobody;
    std::string approval{};  // the id of its Approval event
    std::string detail{};
    std::string for_caller{};
  };
  using Id = std::uint64_t;
  using Done = std::function<void(const Question&, const Standing&)>;

  // Both are borrowed.
  Asking(AskSetup setup, audit::Sink& audit, const Clock& clock);
  ~Asking();
  // Takes every question back without a word.
  void stop();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // The answer that stands for calls of their tool that these rules ask about, of this run or an
  // earlier one. An error: there is one, but it could not be recorded.
  [[nodiscard]] Result<std::optional<Standing>> standing(const std::vector<policy::AskRule>& rules);
  // Why no question can be put now; nothing: it can.
  [[nodiscard]] std::optional<std::string> obstacle();
  struct Asked {
    std::string permission;
    Json arguments;
    std::vector<policy::AskRule> rules;
    std::shared_ptr<Caller> caller = nullptr;
  };
  // `done` comes once, maybe from inside ask(), unless forget() came first. An answer that could
  // not be recorded comes as kNobody.
  void ask(Id id, Asked asked, Done done);
  // Takes these questions back; unknown ids are ignored.
  void forget(const std::vector<Id>& ids);

  [[nodiscard]] const Question* current() const;
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  [[nodiscard]] const Binding& binding() const { return setup_.binding; }

 private:
  struct Entry {
    Id id = 0;
    Question question;
    Done done;
  };
  struct Kept {
    Answered answer;
    std::chrono::system_clock::time_point until;
    std::string approval;
  };

  void next();
  void answered(Id id, Reply reply);
  [[nodiscard]] Standing settle(const Question& question, Reply reply);
  [[nodiscard]] Result<std::string> record(Json payload, const Reply& reply);
  [[nodiscard]] std::optional<Kept> kept_for(const policy::AskRule& rule) const;
  [[nodiscard]] Result<bool> remember_earlier(const policy::AskRule& rule);

  AskSetup setup_;
  audit::Sink& audit_;
  const Clock& clock_;
  std::deque<Entry> queue_;
  std::map<policy::AskRule, Kept> kept_;
  std::deque<std::chrono::steady_clock::time_point> recent_;  // questions of the last minute
  bool showing_ = false;  // the first of the queue is with the approver
  bool turning_ = false;  // next() is at work: answers may come from inside ask()
  // Answers may come after this object is gone, or to a question that was taken back.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gate
