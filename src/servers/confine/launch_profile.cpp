// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/launch_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "core/ascii.h"
#include "core/file.h"
#include "core/json.h"
#include "core/printable.h"
#include "mcp/environment.h"
#include "project/files/open_place.h"
#include "project/project_place.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;

// Kind of the program that starts a server, by its name without a version.
enum class Starts : std::uint8_t {
  kNode,       // a script, with its package
  kPython,     // a script, with the folder it lies in
  kScript,     // a script, and nothing with it
  kCommand,    // another program, with variables before it
  kDownloads,  // what it fetches
  kElsewhere   // something that is no child of it
};
struct Launcher {
  std::string_view name;
  Starts starts;
  // Options whose value is the next word.
  std::string_view with_value = {};
};
constexpr std::array kLaunchers = {
    Launcher{"node", Starts::kNode,
             "-r --require --import --loader --experimental-loader --env-file -C "
             "--conditions"},
    Launcher{"nodejs", Starts::kNode, "-r --require --import --loader --experimental-loader"},
    Launcher{"bun", Starts::kNode, "-r --preload --cwd"},
    Launcher{"deno", Starts::kNode, "--config --import-map"},
    Launcher{"tsx", Starts::kNode, "-r --require --import --tsconfig"},
    Launcher{"ts-node", Starts::kNode, "-r --require --project -P"},
    Launcher{"python", Starts::kPython, "-W -X"},
    Launcher{"pypy", Starts::kPython, "-W -X"},
    Launcher{"sh", Starts::kScript, "-o -O"},
    Launcher{"bash", Starts::kScript, "-o -O --rcfile --init-file"},
    Launcher{"dash", Starts::kScript, "-o"},
    Launcher{"zsh", Starts::kScript, "-o"},
    Launcher{"ksh", Starts::kScript, "-o"},
    Launcher{"perl", Starts::kScript},
    Launcher{"ruby", Starts::kPython, "-r -I -C"},
    Launcher{"php", Starts::kPython, "-c -d"},
    Launcher{"lua", Starts::kPython, "-l"},
    Launcher{"java", Starts::kScript},
    Launcher{"env", Starts::kCommand},
    Launcher{"nice", Starts::kCommand},
    Launcher{"npx", Starts::kDownloads},
    Launcher{"npm", Starts::kDownloads},
    Launcher{"pnpm", Starts::kDownloads},
    Launcher{"pnpx", Starts::kDownloads},
    Launcher{"yarn", Starts::kDownloads},
    Launcher{"bunx", Starts::kDownloads},
    Launcher{"uvx", Starts::kDownloads},
    Launcher{"uv", Starts::kDownloads},
    Launcher{"pipx", Starts::kDownloads},
    Launcher{"docker", Starts::kElsewhere},
    Launcher{"podman", Starts::kElsewhere},
    Launcher{"nerdctl", Starts::kElsewhere},
    Launcher{"kubectl", Starts::kElsewhere},
    Launcher{"ssh", Starts::kElsewhere},
    Launcher{"wsl", Starts::kElsewhere},
    Launcher{"sudo", Starts::kElsewhere},
    Launcher{"su", Starts::kElsewhere},
    Launcher{"doas", Starts::kElsewhere},
    Launcher{"systemd-run", Starts::kElsewhere},
    Launcher{"flatpak", Starts::kElsewhere},
};

const Launcher* launcher_of(const fs::path& program) {
  std::string name = program.filename().native();
  if (name.ends_with(".exe")) name.resize(name.size() - 4);
  // "python3.11", "node20", "pypy3"
  name.resize(name.find_last_not_of("0123456789.") + 1);
  const auto found = std::ranges::find(kLaunchers, std::string_view(name), &Launcher::name);
  return found == kLaunchers.end() ? nullptr : &*found;
}

bool has_value(const Launcher& launcher, std::string_view option) {
  for (std::string_view rest = launcher.with_value; !rest.empty();) {
    const auto word = rest.substr(0, rest.find(' '));
    if (word == option) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

// Variables that name folders of code.
constexpr std::array<std::string_view, 4> kCodePaths = {"NODE_PATH", "PYTHONPATH", "PERL5LIB",
                                                        "RUBYLIB"};

std::string quoted(const fs::path& path) {
  return "\"" + printable(path.string()) + "\"";
}

class Profiler {
 public:
  Profiler(const mcp::SpawnOptions& options, const fs::path& start, const ForeignFolders& foreign)
      : options_(options), start_(start), foreign_(foreign) {}

  Result<LaunchProfile> find(std::span<const fs::path> programs) {
    const std::span<const std::string> words(options_.arguments);
    auto done = add_command(start_ / options_.program, words.empty() ? words : words.subspan(1));
    if (!done) return pass_on(done);
    for (const fs::path& program : programs) {
      if (auto added = add_program(program, 0); !added) return pass_on(added);
    }
    add_code_paths();
    tidy();
    return std::move(profile_);
  }

 private:
  static std::unexpected<Error> refuse(std::string what, std::string why, std::string fix) {
    return fail(ErrorId::kServerStart, std::move(what),
                {.why = std::move(why), .fix = std::move(fix)});
  }

  // Where the path leads; the links on the way are noted.
  std::optional<fs::path> follow(const fs::path& path) {
    constexpr int kMostLinks = 40;
    fs::path rest = path.lexically_normal();
    for (int links = 0; links < kMostLinks;) {
      fs::path at;
      bool went_on = false;
      for (auto part = rest.begin(); part != rest.end(); ++part) {
        const fs::path next = at / *part;
        struct stat info {};
        if (::lstat(next.c_str(), &info) != 0) return std::nullopt;
        if (!S_ISLNK(info.st_mode)) {
          at = next;
          continue;
        }
        std::error_code error;
        const fs::path target = fs::read_symlink(next, error);
        if (error) return std::nullopt;
        profile_.links.emplace(next, target);
        fs::path left = at / target;
        for (++part; part != rest.end(); ++part) left /= *part;
        rest = left.lexically_normal();
        went_on = true;
        ++links;
        break;
      }
      if (!went_on) return at;
    }
    return std::nullopt;
  }

  void add_tree(const fs::path& path) {
    if (!is_of_system(path)) profile_.trees.insert(path);
  }

  [[nodiscard]] bool is_foreign(const fs::path& folder) const {
    return servers::is_foreign(folder, foreign_);
  }

  // `words` are the last of the arguments.
  void own_begin_at(std::span<const std::string> words) {
    profile_.first_own = options_.arguments.size() - words.size();
  }

  // A program, and what stands in `words` behind it.
  Result<void> add_command(const fs::path& program, std::span<const std::string> words) {
    const Launcher* launcher = launcher_of(program);
    if (launcher != nullptr && launcher->starts == Starts::kDownloads) return downloads(program);
    if (launcher != nullptr && launcher->starts == Starts::kElsewhere) return elsewhere(program);
    auto real = add_program(program, 0);
    if (!real) return pass_on(real);
    own_begin_at(words);
    if (launcher == nullptr) {
      profile_.names.insert(program.stem().string());
      profile_.names.insert(real->stem().string());
      launcher = launcher_of(*real);
    }
    if (launcher == nullptr) return {};
    if (launcher->starts == Starts::kCommand) return add_words_of_command(words);
    return add_scripts(*launcher, words);
  }

  // env A=b PROGRAM …
  Result<void> add_words_of_command(std::span<const std::string> words) {
    while (!words.empty() && (words[0].starts_with('-') || words[0].contains('=')))
      words = words.subspan(1);
    if (words.empty()) return {};
    auto program = mcp::find_program(words[0], options_.environment);
    if (!program) return pass_on(program);
    return add_command(start_ / *program, words.subspan(1));
  }

  static Result<void> downloads(const fs::path& program) {
    return refuse(
        fmt::format("{} cannot be confined: it downloads what it runs", quoted(program.filename())),
        "a confined server reaches no registry, and has a home of its own without what was "
        "downloaded",
        "write the launcher itself as \"command\" and what runs a package as its first words (npx "
        "-y "
        "PACKAGE, npm exec, bunx, pnpm dlx, yarn dlx, uvx, uv tool run, pipx run): that is "
        "installed "
        "before; else install the server, and write the program that is started then, as "
        "\"command\": \"node\", \"args\": [\"node_modules/NAME/dist/index.js\"], or that of a "
        "venv");
  }
  static std::unexpected<Error> chooses(const fs::path& program) {
    const std::string name = printable(program.filename().string());
    std::string asked = fmt::format("`pyenv which {0}` or `asdf which {0}`", name);
    for (const std::string_view manager : {"pyenv", "asdf", "mise", "rbenv", "nodenv"}) {
      const std::string part(manager);
      if (std::ranges::any_of(program, [&](const fs::path& folder) {
            return folder == part || folder == "." + part;
          }))
        asked = fmt::format("`{} which {}`", manager, name);
    }
    return refuse(
        fmt::format("{} cannot be confined: it chooses its program when it runs", quoted(program)),
        "what it would choose is not known before, and nothing else of its versions is given",
        fmt::format("write the program itself as \"command\", as {} says it", asked));
  }
  std::unexpected<Error> not_there(const std::string& script) const {
    return refuse(
        fmt::format("{} has no file {} to run", quoted(fs::path(options_.program).filename()),
                    quoted((start_ / script).lexically_normal())),
        script.starts_with('/') ? "" : "a relative path begins at " + printable(start_.string()),
        "check \"args\"");
  }
  static Result<void> elsewhere(const fs::path& program) {
    return refuse(fmt::format("{} cannot be confined: what it starts is no child of it",
                              quoted(program.filename())),
                  "a sandbox around it would hold the one that asks, and not the server",
                  "confine it by its own means, and remove \"sandbox\" from its entry");
  }

  // The file that is executed, with its interpreters. Its real path.
  Result<fs::path> add_program(const fs::path& program, int depth) {
    constexpr int kMostInterpreters = 4;  // as the kernel
    if (program.parent_path().filename() == "shims") return chooses(program);
    const auto real = follow(program);
    struct stat info {};
    if (!real || ::stat(real->c_str(), &info) != 0) {
      return refuse(fmt::format("cannot start {}: {}", quoted(program),
                                std::system_category().message(ENOENT)),
                    "", "check \"command\"");
    }
    if (!S_ISREG(info.st_mode)) {
      return refuse(fmt::format("cannot start {}: it is no file", quoted(program)), "",
                    "check \"command\"");
    }
    if ((info.st_mode & (S_ISUID | S_ISGID)) != 0) {
      return refuse(fmt::format("{} cannot be confined: it is a set-id file", quoted(program)),
                    "in a sandbox nothing gets the rights of another user or group",
                    "name a program that needs none of them");
    }
    add_tree(*real);
    add_venv(program);
    add_venv(*real);
    const std::string interpreter = interpreter_of(*real);
    if (interpreter.empty()) {
      add_libraries_of(*real);
      return *real;
    }
    if (depth == kMostInterpreters)
      return refuse(fmt::format("{} has too many interpreters", quoted(program)), "", "");
    auto done = add_interpreter(*real, interpreter, depth);
    if (!done) return pass_on(done);
    return *real;
  }

  // The line behind "#!"; empty: none.
  static std::string interpreter_of(const fs::path& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    std::array<char, 256> begin{};  // what the kernel reads
    const ssize_t size = fd ? ::read(fd.get(), begin.data(), begin.size()) : -1;
    std::string_view text(begin.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (!text.starts_with("#!")) return {};
    text = text.substr(2, text.find('\n') - 2);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
    const auto last = text.find_last_not_of(" \t\r");
    return std::string(text.substr(0, last + 1));
  }

  Result<void> add_interpreter(const fs::path& script, const std::string& line, int depth) {
    std::vector<std::string> words;
    for (std::string_view rest = line; !rest.empty();) {
      const auto word = rest.substr(0, rest.find_first_of(" \t"));
      if (!word.empty()) words.emplace_back(word);
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    fs::path interpreter = words.empty() ? fs::path() : fs::path(words[0]);
    std::error_code error;
    if (!interpreter.is_absolute() || !fs::exists(interpreter, error)) {
      return refuse(
          fmt::format("{} is a script without its interpreter", quoted(script)),
          fmt::format("its first line names {}, which is not there", quoted(interpreter)),
          "install that, or write the interpreter as \"command\" and the script among \"args\"");
    }
    auto done = add_program(interpreter, depth + 1);
    if (!done) return pass_on(done);
    std::span<const std::string> rest = std::span<const std::string>(words).subspan(1);
    if (interpreter.filename() == "env") {
      while (!rest.empty() && (rest[0].starts_with('-') || rest[0].contains('=')))
        rest = rest.subspan(1);
      if (rest.empty()) return {};
      auto program = mcp::find_program(rest[0], options_.environment);
      if (!program) {
        return refuse(
            fmt::format("{} is a script without its interpreter", quoted(script)),
            fmt::format("its first line names \"{}\", which no folder of PATH holds",
                        printable(rest[0])),
            "install that, or write the interpreter as \"command\" and the script among \"args\"");
      }
      interpreter = *program;
      if (auto found = add_program(interpreter, depth + 1); !found) return pass_on(found);
    }
    if (const Launcher* launcher = launcher_of(interpreter)) {
      profile_.is_python = profile_.is_python || launcher->starts == Starts::kPython;
      return add_tree_of(*launcher, script);
    }
    return {};
  }

  // A folder with pyvenv.cfg above the folder of the program.
  void add_venv(const fs::path& program) {
    const fs::path root = program.parent_path().parent_path();
    std::error_code error;
    if (root == root.root_path() || !fs::exists(root / "pyvenv.cfg", error)) return;
    const auto real = follow(root);
    if (!real) return;
    if (!is_foreign(*real)) return add_tree(*real);
    // One that was made in the project's folder is that, and more.
    for (const char* name : {"pyvenv.cfg", "bin", "lib", "lib64"}) {
      if (const auto part = follow(*real / name); part && project::lies_in(*part, *real))
        add_tree(*part);
    }
  }

  // "PREFIX/lib" of "PREFIX/bin/program": of a Python or a Node that was unpacked somewhere.
  void add_libraries_of(const fs::path& program) {
    const fs::path folder = program.parent_path();
    const fs::path prefix = folder.parent_path();
    if (folder.filename() != "bin" || is_of_system(prefix) || prefix == prefix.root_path()) return;
    std::error_code error;
    if (fs::is_directory(prefix / "lib", error)) {
      if (const auto real = follow(prefix / "lib"); real && project::lies_in(*real, prefix))
        add_tree(*real);
    }
  }

  // A script, or a module: "a/notes.js", "notes.server" of -m.
  void add_name_of(const std::string& word) {
    std::error_code error;
    const bool is_file = fs::exists(start_ / word, error);
    profile_.names.insert(is_file ? fs::path(word).stem().string()
                                  : word.substr(0, word.find('.')));
  }

  // The first word that is no option, and files that options name.
  Result<void> add_scripts(const Launcher& launcher, std::span<const std::string> words) {
    profile_.is_python = profile_.is_python || launcher.starts == Starts::kPython;
    bool is_value = false;
    bool may_be_value = false;  // of an option that is not known here
    for (; !words.empty(); words = words.subspan(1)) {
      const std::string& word = words[0];
      const bool is_option = !is_value && word.starts_with('-');
      std::string_view name = word;
      const auto equals = word.find('=');
      if (is_option)
        name = equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
      std::error_code error;
      if (!name.empty() && fs::exists(start_ / name, error)) {
        if (auto added = add_tree_of(launcher, start_ / name); !added) return added;
      }
      if (!is_option && !is_value && word != "run") {
        if (!may_be_value && is_code_file(word) && !fs::exists(start_ / word, error))
          return not_there(word);
        add_name_of(word);
        own_begin_at(words.subspan(1));
        return {};
      }
      may_be_value = is_option && equals == std::string::npos && !is_flag(launcher, word);
      is_value = is_option && equals == std::string::npos && has_value(launcher, word);
    }
    own_begin_at(words);
    return {};
  }

  // Of options whose next word is none of theirs those that are common before a script.
  static bool is_flag(const Launcher& launcher, std::string_view option) {
    constexpr std::array<std::string_view, 9> kOfPython = {"-u", "-B", "-E",  "-I", "-s",
                                                           "-S", "-O", "-OO", "-q"};
    return launcher.starts == Starts::kPython &&
           std::ranges::find(kOfPython, option) != kOfPython.end();
  }

  // A name that is no address, no module and no text of a program.
  static bool is_code_file(const std::string& word) {
    constexpr std::string_view kOfPaths = "/._-+@ ";
    return is_code(fs::path(word).extension()) && std::ranges::all_of(word, [&](char c) {
             return is_alphanumeric(c) || kOfPaths.contains(c) ||
                    static_cast<unsigned char>(c) > 127;
           });
  }
  static bool is_code(const fs::path& extension) {
    constexpr std::array<std::string_view, 14> kCode = {".js",  ".mjs", ".cjs", ".ts", ".mts",
                                                        ".cts", ".jsx", ".tsx", ".py", ".rb",
                                                        ".php", ".pl",  ".lua", ".sh"};
    return std::ranges::find(kCode, extension.native()) != kCode.end();
  }

  // A folder of one program, whole: it says so itself, or a folder above it does.
  [[nodiscard]] bool is_of_one_program(const fs::path& folder) const {
    constexpr std::array kMarks = {
        "package.json",  "pyproject.toml", "setup.py",         "setup.cfg",
        "uv.lock",       "Pipfile",        "requirements.txt", "__init__.py",
        "__main__.py",   "tsconfig.json",  "deno.json",        "deno.jsonc",
        "composer.json", "Gemfile",        "node_modules",     ".venv"};
    std::error_code error;
    const fs::path home = project::home_of_user();  // whatever lies there is not about all of it
    for (fs::path at = folder; at != at.root_path(); at = at.parent_path()) {
      if (!home.empty() && project::lies_in(home, at)) return false;
      if (std::ranges::any_of(kMarks,
                              [&](const char* mark) { return fs::exists(at / mark, error); }))
        return true;
      if (is_foreign(at)) return false;
    }
    return false;
  }

  // Of a folder that holds anything ("~/Downloads") what a script there can load: the code beside
  // it, and packages of Python. Of a larger one the script alone.
  void add_code_beside(const fs::path& folder) {
    constexpr std::size_t kMostBeside = 64;
    constexpr std::size_t kMostEntries = 4'096;  // a server may have filled it
    std::vector<fs::path> beside;
    std::size_t entries = 0;
    std::error_code error;
    std::error_code ignored;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      const bool is_package = at->is_directory(ignored) && !at->is_symlink(ignored) &&
                              fs::exists(at->path() / "__init__.py", ignored);
      const bool is_file = at->is_regular_file(ignored) && !at->is_symlink(ignored) &&
                           is_code(at->path().extension());
      if (is_package || is_file) beside.push_back(at->path());
      if (beside.size() > kMostBeside || ++entries > kMostEntries) return;
    }
    for (const fs::path& path : beside) add_tree(path);
  }

  // A name in the project that a link leads out of it to something else than a program: a cloned
  // project would name a key so, where its entry shows a file of its own.
  [[nodiscard]] bool leads_out_of_project(const fs::path& path, const fs::path& real) const {
    if (foreign_.empty() || project::lies_in(real, foreign_.front())) return false;
    std::error_code error;
    for (fs::path at = path.lexically_normal(); at != at.root_path(); at = at.parent_path()) {
      if (!fs::equivalent(at, foreign_.front(), error)) continue;
      if (fs::is_directory(real, error)) return !is_of_one_program(real);
      return !is_code(real.extension()) && ::access(real.c_str(), X_OK) != 0;
    }
    return false;
  }

  Result<void> add_tree_of(const Launcher& launcher, const fs::path& script) {
    const auto real = follow(script);
    if (!real || is_of_system(*real)) return {};
    if (leads_out_of_project(script, *real)) {
      return refuse(
          fmt::format("{} leads out of the project to {}, which is no program",
                      quoted(script.lexically_normal()), quoted(*real)),
          "a link in a project can lead to any file of yours, so no more than programs follow one",
          "write the path that it leads to, or give the server that file with \"files\"");
    }
    std::error_code error;
    if (fs::is_directory(*real, error)) {
      if (!is_foreign(*real)) add_tree(*real);
      return {};
    }
    add_tree(*real);
    add_package_of(*real);
    if (launcher.starts == Starts::kScript && !real->native().contains("/node_modules/")) return {};
    const fs::path folder = real->parent_path();
    if (const auto packages = outermost_packages(folder)) {
      add_tree(*packages);
      return {};
    }
    if (!is_foreign(folder)) is_of_one_program(folder) ? add_tree(folder) : add_code_beside(folder);
    if (launcher.starts == Starts::kNode) add_package_above(folder);
    return {};
  }

  // The package in node_modules that the script lies in, without its scope.
  void add_package_of(const fs::path& script) {
    fs::path package;
    for (auto part = script.begin(); part != script.end(); ++part) {
      if (*part != "node_modules") continue;
      auto name = std::next(part);
      if (name != script.end() && name->native().starts_with('@')) ++name;
      if (name != script.end()) package = *name;
    }
    if (!package.empty() && package != ".bin") profile_.names.insert(package.string());
  }
  void add_name_in(const fs::path& package_file) {
    const auto text = read_file(package_file, std::size_t{1} << 20U);
    const auto package = text ? parse_json(*text) : std::unexpected(text.error());
    const std::string name = package ? string_member(*package, "name") : std::string();
    if (!name.empty()) profile_.names.insert(name.substr(name.rfind('/') + 1));
  }

  static std::optional<fs::path> outermost_packages(const fs::path& folder) {
    fs::path at;
    for (const fs::path& part : folder) {
      at /= part;
      if (part == "node_modules") return at;
    }
    return std::nullopt;
  }

  // Where it leads, and is called the same: a link in a project that somebody else wrote could lead
  // to a home, a key or anything.
  std::optional<fs::path> follow_by_name(const fs::path& path) {
    auto real = follow(path);
    if (real && real->filename() != path.filename()) real.reset();
    return real;
  }

  // Files that Node looks for from there up to the script's package.
  void add_package_above(const fs::path& folder) {
    std::error_code error;
    for (fs::path at = folder; at != at.root_path(); at = at.parent_path()) {
      const auto packages = follow_by_name(at / "node_modules");
      if (packages && !is_foreign(*packages)) add_tree(*packages);
      if (!fs::is_regular_file(at / "package.json", error)) continue;
      const auto real = follow_by_name(at / "package.json");
      if (!real) return;
      add_tree(*real);
      add_name_in(at / "package.json");
      return;
    }
  }

  void add_code_paths() {
    for (const std::string& variable : options_.environment) {
      const auto equals = variable.find('=');
      if (std::ranges::find(kCodePaths, std::string_view(variable).substr(0, equals)) ==
          kCodePaths.end())
        continue;
      for (std::string_view rest = std::string_view(variable).substr(equals + 1); !rest.empty();) {
        const auto folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
        if (!folder.starts_with('/')) continue;
        const auto real = follow(fs::path(folder));
        if (real && !is_foreign(*real) && !leads_out_of_project(fs::path(folder), *real))
          add_tree(*real);
      }
    }
  }

  // What lies in a tree is there with it.
  void tidy() {
    const auto in_another = [&](const fs::path& path) {
      return std::ranges::any_of(profile_.trees, [&](const fs::path& tree) {
        return tree != path && project::lies_in(path, tree);
      });
    };
    std::set<fs::path> outer;
    for (const fs::path& tree : profile_.trees) {
      if (!in_another(tree)) outer.insert(tree);
    }
    std::erase_if(profile_.links, [&](const auto& link) {
      return is_of_system(link.first) || in_another(link.first);
    });
    profile_.trees = std::move(outer);
  }

  const mcp::SpawnOptions& options_;
  const fs::path& start_;
  const ForeignFolders& foreign_;
  LaunchProfile profile_;
};

}  // namespace

bool is_foreign(const fs::path& folder, const ForeignFolders& foreign) {
  return folder == folder.root_path() || folder == "/tmp" || folder == "/home" ||
         std::ranges::any_of(foreign, [&](const fs::path& other) {
           return !other.empty() && project::lies_in(other, folder);
         });
}

bool is_of_system(const fs::path& path) {
  constexpr std::array kSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
  return std::ranges::any_of(kSystem,
                             [&](const char* folder) { return project::lies_in(path, folder); });
}

Result<LaunchProfile> launch_profile_of(const mcp::SpawnOptions& options, const fs::path& start,
                                        const ForeignFolders& foreign,
                                        std::span<const fs::path> programs) {
  return Profiler(options, start, foreign).find(programs);
}

}  // namespace mcpac::servers
