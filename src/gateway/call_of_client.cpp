#include "gateway/call_of_client.h"

#include <utility>

#include "gateway/client_session.h"

namespace mcpac::gateway {

void CallOfClient::belongs_to(const std::shared_ptr<ClientSession>& session, const ipc::Id& id,
                              const RequestContext& context) {
  session_ = session;
  id_ = id;
  context_ = context;
}

std::shared_ptr<ClientSession> CallOfClient::live() const {
  auto session = session_.lock();
  return session && session->is_calling(id_) ? session : nullptr;
}

void CallOfClient::answered(gate::Answer given) {
  if (const auto session = live())
    session->answered(id_, context_.era, std::move(given));
  else
    kept_ = std::move(given);
}

std::optional<gate::Answer> CallOfClient::take_kept() {
  return std::exchange(kept_, std::nullopt);
}

void CallOfClient::progress(Json report) {
  const auto session = live();
  if (!session || context_.progress_token.is_null()) return;
  report["progressToken"] = context_.progress_token;
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
  session->ask_by_result(id_, method, std::move(params), std::move(done));
}

}  // namespace mcpac::gateway
