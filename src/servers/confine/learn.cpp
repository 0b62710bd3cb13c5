// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/secrets.h"
#include "mcp/stdio_transport.h"
#include "policy/match/ip_network.h"
#include "policy/match/url.h"
#include "project/files/open_place.h"
#include "project/project_place.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/launch_profile.h"
#include "servers/confine/package_run.h"
#include "servers/confine/proposed_places.h"
#include "servers/confine/server_network.h"
#include "servers/confine/server_packages.h"
#include "servers/confine/server_places.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;
using sandbox::Seen;
using sandbox::SeenPlace;

constexpr const char* kInItsEntry = "in its entry";
constexpr const char* kReadInItsEntry = "in its entry as read-only";
constexpr const char* kOwnOfMcpac = "it is mcpac's own";

constexpr std::uint16_t kNames = sandbox::kCreated | sandbox::kRemoved | sandbox::kReplaced;
constexpr std::uint16_t kAnyChange = sandbox::kWritten | sandbox::kEnsured | kNames;

// Beyond this a list is not read, and one folder says more.
constexpr std::size_t kMostLines = 24;
constexpr std::size_t kMostFilesOfAFolder = 1;
constexpr std::size_t kMostSiblings = 3;

// Below the home of a user: what holds keys and tokens, browsers' and messengers' profiles, what is
// started or obeyed later, and what other agents keep there. Never proposed, whatever a server is
// called: one named "gh" is not gh.
constexpr std::array kPrivate = {".ssh",
                                 ".gnupg",
                                 ".aws",
                                 ".azure",
                                 ".kube",
                                 ".docker",
                                 ".oci",
                                 ".netrc",
                                 ".git-credentials",
                                 ".gitconfig",
                                 ".pgpass",
                                 ".my.cnf",
                                 ".mylogin.cnf",
                                 ".npmrc",
                                 ".yarnrc",
                                 ".yarnrc.yml",
                                 ".pypirc",
                                 ".vault-token",
                                 ".password-store",
                                 ".mozilla",
                                 ".thunderbird",
                                 ".claude",
                                 ".claude.json",
                                 ".codex",
                                 ".gemini",
                                 ".cursor",
                                 ".vscode",
                                 ".pki",
                                 ".1password",
                                 ".op",
                                 ".bitwarden",
                                 ".helm",
                                 ".minikube",
                                 ".krew",
                                 ".terraform.d",
                                 ".terraformrc",
                                 ".pulumi",
                                 ".fly",
                                 ".vercel",
                                 ".netlify",
                                 ".ngrok2",
                                 ".step",
                                 ".sops",
                                 ".age",
                                 ".s3cfg",
                                 ".boto",
                                 ".databrickscfg",
                                 ".snowflake",
                                 ".snowsql",
                                 ".kaggle",
                                 ".huggingface",
                                 ".rclone.conf",
                                 ".cargo/credentials",
                                 ".cargo/credentials.toml",
                                 ".gem/credentials",
                                 ".m2/settings.xml",
                                 ".m2/settings-security.xml",
                                 ".gradle/gradle.properties",
                                 ".composer/auth.json",
                                 ".nuget",
                                 ".electrum",
                                 ".bitcoin",
                                 ".ethereum",
                                 ".signal",
                                 ".purple",
                                 ".filezilla",
                                 ".remmina",
                                 ".config/1Password",
                                 ".config/Bitwarden",
                                 ".config/BraveSoftware",
                                 ".config/Claude",
                                 ".config/Code",
                                 ".config/Cursor",
                                 ".config/Element",
                                 ".config/Signal",
                                 ".config/Slack",
                                 ".config/autostart",
                                 ".config/chromium",
                                 ".config/composer",
                                 ".config/configstore",
                                 ".config/containers",
                                 ".config/discord",
                                 ".config/doctl",
                                 ".config/filezilla",
                                 ".config/firebase",
                                 ".config/flyctl",
                                 ".config/gcloud",
                                 ".config/gh",
                                 ".config/git",
                                 ".config/github-copilot",
                                 ".config/glab-cli",
                                 ".config/google-chrome",
                                 ".config/google-chrome-beta",
                                 ".config/gopass",
                                 ".config/helm",
                                 ".config/hub",
                                 ".config/keepassxc",
                                 ".config/kube",
                                 ".config/kwalletrc",
                                 ".config/linode-cli",
                                 ".config/mcpac",
                                 ".config/microsoft-edge",
                                 ".config/netlify",
                                 ".config/ngrok",
                                 ".config/op",
                                 ".config/opera",
                                 ".config/ovhcloud",
                                 ".config/pulumi",
                                 ".config/rclone",
                                 ".config/remmina",
                                 ".config/scaleway",
                                 ".config/sops",
                                 ".config/stripe",
                                 ".config/systemd",
                                 ".config/tailscale",
                                 ".config/vivaldi",
                                 ".cache/chromium",
                                 ".cache/google-chrome",
                                 ".cache/huggingface/token",
                                 ".cache/mcpac",
                                 ".cache/mozilla",
                                 ".cache/gh",
                                 ".cache/keepassxc",
                                 ".local/bin",
                                 ".local/share/com.vercel.cli",
                                 ".local/share/applications",
                                 ".local/share/containers",
                                 ".local/share/dbus-1",
                                 ".local/share/gnupg",
                                 ".local/share/gopass",
                                 ".local/share/helm",
                                 ".local/share/keyrings",
                                 ".local/share/kwalletd",
                                 ".local/share/mcpac",
                                 ".local/share/mkcert",
                                 ".local/share/pass",
                                 ".local/share/password-store",
                                 ".local/share/remmina",
                                 ".local/share/systemd",
                                 ".local/share/tea",
                                 ".local/state/mcpac",
                                 ".local/state/gh",
                                 "snap"};
// Folders with a folder of each program.
constexpr std::array kOfEach = {".config", ".cache", ".local/share", ".local/state"};
// Where resolvers and loaders look; a confined server does without.
constexpr std::array kOfLibraries = {
    "/etc/resolv.conf", "/etc/gai.conf",   "/etc/ld.so.preload", "/etc/hostname",
    "/etc/machine-id",  "/etc/os-release", "/etc/localtime",     "/etc/environment",
    "/etc/terminfo",    "/etc/inputrc",    "/etc/hosts"};  // a server with a network asks mcpac,
                                                           // which reads it
// Of the machine and of others, beside what is of the system.
constexpr std::array kOfMachine = {"/etc",  "/var",  "/run",       "/boot",
                                   "/root", "/home", "/lost+found"};

// A program's name without the words for its kind: "notes" of "notes-mcp-server" and "@acme/notes".
// Empty: nothing that tells it from others.
std::string name_without_kind(std::string_view name) {
  constexpr std::array<std::string_view, 22> kKinds = {
      "mcp", "server", "servers", "nodejs", "node", "js",   "ts",  "python",
      "py",  "main",   "index",   "init",   "cli",  "app",  "run", "bin",
      "src", "dist",   "build",   "lib",    "out",  "start"};
  std::string left;
  while (!name.empty()) {
    const auto length = std::min(name.find_first_of("-_./@ "), name.size());
    const auto word = name.substr(0, length);
    if (!word.empty() && std::ranges::find(kKinds, word) == kKinds.end())
      left += fmt::format("{}{}", left.empty() ? "" : "-", word);
    name.remove_prefix(std::min(length + 1, name.size()));
  }
  return left;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// A place to give: what for, in the words of its strongest use.
struct Wanted {
  bool writes = false;
  std::uint16_t uses = 0;
  std::string what;  // the place of the strongest use
  std::size_t more = 0;
};

int strength(std::uint16_t uses) {
  if ((uses & kNames) != 0) return 3;
  if ((uses & (sandbox::kWritten | sandbox::kEnsured)) != 0) return 2;
  return (uses & sandbox::kRead) != 0 ? 1 : 0;
}

std::string_view verb_of(std::uint16_t uses, bool folder) {
  if ((uses & sandbox::kCreated) != 0) return "created";
  if ((uses & sandbox::kReplaced) != 0) return "replaced";
  if ((uses & sandbox::kRemoved) != 0) return "removed";
  if ((uses & sandbox::kWritten) != 0) return "wrote";
  if ((uses & sandbox::kEnsured) != 0) return "would make";
  if ((uses & sandbox::kRead) != 0) return folder ? "listed" : "read";
  return "looked at";
}

bool is_loopback(const sandbox::SeenHost& host) {
  return host.address.starts_with("127.") || host.address == "::1";
}

class Proposer {
 public:
  explicit Proposer(const ProposalFrom& from) : from_(from) {
    std::error_code error;
    project_ = fs::weakly_canonical(from.project.folder, error);
    homes_ = homes_of_servers();
    // A project that is a home, or holds one, is as large as that.
    has_project_ = std::ranges::none_of(
        homes_, [&](const fs::path& home) { return project::lies_in(home, project_); });
  }

  Result<Proposal> find() {
    mcp::ServerConfig config = from_.server;
    config.sandbox = mcp::Confinement{};
    auto target = mcp::make_stdio_target(config, secrets_);
    if (!target) return std::unexpected(secrets_.redact(std::move(target.error())));
    auto spec = confined_spec(from_.project, from_.folders, target->spawn);
    if (!spec) return std::unexpected(secrets_.redact(std::move(spec.error())));
    target_ = &*target;
    spec_ = &*spec;
    learn_names();
    add_entry();
    for (const ProposedLine& line : from_.first) add_claimed(line);
    if (auto named = add_named(config); !named)
      return std::unexpected(secrets_.redact(std::move(named.error())));
    if (from_.seen != nullptr) {
      for (const SeenPlace& place : from_.seen->places) add_seen(place);
      add_ensured();
      add_hosts();
      add_rest();
    }
    cover();
    note_looked_at();
    write_lines();
    make_printable();
    return std::move(proposal_);
  }

 private:
  // A line that was there before anything was observed.
  struct Line {
    enum class Source : std::uint8_t { kEntry, kClaim, kName };
    ProposedLine line;
    fs::path path{};
    bool writes = false;
    Source source = Source::kEntry;
    bool is_used = false;  // what it was seen to be used for is said
    [[nodiscard]] bool gives(const fs::path& place, bool to_write) const {
      return project::lies_in(place, path) && (writes || !to_write);
    }
  };

  // ---- What is not to be given by a line

  [[nodiscard]] const Mount* mount_of(const fs::path& path) const {
    const Mount* nearest = nullptr;
    for (const Mount& mount : spec_->mounts) {
      if (project::lies_in(path, mount.inside) &&
          (nearest == nullptr || project::lies_in(mount.inside, nearest->inside)))
        nearest = &mount;
    }
    return nearest;
  }

  // Too large for what is in it, or of all programs: never a line of its own.
  [[nodiscard]] bool is_wide(const fs::path& folder) const {
    if (folder == folder.root_path() || folder.parent_path() == folder.root_path()) return true;
    for (const fs::path& home : homes_) {
      if (project::lies_in(home, folder) || folder == home / ".local" ||
          std::ranges::any_of(kOfEach, [&](const char* each) { return folder == home / each; }))
        return true;
    }
    return folder.parent_path() == "/home" || folder == "/var/tmp" || folder == "/var/lib" ||
           (folder != project_ && project::lies_in(project_, folder));
  }

  // What is its own in a home: what is named as it is, and what it was seen to make there.
  void learn_names() {
    add_own_name(from_.server.name);
    const auto start = start_of(target_->spawn);
    const auto started = server_start(target_->spawn, from_.folders);
    if (start && started) {
      const auto profile =
          launch_profile_of(started->options, *start, foreign_folders(from_.project, from_.folders),
                            started->programs);
      if (profile) {
        is_python_ = profile->is_python;
        for (const std::string& name : profile->names) add_own_name(name);
      }
    }
    if (const auto run = package_run_of(from_.server); run && *run && !(*run)->packages.empty()) {
      const std::string& package = (*run)->packages.front();
      const bool is_npm = (*run)->installer == PackageRun::Installer::kNpm;
      const std::string name = is_npm ? npm_name(package) : python_name(package);
      add_own_name(name.substr(name.rfind('/') + 1));
      add_own_name((*run)->program);
    }
    if (from_.seen == nullptr) return;
    for (const SeenPlace& seen : from_.seen->places) {
      if ((seen.uses & sandbox::kCreated) != 0) made_.insert(real_name(seen.path));
    }
  }
  void add_own_name(std::string_view name) {
    if (std::string own = name_without_kind(name); !own.empty()) names_.insert(std::move(own));
  }
  [[nodiscard]] bool is_its_own(const fs::path& place) const {
    std::string name = place.filename().string();
    if (made_.contains(place)) return true;
    if (name.starts_with('.')) name.erase(0, 1);
    const auto fits = [&](std::string_view one) {
      const std::string own = name_without_kind(one);
      return !own.empty() && names_.contains(own);
    };
    return fits(name) || fits(name.substr(0, name.rfind('.'))) ||
           (name.ends_with("rc") && fits(name.substr(0, name.size() - 2)));
  }
  // The folder or file of one program in a home that it lies in; empty: none.
  [[nodiscard]] static fs::path place_of_program(const fs::path& path, const fs::path& home) {
    for (const char* each : kOfEach) {
      const fs::path folder = home / each;
      if (project::lies_in(path, folder) && path != folder)
        return folder / *path.lexically_relative(folder).begin();
    }
    const fs::path first = *path.lexically_relative(home).begin();
    return first.native().starts_with('.') ? home / first : fs::path();
  }
  // By its real name, as a place that leads through a link is refused. The last part may be a link
  // itself, which is looked at as what it leads to.
  [[nodiscard]] static fs::path real_name(const std::string& path) {
    std::error_code error;
    fs::path real = fs::weakly_canonical(path, error);
    return error ? fs::path(path) : real;
  }

  // Why it is not proposed; empty: it is.
  [[nodiscard]] std::string why_left(const fs::path& path, std::uint16_t uses) const {
    if (is_of_mcpac(path)) return kOwnOfMcpac;
    if (is_python_ && has_project_ && path == project_ &&
        (uses & ~std::uint16_t{sandbox::kLooked}) == sandbox::kRead)
      return "Python lists it to look for modules, and what it imports there is given by its name";
    if (in_project(path)) return {};
    if (is_wide(path)) return "it holds more than this server's own";
    if (const fs::path* home = home_above(path)) return why_left_of_home(path, *home);
    for (const char* folder : kOfMachine) {
      if (project::lies_in(path, folder)) return "it is the machine's or another user's";
    }
    return {};
  }

  [[nodiscard]] bool is_of_mcpac(const fs::path& path) const {
    for (const fs::path& own :
         {from_.folders.state, from_.folders.cache, from_.folders.runtime, from_.folders.settings,
          from_.folders.answers, from_.folders.libexec}) {
      if (!own.empty() && project::lies_in(path, own)) return true;
    }
    return path.parent_path() == project_ && path.filename().native().starts_with("mcpac.");
  }

  [[nodiscard]] bool in_project(const fs::path& path) const {
    return has_project_ && project::lies_in(path, project_);
  }
  // The home that it lies in; null: none.
  [[nodiscard]] const fs::path* home_above(const fs::path& path) const {
    const auto found = std::ranges::find_if(
        homes_, [&](const fs::path& home) { return path != home && project::lies_in(path, home); });
    return found == homes_.end() ? nullptr : &*found;
  }
  // The private place that it lies in; empty: none.
  [[nodiscard]] static fs::path private_place(const fs::path& path, const fs::path& home) {
    for (const char* place : kPrivate) {
      if (project::lies_in(path, home / place)) return home / place;
    }
    return {};
  }

  [[nodiscard]] std::string why_left_of_home(const fs::path& path, const fs::path& home) const {
    const fs::path below = path.lexically_relative(home);
    if (!private_place(path, home).empty()) return "it holds keys, or is another program's";
    if (below.begin()->string().ends_with("history"))
      return "it holds keys, or is another program's";
    const fs::path place = place_of_program(path, home);
    if (place.empty() || is_its_own(place)) return {};
    return "it may be another program's: it is not named as this server is";
  }

  // ~/.config/x/y/z stands for ~/.config/x, and ~/.x/y for ~/.x.
  [[nodiscard]] fs::path anchored(const fs::path& path) const {
    const fs::path* home = home_above(path);
    if (home == nullptr || in_project(path)) return path;
    const fs::path place = place_of_program(path, *home);
    const bool is_given = !place.empty() && !is_wide(place) && why_left(place, kAnyChange).empty();
    return is_given ? place : path;
  }

  // A claim is a server's own word: judged as what it was seen to use.
  void add_claimed(const ProposedLine& line) {
    const auto place = project::place_of_entry(line.text, from_.project, from_.server.name);
    const bool writes = place.mode == policy::FileMode::kReadWrite;
    const fs::path path = place.path;
    std::string why = is_read_otherwise(path) ? "its name would be read as another place"
                                              : why_left(path, writes ? kAnyChange : 0);
    if (why.empty() && is_wide(path)) why = "it holds more than this server's own";
    if (why.empty())
      give(line, Line::Source::kClaim);
    else
      proposal_.left.push_back({line.text, fmt::format("{}; {}", line.reason, why)});
  }
  // An entry has a mode behind a path, and references in it.
  [[nodiscard]] static bool is_read_otherwise(const fs::path& path) {
    const std::string& text = path.native();
    return text.ends_with(":ro") || text.ends_with(":rw") || text.contains("${");
  }

  // ---- What was used

  void want(const fs::path& place, std::uint16_t uses, const fs::path& what) {
    Wanted& wanted = wanted_[place];
    wanted.writes = wanted.writes || (uses & kAnyChange) != 0;
    if (wanted.what.empty()) {
      wanted.what = what;
      wanted.uses = uses;
      return;
    }
    if (wanted.what != what.native()) ++wanted.more;
    if (strength(uses) > strength(wanted.uses)) {
      wanted.what = what;
      wanted.uses = uses;
    }
  }

  void leave(const fs::path& path, std::uint16_t uses, const std::string& why) {
    // A person gave it by now: said of that line.
    for (Line& line : lines_) {
      if (line.source != Line::Source::kEntry || !line.gives(path, (uses & kAnyChange) != 0))
        continue;
      if (!std::exchange(line.is_used, true))
        line.line.reason += fmt::format("; {} {}", verb_of(uses, is_folder(path)), shown_as(path));
      return;
    }
    // One line for a folder of many.
    fs::path shown = path;
    if (const fs::path* home = home_above(path)) {
      if (const fs::path place = private_place(path, *home); !place.empty())
        shown = place;
      else if (const fs::path each = place_of_program(path, *home);
               !each.empty() && each.parent_path() != *home)
        shown = each;
    }
    const std::string line = line_of(shown);
    const std::string text = line + ((uses & kAnyChange) != 0 ? ":rw" : "");
    const auto known = std::ranges::find_if(proposal_.left, [&](const ProposedLine& one) {
      return one.text == text || one.text == line || one.text == line + ":rw";
    });
    if (known != proposal_.left.end()) {
      if (known->text == line) known->text = text;  // to write as well
      return;
    }
    if (proposal_.left.size() >= kMostLines) {
      ++more_left_;
      return;
    }
    proposal_.left.push_back(
        {text, fmt::format("{} {}; {}", verb_of(uses, is_folder(path)), shown_as(path), why)});
  }

  void add_seen(const SeenPlace& seen) {
    const fs::path path = real_name(seen.path);
    const std::uint16_t uses = seen.uses;
    if ((uses & sandbox::kExecuted) != 0) add_program(path);
    if ((uses & (sandbox::kRead | kAnyChange)) == 0) return add_looked(path);
    if (is_of_system(path) || project::lies_in(path, "/proc") || project::lies_in(path, "/sys") ||
        project::lies_in(path, "/dev"))
      return;
    const Mount* mount = mount_of(path);
    if (mount != nullptr && mount->kind == Mount::Kind::kPrivate && !in_project(path) &&
        home_above(path) == nullptr) {
      // Of its own there, unless another process had put it there.
      if ((uses & sandbox::kCreated) == 0 && (uses & sandbox::kRead) != 0 && is_there(path) &&
          path != mount->inside)
        leave(path, uses, "others' files there are not seen in a sandbox");
      return;
    }
    if (mount != nullptr && mount->kind == Mount::Kind::kHost &&
        mount->access != Mount::Access::kReadWrite) {
      if ((uses & kAnyChange) != 0 && !path.native().contains("__pycache__") &&
          written_of_program_.insert(path.parent_path()).second)
        note(
            fmt::format("it {} {}, in its own program, which is read-only in a sandbox: have it "
                        "write elsewhere, by an option or a variable of its own",
                        verb_of(uses, false), shown_as(path)));
      return;
    }
    if ((uses & kAnyChange) == 0 && std::ranges::any_of(kOfLibraries, [&](const char* file) {
          return project::lies_in(path, file);
        }))
      return;
    if (path.native().contains("/__pycache__")) return;
    // Made on the way to its own in it.
    constexpr std::uint16_t kMade = sandbox::kCreated | sandbox::kEnsured | sandbox::kLooked;
    if ((uses & ~kMade) == 0 && is_folder(path) && (is_wide(path) || path == project_)) return;
    if (const std::string why = why_left(path, uses); !why.empty()) return leave(path, uses, why);
    if (only_ensures(uses) && !is_own_to_make(path))
      return leave(path, uses, "it was there already, and may hold more than this server's own");
    if (only_ensures(uses)) {
      ensured_.emplace_back(path, uses);
      return;
    }
    add_used(path, uses);
  }

  [[nodiscard]] static bool only_ensures(std::uint16_t uses) {
    return (uses & kAnyChange) == sandbox::kEnsured;
  }
  // A folder that was there when the server would make it. The look before this one may have been
  // the first that it was made in: then it is empty, or lies where its own does.
  [[nodiscard]] bool is_own_to_make(const fs::path& path) const {
    if (!is_folder(path)) return false;
    const fs::path* home = home_above(path);
    std::error_code error;
    return in_project(path) || (home != nullptr && !place_of_program(path, *home).empty()) ||
           fs::is_empty(path, error);
  }

  // Behind what was written, which says more of the same folder.
  void add_ensured() {
    for (const auto& [path, uses] : ensured_) {
      const bool is_wanted = std::ranges::any_of(wanted_, [&, &at = path](const auto& one) {
        return one.second.writes && project::lies_in(at, one.first);
      });
      if (!is_wanted) add_used(path, uses);
    }
  }

  // A program that makes its folder where it is not there, and finds it: a look before this one may
  // have been the first that it was made in. An empty one is given, of another it is said.
  void add_looked(const fs::path& path) {
    const fs::path* home = home_above(path);
    if (home == nullptr || in_project(path) || place_of_program(path, *home) != path ||
        !is_folder(path) || !why_left(path, kAnyChange).empty())
      return;
    std::error_code error;
    if (!fs::is_empty(path, error)) {
      looked_at_.push_back(path);
    } else {
      want(path, sandbox::kLooked, path);
      wanted_[path].writes = true;
    }
  }
  // Behind what was used: lines say more.
  void note_looked_at() {
    for (const fs::path& path : looked_at_) {
      const bool is_given =
          std::ranges::any_of(lines_, [&](const Line& line) { return line.gives(path, false); }) ||
          std::ranges::any_of(wanted_,
                              [&](const auto& one) { return project::lies_in(path, one.first); });
      if (!is_given)
        note(
            fmt::format("it looked at {}, its own by its name, and did nothing there: where its "
                        "calls write there, have them observed (--call), or add \"{}:rw\" to "
                        "\"files\"; what it writes there without that is gone at its end",
                        shown_as(path), line_of(path)));
    }
  }

  void add_used(const fs::path& path, std::uint16_t uses) {
    const fs::path anchor = anchored(path);
    if (anchor != path && is_there(anchor)) return want(anchor, uses, path);
    const bool there = is_there(path);
    const bool replaces = (uses & (sandbox::kReplaced | sandbox::kRemoved)) != 0;
    if ((uses & kNames) == 0 || (there && is_folder(path) && !replaces)) {
      if (there) want(path, uses, path);
      return;
    }
    // Names are made and taken in the folder that they lie in.
    const fs::path parent = path.parent_path();
    if (there && !replaces && (is_wide(parent) || parent == project_))
      return want(path, uses, path);
    if (is_there(parent) && (parent == project_ || !is_wide(parent)))
      return want(parent, uses, path);
    if (is_wide(parent))
      leave(path, uses, "a folder of its own there could be given, and all of that cannot");
  }

  void add_program(const fs::path& path) {
    if (path == from_.folders.keeper()) return;  // ours
    const Mount* mount = mount_of(path);
    const bool runs =
        is_of_system(path) || (mount != nullptr && mount->kind == Mount::Kind::kHost &&
                               mount->access == Mount::Access::kReadExecute);
    if (!runs)
      note(
          fmt::format("it started {}: in a sandbox nothing is executed but what its program is "
                      "made of and what is in /usr",
                      shown_as(path)));
  }

  // ---- What it has, and what is known without observing it

  [[nodiscard]] std::string expanded(const std::string& text) {
    auto value = secrets_.expand(text, "sandbox.files");
    return value ? std::move(*value) : text;
  }

  void give(ProposedLine line, Line::Source source) {
    const auto place =
        project::place_of_entry(expanded(line.text), from_.project, from_.server.name);
    const bool writes = place.mode == policy::FileMode::kReadWrite;
    for (Line& other : lines_) {
      if (source == Line::Source::kEntry) break;  // as it was written
      if (other.gives(place.path, writes)) return;
      if (other.path != place.path) continue;
      // What a person gave to read is not given to write because an argument names it.
      if (other.source == Line::Source::kEntry && source == Line::Source::kName) return;
      other.writes = true;
      other.line = {
          std::move(line.text),
          fmt::format("{}; {}",
                      other.source == Line::Source::kEntry ? kReadInItsEntry : other.line.reason,
                      line.reason)};
      return;
    }
    lines_.push_back(
        {.line = std::move(line), .path = place.path, .writes = writes, .source = source});
  }

  void add_entry() {
    if (!from_.server.sandbox) return;
    for (const std::string& text : from_.server.sandbox->files)
      give({text, kInItsEntry}, Line::Source::kEntry);
    for (const std::string& text : from_.server.sandbox->network)
      proposal_.network.push_back({text, kInItsEntry});
  }

  // Places that its entry names, as `server add --confine` proposes them.
  Result<void> add_named(const mcp::ServerConfig& config) {
    auto named = proposed_places(from_.project, from_.folders, config);
    if (!named) return pass_on(named);
    for (ProposedPlace& one : named->places) {
      const fs::path path =
          project::place_of_entry(expanded(one.text), from_.project, from_.server.name).path;
      const fs::path* home = home_above(path);
      const std::string why =
          home != nullptr && !in_project(path) && !private_place(path, *home).empty()
              ? why_left_of_home(path, *home)
          : is_of_mcpac(path) ? std::string(kOwnOfMcpac)
                              : std::string();
      if (why.empty())
        give({std::move(one.text), std::move(one.why)}, Line::Source::kName);
      else
        proposal_.left.push_back({std::move(one.text), fmt::format("{}; {}", one.why, why)});
    }
    for (std::string& text : named->notes) note(std::move(text));
    return {};
  }

  // A name that rules read as that name, and that name servers are asked for. One that looks like
  // an address would give that address.
  [[nodiscard]] static bool is_name(const std::string& asked) {
    const auto host = policy::read_host(asked);
    const auto* name = host ? std::get_if<std::string>(&*host) : nullptr;
    return name != nullptr && *name == asked && policy::hosts_meant(asked).size() == 1 &&
           !policy::is_localhost(asked) && policy::addresses_reached(asked).empty();
  }
  // Services of clouds, and what is on the same link.
  [[nodiscard]] static bool gives_out_keys(const std::string& text) {
    static constexpr std::array kServices = {
        "169.254.0.0/16",     "fe80::/10",        "fd00:ec2::254/128", "fd20:ce::254/128",
        "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"};
    const auto address = text.contains(':') ? policy::parse_ipv6(text) : policy::parse_ipv4(text);
    if (!address) return false;
    const auto all = policy::addresses_reached(*address);
    return std::ranges::any_of(kServices, [&](const char* service) {
      const auto network = policy::IpNetwork::parse(service);
      return network && std::ranges::any_of(all, [&](const policy::IpAddress& one) {
               return network->contains(one);
             });
    });
  }
  // As the server's start will judge it.
  void check_host_line(ProposedLine line) {
    const auto fits =
        network_of_server(from_.server.name, "", {line.text}, ServersReach::kAsTheirEntries);
    if (!fits) line.reason += "; " + fits.error().what;
    (fits ? proposal_.network : proposal_.left).push_back(std::move(line));
  }
  void add_hosts() {
    std::map<std::string, std::string> lines;
    std::set<std::string> of_keys;
    for (const sandbox::SeenHost& host : from_.seen->hosts) {
      const bool by_name = is_name(host.asked) && !is_loopback(host);
      const std::string name = by_name                      ? host.asked
                               : host.address.contains(':') ? "[" + host.address + "]"
                                                            : host.address;
      const std::string line = printable(fmt::format("{}:{}", name, host.port));
      if (!by_name && gives_out_keys(host.address)) of_keys.insert(line);
      lines.emplace(line,
                    by_name ? fmt::format("dialled {} after it asked for that name", host.address)
                    : host.asked.empty() || is_loopback(host) || is_name(host.asked)
                        ? "dialled by its address"
                        : fmt::format("dialled by its address: {}, which it asked for before, "
                                      "would be read as another place",
                                      host.asked));
    }
    for (const auto& [text, reason] : lines) {
      const std::string every_port = text.substr(0, text.rfind(':')) + ":*";
      const auto known = std::ranges::find_if(proposal_.network, [&](const ProposedLine& line) {
        return line.text == text || line.text == every_port || line.text == "any";
      });
      if (known == proposal_.network.end() && of_keys.contains(text))
        proposal_.left.push_back({text, reason + "; a service there gives out the machine's keys"});
      else if (known == proposal_.network.end())
        check_host_line({text, reason});
      else if (known->text == text)
        known->reason += "; " + reason;
    }
  }

  void add_rest() {
    for (const std::string& socket : from_.seen->sockets) {
      if (project::lies_in(socket, "/var/run/nscd") ||
          project::lies_in(socket, "/run/systemd/resolve"))
        continue;
      note(
          fmt::format("it connected to the socket {}: what listens there would act for it "
                      "outside of the sandbox",
                      shown_as(socket)));
    }
    if (from_.seen->is_cut)
      note(fmt::format("it used more places than the {} that are kept: there may be more to give",
                       sandbox::kMostSeenPlaces));
    if (more_left_ > 0)
      note(fmt::format("and {} that are not proposed", counted(more_left_, "other place")));
  }

  void note(std::string text) {
    if (proposal_.notes.size() < kMostLines &&
        std::ranges::find(proposal_.notes, text) == proposal_.notes.end())
      proposal_.notes.push_back(std::move(text));
  }

  // ---- The smallest cover

  [[nodiscard]] bool can_be_cover(const fs::path& folder) const {
    return (has_project_ && folder == project_) ||
           (!is_wide(folder) && why_left(folder, kAnyChange).empty());
  }

  [[nodiscard]] bool is_any_written(const std::vector<fs::path>& parts) const {
    return std::ranges::any_of(parts,
                               [&](const fs::path& part) { return wanted_.at(part).writes; });
  }
  void merge_into(const fs::path& folder, const std::vector<fs::path>& parts) {
    Wanted all = wanted_.contains(folder) ? wanted_[folder] : Wanted{};
    for (const fs::path& part : parts) {
      const Wanted& one = wanted_[part];
      all.writes = all.writes || one.writes;
      all.more += one.more + (all.what.empty() ? 0 : 1);
      if (all.what.empty() || strength(one.uses) > strength(all.uses)) {
        if (!one.what.empty()) all.what = one.what;
        all.uses = one.uses;
      }
    }
    for (const fs::path& part : parts) wanted_.erase(part);
    wanted_[folder] = all;
  }

  // Files of one folder by the folder; of many folders, the one that they lie in.
  void cover() {
    for (const bool folders : {false, true}) {
      for (int depth = 0; depth < 16; ++depth) {
        std::map<fs::path, std::vector<fs::path>> by_parent;
        for (const auto& [place, wanted] : wanted_) {
          if (is_folder(place) == folders) by_parent[place.parent_path()].push_back(place);
        }
        bool changed = false;
        for (const auto& [parent, parts] : by_parent) {
          const std::size_t most = folders              ? kMostSiblings
                                   : parent == project_ ? kMostSiblings
                                                        : kMostFilesOfAFolder;
          if (parts.size() <= most || !can_be_cover(parent)) continue;
          // The project has more than these: what is only read there is named file by file.
          if (parent == project_ && !folders && has_project_ && !is_any_written(parts)) continue;
          merge_into(parent, parts);
          changed = true;
        }
        if (!changed) break;
      }
    }
    drop_covered();
  }

  void drop_covered() {
    std::vector<fs::path> covered;
    for (const auto& [place, wanted] : wanted_) {
      for (auto& [other, wider] : wanted_) {
        if (other == place || !project::lies_in(place, other)) continue;
        if (!wider.writes && wanted.writes) continue;
        wider.more += wanted.more + (wanted.what.empty() || wanted.what == wider.what ? 0 : 1);
        if (wider.what.empty()) {
          wider.what = wanted.what;
          wider.uses = wanted.uses;
        }
        covered.push_back(place);
        break;
      }
    }
    for (const fs::path& place : covered) wanted_.erase(place);
  }

  // ---- The lines

  // As it stands in an entry.
  [[nodiscard]] std::string line_of(const fs::path& path) const {
    if (has_project_ && path == project_) return ".";
    if (path != project_ && project::lies_in(path, project_))
      return "./" + path.lexically_relative(project_).string();
    return path.string();
  }
  // For people.
  [[nodiscard]] std::string shown_as(const fs::path& path) const {
    const fs::path home = project::home_of_user();
    if (!in_project(path) && !home.empty() && path != home && project::lies_in(path, home))
      return "~/" + path.lexically_relative(home).string();
    return line_of(path);
  }

  [[nodiscard]] std::string reason_of(const Wanted& wanted) const {
    std::string reason =
        fmt::format("{} {}", verb_of(wanted.uses, is_folder(wanted.what)), shown_as(wanted.what));
    if (wanted.more > 0) reason += fmt::format(" and {} more", wanted.more);
    return reason;
  }

  // What was there stays; what was seen is said of it, or is a line of its own.
  void write_lines() {
    std::vector<ProposedLine> more;
    for (const auto& [place, wanted] : wanted_) {
      const auto known = std::ranges::find_if(lines_, [&](const Line& line) {
        return line.path == place || line.gives(place, wanted.writes);
      });
      if (known != lines_.end()) {
        // Given to read, and written in: the same line says it.
        if (!known->gives(place, wanted.writes)) {
          known->writes = true;
          known->is_used = false;
          if (known->source == Line::Source::kEntry) known->line.reason = kReadInItsEntry;
          known->line.text = line_of(place) + ":rw";
        }
        if (!std::exchange(known->is_used, true)) known->line.reason += "; " + reason_of(wanted);
        continue;
      }
      if (lines_.size() + more.size() >= kMostLines) {
        note(fmt::format("more places than {} lines: name folders that hold them", kMostLines));
        break;
      }
      std::erase_if(lines_, [&](const Line& line) {
        return line.source != Line::Source::kEntry && project::lies_in(line.path, place) &&
               (wanted.writes || !line.writes);
      });
      if (is_read_otherwise(place)) {
        proposal_.left.push_back({line_of(place), "its name would be read as another place"});
        continue;
      }
      more.push_back({line_of(place) + (wanted.writes ? ":rw" : ""), reason_of(wanted)});
    }
    for (ProposedLine& line : more) lines_.push_back({.line = std::move(line)});
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const bool is_of_entry =
          i < lines_.size() - more.size() && lines_[i].source == Line::Source::kEntry;
      check_line(std::move(lines_[i].line), is_of_entry);
    }
  }

  // As the server's start will judge it. One of its entry stays: that start says what is wrong.
  void check_line(ProposedLine line, bool is_of_entry) {
    mcp::SpawnOptions options = target_->spawn;
    options.confined->places = {expanded(line.text)};
    const auto spec = confined_spec(from_.project, from_.folders, options);
    if (spec || (is_of_entry && from_.seen == nullptr)) {
      proposal_.files.push_back(std::move(line));
      return;
    }
    const Error& error = spec.error();
    line.reason = secrets_.redact(fmt::format(
        "{}; no start would be given it: {}{}{}{}{}", line.reason, error.what,
        error.why.empty() ? "" : ": ", error.why, error.fix.empty() ? "" : "; ", error.fix));
    (is_of_entry ? proposal_.taken : proposal_.left).push_back(std::move(line));
  }

  // For people.
  void make_printable() {
    for (auto* lines : {&proposal_.files, &proposal_.network, &proposal_.left, &proposal_.taken}) {
      for (ProposedLine& line : *lines) line.reason = printable(line.reason);
    }
    for (std::string& text : proposal_.notes) text = printable(text);
  }

  const ProposalFrom& from_;
  fs::path project_;
  std::vector<fs::path> homes_;
  bool has_project_ = true;
  mcp::SecretValues secrets_;
  const mcp::StdioTarget* target_ = nullptr;
  const sandbox::Spec* spec_ = nullptr;
  std::map<fs::path, Wanted> wanted_;
  std::vector<Line> lines_;
  std::vector<std::pair<fs::path, std::uint16_t>> ensured_;
  std::vector<fs::path> looked_at_;
  std::size_t more_left_ = 0;
  std::set<std::string> names_;            // of the server, without kinds
  std::set<fs::path> made_;                // seen to be made
  std::set<fs::path> written_of_program_;  // folders that a note is about
  bool is_python_ = false;
  Proposal proposal_;
};

// What listens for it there: mcpac, on these ports, or the server itself, which is not known.
std::set<std::uint16_t> ports_of_mcpac(const project::Project& project,
                                       const mcp::ServerConfig& server) {
  mcp::SecretValues secrets;
  std::vector<std::string> places;
  for (const std::string& text : server.sandbox->network) {
    auto value = secrets.expand(text, "sandbox.network");
    if (value) places.push_back(std::move(*value));
  }
  if (places.empty()) return {};
  const auto network = network_of_server(server.name, project.config_file.string(), places,
                                         ServersReach::kAsTheirEntries);
  if (!network) return {};
  std::set<std::uint16_t> ports(network->ports.begin(), network->ports.end());
  ports.insert({network->proxy_port, 53});
  return ports;
}

// The last few, those first that were to be opened: a lookup alone may be a search.
std::vector<std::string> words_of_refusals(const Seen& seen) {
  constexpr std::size_t kMostWords = 3;
  std::vector<const SeenPlace*> places;
  for (const SeenPlace& place : seen.places) {
    const bool is_of_libraries = std::ranges::any_of(
        kOfLibraries, [&](const char* file) { return project::lies_in(place.path, file); });
    if (!is_of_libraries) places.push_back(&place);
  }
  std::ranges::sort(places, [](const SeenPlace* one, const SeenPlace* other) {
    const bool opened = one->uses != sandbox::kLooked;
    const bool other_opened = other->uses != sandbox::kLooked;
    if (opened != other_opened) return opened;
    return one->last != other->last ? one->last > other->last : one->path < other->path;
  });
  const fs::path home = project::home_of_user();
  std::vector<std::string> words;
  for (const SeenPlace* place : places) {
    if (words.size() == kMostWords) break;
    const bool is_of_home =
        !home.empty() && place->path != home && project::lies_in(place->path, home);
    const std::string shown =
        is_of_home ? "~/" + fs::path(place->path).lexically_relative(home).string() : place->path;
    const std::string_view verb = (place->uses & kAnyChange) != 0           ? "write"
                                  : (place->uses & sandbox::kExecuted) != 0 ? "start"
                                  : (place->uses & sandbox::kRead) != 0     ? "open"
                                                                            : "find";
    words.push_back(printable(fmt::format("it tried to {} {}: not granted", verb, shown)));
  }
  for (const sandbox::SeenHost& host : seen.hosts) {
    if (words.size() == 2 * kMostWords) break;
    words.push_back(printable(
        is_loopback(host)
            ? fmt::format("it tried to reach {} (port {}), where nothing of this machine is in its "
                          "sandbox: not granted",
                          host.address, host.port)
            : fmt::format("it tried to reach {} (port {}): not granted", host.address, host.port)));
  }
  for (const std::string& socket : seen.sockets) {
    if (words.size() == 2 * kMostWords) break;
    if (!project::lies_in(socket, "/var/run/nscd") &&
        !project::lies_in(socket, "/run/systemd/resolve"))
      words.push_back(printable(fmt::format("it tried to connect to {}: not granted", socket)));
  }
  for (const std::string& name : seen.names) {
    if (words.size() == 2 * kMostWords) break;
    words.push_back(printable(fmt::format("it asked for the address of {}: not granted", name)));
  }
  return words;
}

class ServerRefusals final : public mcp::Refusals {
 public:
  ServerRefusals(std::unique_ptr<sandbox::Observation> observation,
                 std::shared_ptr<const project::Project> project, const project::Folders& folders,
                 std::string server)
      : observation_(std::move(observation)),
        project_(std::move(project)),
        folders_(folders),
        server_(std::move(server)) {}
  [[nodiscard]] int enter_child() const override { return observation_->entrance().enter_child(); }
  [[nodiscard]] int socket() const override { return observation_->entrance().socket(); }
  void explain(Error& error) override {
    Seen seen = observation_->end();
    const auto* config = project_->config.find(server_);
    if (config != nullptr && config->sandbox) {
      const auto ports = ports_of_mcpac(*project_, *config);
      std::erase_if(seen.hosts, [&](const sandbox::SeenHost& host) {
        return is_loopback(host) && ports.contains(host.port);
      });
    }
    const auto words = words_of_refusals(seen);
    if (words.empty()) return;
    error.why =
        fmt::format("{}{}{}", fmt::join(words, "\n"), error.why.empty() ? "" : "\n", error.why);
    std::string advice;
    if (config != nullptr && config->sandbox) {
      const auto proposal =
          propose({.project = *project_, .folders = folders_, .server = *config, .seen = &seen});
      if (proposal) {
        advice = lines_to_add(proposal->files, config->sandbox->files, "files") +
                 lines_to_add(proposal->network, config->sandbox->network, "network");
      }
    }
    error.fix = printable(advice + learn_advice(server_));
  }

 private:
  static std::string lines_to_add(const std::vector<ProposedLine>& proposed,
                                  const std::vector<std::string>& had, std::string_view member) {
    std::string lines;
    for (const ProposedLine& line : proposed) {
      if (std::ranges::find(had, line.text) == had.end())
        lines += fmt::format("{}\"{}\"", lines.empty() ? "" : ", ", line.text);
    }
    return lines.empty() ? lines
                         : fmt::format("add {} to \"{}\" of its \"sandbox\"; ", lines, member);
  }

  std::unique_ptr<sandbox::Observation> observation_;
  std::shared_ptr<const project::Project> project_;
  project::Folders folders_;
  std::string server_;
};

OrderedJson texts_of(const std::vector<ProposedLine>& lines) {
  OrderedJson texts = OrderedJson::array();
  for (const ProposedLine& line : lines) texts.push_back(line.text);
  return texts;
}

}  // namespace

OrderedJson entry_of(const Proposal& proposal) {
  OrderedJson entry = OrderedJson::object();
  if (!proposal.files.empty()) entry["files"] = texts_of(proposal.files);
  if (!proposal.network.empty()) entry["network"] = texts_of(proposal.network);
  return entry.empty() ? OrderedJson(true) : entry;
}

std::string learn_advice(const std::string& server) {
  return fmt::format("mcpac server confine {} --learn shows all that it uses", server);
}

Result<Proposal> propose(const ProposalFrom& from) {
  return Proposer(from).find();
}

EntryForLock entry_for_lock(const mcp::ServerConfig& server) {
  const auto* learnt = dynamic_cast<const ServerObserver*>(server.observer.get());
  if (learnt != nullptr) return learnt->written();
  return {.identity = server.identity(), .entry = server.entry()};
}

Result<std::shared_ptr<ServerObserver>> ServerObserver::begin(sandbox::ObserveOptions options,
                                                              const mcp::ServerConfig& written) {
  auto observation = sandbox::Observation::begin(std::move(options));
  if (!observation) return pass_on(observation);
  std::shared_ptr<ServerObserver> made(
      new ServerObserver({.identity = written.identity(), .entry = written.entry()}));
  made->observation_ = std::move(*observation);
  return made;
}

std::shared_ptr<ServerObserver> ServerObserver::joined(sandbox::ObserverEnd end,
                                                       const mcp::ServerConfig& written) {
  std::shared_ptr<ServerObserver> made(
      new ServerObserver({.identity = written.identity(), .entry = written.entry()}));
  made->joined_.emplace(std::move(end));
  return made;
}

sandbox::ObserveOptions options_for_learning() {
  sandbox::ObserveOptions options;
  options.left_out = {"/usr",   "/bin",    "/sbin", "/lib", "/lib32",
                      "/lib64", "/libx32", "/proc", "/sys", "/dev"};
  return options;
}

std::shared_ptr<mcp::Refusals> refusals_of(std::shared_ptr<const project::Project> project,
                                           const project::Folders& folders,
                                           const std::string& server) {
  sandbox::ObserveOptions options;
  options.left_out = {"/proc", "/sys", "/dev"};
  options.only_refused = true;
  const auto homes = homes_of_servers();
  if (!homes.empty()) options.stands_for = {kConfinedHome, homes.front()};
  auto observation = sandbox::Observation::begin(std::move(options));
  if (!observation) return nullptr;
  return std::make_shared<ServerRefusals>(std::move(*observation), std::move(project), folders,
                                          server);
}

}  // namespace mcpac::servers
