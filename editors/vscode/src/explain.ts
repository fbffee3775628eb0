// `pubcheck explain` of the active file, as a panel next to it.

import * as vscode from "vscode";
import { folderOf, outputOf } from "./run";
import { configOptions } from "./settings";

let panel: vscode.WebviewPanel | undefined;

/** Show what subscribers will see of the tables of the active file, with its unsaved text. */
export async function explain(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || !["file", "untitled"].includes(document.uri.scheme)) {
    void vscode.window.showInformationMessage("Open a SQL file first.");
    return;
  }
  const name = document.uri.scheme === "file" ? ["--stdin-filename", document.uri.fsPath] : [];
  const args = ["explain", "--format", "html", ...configOptions(), ...name, "-"];
  const html = await outputOf(args, folderOf(document), document.getText());
  if (html === undefined) {
    return;
  }
  if (panel === undefined) {
    panel = vscode.window.createWebviewPanel("pubcheck.explain", "pubcheck explain", vscode.ViewColumn.Beside, {
      enableScripts: true,
    });
    panel.onDidDispose(() => {
      panel = undefined;
    });
  }
  panel.webview.html = html;
  panel.reveal(undefined, true);
}
