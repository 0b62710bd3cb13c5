// Hostile sources: what a text can make a compiler do, each with what must become of it.
#pragma once

#include <string>
#include <vector>

namespace mcpac::hostile {

enum class Fate {
  kRefused,   // the compiler says no
  kHarmless,  // it compiles, and nothing of the machine is in the object
  kEnded,     // it comes to no object: a limit of its own or of the process, or a crash
};

struct Source {
  std::string name;
  std::string text;  // {file} stands for the path of a file that it must not see
  Fate fate;
};

// What reaches for a file; with every path it must end alike, be the file there or not.
[[nodiscard]] const std::vector<Source>& reaching_sources();
// What reaches for devices, streams, modules, plugins and the linker.
[[nodiscard]] const std::vector<Source>& odd_sources();
// What takes time, memory or room without an end.
[[nodiscard]] std::vector<Source> endless_sources();

}  // namespace mcpac::hostile
