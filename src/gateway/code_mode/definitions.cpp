// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/definitions.h"

#include <utility>

#include "gateway/code_mode/bounds.h"

namespace mcpac::gateway::code_mode {
namespace {

Json text(std::string_view says) {
  return {{"type", "string"}, {"description", says}};
}

Json texts(std::string_view says) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", says}};
}

Json object(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

// Results grow with later versions.
Json result(Json properties, Json required) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

Json tool(std::string_view name, std::string_view title, std::string_view description, bool reads,
          Json input, Json output) {
  return {{"name", name},
          {"title", title},
          {"description", description},
          {"inputSchema", std::move(input)},
          {"outputSchema", std::move(output)},
          {"annotations",
           {{"title", title},
            {"readOnlyHint", reads},
            {"destructiveHint", !reads},
            {"idempotentHint", reads},
            {"openWorldHint", !reads}}}};
}

Json tool_entry(Json more) {
  Json properties{
      {"name", text("the permission: server.tool")},
      {"cpp", text("its name in C++")},
      {"granted", texts("the rules that speak of it, each behind the name of its layer")},
      {"conditional",
       {{"type", "boolean"}, {"description", "each call is decided by its arguments"}}}};
  for (auto& [name, schema] : more.items()) properties[name] = std::move(schema);
  return result(std::move(properties), {"name", "cpp", "granted", "conditional"});
}

Json search() {
  Json words = text("words for what is to be done");
  words["minLength"] = 1;
  words["maxLength"] = kMaxQuery;
  Json limit{{"type", "integer"}, {"minimum", 1}, {"maximum", 50}, {"default", 10}};
  Json found{
      {"type", "array"},
      {"items", tool_entry({{"description", text("what its server says of it, in a line")}})}};
  return tool(kSearch, "Search the tools that programs may call",
              "Finds tools, best first, among those that a program of yours may call. "
              "describe_tools gives their C++.",
              true, object({{"query", std::move(words)}, {"limit", std::move(limit)}}, {"query"}),
              result({{"tools", std::move(found)}}, {"tools"}));
}

Json describe() {
  Json names = texts("server.tool, or the C++ name");
  names["minItems"] = 1;
  names["maxItems"] = kMaxDescribed;
  names["items"]["maxLength"] = kMaxQuery;
  Json found{{"type", "array"},
             {"items", tool_entry({{"signature", text("one line")},
                                   {"declaration", text("arguments and result as structs")},
                                   {"example", text("a call")}})}};
  return tool(kDescribe, "Describe tools as C++",
              "The typed C++ of tools: arguments, results, a call that compiles, and which calls "
              "are granted.",
              true, object({{"names", std::move(names)}}, {"names"}),
              result({{"tools", std::move(found)},
                      {"unknown", texts("names that mean no tool that you may call")}},
                     {"tools", "unknown"}));
}

Json source() {
  Json schema = text("one C++23 file, with #include <mcpac.hpp> and agent_main");
  schema["minLength"] = 1;
  schema["maxLength"] = kMaxSource;
  return schema;
}

Json analyze() {
  return tool(kAnalyze, "Analyse a program without running it",
              "Says what a program declares, uses and hides, and whether it would be run: errors "
              "of the compiler and refused calls with their line and what to do about them.",
              true, object({{"source", source()}}, {"source"}),
              result({{"granted", {{"type", "boolean"}}},
                      {"report", {{"type", "object"}}},
                      {"suggestions", {{"type", "array"}}},
                      {"error", {{"type", "object"}, {"description", "why it would not be run"}}}},
                     {"granted"}));
}

Json given() {
  return {{"type", "object"},
          {"description",
           "what varies from run to run: the program reads it with "
           "mcpac::argument<std::string>(\"name\") or mcpac::arguments()"}};
}

Json limit(std::string_view says, double least, double most) {
  return {{"type", "number"},
          {"minimum", least},
          {"maximum", most},
          {"default", most},
          {"description", says}};
}

Json execute(const run::RunLimits& most) {
  const double seconds = static_cast<double>(most.wall.count()) / 1000;
  Json limits =
      object({{"timeout_s", limit("seconds, questions to the person included", 0.1, seconds)},
              {"memory_bytes", limit("that it may allocate", static_cast<double>(kLeastMemory),
                                     static_cast<double>(most.memory))},
              {"output_bytes",
               limit("that it may write before it is ended", 1, static_cast<double>(most.output))}},
             Json::array());
  const Json number{{"type", "integer"}};
  const Json flag{{"type", "boolean"}};
  Json output = result(
      {{"exit_code", number},
       {"run_id", text("in the user's audit log")},
       {"stdout", text("what it wrote")},
       {"stderr", text("what it wrote")},
       {"truncated", texts("members of which only the beginning is here")},
       {"result", {{"description", "what agent_main returned as mcpac::Json"}}},
       {"log", {{"type", "array"}}},
       {"error", {{"type", "object"}, {"description", "why it did not run, or what ended it"}}},
       {"denials", {{"type", "array"}}},
       {"report", {{"type", "object"}}}},
      {"exit_code"});
  return tool(
      kExecute, "Run a program that calls tools",
      "Analyses, compiles and runs a C++ program once in a sandbox. It calls the tools that "
      "it declares and you were granted; where a rule asks, the person is asked. The same source "
      "with other arguments is not compiled again.",
      false,
      object({{"source", source()}, {"arguments", given()}, {"limits", std::move(limits)}},
             {"source"}),
      std::move(output));
}

}  // namespace

std::set<std::string> names() {
  return {std::string(kSearch), std::string(kDescribe), std::string(kAnalyze),
          std::string(kExecute)};
}

Json definitions(const run::RunLimits& most) {
  return Json::array({search(), describe(), analyze(), execute(most)});
}

}  // namespace mcpac::gateway::code_mode
