// Requests of an admitted client to the resident host.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "core/rfc3339.h"
#include "resident/host.h"
#include "resident/request.h"

namespace mcpac::resident {
namespace {

std::set<std::string> names_in(const Json& body, const char* member) {
  std::set<std::string> names;
  if (const Json* list = find_member(body, member); list != nullptr && list->is_array()) {
    for (const Json& name : *list) {
      if (name.is_string()) names.insert(name.get<std::string>());
    }
  }
  return names;
}

const char* to_string(Worker::State state) {
  switch (state) {
    case Worker::State::kWaiting: return "waits";
    case Worker::State::kRunning: return "runs";
    case Worker::State::kEnding: return "ends";
  }
  return "?";
}

}  // namespace

void ResidentHost::answer(int id, Visitor& visitor, Message message) {
  const std::string wanted = string_member(message.body, "do");
  using State = Visitor::State;
  if (wanted == "run" && visitor.state == State::kNew) return run(id, visitor, message);
  if (wanted == "signal" && visitor.state == State::kServed) return pass_signal(id, message.body);
  if (wanted == "servers" && visitor.state == State::kAlone)
    return workers_.know_servers(visitor.config_file, names_in(message.body, "servers"));
  if (wanted == "show" && visitor.state == State::kNew) {
    static_cast<void>(send_message(visitor.socket.get(), shown()));
    return gone(id);
  }
  if (wanted == "alone" && visitor.state == State::kNew)
    return runs_alone(id, visitor, string_member(message.body, "config"));
  gone(id);
}

void ResidentHost::works_alone(Visitor& visitor, const std::string& why) const {
  visitor.state = Visitor::State::kAlone;
  static_cast<void>(send_message(visitor.socket.get(), {{"alone", why}}));
}

void ResidentHost::run(int id, Visitor& visitor, Message& message) {
  if (ending_) return works_alone(visitor, "the host is ending");
  if (string_member(message.body, "installation") != installation_) {
    works_alone(visitor, "the host is another mcpac than this one");
    if (installation_stamp(options_.folders) != installation_) begin_end("mcpac was exchanged");
    return;
  }
  auto& descriptors = message.descriptors;
  auto request = descriptors.size() != kPassed
                     ? Result<Request>(fail(ErrorId::kUsage, "a part of the request is missing"))
                     : from_memory(descriptors[kRequestAt].get());
  auto key = request ? key_of(*request, descriptors[kFolderAt].get()) : Result<std::string>("");
  if (!request || !key) {
    works_alone(visitor, (!request ? request.error() : key.error()).what);
    return gone(id);
  }
  Worker* worker = workers_.of_project(request->config_file);
  const bool waits = worker != nullptr && worker->state == Worker::State::kWaiting;
  const bool given =
      waits && worker->key == *key &&
      worker->process.give({{"do", "run"}, {"client", visitor.process.number()}}, descriptors);
  if (given) {
    visitor.state = Visitor::State::kServed;
    worker->visitor = id;
    worker->state = Worker::State::kRunning;
    worker->since = Clock::now();
  }
  // The worker looks at who asks before it begins (handshake.h). We do so meanwhile, before we
  // prepare anything from what was asked.
  if (const auto why = why_apart_from_us(visitor.process)) {
    refuse(visitor.process, visitor.socket.get(), *why);
    return gone(id);
  }
  visitor.config_file = request->config_file;
  used_ = Clock::now();
  const int folder = ::fcntl(descriptors[kFolderAt].get(), F_DUPFD_CLOEXEC, 3);
  workers_.use({.key = std::move(*key),
                .config_file = std::move(request->config_file),
                .environment = std::move(request->environment),
                .folder = std::make_shared<const UniqueFd>(UniqueFd(folder)),
                .umask = request->umask,
                .servers = {},
                .used = {}});
  if (!given) return works_alone_after(worker, id, visitor, "no worker waits for this project");
  say(fmt::format("worker {} serves process {}", worker->process.process().number(),
                  visitor.process.number()));
}

void ResidentHost::runs_alone(int id, Visitor& visitor, const std::string& config_file) {
  if (!config_file.starts_with('/')) return gone(id);
  visitor.config_file = config_file;
  works_alone_after(workers_.of_project(config_file), id, visitor, "as it wishes");
}

// Servers of the project that wait would be older than what it runs, and might not bear others of
// their kind beside them; or they were prepared from something else. Nothing is prepared until they
// have ended, and only then the client works alone.
void ResidentHost::works_alone_after(Worker* worker, int id, Visitor& visitor, const char* why) {
  if (worker == nullptr || worker->visitor != 0) return works_alone(visitor, why);
  visitor.state = Visitor::State::kServed;
  worker->visitor = id;
  worker->end();
}

Worker* ResidentHost::worker_of(int id) {
  for (Worker& worker : workers_.list()) {
    if (worker.visitor == id) return &worker;
  }
  return nullptr;
}

void ResidentHost::pass_signal(int id, const Json& body) {
  const Json* number = find_member(body, "signal");
  Worker* worker = worker_of(id);
  if (worker == nullptr || number == nullptr || !number->is_number_unsigned()) return gone(id);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSTOP, SIGCONT}) {
    if (number->get<int>() == signal) static_cast<void>(worker->process.process().signal(signal));
  }
}

void ResidentHost::hear_worker(Worker& worker) {
  // Until there is nothing more: it may have ended already.
  while (true) {
    const auto received = receive_message(worker.process.channel());
    // A socket whose other end is closed stays readable until its process has ended, which
    // takes as long as its memory takes to be given back.
    if (received.arrival == Arrival::kClosed) worker.process.hang_up();
    if (received.arrival != Arrival::kMessage) return;
    if (received.message.process != worker.process.process().number()) continue;
    if (find_member(received.message.body, "took") != nullptr) worker.took = true;
    if (find_member(received.message.body, "servers") != nullptr)
      workers_.know_servers(worker.config_file, names_in(received.message.body, "servers"));
  }
}

void ResidentHost::reap(Worker& worker) {
  hear_worker(worker);
  const auto ended = worker.process.ended();
  if (!ended) return;
  say(fmt::format("worker {} ended: {}", worker.process.process().number(),
                  *ended < 0 ? fmt::format("signal {}", -*ended) : fmt::format("{}", *ended)));
  const auto found = visitors_.find(worker.visitor);
  if (found != visitors_.end()) {
    const char* how = *ended < 0 ? "signal" : "exit";
    static_cast<void>(
        send_message(found->second.socket.get(),
                     {{"ended", true}, {"took", worker.took}, {how, std::abs(*ended)}}));
    // Where it never began the client works alone now; else it ends, and its connection with it.
    found->second.state = Visitor::State::kAlone;
  }
  workers_.remove(worker);
}

Json ResidentHost::shown() {
  const auto now = Clock::now();
  const auto seconds = [&](Clock::time_point since) {
    return std::chrono::duration_cast<std::chrono::seconds>(now - since).count();
  };
  Json workers = Json::array();
  for (const Worker& worker : workers_.list()) {
    Json shown{{"process", worker.process.process().number()},
               {"project", worker.config_file},
               {"state", to_string(worker.state)},
               {"seconds", seconds(worker.since)},
               {"memory", memory_of(worker.process.process().number())}};
    const Plan* plan = workers_.plan_of(worker.config_file);
    if (plan != nullptr) shown["servers"] = plan->servers;
    const auto client = visitors_.find(worker.visitor);
    if (client != visitors_.end()) shown["client"] = client->second.process.number();
    workers.push_back(std::move(shown));
  }
  Json alone = Json::array();
  for (const auto& [id, visitor] : visitors_) {
    if (visitor.state == Visitor::State::kAlone)
      alone.push_back({{"process", visitor.process.number()}, {"project", visitor.config_file}});
  }
  return {{"process", ::getpid()},           {"started", rfc3339_utc(started_)},
          {"memory", memory_of(::getpid())}, {"idle_seconds", options_.idle.count()},
          {"workers", std::move(workers)},   {"others", std::move(alone)}};
}

}  // namespace mcpac::resident
