#include <doctest/doctest.h>

#include "e2e/programs_of_files.h"

namespace e2e {
namespace {

const std::string kSource = R"p(#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string say(bool ok) { return ok ? "ok" : strerrorname_np(errno); }

std::string act(const Words& w) {
  std::error_code error;
  errno = 0;
  const std::string& what = w.at(0);
  if (what == "read") {
    std::ifstream file(w.at(1));
    if (!file) return say(false);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  if (what == "write") {
    std::ofstream file(w.at(1));
    if (!file) return say(false);
    file << w.at(2) << std::flush;
    return say(static_cast<bool>(file));
  }
  if (what == "list") {
    std::set<std::string> names;
    for (fs::directory_iterator at(w.at(1), error), end; !error && at != end; at.increment(error))
      names.insert(at->path().filename().string());
    std::string text;
    for (const auto& name : names) text += name + " ";
    return error ? strerrorname_np(error.value()) : text;
  }
  if (what == "fill") {
    std::ofstream file(w.at(1));
    const std::string block(1 << 20, 'x');
    for (int i = std::stoi(w.at(2)); i > 0 && file; --i) file << block << std::flush;
    return say(static_cast<bool>(file));
  }
  if (what == "remove") return say(::remove(w.at(1).c_str()) == 0);
  if (what == "rename") return say(::rename(w.at(1).c_str(), w.at(2).c_str()) == 0);
  if (what == "copy")
    return say(fs::copy_file(w.at(1), w.at(2), fs::copy_options::overwrite_existing, error));
  if (what == "folder") return say(::mkdir(w.at(1).c_str(), 0755) == 0);
  if (what == "exists") return fs::exists(w.at(1), error) ? "yes" : "no";
  if (what == "link") return say(::symlink(w.at(1).c_str(), w.at(2).c_str()) == 0);
  if (what == "mode") return say(::chmod(w.at(1).c_str(), std::stoi(w.at(2), nullptr, 8)) == 0);
  if (what == "where") return fs::current_path(error).string();
  if (what == "race") {
    // FOLDER OWN OTHER NAME COUNT: makes FOLDER/N/NAME at the moment at which another run does so.
    int made = 0;
    for (int i = 0; i < std::stoi(w.at(5)); ++i) {
      const std::string at = w.at(1) + "/" + std::to_string(i) + "/";
      ::mkdir((at + w.at(2)).c_str(), 0755);
      while (::access((at + w.at(3)).c_str(), F_OK) != 0) {}
      if (::mkdir((at + w.at(4)).c_str(), 0755) == 0) ++made;
    }
    return std::to_string(made);
  }
  if (what == "stay") for (;;) ::usleep(100000);
  return "?";
}

int main(int count, char** words) {
  Words one;
  for (int i = 1; i <= count; ++i) {
    if (i < count && std::strcmp(words[i], "+") != 0) {
      one.push_back(words[i]);
      continue;
    }
    std::cout << act(one) << std::endl;
    one.clear();
  }
}
)p";

}  // namespace

std::string file_program(const Workspace& workspace) {
  const auto program = (workspace.folder() / "file-program").string();
  if (std::filesystem::exists(program)) return program;
  const auto source = workspace.write("file-program.cpp", kSource);
  const auto built = run_program(
      {"g++", "-std=c++20", "-O1", "-static", "-D_GNU_SOURCE", source.string(), "-o", program}, {},
      {.folder = workspace.folder()});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  return program;
}

}  // namespace e2e
