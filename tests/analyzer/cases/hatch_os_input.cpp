// Standard input is empty; a path and what is said of files are only text.
#include <mcpac.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
namespace fs = std::filesystem;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::string word;
  std::getline(std::cin, word);  // expect: warns os-call // message: standard input, which is empty // fix: mcpac::argument
  const int c = std::getchar();  // expect: warns os-call
  fs::path path = fs::path("a") / word / "b.txt";
  path /= "c";
  std::cout << path << (path == fs::path("x")) << fs::hash_value(path) << path.filename() << c;
  const auto options = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
  try {
    rt.filesystem.read_text_file({.path = (path / "x").string()});  // use: filesystem.read_text_file {"path": "?"}
  } catch (const fs::filesystem_error& error) {
    std::cerr << error.what();
  }
  return fs::exists(path) ? static_cast<int>(options) : 0;  // expect: warns os-call
}
