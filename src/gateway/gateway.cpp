#include "gateway/gateway.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include <boost/asio/post.hpp>

#include "core/printable.h"
#include "gate/servers.h"
#include "gateway/bounded_warnings.h"
#include "gateway/kept_memory.h"
#include "servers/tool_tables.h"

namespace mcpac::gateway {
namespace {

constexpr auto kSweep = std::chrono::seconds(30);

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(GatewaySetup setup) {
  auto lock = project::load_lock(setup.project);
  if (!lock) return pass_on(lock);
  std::unique_ptr<Gateway> made(new Gateway(std::move(setup), std::move(*lock)));
  auto recording =
      history::RunRecording::open(made->setup_.recording, made->lock_, made->setup_.warning);
  if (!recording) return pass_on(recording);
  made->recording_ = std::move(*recording);
  made->recording_->join(*made->host_);
  const auto warnings = std::make_shared<BoundedWarnings>(made->setup_.warning, made->clock_);
  // What is asked of servers takes the way of their calls.
  made->host_->on_loop([&made, &warnings] {
    const auto warn = [warnings](const std::string& text) { (*warnings)(text); };
    made->offers_ = std::make_unique<Offers>(made->host_->offering(), made->host_->executor(),
                                             made->clock_, warn);
    made->announcements_ = std::make_unique<Announcements>(
        *made->offers_, made->runs_, made->clock_, made->host_->executor(), warn);
  });
  made->upstream_ = std::make_unique<TimedUpstream>(
      made->host_->servers(), made->clock_,
      [warnings](const Error& error) { (*warnings)(error.to_text()); });
  made->refusals_ = std::make_unique<servers::ToldRefusals>(
      made->setup_.project.config,
      [executor = made->host_->executor(), warnings, warning = made->setup_.warning](
          const std::string& text, bool is_bounded) {
        // Other warnings, which a server can cause in numbers, silence none of these.
        boost::asio::post(executor, [warnings, warning, text, is_bounded] {
          is_bounded ? warning(text) : (*warnings)(text);
        });
      });
  made->begin_own_servers();
  if (auto begun = made->begin_tracing(); !begun) return pass_on(begun);
  made->begin_preparing();
  return made;
}

void Gateway::begin_own_servers() {
  if (recording_->is_replay()) return;  // no process is started
  auto own = std::make_unique<OwnServers>(OwnServers::Setup{
      .upstreams = &host_->upstreams(),
      .config = &setup_.project.config,
      .clock = &clock_,
      .executor = host_->executor(),
      .places = [this](const std::string& client) { return places_for(client); },
      .is_in_use =
          [this](const std::string& client) {
            return std::ranges::any_of(runs_.all(), [&](const auto& run) {
              return run->identity() == client && !run->has_ended() && run->is_in_use();
            });
          },
      .started =
          [this](const std::string& client, const std::string& process) {
            offers_->use({process});
            announcements_->let_in(client, {process});
          }});
  if (!own->servers().empty()) own_ = std::move(own);
}

void Gateway::begin_preparing() {
  if (!setup_.code) return;
  tools_ = std::make_unique<code_mode::ReadyTools>(setup_.folders);
  const auto say = [executor = host_->executor(),
                    warning = setup_.warning](const std::string& text) {
    boost::asio::post(executor, [warning, text] { warning("code mode: " + text); });
  };
  auto begun = code_mode::Preparation::start(setup_.folders, setup_.code->limits, say);
  // Then the first program does it.
  if (begun)
    preparation_ = std::move(*begun);
  else
    setup_.warning(begun.error().to_text());
}

Result<void> Gateway::begin_tracing() {
  if (!setup_.tracing) return {};
  const auto warnings = std::make_shared<BoundedWarnings>(setup_.warning, clock_);
  auto begun = TraceSending::begin(
      *setup_.tracing, {.host = host_.get(),
                        .clock = &clock_,
                        .inner = upstream_.get(),
                        .transport = [this](const std::string& server) -> std::string {
                          const auto* config = setup_.project.config.find(server);
                          return config != nullptr && config->is_http() ? "tcp" : "pipe";
                        },
                        .warning = [warnings](const std::string& text) { (*warnings)(text); }});
  if (!begun) return pass_on(begun);
  traces_ = std::move(*begun);
  return {};
}

void Gateway::end_tracing() {
  if (traces_) traces_->end();
}

Result<void> Gateway::end_recording() {
  return recording_->end(*host_, "", setup_.warning);
}

Gateway::Gateway(GatewaySetup setup, codegen::Lock lock)
    : setup_(std::move(setup)),
      lock_(std::move(lock)),
      lock_digests_(project::digests_of(lock_)),
      world_(setup_.project, clock_),
      approvals_(setup_.folders.approvals(), setup_.warning, clock_),
      use_(setup_.folders, setup_.project.config_file),
      host_(std::make_unique<servers::Host>(setup_.project.config, lock_)),
      programs_(std::make_unique<code_mode::Programs>(host_->executor())) {
  keep_memory_of_results();
  world_.tools = servers::tool_schemas(lock_);
  host_->on_loop([this] {
    // What servers ask while they work on a call goes to the client that made it, if that answers.
    const Json nothing_special = Json::object();
    host_->upstreams().declare({{"elicitation", {{"form", nothing_special}}},
                                {"sampling", nothing_special},
                                {"roots", nothing_special}});
    host_->upstreams().on_notified(
        [this](const std::string& server, const std::string& method, const Json& params) {
          announcements_->heard(server, method, params);
        });
    host_->upstreams().start_again_what_ends();
    tell_of_states();
    // Asked at each start, so that clients that came or lost rights since count.
    if (setup_.project.confined)
      setup_.project.confined->find_by([this] { return places_for_all(); });
    sweep_ = std::make_shared<boost::asio::steady_timer>(host_->executor());
    sweep_later();
    host_->upstreams().on_drift([this](std::string_view what, const std::string& name) {
      for (const auto& run : runs_.all()) run->heard_of_drift(what, name);
    });
    host_->upstreams().on_ended([this](const std::string& server) {
      for (const auto& run : runs_.all()) run->heard_of_end(server);
    });
  });
}

// To the person with all that is known; to clients, where they hear logs, without words of servers.
void Gateway::tell_of_states() {
  if (!setup_.warning) return;
  const auto tell = [this](const std::string& process, std::string_view text) {
    for (const auto& run : runs_.all()) run->heard_of_state(process, std::string(text));
  };
  host_->upstreams().on_failed([this, tell](const std::string& process, const Error& error) {
    const std::string server = gate::server_of(process);
    setup_.warning(fmt::format("{}: {}", server, error.to_text()));
    tell(process, fmt::format("the server {} has ended, or cannot be used", server));
  });
  host_->upstreams().on_slow_start([this, tell](const std::string& process, std::string_view text) {
    setup_.warning(text);
    tell(process, fmt::format("the server {} is still starting", gate::server_of(process)));
  });
  host_->upstreams().on_tools([this, tell](const std::string& process,
                                           const servers::Drifted& drifted,
                                           const std::set<std::string>& gained) {
    const std::string server = gate::server_of(process);
    if (!drifted.empty()) {
      std::string names;
      for (const auto& [tool, how] : drifted) names += (names.empty() ? "" : ", ") + tool;
      const auto text =
          fmt::format("{}: not offered, since {} not what mcpac.lock approved: {}", server,
                      drifted.size() == 1 ? "it is" : "they are", printable(names));
      setup_.warning(text + fmt::format("; `mcpac lock diff {}` shows how, `mcpac lock accept` "
                                        "approves it, and mcpac serve reads it when it starts",
                                        server));
      tell(process, text);
    }
    if (gained.empty()) return;
    const auto names = fmt::format("{}", fmt::join(gained, ", "));
    // Some never get into the lock: at each start the same would be said again.
    const auto* config = setup_.project.config.find(server);
    if (config != nullptr) {
      const mcp::Finding told(*config, "told of tools that are not locked: " + names);
      if (told.is_kept()) return;
      told.keep();
    }
    const auto text = fmt::format("{}: the server has tools that mcpac.lock does not: {}", server,
                                  printable(names));
    // Lock commands answer no questions of servers, and are not offered what is for clients that
    // do.
    setup_.warning(text +
                   fmt::format("; they wait for `mcpac lock accept {}` (which finds none that "
                               "a server has only for clients that it may ask); this is not said "
                               "again for 30 days",
                               server));
    tell(process, text);
  });
}

Gateway::~Gateway() {
  preparation_.reset();
  refusals_.reset();
  std::promise<void> ended;
  host_->on_loop([&] {
    host_->upstreams().on_drift(nullptr);
    host_->upstreams().on_ended(nullptr);
    host_->upstreams().on_notified(nullptr);
    end_all("gateway-ended");
    programs_->stop_all([&ended] { ended.set_value(); });
  });
  // Programs need the loop to end.
  ended.get_future().wait();
  host_->on_loop([this] {
    if (setup_.project.confined) setup_.project.confined->find_by(nullptr);
    runs_.clear();
    own_.reset();
    announcements_.reset();
    offers_.reset();
    sweep_.reset();
    if (traces_) traces_->close();
  });
}

Result<std::shared_ptr<ClientGrant>> Gateway::let_in(const Principal& principal,
                                                     const Rules& rules) {
  // A run that begins now would never be ended.
  if (ending_) return fail(ErrorId::kCallDenied, "mcpac serve ends");
  if (runs_.has_lost(principal)) {
    return fail(ErrorId::kCallDenied, "what this client held was taken back",
                {.fix = "start mcpac serve again"});
  }
  if (auto run = runs_.find(principal.client)) return run;
  auto read = rules();
  if (!read) return pass_on(read);
  auto run = begin(principal, std::move(*read));
  if (run) runs_.add(principal.client, *run);
  if (setup_.project.confined)
    setup_.project.confined->find_by([this] { return places_for_all(); });
  if (run && own_) own_->give_more_places((*run)->identity());
  return run;
}

// The timer goes on the loop, before this object: a handler that was on its way finds it gone.
void Gateway::sweep_later() {
  sweep_->expires_after(kSweep);
  sweep_->async_wait([this, timer = std::weak_ptr(sweep_)](const auto& error) {
    if (error || timer.expired()) return;
    runs_.sweep();
    if (own_) own_->sweep();
    if (upstream_ && upstream_->figures().in_work == 0) give_back_memory();
    sweep_later();
  });
}

Figures Gateway::figures() const {
  Figures figures;
  runs_.count(figures);
  figures.upstream = upstream_->figures();
  if (traces_) figures.spans = traces_->figures();
  figures.server_restarts = host_->upstreams().restarts();
  return figures;
}

void Gateway::end_all(std::string_view verdict) {
  ending_ = true;
  runs_.end_all(verdict);
}

}  // namespace mcpac::gateway
