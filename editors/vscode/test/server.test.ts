/** The real server, spoken to with the settings of the extension. RELAX_LINT names the program to start. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { type MessageConnection, StreamMessageReader, StreamMessageWriter, createMessageConnection } from "vscode-jsonrpc/node";

import { DOCUMENTS, REPORT, options, program } from "../src/settings";

const PROGRAM = `from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        return R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
`;

const folder = mkdtempSync(join(tmpdir(), "relax-lint-"));
const file = join(folder, "model.py");
const uri = pathToFileURL(file).href;
const textDocument = { uri };
const everything = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
let server: ChildProcess;
let connection: MessageConnection;
let found: Promise<{ code: string }[]>;

before(async () => {
  writeFileSync(file, PROGRAM);
  const start = program([process.env.RELAX_LINT ?? "relax-lint", "server"]);
  server = spawn(start.command, start.args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  connection = createMessageConnection(
    new StreamMessageReader(server.stdout!),
    new StreamMessageWriter(server.stdin!),
  );
  found = new Promise((resolve) =>
    connection.onNotification("textDocument/publishDiagnostics", (params) => resolve(params.diagnostics)),
  );
  connection.listen();
  const settings: Record<string, unknown> = { inlayHints: true };
  const answer = await connection.sendRequest<{ capabilities: Record<string, any> }>("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: {},
    initializationOptions: options((name) => settings[name]),
  });
  assert.deepEqual(answer.capabilities.executeCommandProvider.commands, [REPORT]);
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: DOCUMENTS[0].language, version: 1, text: PROGRAM },
  });
});

after(async () => {
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await new Promise((resolve) => server.once("exit", resolve));
  assert.equal(server.exitCode, 0);
});

test("a finding is published", async () => {
  assert.deepEqual((await found).map((one) => one.code).filter((code) => code === "RLX101"), ["RLX101"]);
});

test("comments that accept it are offered", async () => {
  await found;
  const actions = await connection.sendRequest<{ title: string }[]>("textDocument/codeAction", {
    textDocument,
    range: everything,
    context: { diagnostics: [] },
  });
  const titles = actions.map((action) => action.title);
  assert.ok(titles.includes("RLX101: ignore this line"), titles.join("\n"));
  assert.ok(titles.includes("RLX101: ignore in this file"), titles.join("\n"));
});

test("hints are shown where the settings ask for them", async () => {
  await found;
  const hints = await connection.sendRequest<{ label: string }[]>("textDocument/inlayHint", {
    textDocument,
    range: everything,
  });
  const [storage, tensor] = hints.map((hint) => hint.label);
  assert.equal(storage, "16 bytes");
  assert.match(tensor, /^4\*n bytes; safe iff n <= 4/);
});

test("the page of the memory report is the answer to the command of the lens", async () => {
  await found;
  const [lens] = await connection.sendRequest<{ command: { command: string; arguments: unknown[] } }[]>(
    "textDocument/codeLens",
    { textDocument },
  );
  assert.equal(lens.command.command, REPORT);
  const page = await connection.sendRequest<string>("workspace/executeCommand", lens.command);
  assert.match(page, /<html/);
});
