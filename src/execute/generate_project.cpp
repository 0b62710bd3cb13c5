#include "execute/generate_project.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "core/file.h"
#include "mcp/client.h"

namespace mcpac::execute {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

asio::awaitable<Result<ServerListing>> list_server(asio::any_io_executor executor,
                                                   mcp::ServerConfig config) {
  auto client = co_await mcp::Client::connect(executor, std::move(config));
  if (!client) co_return pass_on(client);
  auto listing = co_await (*client)->list_tools();
  co_await (*client)->close();
  co_return listing;
}

bool is_accepted(const std::vector<std::string>& accepted, const std::string& server,
                 const std::string& tool) {
  return std::ranges::any_of(accepted, [&](const std::string& name) {
    return name == server || name == server + "." + tool;
  });
}

// The listing of a configured server that was not asked (it is disabled), as the lock has it.
ServerListing listing_from(const codegen::LockedServer& locked) {
  ServerListing listing{
      locked.name, locked.identity, locked.implementation, locked.protocol_version, {}};
  for (const auto& tool : locked.tools) listing.tools.push_back({tool.name, tool.definition});
  return listing;
}

// A locked tool keeps its approved definition, also when its server changes or withdraws it: a tool
// that went and came back as another would else be approved in two steps. Only --accept changes it.
void keep_locked(ServerListing& listing, const codegen::LockedServer& locked,
                 const std::vector<std::string>& accepted, GenerateReport& report) {
  std::set<std::string> offered;
  for (auto& tool : listing.tools) {
    offered.insert(tool.name);
    const auto found = std::ranges::find(locked.tools, tool.name, &codegen::LockedTool::name);
    const std::string name = listing.server + "." + tool.name;
    if (found == locked.tools.end()) {
      report.added.push_back(name);
    } else if (codegen::definition_digest(tool.definition) != found->digest &&
               !is_accepted(accepted, listing.server, tool.name)) {
      report.drifted.push_back(name);
      tool.definition = found->definition;
    }
  }
  for (const auto& tool : locked.tools) {
    if (offered.contains(tool.name) || is_accepted(accepted, listing.server, tool.name)) continue;
    report.withdrawn.push_back(listing.server + "." + tool.name);
    listing.tools.push_back({tool.name, tool.definition});
  }
}

void merge_with_lock(const Project& project, const codegen::Lock& lock,
                     const std::vector<std::string>& accepted, std::vector<ServerListing>& listings,
                     GenerateReport& report) {
  for (const auto& locked : lock.servers) {
    if (project.config.find(locked.name) == nullptr) continue;  // taken out of mcpac.json: it goes
    const auto listing = std::ranges::find(listings, locked.name, &ServerListing::server);
    if (listing == listings.end()) {
      listings.push_back(listing_from(locked));
    } else {
      keep_locked(*listing, locked, accepted, report);
    }
  }
  for (const auto& listing : listings) {
    if (lock.find_server(listing.server) != nullptr) continue;
    for (const auto& tool : listing.tools) report.added.push_back(listing.server + "." + tool.name);
  }
}

std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error))
      files.insert(entry.path().lexically_relative(folder).string());
  }
  return files;
}

// True for a file that a generator of ours wrote, as its first lines say: only such files are
// removed.
bool is_generated(const fs::path& file) {
  std::ifstream stream(file);
  std::string head(400, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find("mcpac generate") != std::string::npos;
}

// Makes servers/ equal to `files`. Each file is replaced atomically; a reader never sees half of
// one.
Result<void> write_headers(const fs::path& folder, const std::map<std::string, std::string>& files,
                           GenerateReport& report) {
  std::error_code error;
  // A cloned project could aim these at another folder of the user.
  for (const fs::path& place : {folder, folder / "mcpac"}) {
    if (fs::is_symlink(place, error)) {
      return fail(ErrorId::kFileUnwritable, fmt::format("{} is a link", place.string()),
                  {.why = "generated headers are written into the project itself",
                   .fix = "remove the link"});
    }
  }
  for (const auto& [name, text] : files) {
    const auto old = read_file(folder / name);
    if (old && *old == text) continue;
    fs::create_directories((folder / name).parent_path(), error);
    if (auto written = write_file_atomic(folder / name, text); !written) return written;
    report.written.push_back("servers/" + name);
  }
  for (const std::string& name : files_below(folder)) {
    if (files.contains(name) || !is_generated(folder / name)) continue;
    fs::remove(folder / name, error);
    report.removed.push_back("servers/" + name);
  }
  return {};
}

}  // namespace

Result<std::vector<ServerListing>> list_servers(
    const std::vector<mcp::ServerConfig>& servers,
    const std::function<void(const ServerProgress&)>& progress) {
  asio::io_context loop;
  std::map<std::string, Result<ServerListing>> outcomes;
  std::size_t waiting = 0;
  for (const auto& server : servers) {
    if (server.disabled) continue;
    progress({server.name, ServerProgress::State::kConnecting, 0, {}});
    ++waiting;
    asio::co_spawn(loop, list_server(loop.get_executor(), server),
                   [&outcomes, &progress, &waiting, name = server.name](
                       std::exception_ptr bug, Result<ServerListing> listing) {
                     if (bug) std::rethrow_exception(bug);
                     --waiting;
                     if (listing) {
                       progress({name, ServerProgress::State::kListed, listing->tools.size(), {}});
                     } else {
                       progress({name, ServerProgress::State::kFailed, 0, listing.error()});
                     }
                     outcomes.emplace(name, std::move(listing));
                   });
  }
  // Ctrl-C: the clients die with the loop, and kill what they started.
  bool interrupted = false;
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    loop.stop();
  });
  while (waiting > 0 && !interrupted) loop.run_one();
  if (interrupted)
    return fail(ErrorId::kInterrupted, "interrupted while servers were asked for their tools");
  std::vector<ServerListing> listings;
  for (auto& [name, outcome] : outcomes) {
    if (!outcome) return pass_on(outcome);
    listings.push_back(std::move(*outcome));
  }
  return listings;
}

Result<GenerateReport> write_project(const Project& project, std::vector<ServerListing> listings,
                                     const std::vector<std::string>& accepted) {
  GenerateReport report;
  std::error_code error;
  codegen::Lock before;
  if (fs::exists(project.lock_file(), error)) {
    auto lock = load_lock(project);
    if (!lock) return pass_on(lock);
    before = std::move(*lock);
  }
  merge_with_lock(project, before, accepted, listings, report);
  auto output = codegen::generate(listings);
  if (!output) return pass_on(output);
  if (auto written = write_headers(project.headers(), output->files, report); !written)
    return pass_on(written);
  // The lock comes last: until it is there, the new headers do not fit it and nothing runs.
  const std::string text = codegen::to_text(output->lock);
  const auto old = read_file(project.lock_file());
  if (!old || *old != text) {
    if (auto written = write_file_atomic(project.lock_file(), text); !written)
      return pass_on(written);
    report.written.emplace_back("mcpac.lock");
  }
  report.output = std::move(*output);
  return report;
}

}  // namespace mcpac::execute
