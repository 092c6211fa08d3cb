/** What the extension tells the server; free of the editor, so that a test can use the same. */

export const DOCUMENTS = ["python", "markdown"].flatMap((language) => [
  { scheme: "file", language },
  { scheme: "untitled", language },
]);

export const SECTION = "relax-lint";
export const REPORT = "relax-lint.memoryReport";
export const DEFAULT_COMMAND = ["relax-lint", "server"];

/** The command line of the server, split into program and arguments. */
export function program(command: readonly string[] | undefined): { command: string; args: string[] } {
  const [first, ...args] = command && command.length > 0 ? command : DEFAULT_COMMAND;
  return { command: first, args };
}

/** The settings as the server reads them. The extension shows the memory report itself. */
export function options(get: (name: string) => unknown): Record<string, boolean> {
  return { inlayHints: get("inlayHints") === true, codeLens: get("codeLens") !== false, showReport: false };
}
