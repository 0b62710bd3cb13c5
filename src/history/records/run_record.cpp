// SPDX-License-Identifier: Apache-2.0

#include "history/records/run_record.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "core/file.h"
#include "core/hash.h"
#include "core/ids.h"
#include "gate/answer.h"
#include "policy/policy_record.h"
#include "policy/text/printer.h"

namespace mcpac::history {
namespace {

constexpr std::size_t kDigestDigits = 64;
// Of texts that others may have made.
constexpr std::size_t kMaxSaid = 512;

std::filesystem::path lock_path(const std::filesystem::path& audit_folder,
                                const std::string& digest) {
  return audit_folder / "locks" / (digest + ".json");
}

// Written once: its name says what is in it, and who reads it checks that.
Result<void> keep_lock(const std::filesystem::path& audit_folder, const std::string& digest,
                       const codegen::Lock& lock) {
  const auto path = lock_path(audit_folder, digest);
  std::error_code error;
  if (std::filesystem::exists(path, error)) return {};
  const auto unkept = [&](const std::string& why) {
    return fail(ErrorId::kAuditUnwritable, "the lock of the run cannot be kept beside its log",
                {.where = path.string(),
                 .why = why,
                 .fix = "free space, or point XDG_STATE_HOME at a folder that you can write"});
  };
  if (::mkdir(path.parent_path().c_str(), 0700) != 0 && errno != EEXIST)
    return unkept(std::system_category().message(errno));
  const std::string text = codegen::to_text(lock);
  if (sha256_hex(text) != digest)
    return fail(ErrorId::kInternal, "the lock is not the one that the run is bound to");
  if (auto written = write_file_atomic(path, text, 0600); !written)
    return unkept(written.error().what);
  return {};
}

}  // namespace

namespace {

// The places that the run was given: what every layer admits, of what the program declares.
Json files_of(const policy::Authority& authority) {
  Json files = Json::array();
  for (const auto& place : authority.files()) {
    files.push_back({{"path", place.path},
                     {"mode", policy::to_string(place.mode)},
                     {"said_in", place.said_in}});
  }
  return files;
}

Json network_of(const policy::Authority& authority) {
  Json network = Json::array();
  for (const auto& place : authority.networks()) {
    network.push_back(
        {{"place", policy::print_network(place.host, place.port)}, {"said_in", place.said_in}});
  }
  return network;
}

}  // namespace

Json started_payload(const RunStart& run, const gate::GateSetup& setup) {
  Json permissions = Json::array();
  for (const auto& permission : setup.declared.permissions)
    permissions.push_back(permission.text());
  Json policy = policy::policy_record(setup.authority);
  std::string digest = policy::digest_of_record(policy);
  Json payload{{"program", run.program},
               {"files", files_of(setup.authority)},
               {"network", network_of(setup.authority)},
               {"declared", setup.declared.texts},
               {"permissions", std::move(permissions)},
               {"declared_in", run.declared_in},
               {"mode", setup.mode == gate::Mode::kEnforce ? "enforce" : "observe"},
               {"binding", gate::recorded(setup.asking.binding, *setup.audit)},
               {"policy", std::move(policy)},
               {"policy_digest", std::move(digest)}};
  if (!run.replayed.empty()) payload["replayed"] = run.replayed;
  if (!run.client_run.empty()) payload["client_run"] = run.client_run;
  if (!run.client_policy.is_null()) payload["client_policy"] = run.client_policy;
  if (!run.lifted_by.empty()) payload["lifted_by"] = gate::bounded(run.lifted_by, kMaxSaid);
  if (run.server_places.is_object() && !run.server_places.empty())
    payload["server_places"] = run.server_places;
  return payload;
}

Json early_answer(std::string_view scope, std::string_view answer, std::string_view who) {
  return {{"scope", scope},
          {"rules", Json::array()},
          {"answer", answer},
          {"who", gate::bounded(who, kMaxSaid)}};
}

Result<void> record_answers(const EarlyAnswers& answers, audit::Sink& log) {
  for (Json payload : answers) {
    if (const auto question = payload.find("question"); question != payload.end())
      *question = log.keyed_digest(question->get_ref<const std::string&>());
    if (auto id = log.append("Approval", std::move(payload)); !id) return pass_on(id);
  }
  return {};
}

bool is_refusal(ErrorId error) {
  switch (error) {
    case ErrorId::kRuleSyntax:
    case ErrorId::kRuleUnknownName:
    case ErrorId::kRuleIneffective:
    case ErrorId::kSelfTestFailed:
    case ErrorId::kSourceEmpty:
    case ErrorId::kSourceNotText:
    case ErrorId::kSourceDoesNotCompile: return true;
    default: return exit_code_of(error) == ExitCode::kRefused;
  }
}

Result<std::string> record_refusal(const RefusedRun& run, const std::filesystem::path& audit_folder,
                                   const Clock& clock) {
  const std::string id = run.run_id.empty() ? new_uuid_v7(clock) : std::string(run.run_id);
  auto log = audit::RunLog::create(audit_folder, id, clock);
  if (!log) return pass_on(log);
  Json payload{{"program", gate::bounded(run.program, kMaxSaid)},
               {"error", to_string(run.error.id)},
               {"what", gate::bounded(run.error.what, kMaxSaid)},
               {"declared", run.declared},
               {"not_granted", run.not_granted}};
  if (!run.client_run.empty()) payload["client_run"] = run.client_run;
  if (!run.policy.is_null()) payload["policy"] = run.policy;
  if (auto noted = (*log)->append("RunRefused", std::move(payload)); !noted) return pass_on(noted);
  if (auto answered = record_answers(run.answers, **log); !answered) return pass_on(answered);
  auto ended =
      (*log)->append("RunEnded", {{"verdict", "refused"}, {"error", to_string(run.error.id)}});
  if (!ended) return pass_on(ended);
  if (auto closed = (*log)->close(); !closed) return pass_on(closed);
  return id;
}

Result<void> record_start(const RunStart& run, const gate::GateSetup& setup,
                          const codegen::Lock& lock, const std::filesystem::path& audit_folder,
                          audit::Sink& log) {
  if (auto kept = keep_lock(audit_folder, setup.asking.binding.lock, lock); !kept) return kept;
  auto started = log.append("RunStarted", started_payload(run, setup));
  if (!started) return pass_on(started);
  return {};
}

Result<codegen::Lock> kept_lock(const std::filesystem::path& audit_folder,
                                const std::string& digest) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (digest.size() != kDigestDigits || !std::ranges::all_of(digest, is_digit))
    return fail(ErrorId::kAuditUnreadable, "the run does not say which lock it had");
  const auto path = lock_path(audit_folder, digest);
  auto text = read_file(path, codegen::kMaxLockBytes);
  if (!text) {
    return fail(ErrorId::kAuditUnreadable, "the lock of the run is gone",
                {.where = path.string(),
                 .why = text.error().what,
                 .fix = "put the file back: it is the mcpac.lock of that time"});
  }
  if (sha256_hex(*text) != digest) {
    return fail(ErrorId::kAuditTampered, "the lock beside the log is not the one of the run",
                {.where = path.string(),
                 .why = "its bytes do not have the digest that is its name",
                 .fix = "put the file back: it is the mcpac.lock of that time"});
  }
  return codegen::parse_lock(*text, path.string());
}

}  // namespace mcpac::history
