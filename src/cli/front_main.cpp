// SPDX-License-Identifier: Apache-2.0

// bin/mcpac: what people, agents and clients start. It has a worker of the resident host do the
// command, where one may and does, and becomes all of mcpac otherwise (libexec/mcpac/mcpac).
//
// It is small because it has to be quick: all of mcpac takes milliseconds to be loaded, which is
// longer than a worker takes to the first call of a program that it has seen (docs/adr/0043). So it
// reads no option and knows no project; where a word could mean something to it, it asks no worker.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "cli/heap_tuning.h"
#include "cli/user_folders.h"
#include "cli/worker_choice.h"
#include "core/error.h"
#include "core/error_json.h"
#include "resident/client.h"
#include "resident/patience.h"

namespace {

using namespace mcpac;

int tell(const Error& error, const std::vector<std::string>& words) {
  const bool json = std::ranges::find(words, "--json") != words.end();
  const std::string text = json ? to_text(Json{{"error", error_json(error)}}) : error.to_text();
  std::fputs((text + "\n").c_str(), stderr);
  return static_cast<int>(exit_code_of(error.id));
}

// Where one of these is closed, the next file that is opened has its number: no place for a visit.
bool has_standard_descriptors() {
  return ::fcntl(0, F_GETFD) >= 0 && ::fcntl(1, F_GETFD) >= 0 && ::fcntl(2, F_GETFD) >= 0;
}

// The worker's exit code; nothing: all of mcpac goes on from here, and hears what came of it.
std::optional<int> have_it_done(const project::Folders& folders,
                                const std::vector<std::string>& words) {
  if (!cli::may_go_to_a_worker({words.begin() + 1, words.end()}) || cli::is_told_to_be_alone() ||
      !has_standard_descriptors() || cli::has_terminal())
    return std::nullopt;
  resident::set_patience_from_environment();
  resident::Visit visit({folders, "mcpac.json", words});
  // One that was lost in the middle is told here: nothing of it may be done again.
  if (const auto& outcome = visit.outcome())
    return *outcome ? **outcome : tell(outcome->error(), words);
  visit.hand_over();
  return std::nullopt;
}

// `mcpac -C FOLDER execute …`, a folder and a command that a worker may do; every other -C is all
// of mcpac's.
void enter_folder(std::vector<std::string>& words) {
  if (words.size() < 4 || words[1] != "-C" ||
      !cli::may_go_to_a_worker({words.begin() + 3, words.end()}))
    return;
  if (::chdir(words[2].c_str()) == 0) words.erase(words.begin() + 1, words.begin() + 3);
}

int become(const std::filesystem::path& whole, std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  cli::tune_heap_of_next_program();
  ::execv(whole.c_str(), arguments.data());
  return tell({ErrorId::kFileUnreadable, "mcpac is not whole", whole.string(),
               std::system_category().message(errno),
               "install it with its libexec folder; bin/mcpac does nothing alone"},
              words);
}

}  // namespace

int main(int argc, char** argv) {
  resident::Visit::forget_handover();
  std::signal(SIGXFSZ, SIG_IGN);  // as in all of mcpac: a file that may not grow is no end
  std::vector<std::string> words(argv, argv + argc);
  if (words.empty()) words.emplace_back("mcpac");  // kernels before 5.18 let a caller leave it out
  enter_folder(words);
  const auto own = cli::own_program();
  if (!own.is_absolute())  // a path that begins nowhere would lead to whatever lies here
    return tell({ErrorId::kFileUnreadable, "mcpac does not find itself", "/proc/self/exe", "", ""},
                words);
  project::Folders folders;
  // Without links, as all of mcpac sees it: both must name one installation alike.
  std::error_code error;
  const auto libexec = own.parent_path().parent_path() / "libexec" / "mcpac";
  folders.libexec = std::filesystem::canonical(libexec, error);
  if (error) folders.libexec = libexec;
  // Without the variable the user's name would have to be looked up.
  const std::string home = cli::environment_variable("HOME");
  try {
    if (!home.empty()) {
      folders = cli::user_folders(home, folders.libexec);
      if (const auto code = have_it_done(folders, words)) return *code;
    }
  } catch (const std::exception& bug) {
    // A worker may have begun: going on from here might do it a second time.
    return tell({ErrorId::kInternal, "mcpac met a bug of its own", "", bug.what(), ""}, words);
  }
  return become(folders.whole(), words);
}
