// SPDX-License-Identifier: Apache-2.0

#include "run/asking/program_review.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/canonical_json.h"
#include "core/hash.h"
#include "core/printable.h"
#include "core/rfc3339.h"
#include "gate/answer.h"
#include "run/check/authorities.h"
#include "run/check/call_in_source.h"

namespace mcpac::run {
namespace {

std::string standing_of(const policy::Foresight& foresight) {
  if (foresight.asks) return "asks";
  switch (foresight.outlook) {
    case policy::Outlook::kCovered: return "allowed";
    case policy::Outlook::kConditional: return "depends";
    case policy::Outlook::kDenied: break;
  }
  return "denied";
}

// Predicted decisions on calls of a declared tool: those of the source, and what makes the first of
// the worst so. Of a program whose calls are not known, how any call does.
policy::Foresight outlook_of(const ReviewSubject& subject, const Permission& permission) {
  const auto any = subject.authority->foresee(
      permission, {.known = Json::object(), .unknown = {}, .open = true});
  std::optional<policy::Foresight> worst;
  if (subject.report != nullptr) {
    for (const auto& use : subject.report->uses) {
      if (use.permission != permission.text()) continue;
      auto one = subject.authority->foresee(permission, call_in_source(use));
      const bool is_worse = !worst || one.outlook > worst->outlook ||
                            (one.outlook == worst->outlook && one.asks && !worst->asks);
      if (!is_worse) continue;
      if (!one.reason.empty()) one.reason += fmt::format(" ({}:{})", use.file, use.line);
      worst = std::move(one);
    }
  }
  if (!worst) {
    policy::Foresight unseen = any;
    if (unseen.outlook == policy::Outlook::kConditional)
      unseen.reason = unseen.asks ? "asks" : "depends on what each call brings";
    return unseen;
  }
  // What may ask is never told as anything less: more calls may come than were seen.
  worst->asks = worst->asks || any.asks;
  return *worst;
}

const ApprovedProgram* last_approval(const Approvals& approvals, const ReviewSubject& subject) {
  const auto found = std::ranges::find_if(approvals.programs, [&](const ApprovedProgram& one) {
    return one.project == subject.project && one.program == subject.program;
  });
  return found == approvals.programs.end() ? nullptr : &*found;
}

ProgramReview make_review(const ReviewSubject& subject, const ApprovalStore& store) {
  ProgramReview review{.id = {},
                       .program = subject.program,
                       .binding = subject.binding,
                       .declared = {},
                       .rules = stated_rules(*subject.authority),
                       .removed = {},
                       .last_approved = {},
                       .is_same = false};
  const Approvals approvals = store.read();
  const ApprovedProgram* last = last_approval(approvals, subject);
  if (last != nullptr) {
    review.last_approved = last->when;
    review.removed = last->declared;
    review.is_same = last->digest == subject.binding.program;
  }
  for (const auto& [permission, text] : subject.declared) {
    const auto foresight = outlook_of(subject, permission);
    const bool is_known = std::erase(review.removed, text) > 0;
    review.declared.push_back({.text = text,
                               .standing = standing_of(foresight),
                               .reason = foresight.reason,
                               .is_new = last != nullptr && !is_known});
  }
  review.id = sha256_hex(canonical_json(Json{{"mcpac", "review"}, {"of", to_json(review)}}));
  return review;
}

std::string names_of_asked(const ProgramReview& review) {
  std::vector<std::string> names;
  for (const auto& item : review.declared) {
    if (item.standing == "asks") names.push_back(printable(item.text, 200));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::unexpected<Error> nobody(const ProgramReview& review, ReviewWanted wanted) {
  const std::string asked = names_of_asked(review);
  const char* otherwise =
      wanted == ReviewWanted::kAlways
          ? "; without --review, nobody needs to see it"
          : "; with --expect-denials it runs, and every call that asks is denied";
  return fail(
      ErrorId::kApprovalMissing,
      asked.empty()
          ? fmt::format("nobody is there to review {}", review.program)
          : fmt::format("{} asks for {}, and nobody is there to answer", review.program, asked),
      {.where = review.program,
       .why = "questions are answered at a terminal or by an approver",
       .fix = fmt::format("run it at a terminal, or give --approver COMMAND{}", otherwise)});
}

void remember(const ReviewSubject& subject, const ApprovalStore& store) {
  const auto kept = store.change([&](Approvals& approvals) {
    std::erase_if(approvals.programs, [&](const ApprovedProgram& one) {
      return one.project == subject.project && one.program == subject.program;
    });
    ApprovedProgram program{.project = subject.project,
                            .program = subject.program,
                            .when = rfc3339_utc(store.clock().wall_now()),
                            .declared = {},
                            .digest = subject.binding.program};
    for (const auto& [permission, text] : subject.declared) program.declared.push_back(text);
    approvals.programs.push_back(std::move(program));
  });
  if (!kept) store.warn("this approval is not remembered: " + kept.error().what);
}

Result<gate::Reply> answer_to(const ProgramReview& review, RunApprover& approver,
                              servers::Host& host, const Interrupt& interrupt) {
  // Shared: after an interrupt the approver may still hold its end.
  auto answered = std::make_shared<std::promise<gate::Reply>>();
  auto future = answered->get_future();
  host.on_loop([&] {
    approver.review(review,
                    [answered](gate::Reply reply) { answered->set_value(std::move(reply)); });
  });
  if (wait_unless_stopped(future, interrupt)) return future.get();
  host.on_loop([&] { approver.cancel(); });
  return fail(ErrorId::kInterrupted, "interrupted while a question waited");
}

}  // namespace

Result<void> require_review(const ReviewSubject& subject, ReviewWanted wanted, DeniedUses denied,
                            RunApprover* approver, const ApprovalStore& store, servers::Host& host,
                            const Interrupt& interrupt, history::EarlyAnswers& answers) {
  const ProgramReview review = make_review(subject, store);
  const bool asks = std::ranges::any_of(review.declared,
                                        [](const auto& item) { return item.standing == "asks"; });
  if (!asks && wanted == ReviewWanted::kWhenAsked) return {};
  if (approver == nullptr) {
    if (denied == DeniedUses::kExpect && wanted == ReviewWanted::kWhenAsked) return {};
    return nobody(review, wanted);
  }
  auto reply = answer_to(review, *approver, host, interrupt);
  if (!reply) return pass_on(reply);
  Json said = history::early_answer("program",
                                    reply->answer == gate::Answered::kNobody ? "nobody"
                                    : gate::is_yes(reply->answer)            ? "yes"
                                                                             : "no",
                                    reply->who);
  said["question"] = review.id;
  if (!reply->detail.empty()) said["detail"] = gate::bounded(reply->detail, 512);
  answers.push_back(std::move(said));
  if (gate::is_yes(reply->answer)) {
    remember(subject, store);
    return {};
  }
  return fail(ErrorId::kApprovalRefused, fmt::format("{} was not approved", review.program),
              {.where = review.program,
               .why = reply->answer == gate::Answered::kNobody
                          ? fmt::format("{}: {}", reply->who, reply->detail)
                          : fmt::format("{} said no", reply->who),
               .fix = reply->answer == gate::Answered::kNobody
                          ? "mend the command of --approver, which gave no answer; nothing was run"
                          : "nothing, where the no was meant: nothing was run, and the next run "
                            "asks again"});
}

}  // namespace mcpac::run
