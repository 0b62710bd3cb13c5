// SPDX-License-Identifier: Apache-2.0

#include "gateway/call_of_client.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/json_cost.h"
#include "gateway/log_message.h"
#include "gateway/mcp_session.h"

namespace mcpac::gateway {
std::optional<std::uint64_t> ServerQuestions::asked(std::uint64_t call, const std::string& server,
                                                    const std::string& method) {
  if (sink_ == nullptr) return std::nullopt;
  const std::uint64_t question = ++last_;
  const auto recorded = sink_->append(
      "ClientAsked",
      {{"question", question}, {"call_id", call}, {"server", server}, {"method", method}});
  return recorded ? std::optional(question) : std::nullopt;
}

// Whether it can be recorded changes nothing any more: the next call finds out.
void ServerQuestions::replied(std::uint64_t question, const std::string& method,
                              const Result<Json>& reply) {
  if (sink_ == nullptr) return;
  std::ignore = sink_->append("ClientReplied",
                              {{"question", question}, {"outcome", outcome_of(method, reply)}});
}

std::string outcome_of(const std::string& method, const Result<Json>& reply) {
  if (!reply) return "refused";
  if (method != "elicitation/create") return "answered";
  const std::string action = string_member(*reply, "action");
  return action == "accept" || action == "decline" || action == "cancel" ? action : "refused";
}

namespace {

std::size_t bytes_of(const Json& value) {
  return to_text(value).size() + beside_text(value);
}

std::size_t bytes_of(const gate::Answer& given) {
  if (given) return bytes_of(*given);
  return given.error().message.size() + bytes_of(given.error().data);
}

std::size_t bytes_of(const std::optional<ipc::ErrorObject>& refusal) {
  return refusal ? refusal->message.size() + bytes_of(refusal->data) : 0;
}

}  // namespace

void BufferedReply::keep(gate::Answer given, std::optional<ipc::ErrorObject>& refusal) {
  if (closed_) return;
  if (room_) seat_ = room_->take(bytes_of(given) + bytes_of(refusal));
  if (!room_ || seat_) {
    answer_ = std::move(given);
    return;
  }
  refusal = std::nullopt;
  answer_ = std::unexpected(gate::budget(
      "the answer came before its client came back, and was too long to be kept", Sent::kDone));
}

std::optional<gate::Answer> BufferedReply::take() {
  seat_ = nullptr;
  return std::exchange(answer_, std::nullopt);
}

void BufferedReply::close() {
  closed_ = true;
  seat_ = nullptr;
  answer_ = std::nullopt;
}

namespace {

// The name of the one question of ours in an input_required result.
constexpr const char* kQuestion = "question";
// Of one call. A server decides how much it logs and reports, and a client how fast it reads.
constexpr std::size_t kMaxLogs = 1'000;
constexpr std::size_t kMaxLoggedBytes = std::size_t{1} << 20U;
// Ten a second for a quarter of an hour; most calls report far less.
constexpr std::size_t kMaxReports = 10'000;
constexpr std::size_t kMaxReportedBytes = std::size_t{1} << 20U;

}  // namespace

void CallOfClient::belongs_to(const std::shared_ptr<McpSession>& session, const ipc::Id& id,
                              const RequestContext& context) {
  session_ = session;
  id_ = id;
  context_ = context;
}

std::shared_ptr<McpSession> CallOfClient::live() const {
  auto session = session_.lock();
  return session && session->is_calling(id_) ? session : nullptr;
}

void CallOfClient::answered(gate::Answer given) {
  // Its caller may make the next one at once, and others may hold this one a while.
  seat_.leave();
  if (const auto session = live())
    session->answered(id_, *this, std::move(given));
  else
    kept_.keep(std::move(given), refusal_);
}

void CallOfClient::take_back(gate::Gate& gate) {
  kept_.close();
  if (stop_) return stop_();
  gate.cancel(gate_id_);
}

void CallOfClient::progress(Json report) {
  const auto session = live();
  if (!session || context_.progress_token.is_null() || !report.is_object()) return;
  report["progressToken"] = context_.progress_token;
  reported_bytes_ += to_text(report).size();
  if (++reports_ > kMaxReports || reported_bytes_ > kMaxReportedBytes) return;
  session->say_about(id_, ipc::encode_notification("notifications/progress", report));
}

bool CallOfClient::answers(const std::string& method) const {
  const auto session = live();
  return session && session->client_answers(method, context_);
}

void CallOfClient::ask(const std::string& method, Json params, Replied done) {
  const auto session = live();
  if (!session) return;
  if (context_.era == Era::kInitialize) return session->ask(id_, method, params, std::move(done));
  Json asked{{"method", method}};
  if (!params.is_null()) asked["params"] = std::move(params);
  Json questions{{kQuestion, std::move(asked)}};
  session->ask_by_result(id_, std::move(questions), [done = std::move(done)](Result<Json> replies) {
    if (replies) return done(std::move((*replies)[kQuestion]));
    done(pass_on(replies));
  });
}

// One after the other: a person sees one form at a time.
void CallOfClient::ask_next(const std::shared_ptr<Asking>& asking) {
  if (asking->left.empty()) return asking->done(std::move(asking->replies));
  auto [name, question] = std::move(asking->left.back());
  asking->left.pop_back();
  ask(string_member(question, "method"), std::move(question["params"]),
      [weak = weak_from_this(), asking, name](Result<Json> reply) {
        if (!reply) return asking->done(pass_on(reply));
        asking->replies[name] = std::move(*reply);
        if (const auto self = weak.lock()) self->ask_next(asking);
      });
}

void CallOfClient::ask_all(const std::string& server, Json questions, Replied given) {
  const auto session = live();
  auto done = session ? recorded(server, questions, std::move(given)) : nullptr;
  if (!done) return;
  if (context_.era == Era::kInitialize) {
    const auto asking = std::make_shared<Asking>();
    for (auto& [name, question] : questions.items())
      asking->left.emplace_back(name, std::move(question));
    std::ranges::reverse(asking->left);
    asking->done = std::move(done);
    return ask_next(asking);
  }
  const Json brought = std::exchange(brought_, nullptr);
  Json replies = Json::object();
  for (const auto& [name, question] : questions.items()) {
    const Json* reply = find_member(brought, name);
    if (reply == nullptr || !reply->is_object()) break;
    replies[name] = *reply;
  }
  if (replies.size() == questions.size()) return done(std::move(replies));
  session->ask_by_result(id_, std::move(questions), std::move(done));
}

void CallOfClient::decided(const gate::Check& check) {
  if (const auto session = live()) session->spans_.decided(id_, check);
}

Json CallOfClient::request_meta() const {
  const auto session = live();
  return session ? session->spans_.meta_of(id_) : Json::object();
}

std::string CallOfClient::log_level() const {
  if (context_.era == Era::kStateless) return context_.log_level;
  const auto session = live();
  return session ? session->log_level() : std::string();
}

void CallOfClient::logged(const std::string& server, const Json& params) {
  const auto session = live();
  const auto message = session ? log_message(server, params) : std::nullopt;
  if (!message || !is_wanted(*message, log_level())) return;
  logged_bytes_ += to_text(*message).size();
  if (++logs_ > kMaxLogs || logged_bytes_ > kMaxLoggedBytes) return;
  session->say_about(id_, ipc::encode_notification("notifications/message", *message));
}

namespace {

// Of one call. Real servers ask a few; more would fill the record, or wear a person out.
constexpr std::size_t kMaxQuestions = 64;

// Recorded when it is over, also where no reply comes any more.
class RecordedReply {
 public:
  // A question without a name is the only one, and has the whole reply.
  struct Asked {
    std::uint64_t question;
    std::string name;
    std::string method;
  };
  RecordedReply(std::shared_ptr<ServerQuestions> record, std::vector<Asked> asked,
                gate::Caller::Replied done)
      : record_(std::move(record)), asked_(std::move(asked)), done_(std::move(done)) {}
  RecordedReply(const RecordedReply&) = delete;
  RecordedReply& operator=(const RecordedReply&) = delete;
  ~RecordedReply() {
    if (!noted_) note(fail(ErrorId::kServerCancelled, "nobody replied"));
  }
  void give(Result<Json> reply) {
    if (noted_) return;
    note(reply);
    if (done_) done_(std::move(reply));
  }

 private:
  void note(const Result<Json>& reply) {
    noted_ = true;
    for (const Asked& one : asked_) {
      const Json* own = reply && !one.name.empty() ? find_member(*reply, one.name) : nullptr;
      const Result<Json> alone = own != nullptr ? Result<Json>(*own) : reply;
      record_->replied(one.question, one.method, alone);
    }
  }

  std::shared_ptr<ServerQuestions> record_;
  std::vector<Asked> asked_;
  gate::Caller::Replied done_;
  bool noted_ = false;
};

}  // namespace

gate::Caller::Replied CallOfClient::recorded(const std::string& server, const Json& questions,
                                             Replied done) {
  asked_ += questions.size();
  if (!questions_ || asked_ > kMaxQuestions) return nullptr;
  std::vector<RecordedReply::Asked> asked;
  for (const auto& [name, question] : questions.items()) {
    const std::string method = string_member(question, "method");
    const auto number = questions_->asked(gate_id_, server, method);
    if (!number) return nullptr;
    asked.push_back({*number, name, method});
  }
  const auto reply = std::make_shared<RecordedReply>(questions_, std::move(asked), std::move(done));
  return [reply](Result<Json> given) { reply->give(std::move(given)); };
}

void CallOfClient::ask_for(const std::string& server, const std::string& method, Json params,
                           Replied done) {
  if (!live()) return;
  // Where it is not recorded, `done` is destroyed, and the asker is released with it.
  auto heard = recorded(server, Json{{"", {{"method", method}}}}, std::move(done));
  if (heard) ask(method, std::move(params), std::move(heard));
}

}  // namespace mcpac::gateway
