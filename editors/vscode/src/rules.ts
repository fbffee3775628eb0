// The pages of the rules, as `pubcheck rule` prints them.

import * as vscode from "vscode";
import { outputOf } from "./run";

interface Rule {
  readonly code: string;
  readonly name: string;
  readonly severity: string;
}

/** Documents `pubcheck-rule:PUB301.md`. */
export class RulePages implements vscode.TextDocumentContentProvider {
  static readonly scheme = "pubcheck-rule";

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const page = (await outputOf(["rule", uri.path.replace(/\.md$/, "")], undefined)) ?? "";
    return page.replace(/^---\n.*?\n---\n/s, "");
  }
}

/** Show the page of the rule whose finding is at the cursor, else of one that the user chooses. */
export async function showRule(): Promise<void> {
  const code = codeAtCursor() ?? (await chosenCode());
  if (code !== undefined) {
    await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.parse(`${RulePages.scheme}:${code}.md`));
  }
}

function codeAtCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const place = editor.selection.active;
  const finding = vscode.languages
    .getDiagnostics(editor.document.uri)
    .find(({ source, range }) => source === "pubcheck" && range.contains(place));
  const code = typeof finding?.code === "object" ? finding.code.value : finding?.code;
  return code?.toString();
}

async function chosenCode(): Promise<string | undefined> {
  const listed = await outputOf(["rules", "--format", "json"], undefined);
  if (listed === undefined) {
    return undefined;
  }
  const rules = JSON.parse(listed) as Rule[];
  const items = rules.map(({ code, name, severity }) => ({ label: code, description: name, detail: severity }));
  return (await vscode.window.showQuickPick(items, { matchOnDescription: true }))?.label;
}
