// The settings of the extension, and the command line that they mean.

import * as vscode from "vscode";

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Return the command line of pubcheck with arguments; of an interpreter, its module. */
export function commandLine(...args: string[]): CommandLine {
  const interpreter = setting("interpreter");
  return interpreter === ""
    ? { command: setting("executable") || "pubcheck", args }
    : { command: interpreter, args: ["-m", "pubcheck", ...args] };
}

/** Return the options that name the configuration file, if one is set. */
export function configOptions(): string[] {
  const file = setting("config");
  return file === "" ? [] : ["--config", file];
}

export function languages(): string[] {
  return vscode.workspace.getConfiguration("pubcheck").get<string[]>("languages", ["sql"]);
}

function setting(name: string): string {
  const value = vscode.workspace.getConfiguration("pubcheck").get<string>(name, "").trim();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return value.replaceAll("${workspaceFolder}", folder);
}
