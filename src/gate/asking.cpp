// SPDX-License-Identifier: Apache-2.0

#include "gate/asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/rfc3339.h"
#include "gate/answer.h"

namespace mcpac::gate {
namespace {

// What an approver says of itself is recorded, but not at length.
constexpr std::size_t kAskedText = 512;

// Scope of an answer beyond one call: all calls of its tool that the rules ask about. An older
// mcpac wrote "rule", for calls of any tool.
constexpr const char* kOfTool = "tool";

Json to_json(const std::vector<policy::AskRule>& rules) {
  Json list = Json::array();
  for (const auto& rule : rules) list.push_back({{"layer", rule.layer}, {"rule", rule.rule}});
  return list;
}

}  // namespace

Asking::Asking(AskSetup setup, audit::Sink& audit, const Clock& clock)
    : setup_(std::move(setup)), audit_(audit), clock_(clock) {}

Asking::~Asking() {
  stop();
}

void Asking::stop() {
  *alive_ = false;
  queue_.clear();
  if (std::exchange(showing_, false)) setup_.approver->cancel();
}

const Question* Asking::current() const {
  return showing_ ? &queue_.front().question : nullptr;
}

std::optional<Asking::Kept> Asking::kept_for(const policy::AskRule& rule) const {
  const auto found = kept_.find(rule);
  if (found == kept_.end()) return std::nullopt;
  const Kept& kept = found->second;
  if (kept.answer == Answered::kUntil && clock_.wall_now() >= kept.until) return std::nullopt;
  return kept;
}

// An answer of an earlier run is recorded in this run, too, when it is first needed: the log of a
// run tells by itself why a call was made.
Result<bool> Asking::remember_earlier(const policy::AskRule& rule) {
  if (setup_.memory == nullptr) return false;
  const auto reply = setup_.memory->find(rule);
  if (!reply) return false;
  auto id = record({{"scope", kOfTool},
                    {"permission", bounded(rule.tool, kAskedText)},
                    {"rules", to_json({rule})},
                    {"remembered", true}},
                   *reply);
  if (!id) return pass_on(id);
  kept_.insert_or_assign(rule, Kept{reply->answer, reply->until, std::move(*id)});
  return true;
}

Result<std::optional<Asking::Standing>> Asking::standing(
    const std::vector<policy::AskRule>& rules) {
  std::optional<Standing> yes;
  bool is_open = rules.empty();
  for (const auto& rule : rules) {
    auto kept = kept_for(rule);
    if (!kept) {
      auto earlier = remember_earlier(rule);
      if (!earlier) return pass_on(earlier);
      if (*earlier) kept = kept_for(rule);
    }
    if (!kept) {
      is_open = true;
      continue;
    }
    Standing standing{.answer = kept->answer, .approval = kept->approval};
    if (!is_yes(kept->answer)) return standing;  // one "never" is enough
    yes = std::move(standing);
  }
  if (is_open) return std::nullopt;  // every rule that asks must have its yes
  return yes;
}

std::optional<std::string> Asking::obstacle() {
  if (setup_.approver == nullptr) return "it needs an approval, and nobody is there to ask";
  if (queue_.size() >= setup_.max_waiting)
    return fmt::format("it needs an approval, and {} questions wait already", queue_.size());
  const auto now = clock_.steady_now();
  while (!recent_.empty() && now - recent_.front() >= std::chrono::minutes(1)) recent_.pop_front();
  if (recent_.size() >= setup_.max_per_minute)
    return fmt::format("it needs an approval, and {} questions in a minute are enough",
                       recent_.size());
  return std::nullopt;
}

void Asking::ask(Id id, Asked asked, Done done) {
  recent_.push_back(clock_.steady_now());
  queue_.push_back({id,
                    make_question(std::move(asked.permission), std::move(asked.arguments),
                                  std::move(asked.rules), setup_.binding),
                    std::move(done)});
  queue_.back().question.caller = std::move(asked.caller);
  // What it digests may have few values: the log must not tell them to an attacker.
  queue_.back().question.id = audit_.keyed_digest(queue_.back().question.id);
  next();
}

// Shows the first of the queue; those that an answer before it has settled go without.
void Asking::next() {
  if (turning_) return;
  turning_ = true;
  const auto alive = alive_;
  while (*alive && !showing_ && !queue_.empty()) {
    auto known = standing(queue_.front().question.rules);
    if (!known || *known) {
      Entry entry = std::move(queue_.front());
      queue_.pop_front();
      Standing settled{.answer = Answered::kNobody, .detail = known ? "" : known.error().what};
      if (known) settled = std::move(**known);
      entry.done(entry.question, settled);
      continue;
    }
    Entry& entry = queue_.front();
    entry.question.waiting = queue_.size() - 1;
    showing_ = true;
    setup_.approver->ask(entry.question, [this, alive, id = entry.id](Reply reply) {
      if (*alive) answered(id, std::move(reply));
    });
  }
  if (*alive) turning_ = false;
}

void Asking::answered(Id id, Reply reply) {
  if (!showing_ || queue_.empty() || queue_.front().id != id) return;  // late, or twice
  showing_ = false;
  Entry entry = std::move(queue_.front());
  queue_.pop_front();
  const Standing settled = settle(entry.question, std::move(reply));
  const auto alive = alive_;
  entry.done(entry.question, settled);
  if (*alive) next();
}

Asking::Standing Asking::settle(const Question& question, Reply reply) {
  const bool is_for_rule = reply.answer == Answered::kRun || reply.answer == Answered::kUntil ||
                           reply.answer == Answered::kNever;
  if (reply.answer == Answered::kUntil && reply.until <= clock_.wall_now())
    reply = {.answer = Answered::kNobody, .who = reply.who, .detail = "its time is over already"};
  auto id = record({{"question", question.id},
                    {"permission", bounded(question.permission, kAskedText)},
                    {"call", audit_.keyed_digest(question.call_digest)},
                    {"scope", is_for_rule ? kOfTool : "call"},
                    {"rules", to_json(question.rules)}},
                   reply);
  if (!id) return {.answer = Answered::kNobody, .detail = id.error().what};
  if (reply.answer == Answered::kNobody) return {reply.answer, *id, reply.detail, reply.for_caller};
  Standing settled{.answer = reply.answer, .approval = *id};
  if (!is_for_rule) return settled;
  for (const auto& rule : question.rules)
    kept_.insert_or_assign(rule, Kept{reply.answer, reply.until, *id});
  if (reply.answer == Answered::kRun || setup_.memory == nullptr) return settled;
  // What cannot be kept beyond the run holds for the run all the same.
  if (auto kept = setup_.memory->keep(question.rules, reply); !kept)
    settled.detail = kept.error().what;
  return settled;
}

Result<std::string> Asking::record(Json payload, const Reply& reply) {
  payload["answer"] = to_string(reply.answer);
  payload["who"] = bounded(reply.who, kAskedText);
  payload["binding"] = recorded(setup_.binding, audit_);
  if (reply.answer == Answered::kUntil) payload["until"] = rfc3339_utc(reply.until);
  if (!reply.detail.empty()) payload["detail"] = bounded(reply.detail, kAskedText);
  return audit_.append("Approval", std::move(payload));
}

void Asking::forget(const std::vector<Id>& ids) {
  const auto is_meant = [&ids](const Entry& entry) {
    return std::ranges::find(ids, entry.id) != ids.end();
  };
  const bool was_shown = showing_ && is_meant(queue_.front());
  std::erase_if(queue_, is_meant);
  if (was_shown) {
    showing_ = false;
    setup_.approver->cancel();
  }
  next();
}

}  // namespace mcpac::gate
