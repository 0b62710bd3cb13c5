#include <mcpac.hpp>
#include <compare>
#include <ostream>
class Version {
 public:
  constexpr Version(int major, int minor) : major_(major), minor_(minor) {}
  auto operator<=>(const Version&) const = default;
  constexpr Version operator+(int minor) const { return {major_, minor_ + minor}; }
  Version& operator++() {
    ++minor_;
    return *this;
  }
  Version operator++(int) {
    Version old = *this;
    ++*this;
    return old;
  }
  int operator[](std::size_t i) const { return i == 0 ? major_ : minor_; }
  explicit operator std::string() const { return std::to_string(major_) + "." + std::to_string(minor_); }
  friend std::string operator/(std::string_view folder, const Version& version) { return std::string(folder) + "/" + std::string(version); }

 private:
  int major_;
  int minor_;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Version version(1, 2);
  version++;
  const auto text = rt.filesystem.read_text_file({.path = "releases" / (version + 1)}).text();  // use: filesystem.read_text_file {"path": "?"}
  return version > Version(1, 0) && version[0] == 1 && !text.empty() ? 0 : 1;
}
