#include "execute/generate_project.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

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

// A locked tool keeps its approved definition: a change is reported, never taken over in passing.
void keep_locked(std::vector<ServerListing>& listings, const codegen::Lock& lock,
                 GenerateReport& report) {
  for (auto& listing : listings) {
    for (auto& tool : listing.tools) {
      const auto* locked = lock.find_tool(listing.server, tool.name);
      const std::string name = listing.server + "." + tool.name;
      if (locked == nullptr) {
        report.added.push_back(name);
      } else if (codegen::definition_digest(tool.definition) != locked->digest) {
        report.drifted.push_back(name);
        tool.definition = locked->definition;
      }
    }
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

// True for a file that a generator of ours wrote: only such files are ever removed.
bool is_generated(const fs::path& file) {
  const auto text = read_file(file, 1U << 20U);
  return text && text->find("mcpac generate") != std::string::npos;
}

// Makes servers/ equal to `files`. Each file is replaced atomically; a reader never sees half of
// one.
Result<void> write_headers(const fs::path& folder, const std::map<std::string, std::string>& files,
                           GenerateReport& report) {
  std::error_code error;
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
  for (const auto& server : servers) {
    if (server.disabled) continue;
    progress({server.name, ServerProgress::State::kConnecting, 0, {}});
    asio::co_spawn(loop, list_server(loop.get_executor(), server),
                   [&outcomes, &progress, name = server.name](std::exception_ptr bug,
                                                              Result<ServerListing> listing) {
                     if (bug) std::rethrow_exception(bug);
                     if (listing) {
                       progress({name, ServerProgress::State::kListed, listing->tools.size(), {}});
                     } else {
                       progress({name, ServerProgress::State::kFailed, 0, listing.error()});
                     }
                     outcomes.emplace(name, std::move(listing));
                   });
  }
  loop.run();
  std::vector<ServerListing> listings;
  for (auto& [name, outcome] : outcomes) {
    if (!outcome) return pass_on(outcome);
    listings.push_back(std::move(*outcome));
  }
  return listings;
}

Result<GenerateReport> write_project(const Project& project, std::vector<ServerListing> listings) {
  GenerateReport report;
  std::error_code error;
  if (fs::exists(project.lock_file(), error)) {
    auto lock = load_lock(project);
    if (!lock) return pass_on(lock);
    keep_locked(listings, *lock, report);
  } else {
    for (const auto& listing : listings) {
      for (const auto& tool : listing.tools)
        report.added.push_back(listing.server + "." + tool.name);
    }
  }
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
