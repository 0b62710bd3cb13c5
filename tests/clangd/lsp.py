"""A language client, as small as it can be: one clangd, one project, questions at a place in a text.

Messages are JSON-RPC with a Content-Length before each (Language Server Protocol 3.17, "Base Protocol").
"""
import json
import pathlib
import queue
import subprocess
import threading

SECONDS = 120  # for one answer: the first one parses every header


class Clangd:
    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(
            [program, "--background-index=false", "--clang-tidy=false", "--enable-config=false", "--limit-results=0",
             "--header-insertion=never", "--log=error"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.messages = queue.Queue()
        self.next_id = 0
        self.version = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": {
            "textDocument": {"completion": {"completionItem": {"documentationFormat": ["plaintext"]}},
                             "hover": {"contentFormat": ["plaintext"]}}}})
        self.tell("initialized", {})

    def close(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(SECONDS)

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while (line := stream.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                self.messages.put(None)  # the end
                return
            self.messages.put(json.loads(stream.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _next(self):
        message = self.messages.get(timeout=SECONDS)
        if message is None:
            raise SystemExit("clangd ended by itself")
        return message

    def tell(self, method, params):
        self._send({"method": method, "params": params})

    def ask(self, method, params):
        self.next_id += 1
        self._send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self.next_id and "method" not in message:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]

    def open(self, name, text):
        """Opens `name` with `text`, saved or not; its diagnostics."""
        uri = (self.folder / name).as_uri()
        self.version += 1
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "cpp", "version": self.version,
                                                            "text": text}})
        while True:
            message = self._next()
            about = message.get("params") or {}
            if message.get("method") != "textDocument/publishDiagnostics" or about["uri"] != uri:
                continue
            if about.get("version") == self.version:  # not of an older text, and not what closing says
                return message["params"]["diagnostics"]

    def at(self, method, name, text, mark="@", **more):
        """Asks at the place of `mark` in `text`, which the file does not hold."""
        before = text[:text.index(mark)]
        diagnostics = self.open(name, text.replace(mark, "", 1))
        place = {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}
        uri = (self.folder / name).as_uri()
        answer = self.ask(method, {"textDocument": {"uri": uri}, "position": place, **more})
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        return answer, diagnostics

    def complete(self, name, text):
        answer, _ = self.at("textDocument/completion", name, text)
        return answer["items"]
