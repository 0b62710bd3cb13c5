#!/usr/bin/env bash
# An MCP server in bash: one tool, which says hello by way of two programs and a file of its own.
while IFS= read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
  case $line in
    *'"initialize"'*)
      version=$(sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p' <<<"$line")
      result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"hello","version":"1"}}' ;;
    *'"tools/list"'*)
      result='{"tools":[{"name":"hello","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *'"tools/call"'*)
      echo "hello from $HOME" > "$(mktemp)" && text=$(cat /tmp/tmp.*)
      result='{"content":[{"type":"text","text":"'$text'"}]}' ;;
    *) continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
