// SPDX-License-Identifier: Apache-2.0

#include "mcp/list_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/offer.h"
#include "core/printable.h"
#include "core/schema/index.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// Of 100 real servers the largest offers about 200 tools on one page.
constexpr std::size_t kMaxPages = 1'000;
constexpr std::size_t kMaxTools = 20'000;
constexpr std::size_t kMaxListingBytes = std::size_t{64} << 20U;

// Keywords that mean nothing to a schema as null, and make it none (core/json_schema.h).
constexpr auto kNeverNull = std::to_array<std::string_view>({"$anchor",
                                                             "$dynamicAnchor",
                                                             "$dynamicRef",
                                                             "$id",
                                                             "$ref",
                                                             "additionalProperties",
                                                             "allOf",
                                                             "anyOf",
                                                             "contains",
                                                             "dependencies",
                                                             "dependentRequired",
                                                             "dependentSchemas",
                                                             "enum",
                                                             "exclusiveMaximum",
                                                             "exclusiveMinimum",
                                                             "if",
                                                             "items",
                                                             "maxContains",
                                                             "maxItems",
                                                             "maxLength",
                                                             "maxProperties",
                                                             "maximum",
                                                             "minContains",
                                                             "minItems",
                                                             "minLength",
                                                             "minProperties",
                                                             "minimum",
                                                             "multipleOf",
                                                             "not",
                                                             "oneOf",
                                                             "pattern",
                                                             "patternProperties",
                                                             "prefixItems",
                                                             "properties",
                                                             "propertyNames",
                                                             "required",
                                                             "type",
                                                             "unevaluatedItems",
                                                             "unevaluatedProperties",
                                                             "uniqueItems"});

// Lists that libraries write as null where they are empty ("required": null) are absent.
void erase_null_keywords(OrderedJson& root) {
  std::vector<OrderedJson*> open{&root};
  while (!open.empty()) {
    OrderedJson& schema = *open.back();
    open.pop_back();
    if (!schema.is_object()) continue;
    for (const std::string_view keyword : kNeverNull) {
      const auto found = schema.find(keyword);
      if (found != schema.end() && found->is_null()) schema.erase(found);
    }
    for (auto entry = schema.begin(); entry != schema.end(); ++entry) {
      const auto held = schema::holds(entry.key());
      if (held == schema::Holds::kNothing) continue;
      if (held == schema::Holds::kSchema ||
          (held == schema::Holds::kSchemaOrSchemas && entry->is_object())) {
        open.push_back(&*entry);
      } else if (entry->is_structured()) {
        for (OrderedJson& one : *entry) open.push_back(&one);
      }
    }
  }
}

// Adds one page to the listing. Every entry is a claim of the server: only what the rest of mcpac
// relies on is checked, a name and an object. One without is left out, and costs no other tool.
Result<void> add_page(ServerListing& listing, OrderedJson& page, const OnWarning& warned) {
  const auto refuse = [&listing](ErrorId id, std::string what) {
    return fail(id, fmt::format("server {}: {}", listing.server, what),
                {.where = "server " + listing.server});
  };
  const auto tools = page.find("tools");
  if (tools == page.end() || !tools->is_array()) {
    return refuse(ErrorId::kServerProtocol, "tools/list answered without an array of tools");
  }
  std::size_t nameless = 0;
  for (auto& tool : *tools) {
    const auto name = tool.is_object() ? tool.find("name") : tool.end();
    if (!tool.is_object() || name == tool.end() || !name->is_string() ||
        name->get_ref<const std::string&>().empty()) {
      ++nameless;
      continue;
    }
    if (listing.tools.size() >= kMaxTools) {
      return refuse(ErrorId::kServerLimit, fmt::format("more than {} tools", kMaxTools));
    }
    auto text = name->get<std::string>();
    for (const char* schema : {"inputSchema", "outputSchema"}) {
      const auto found = tool.find(schema);
      if (found != tool.end()) erase_null_keywords(*found);
    }
    listing.tools.push_back({std::move(text), std::move(tool)});
  }
  if (nameless > 0 && warned) {
    warned(fmt::format("server {}: {} without a name {} left out", listing.server,
                       nameless == 1 ? "a tool" : fmt::format("{} tools", nameless),
                       nameless == 1 ? "is" : "are"));
  }
  return {};
}

std::unexpected<Error> too_slow(const ServerConfig& config) {
  return fail(ErrorId::kServerTimeout,
              fmt::format("server {} did not list its tools within {} ms", config.name,
                          config.timeout.count()),
              {.where = "server " + config.name,
               .why = "its \"timeout\" holds for all pages of the list together",
               .fix = R"(a longer "timeout" in mcpac.json, as "120s")"});
}

// Tools whose names mean another thing in rules: a grant of that would grant the tool.
void leave_out_reserved(ServerListing& listing, const OnWarning& warned) {
  std::erase_if(listing.tools, [&](const ToolDefinition& tool) {
    if (!offer_named(tool.name)) return false;
    if (warned) {
      warned(fmt::format("server {}: the tool \"{}\" is left out: rules mean another thing by it",
                         listing.server, tool.name));
    }
    return true;
  });
}

// Takes out of the listing what the revision forbids to use, and says so.
ParamHeaders take_param_headers(ServerListing& listing, const OnWarning& warned) {
  ParamHeaders mirrored;
  std::erase_if(listing.tools, [&](const ToolDefinition& tool) {
    const auto schema = tool.definition.find("inputSchema");
    if (schema == tool.definition.end()) return false;
    auto annotated = read_param_headers(*schema);
    if (!annotated && warned) {
      warned(fmt::format("server {}: the tool \"{}\" is left out: {}", listing.server,
                         printable(tool.name, 100), annotated.error().what));
    }
    if (annotated && !annotated->empty()) mirrored.emplace(tool.name, std::move(*annotated));
    return !annotated;
  });
  return mirrored;
}

}  // namespace

asio::awaitable<Result<ServerListing>> list_tools(std::shared_ptr<Session> session,
                                                  ServerConfig config, Negotiated negotiated,
                                                  std::shared_ptr<ParamHeaders> mirrored,
                                                  OnWarning warned) {
  ServerListing listing{.server = config.name,
                        .identity = config.identity(),
                        .implementation = negotiated.implementation,
                        .protocol_version = negotiated.version,
                        .tools = {},
                        .claims = config.claims,
                        .entry = config.entry()};
  std::set<std::string> cursors;
  std::size_t bytes = 0;
  const auto deadline = std::chrono::steady_clock::now() + config.timeout;
  Json params = Json::object();
  for (std::size_t page = 0; page < kMaxPages; ++page) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0)) co_return too_slow(config);
    RequestOptions options;
    options.keeps_order = true;
    auto reply = co_await session->request("tools/list", params, left, options);
    // Whether it had no turn in its time or no answer is all the same to the comparison of the
    // list.
    if (!reply &&
        (reply.error().id == ErrorId::kServerTimeout || reply.error().id == ErrorId::kServerBusy))
      co_return too_slow(config);
    if (!reply) {
      const bool none =
          reply.error().id == ErrorId::kServerError && !negotiated.declares_tools && page == 0;
      if (none) co_return listing;  // a server of resources or prompts alone
      co_return pass_on(reply);
    }
    bytes += reply->size;
    auto added = add_page(listing, reply->ordered, warned);
    if (!added) co_return pass_on(added);
    const auto cursor = string_member(reply->result, "nextCursor");
    if (cursor.empty()) {
      leave_out_reserved(listing, warned);
      if (config.is_http() && negotiated.era == Era::kStateless) {
        *mirrored = take_param_headers(listing, warned);
      }
      co_return listing;
    }
    if (!cursors.insert(cursor).second) {
      co_return fail(ErrorId::kServerProtocol,
                     fmt::format("server {}: tools/list goes round in circles", config.name),
                     {.where = "server " + config.name, .why = "a nextCursor came twice"});
    }
    if (bytes > kMaxListingBytes) break;
    params["cursor"] = cursor;
  }
  co_return fail(
      ErrorId::kServerLimit, fmt::format("server {}: tools/list does not end", config.name),
      {.where = "server " + config.name,
       .why =
           fmt::format("the limits are {} pages and {} MiB", kMaxPages, kMaxListingBytes >> 20U)});
}

}  // namespace mcpac::mcp
