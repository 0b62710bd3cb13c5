// Reads granted files, sends what it found to a granted host, and writes the answer down.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <print>
#include <sstream>
#include <string>
#include <vector>

#include <mcpac.hpp>

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string report_on(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::istringstream words(text_of(entry.path()));
    const auto count = std::distance(std::istream_iterator<std::string>(words), {});
    lines.push_back(entry.path().filename().string() + " " + std::to_string(count) + "\n");
  }
  std::ranges::sort(lines);
  std::string report;
  for (const std::string& line : lines) report += line;
  return report;
}

// Files need no capability in the hand: what was granted is there. The network does.
std::string send(mcpac::Requires<mcpac::network> rt, const std::string& report) {
  std::istringstream place(text_of("publish/collector.txt"));  // "127.0.0.1 40123"
  std::string host;
  unsigned short port = 0;
  place >> host >> port;
  auto collector = rt.network.connect_plain(host, port);
  collector.write(report);
  collector.shut_down_writing();
  return collector.read_all(1000);
}

}  // namespace

int agent_main(mcpac::Requires<mcpac::files, mcpac::network> rt) {
  const std::string report = report_on("data");
  std::print("{}", report);
  const std::string receipt = send(rt, report);
  std::print("the collector says: {}", receipt);
  std::ofstream("publish/out/receipt.txt") << receipt;
  std::println("beside what was granted: {}",
               fs::exists("publish/README.md") ? "files" : "nothing");
  return 0;
}
