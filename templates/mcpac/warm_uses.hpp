// What agents were seen to write, in functions that nobody calls. No header of its own: it is
// included inside a namespace that has `tool` (warm.hpp), once where the runtime is precompiled, so
// that clang makes these templates there, and again where a tool of clang waits for a program, so
// that it has read them before the program comes. The second time nothing may be left to make: what
// is written here uses types of the library, of the runtime and of warm.hpp, and none of its own.

inline void containers(const std::string& text) {
  std::map<std::string, int> counts;
  ++counts[text];
  ++counts[text.substr(0, 1)];
  counts.emplace(text, 1);
  for (const auto& [name, count] : counts) std::println("{}: {}", name, count);
  if (counts.contains(text) && counts.find(text) != counts.end()) counts.erase(text);
  std::map<std::string, std::string> texts{{"a", "b"}};
  texts[text] = text;
  for (const auto& [name, value] : texts) std::println("{} {}", name, value);
  std::map<std::string, std::vector<std::string>> groups;
  groups[text].push_back(text);
  for (const auto& [name, members] : groups) std::println("{} {}", name, members.size());
  std::map<std::string, std::size_t> sizes;
  sizes[text] = text.size();
  ++sizes[text.substr(0, 1)];
  sizes.emplace(text, 1);
  for (const auto& [name, size] : sizes) std::println("{} {}", name, size);
  if (sizes.contains(text) && sizes.find(text) != sizes.end()) sizes.erase(text);
  std::unordered_map<std::string, int> hashed;
  ++hashed[text];
  for (const auto& [name, count] : hashed) std::println("{} {}", name, count);
  std::set<std::string> unique{text};
  unique.insert(text);
  std::vector<std::string> lines{text, "x"};
  lines.push_back(text);
  lines.emplace_back("x");
  for (const auto& line : lines) unique.insert(line.substr(0, line.find(' ')));
  std::ranges::sort(lines);
  std::sort(lines.begin(), lines.end());
  std::vector<std::pair<std::string, int>> ranked(counts.begin(), counts.end());
  ranked.emplace_back(text, 1);
  std::vector<int> numbers{1, 2};
  numbers.push_back(3);
  std::ranges::sort(numbers);
  std::println("{}", std::accumulate(numbers.begin(), numbers.end(), 0));
}

inline void texts(const std::string& text, std::string_view view, int i, std::size_t n, double d,
                  long l, std::int64_t big, bool b, char c) {
  std::string mine = text + "x" + text;
  mine += view;
  mine += std::to_string(i) + std::to_string(n) + std::to_string(d);
  std::println("{}", text);
  std::println("{}", mine);
  std::println("{}", view);
  std::println("{} {}", text, mine);
  std::println("{} {} {}", i, n, d);
  std::println("{}: {}", text, n);
  std::println("{}: {}", text, i);
  std::println("{}", i);
  std::println("{}", n);
  std::println("{}", d);
  std::println("{}", l);
  std::println("{} {} {}", big, b, c);
  std::println("text");
  std::print("{}", text);
  std::print("{}\n", text);
  std::print("text");
  mine = std::format("{}", text) + std::format("{}", mine) + std::format("{} {}", text, i);
  mine += std::format("{}-{}", i, n) + std::format("{}/{}", text, mine) + std::format("{:.2f}", d);
  mine += std::format("{:>10}", text) + std::format("{:4}", i) + std::format("{}", i);
  mine += std::format("{}", n) + std::format("item-{}", i) + std::format("{}", view);
  const std::string part = text.substr(1, 2);
  if (part.starts_with("a") || part.ends_with(".txt") || part.find("x") != std::string::npos) {
    std::cout << text << view << i << n << d << "x" << '\n' << std::endl;
    std::cerr << text << '\n';
    std::println(stderr, "{}", text);
  }
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) std::println("{}", line);
  std::string word;
  while (stream >> word) mine += word;
  std::ostringstream out;
  out << text << i;
  mine += out.str();
  std::println("{}", std::stoi(mine) + std::stol(mine));
}

inline void errors_and_json(const std::string& text) {
  try {
    Json json = Json::parse(text);
    json["a"] = text;
    json["n"] = 1;
    json["l"] = std::vector<std::string>{text};
    json.push_back(text);
    for (const auto& item : json) std::println("{}", item.dump());
    for (const auto& [key, value] : json.items()) std::println("{} {}", key, value.dump(2));
    std::println("{}", json["a"].get<std::string>());
    std::println("{}", json.value("n", 0) + json.at("n").get<int>());
    std::println("{}", json.value("a", "x"));
    if (json.contains("a") && json["a"].is_string()) json.erase("a");
    std::println("{} {}", argument<std::string>("a"), argument<std::string>("b", "c"));
    std::println("{} {}", argument<int>("a", 1), argument<bool>("b", false));
    std::println("{}", arguments().dump());
    json = {{"a", text}, {"b", 1}, {"c", true}, {"d", 1.5}};
  } catch (const mcpac::Denied& error) {
    std::println("{}", error.what());
  } catch (const mcpac::Error& error) {
    std::println("{} {}", error.what(), error.code());
  } catch (const std::exception& error) {
    std::println(stderr, "{}", error.what());
  }
}

inline int calls(Requires<tool> rt, const std::string& text, std::string_view view) {
  std::vector<Future<tool::Result>> futures;
  futures.push_back(rt.warm.tool.async(
      {.text = text, .texts = {text, "x"}, .integer = 1, .real = 1, .boolean = true}));
  futures.push_back(rt.warm.tool.async({.text = "literal",
                                        .texts = std::vector<std::string>{text},
                                        .integer = 1,
                                        .real = 1.5,
                                        .boolean = true,
                                        .more_text = text,
                                        .more_integer = 5,
                                        .more_real = 5}));
  futures.push_back(rt.warm.tool.async({.text = view,
                                        .texts = {text},
                                        .integer = 1,
                                        .real = 1,
                                        .boolean = true,
                                        .more_text = "x",
                                        .more_texts = {"a"},
                                        .more_boolean = false}));
  for (auto& future : futures) std::println("{}", future.get().text());
  const auto result = rt.warm.tool.try_call(
      {.text = text, .texts = empty, .integer = 1, .real = 1, .boolean = true});
  if (!result) std::println("{}", result.error().what());
  for (const auto& line : result->lines()) std::println("{}", line);
  for (const auto& content : result->content()) std::println("{}", content.text);
  std::println("{}", result->json().dump());
  log(text);
  log(LogLevel::warning, std::format("{}", text));
  return static_cast<int>(futures.size());
}

inline int main_of(int (*agent_main)(Requires<tool>)) {
  return run_agent_main(agent_main);
}
