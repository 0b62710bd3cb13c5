// SPDX-License-Identifier: Apache-2.0

#include "project/clients/client_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/file.h"
#include "core/line_diff.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestClientFile = std::size_t{16}
                                           << 20U;  // ~/.claude.json grows to megabytes

Result<fs::path> resolved(const fs::path& file) {
  std::error_code error;
  if (fs::is_symlink(file, error)) {
    auto real = fs::canonical(file, error);
    if (error)
      return fail(ErrorId::kFileUnreadable, fmt::format("{} leads nowhere", file.string()),
                  {.where = file.string(), .why = "the link names no file", .fix = "remove it"});
    return real;
  }
  // One name a file, however it is written: what is kept for --undo is found by it.
  auto whole = fs::weakly_canonical(fs::absolute(file), error);
  if (error)
    return fail(ErrorId::kFileUnreadable, fmt::format("{} leads nowhere", file.string()),
                {.where = file.string(), .fix = "--file FILE with a path that can be read"});
  return whole;
}

}  // namespace

bool is_ours(const OrderedJson& entry) {
  if (!entry.is_object()) return false;
  const auto command = entry.find("command");
  const auto words = entry.find("args");
  const auto variables = entry.find("env");
  const bool is_named = command != entry.end() && command->is_string() &&
                        fs::path(command->get<std::string>()).filename() == "mcpac";
  // `run` and others start what they are told; a variable may name another program (PATH, LD_*).
  const bool serves = words != entry.end() && words->is_array() &&
                      std::ranges::find(*words, OrderedJson("serve")) != words->end();
  return is_named && serves && (variables == entry.end() || variables->empty());
}

Result<ClientFile> ClientFile::open(const ClientKind& kind, const fs::path& file) {
  auto path = resolved(file);
  if (!path) return pass_on(path);
  ClientFile made(kind, std::move(*path));
  struct stat facts {};
  made.exists_ = ::stat(made.path_.c_str(), &facts) == 0;
  if (!made.exists_ && errno != ENOENT) {
    return fail(ErrorId::kFileUnreadable, fmt::format("cannot look at {}", made.path_.string()),
                {.where = made.path_.string(), .why = std::system_category().message(errno)});
  }
  if (made.exists_) {
    if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || facts.st_nlink != 1) {
      return fail(ErrorId::kFileUnwritable, fmt::format("{} is not changed", made.path_.string()),
                  {.where = made.path_.string(),
                   .why = "it is no regular file of yours with one name",
                   .fix = "put a copy of it into its place, or write the entry by hand"});
    }
    made.mode_ = facts.st_mode & 0777U;
    auto bytes = read_file(made.path_, kLargestClientFile);
    if (!bytes) return pass_on(bytes);
    made.before_ = std::move(*bytes);
  }
  if (kind.format == ClientKind::Format::kToml) {
    auto text = TomlText::parse(made.before_, made.path_.string());
    if (!text) return pass_on(text);
    made.text_ = std::move(*text);
  } else {
    auto text = JsonText::parse(made.before_, made.path_.string());
    if (!text) return pass_on(text);
    made.text_ = std::move(*text);
  }
  if (const auto& entries = made.servers(); !entries.is_object())
    return fail(ErrorId::kConfigInvalid, fmt::format("\"{}\" is no table of servers", kind.servers),
                {.where = made.path_.string(),
                 .fix = "correct it as the client wants it; mcpac changes nothing in such a file"});
  return made;
}

const std::string& ClientFile::after() const {
  if (const auto* json = std::get_if<JsonText>(&text_)) return json->text();
  return std::get<TomlText>(text_).text();
}

OrderedJson ClientFile::servers() const {
  return servers({kind_->servers});
}

OrderedJson ClientFile::servers(const std::vector<std::string_view>& table) const {
  const auto* json = std::get_if<JsonText>(&text_);
  const OrderedJson* at = json != nullptr ? &json->value() : &std::get<TomlText>(text_).value();
  for (const std::string_view member : table) {
    const auto found = at->is_object() ? at->find(std::string(member)) : at->end();
    if (!at->is_object() || found == at->end()) return OrderedJson::object();
    at = &*found;
  }
  return *at;
}

std::vector<std::string> ClientFile::servers_of_projects() const {
  std::vector<std::string> names;
  const auto* json = std::get_if<JsonText>(&text_);
  if (json == nullptr || kind_->id != "claude-code" || !json->value().is_object()) return names;
  const auto projects = json->value().find("projects");
  if (projects == json->value().end() || !projects->is_object()) return names;
  for (const auto& [folder, project] : projects->items()) {
    const auto table = project.is_object() ? project.find("mcpServers") : project.end();
    if (!project.is_object() || table == project.end() || !table->is_object()) continue;
    for (const auto& [name, entry] : table->items()) {
      if (!is_ours(entry)) names.push_back(fmt::format("{} (project {})", name, folder));
    }
  }
  return names;
}

Result<void> ClientFile::put(const std::string& name, const OrderedJson& entry) {
  if (const auto entries = servers(); entries.contains(name) && entries[name] == entry) return {};
  servers_untouched_ = false;
  const std::string table(kind_->servers);
  if (auto* json = std::get_if<JsonText>(&text_)) return json->set(table, name, entry);
  return std::get<TomlText>(text_).set(table, name, entry);
}

Result<void> ClientFile::remove(const std::string& name) {
  if (!servers().contains(name)) return {};
  servers_untouched_ = false;
  const std::string table(kind_->servers);
  if (auto* json = std::get_if<JsonText>(&text_)) return json->remove(table, name);
  return std::get<TomlText>(text_).remove(table, name);
}

std::vector<std::string> ClientFile::diff(const std::string& name) const {
  const std::string table(kind_->servers);
  std::string before;
  std::string after;
  if (const auto* json = std::get_if<JsonText>(&text_)) {
    const auto old = JsonText::parse(before_, "");
    before = old ? old->masked(table, name) : "";
    after = json->masked(table, name);
    if (before_.empty()) before.clear();
  } else {
    const auto old = TomlText::parse(before_, "");
    before = old ? old->masked(table, name) : "";
    after = std::get<TomlText>(text_).masked(table, name);
  }
  return shown_diff(before, after);
}

Result<void> ClientFile::check_unchanged() const {
  std::error_code error;
  const bool exists = fs::exists(path_, error);
  auto bytes = exists ? read_file(path_, kLargestClientFile) : Result<std::string>("");
  if (bytes && exists == exists_ && *bytes == before_) return {};
  return fail(ErrorId::kFileUnwritable, fmt::format("{} changed meanwhile", path_.string()),
              {.where = path_.string(), .fix = "once more, with the client closed"});
}

Result<void> ClientFile::write(const std::string& bytes) const {
  if (exists_ && ::access(path_.c_str(), W_OK) != 0) {
    return fail(ErrorId::kFileUnwritable, fmt::format("{} is not yours to write", path_.string()),
                {.where = path_.string(), .fix = "chmod u+w, or --file FILE"});
  }
  if (!exists_) {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
  }
  if (auto unchanged = check_unchanged(); !unchanged) return unchanged;
  // Never more than it had for a moment: the mode is widened once the file is in its place.
  if (auto written = write_file_atomic(path_, bytes, mode_ & 0700U); !written) return written;
  if (exists_ && ::chmod(path_.c_str(), mode_) != 0)
    return fail(ErrorId::kFileUnwritable,
                fmt::format("{} was written, and not given its mode", path_.string()),
                {.where = path_.string()});
  return {};
}

Result<void> ClientFile::save() const {
  return write(after());
}

Result<void> ClientFile::restore(const std::string& bytes, bool existed) const {
  if (existed) return write(bytes);
  if (auto unchanged = check_unchanged(); !unchanged) return unchanged;
  std::error_code error;
  if (fs::remove(path_, error)) return {};
  return fail(ErrorId::kFileUnwritable, fmt::format("cannot remove {}", path_.string()),
              {.where = path_.string()});
}

}  // namespace mcpac::project
