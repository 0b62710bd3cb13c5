// SPDX-License-Identifier: Apache-2.0

#include "project/files/protected_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/folded_name.h"
#include "core/folds_case.h"
#include "core/printable.h"
#include "core/repository.h"
#include "core/shell_quote.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr auto kNames = std::to_array<ProtectedName>({
#include "project/files/protected_names.inc"
});

// Folders of ~/.config whose programs run or obey what lies there, or keep keys there; folded, one
// '*' stands for any characters.
// clang-format off
constexpr auto kSettings = std::to_array<std::string_view>({
    // Shells and sessions.
    "atuin", "autostart", "autostart-scripts", "awesome", "bash", "bspwm", "dconf", "dunst",
    "elvish", "environment.d", "eww", "fcitx*", "fish", "fluxbox", "gnome*", "gtk-*",
    "herbstluftwm", "hypr*", "i3*", "ibus", "kde*", "kglobal*", "khotkeys*", "konsole*",
    "kwin*", "labwc", "lxqt", "lxsession", "mako", "menus", "mimeapps*", "navi", "niri",
    "nushell", "openbox", "picom", "pipewire", "plasma*", "polybar", "powershell", "pulse",
    "qtile", "river", "rofi", "sheldon", "starship*", "sway*", "sxhkd", "systemd", "upstart",
    "user-dirs*", "user-tmpfiles.d", "waybar", "wayfire*", "wireplumber", "wofi", "xfce4",
    "xmonad", "xonsh", "zsh",
    // Terminals.
    "alacritty", "byobu", "foot", "ghostty", "kitty", "terminator", "tilix", "tmux*",
    "wezterm", "zellij",
    // Editors.
    "code", "code - *", "code-*", "cursor", "doom", "emacs", "geany", "gedit", "google", "helix",
    "jetbrains", "kak", "kakoune", "kate*", "lapce*", "lite-xl", "lvim", "micro", "neovide",
    "nvim*", "sublime*", "vim", "vscode*", "vscodium", "windsurf", "xed", "zed",
    // Tools.
    "aerc", "aria2", "asdf", "bat", "blender", "broot", "bun", "cargo", "composer", "conda",
    "deno", "direnv", "distrobox", "dotnet", "flatpak", "freecad", "gdb", "gimp", "git",
    "gitui", "go", "gradle", "guix", "hatch", "hexchat", "hg", "home-manager", "htop",
    "inkscape", "ipython", "irssi", "jj", "jupyter", "krita", "lazygit", "lf", "libreoffice",
    "lldb", "mamba*", "matplotlib", "maven", "mc", "mise", "mpv", "mutt", "neomutt",
    "newsboat", "nix*", "nixpkgs", "nnn", "npm", "nuget", "octave", "pdm", "pip", "pnpm",
    "pre-commit", "pypoetry", "r", "radare2", "ranger", "ripgrep", "rizin", "rstudio", "rtx",
    "sbt", "tig", "uv", "vifm", "vlc", "weechat", "yarn", "yazi", "yt-dlp", "zathura",
    // Browsers.
    "bravesoftware", "chromium*", "discord*", "electron*", "element", "firefox",
    "google-chrome*", "microsoft-edge*", "mozilla", "obs-studio", "obsidian", "opera*",
    "qutebrowser", "signal*", "slack", "spicetify", "spotify", "teams*", "vivaldi*",
    // Keys.
    "1password", "age", "aws", "azure*", "bitwarden", "cloudflared", "configstore",
    "containers", "docker", "doctl", "dropbox*", "evolution", "filezilla", "firebase", "fly",
    "flyctl", "gcloud", "geary", "gh", "github-copilot", "glab*", "gnupg", "goa-1.0", "gopass",
    "helm", "heroku", "hub", "k9s", "keepassxc", "kube", "kwallet*", "linode-cli", "netlify",
    "nextcloud", "ngrok", "op", "ovhcloud", "pass", "podman*", "pulumi", "rclone", "remmina",
    "scaleway", "sops", "ssh", "stripe", "syncthing", "tailscale", "terraform", "tofu",
    "vercel", "wireguard",
    // Agents.
    "aichat", "aider", "amp", "claude*", "cline*", "codex", "continue", "crush", "gemini",
    "goose", "kilo*", "mcp", "mcpac", "mcphub", "opencode", "zencoder"
});
// clang-format on

struct NameTable {
  std::unordered_set<std::string_view> whole;
  std::array<std::vector<std::string_view>, 256> patterns;  // by their first byte
};

std::size_t first_byte(std::string_view text) {
  return text.empty() ? 0 : static_cast<unsigned char>(text.front());
}

const NameTable& name_table() {
  static const NameTable table = [] {
    NameTable made;
    for (const ProtectedName& known : kNames) {
      if (known.name.contains('*'))
        made.patterns[first_byte(known.name)].push_back(known.name);
      else
        made.whole.insert(known.name);
    }
    return made;
  }();
  return table;
}

// A walk over this many entries takes about a tenth of a second; larger trees want a closer grant.
constexpr std::size_t kMostEntries = 200'000;
// Of the paths of all folders: what bounds how deep a tree is looked through, some thousand levels.
constexpr std::size_t kMostPathBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostClosed = 64;
constexpr std::size_t kUsualDepth = 64;  // that people and their tools make
constexpr std::size_t kMostShown = 300;  // of a path, in an error
constexpr std::size_t kMostTyped = 800;  // of one that is to be pasted: whole, or not at all

// Folders that are open at a time. A program can make a tree deeper than a process may have files
// open, and no such tree is to keep its user from granting the folder again.
constexpr std::size_t kMostOpen = 8;
constexpr std::size_t kEntriesBytes = std::size_t{32} << 10U;

// Depth first. Each folder is opened, listed and closed: a start waits for this.
class Walk {
 public:
  Result<void> all(UniqueFd root, const fs::path& at) {
    path_ = at.native();
    top_size_ = path_.size();
    if (auto done = list(std::move(root)); !done) return done;
    while (!levels_.empty()) {
      auto& names = levels_.back().folders;
      auto done = names.empty() ? leave() : enter(std::exchange(names.back(), {}));
      if (!done) return done;
    }
    return {};
  }
  ProtectedFound found;

 private:
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<std::string> folders;  // in it that are to be looked through
    std::size_t path_size = 0;         // of the path of the folder
    UniqueFd folder{};                 // of the last kMostOpen levels
  };

  // Names of it the part that a person finds it by: what a program made may be as deep as it likes.
  std::unexpected<Error> too_much() const {
    const fs::path folder = path_.substr(0, top_size_);
    const std::string below = path_.size() > top_size_ ? path_.substr(top_size_) : std::string();
    const auto depth = static_cast<std::size_t>(std::ranges::count(below, '/'));
    if (depth <= kUsualDepth)
      return fail(ErrorId::kFilesRefused,
                  fmt::format("{} holds too much to look through for protected names",
                              printable(folder.string(), kMostShown)),
                  {.why = fmt::format("more than {} entries, or folders too deep", kMostEntries),
                   .fix = "grant a smaller folder read-write"});
    const std::string first = below.substr(0, below.find('/', 1));
    const std::string chain = path_.substr(0, top_size_) + first;
    return fail(
        ErrorId::kFilesRefused,
        fmt::format("{} holds too much to look through for protected names: {} folders one in the "
                    "other",
                    printable(chain, kMostShown), depth),
        {.why = "a program that may write there can have made them",
         .fix = chain.size() > kMostTyped || printable(chain) != chain
                    ? std::string("look at it, and remove it; or grant a smaller folder read-write")
                    : fmt::format("look at it, and remove it: rm -r {}; or grant a smaller folder "
                                  "read-write",
                                  shell_quoted(chain))});
  }

  // What we cannot list, a program of ours may all the same: it can change the modes of what is
  // ours, and reach known names in what it may enter.
  Result<void> cannot_list(fs::path at) {
    if (found.closed.size() == kMostClosed) return too_much();
    found.closed.push_back(std::move(at));
    return {};
  }

  // The folder that was to be the last level.
  Result<void> not_listed() {
    fs::path at = path_;
    if (!levels_.empty()) path_.resize(levels_.back().path_size);
    return cannot_list(std::move(at));
  }

  // Makes it the last level.
  Result<void> list(UniqueFd folder) {
    struct stat info {};
    path_bytes_ += path_.size();
    if (path_bytes_ > kMostPathBytes) return too_much();
    const int fd = folder.get();
    if (::fstat(fd, &info) != 0) return not_listed();
    levels_.push_back({info.st_dev, info.st_ino, {}, path_.size(), std::move(folder)});
    if (levels_.size() > kMostOpen) levels_[levels_.size() - 1 - kMostOpen].folder.reset();
    RepositoryParts parts;
    FoldingLook folding(fd, path_);
    for (;;) {
      const ssize_t size = ::getdents64(fd, entries_.data(), entries_.size());
      if (size == 0 || (size < 0 && errno == ENOENT)) break;  // the end, or removed since
      if (size < 0) {
        levels_.pop_back();
        return not_listed();
      }
      for (ssize_t at = 0; at < size;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(entries_.data() + at);
        at += entry->d_reclen;
        const std::string_view name = static_cast<const char*>(entry->d_name);
        if (name == "." || name == "..") continue;
        if (++seen_ > kMostEntries) return too_much();
        parts.add(name);
        folding.add(name);
        look_at(fd, *entry);
      }
    }
    if (found.folding.empty() && folding.folds(devices_)) found.folding = path_;
    const bool is_repository = parts.is_whole(NamesCompared::kAsWritten) ||
                               (parts.is_whole(NamesCompared::kFolded) && folding.folds(devices_));
    if (is_repository) found.names.emplace_back(path_);
    return {};
  }

  void look_at(int folder, const dirent64& entry) {
    const auto* name = static_cast<const char*>(entry.d_name);
    const bool is_protected = is_protected_name(name);
    if (!is_protected && entry.d_type != DT_UNKNOWN) {
      if (entry.d_type == DT_DIR) levels_.back().folders.emplace_back(name);
      return;
    }
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone since
    if (is_protected) return keep(info, fs::path(path_) / name);
    if (S_ISDIR(info.st_mode)) levels_.back().folders.emplace_back(name);
  }

  Result<void> enter(const std::string& name) {
    levels_.back().folders.pop_back();
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd inner(::openat(levels_.back().folder.get(), name.c_str(), kFlags));
    if (!inner) return unopened(name);
    path_ += (path_.ends_with('/') ? "" : "/") + name;
    return list(std::move(inner));
  }

  // To the folder above, which is known: one that was moved meanwhile leads elsewhere.
  Result<void> leave() {
    const UniqueFd below = std::move(levels_.back().folder);
    levels_.pop_back();
    if (levels_.empty()) return {};
    Level& above = levels_.back();
    path_.resize(above.path_size);
    if (above.folder) return {};
    UniqueFd folder(::openat(below.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    const bool is_it = folder && ::fstat(folder.get(), &info) == 0 && info.st_dev == above.device &&
                       info.st_ino == above.inode;
    if (is_it) {
      above.folder = std::move(folder);
      return {};
    }
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} was moved while it was looked through for protected names",
                            printable(path_, kMostShown)),
                {.fix = "try again once nothing else moves folders there"});
  }

  // It is gone since, or another user's and private, or closed.
  Result<void> unopened(const std::string& name) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};
    const int folder = levels_.back().folder.get();
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const bool enters =
        ::faccessat(folder, name.c_str(), X_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
    return info.st_uid != ::geteuid() && !enters ? Result<void>()
                                                 : cannot_list(fs::path(path_) / name);
  }

  void keep(const struct stat& info, const fs::path& path) {
    const bool can_be_held = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
    (can_be_held ? found.names : found.links).push_back(path);
  }

  std::vector<Level> levels_;  // from the root to the folder that is looked through
  std::string path_;           // of that one
  alignas(dirent64) std::array<char, kEntriesBytes> entries_;
  std::size_t top_size_ = 0;  // of the path of the place
  std::size_t path_bytes_ = 0;
  std::size_t seen_ = 0;
  FoldingDevices devices_;
};

}  // namespace

bool is_protected_name(std::string_view written) {
  const std::string name = folded(written);
  const NameTable& table = name_table();
  const auto fits = [&name](std::string_view known) { return fits_pattern(name, known); };
  return table.whole.contains(name) ||
         std::ranges::any_of(table.patterns[first_byte(name)], fits) ||
         std::ranges::any_of(table.patterns['*'], fits);
}

bool is_protected_settings(std::string_view written) {
  const std::string name = folded(written);
  return is_protected_name(written) ||
         std::ranges::any_of(kSettings, [&name](std::string_view known) {
           return known.contains('*') ? fits_pattern(name, known) : name == known;
         });
}

bool has_protected_name(const fs::path& path) {
  return std::ranges::any_of(path,
                             [](const fs::path& part) { return is_protected_name(part.native()); });
}

std::span<const ProtectedName> protected_names() {
  return kNames;
}

Result<ProtectedFound> find_protected(int folder, const fs::path& at) {
  UniqueFd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return ProtectedFound{.names = {}, .closed = {at}, .links = {}, .folding = {}};
  Walk walk;
  if (auto done = walk.all(std::move(readable), at); !done) return pass_on(done);
  std::ranges::sort(walk.found.names);
  std::ranges::sort(walk.found.closed);
  std::ranges::sort(walk.found.links);
  return std::move(walk.found);
}

}  // namespace mcpac::project
