import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { DOCUMENTS, REPORT, SECTION, options, program } from "./settings";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("relax-lint.restart", restart),
    vscode.workspace.onDidChangeConfiguration(configure),
  );
  await start();
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}

async function restart(): Promise<void> {
  await client?.dispose();
  await start();
}

async function start(): Promise<void> {
  const server = program(settings().get<string[]>("command"));
  client = new LanguageClient(SECTION, SECTION, server, {
    documentSelector: DOCUMENTS,
    initializationOptions: options((name) => settings().get(name)),
    middleware: { executeCommand: execute },
  });
  try {
    await client.start();
  } catch {
    void vscode.window.showErrorMessage(
      `relax-lint: cannot start \`${server.command}\`; set "relax-lint.command" to the one of your environment`,
    );
  }
}

async function configure(event: vscode.ConfigurationChangeEvent): Promise<void> {
  if (event.affectsConfiguration(`${SECTION}.command`)) {
    await restart();
  } else if (event.affectsConfiguration(SECTION)) {
    const changed = { [SECTION]: options((name) => settings().get(name)) };
    await client?.sendNotification("workspace/didChangeConfiguration", { settings: changed });
  }
}

/** Runs a command of the server; the answer to one of them is a page to show. */
async function execute(
  command: string,
  args: unknown[],
  next: (command: string, args: unknown[]) => vscode.ProviderResult<unknown>,
): Promise<unknown> {
  const answer = await next(command, args);
  if (command === REPORT && typeof answer === "string") {
    const panel = vscode.window.createWebviewPanel(REPORT, "Memory report", vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [],
    });
    panel.webview.html = answer;
  }
  return answer;
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}
