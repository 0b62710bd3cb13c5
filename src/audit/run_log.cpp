// The writing side: one file, one descriptor, one write(2) an event.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "audit/limits.h"
#include "audit/log.h"
#include "core/rfc3339.h"

namespace mcpac::audit {
namespace {

std::string reason(int error) {
  return std::system_category().message(error);
}

std::unexpected<Error> unwritable(const std::filesystem::path& path, std::string_view why_not) {
  return fail(ErrorId::kAuditUnwritable,
              fmt::format("cannot record in {}: {}", path.string(), why_not),
              {.where = path.string(),
               .why = "what cannot be recorded does not happen",
               .fix = "free space, or point XDG_STATE_HOME at a folder that you can write"});
}

// The folder, made where it is absent. One that others can write is refused: they could take
// records away, or put a file of their own in the place of the next one.
Result<void> prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return unwritable(folder, reason(errno));
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return unwritable(folder, reason(errno));
  if (!S_ISDIR(info.st_mode)) return unwritable(folder, "it is not a folder");
  if (info.st_uid != ::geteuid()) return unwritable(folder, "the folder belongs to another user");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return unwritable(folder, "other users can write the folder (chmod 700 it)");
  }
  return {};
}

// Iterative: the value may be deeper than the stack is.
bool is_deeper_than(const Json& value, std::size_t limit) {
  std::vector<std::pair<const Json*, std::size_t>> open{{&value, 1}};
  while (!open.empty()) {
    const auto [item, depth] = open.back();
    open.pop_back();
    if (!item->is_structured()) continue;
    if (depth > limit) return true;
    for (const Json& child : *item) open.emplace_back(&child, depth + 1);
  }
  return false;
}

}  // namespace

bool is_run_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<std::unique_ptr<RunLog>> RunLog::create(const std::filesystem::path& folder,
                                               std::string run_id, const Clock& clock) {
  if (!is_run_id(run_id)) {
    return fail(ErrorId::kAuditUnwritable, "a run id is 1 to 64 letters, digits or '-'");
  }
  if (auto ready = prepare_folder(folder); !ready) return pass_on(ready);
  auto path = folder / (run_id + std::string(kFileEnding));
  // O_EXCL: a run never continues a file that it did not begin, nor follows a link laid in its
  // place.
  UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600));
  if (!fd) return unwritable(path, reason(errno));
  return std::unique_ptr<RunLog>(
      new RunLog(std::move(fd), std::move(path), std::move(run_id), clock));
}

RunLog::~RunLog() = default;

Result<std::string> RunLog::append(std::string_view kind, Json payload) {
  if (broken_)
    return unwritable(path_, "an earlier event was cut in half and could not be taken back");
  if (kind.empty()) return unwritable(path_, "an event without a kind");
  if (is_deeper_than(payload, kLineLimits.max_depth - 1)) {
    return unwritable(path_,
                      fmt::format("the event nests deeper than {} levels", kLineLimits.max_depth));
  }
  Event event{ids_.next(clock_), run_id_, std::string(kind), rfc3339_utc(clock_.wall_now()),
              std::move(payload)};
  std::string line = to_text(to_json(event));
  line += '\n';
  if (line.size() > kMaxEventBytes) {
    return unwritable(path_, fmt::format("an event of {} bytes is over the limit of {}",
                                         line.size(), kMaxEventBytes));
  }
  if (auto written = write_line(line); !written) return pass_on(written);
  return std::move(event.event_id);
}

Result<void> RunLog::write_line(std::string_view line) {
  ssize_t n = 0;
  do {
    n = ::write(fd_.get(), line.data(), line.size());
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(line.size())) {
    size_ += line.size();
    return {};
  }
  const std::string why_not = n < 0 ? reason(errno) : "there was room for a part of it only";
  // Also after an error that wrote nothing: cutting where the file should end costs nothing.
  broken_ = ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0;
  return unwritable(path_, why_not);
}

}  // namespace mcpac::audit
