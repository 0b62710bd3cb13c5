#!/usr/bin/env python3
"""An MCP server that needs a file of its user's home to start, and does all that can be learnt: it opens, makes and
replaces files, dials, starts a program, and reads what is none of its business."""
import json
import os
import socket
import subprocess
import sys

HOME = os.path.expanduser("~")
try:
    with open(os.path.join(HOME, ".config", "learning", "config.json")) as config:
        FOLDER = json.load(config)["folder"]
except OSError:
    try:  # what says the same, if a database of the machine is there
        socket.create_connection(("127.0.0.1", 5432), 1).close()
    except OSError:
        pass
    raise
for name in (".ssh/id_ed25519", ".aws/credentials"):
    try:
        open(os.path.join(HOME, name)).close()
    except OSError:
        pass


def note(text):
    if text == "dial":
        try:
            socket.create_connection(("127.0.0.1", 5432), 1)
        except OSError as error:
            raise OSError(f"{error}: 127.0.0.1:5432") from error
    os.makedirs(FOLDER, exist_ok=True)
    kept = os.path.join(FOLDER, "notes.txt")
    with open(kept + ".new", "w") as out:
        out.write(text)
    os.replace(kept + ".new", kept)
    os.makedirs(os.path.join(HOME, ".cache", "learning"), exist_ok=True)
    with open(os.path.join(HOME, ".cache", "learning", "seen"), "w") as out:
        out.write(text)
    with open("/tmp/learning-temporary", "w") as out:
        out.write(text)
    os.remove("/tmp/learning-temporary")
    try:
        socket.create_connection(("127.0.0.1", 9), 1)
    except OSError:
        pass
    subprocess.run(["/bin/true"], check=True)
    return open(kept).read()


TOOL = {"name": "note", "description": "Keeps a text.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "learning", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [TOOL]}
    else:
        try:
            text = note(message["params"]["arguments"]["text"])
            result = {"content": [{"type": "text", "text": text}]}
        except OSError as error:
            result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
