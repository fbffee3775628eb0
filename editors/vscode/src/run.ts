// Runs a command of pubcheck to its end.

import { spawn } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { commandLine } from "./settings";

export interface Output {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Run pubcheck with arguments, a folder to run in and a standard input. */
export function run(args: string[], folder: string | undefined, input = ""): Promise<Output> {
  const line = commandLine(...args);
  return new Promise((resolve, reject) => {
    const process = spawn(line.command, [...line.args], folder === undefined ? {} : { cwd: folder });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    process.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    process.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    process.on("error", reject);
    process.on("close", (status) => {
      resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() });
    });
    process.stdin.on("error", () => undefined); // pubcheck may end before it reads all
    process.stdin.end(input);
  });
}

/** Run pubcheck and return its output, or show why it failed. */
export async function outputOf(args: string[], folder: string | undefined, input = ""): Promise<string | undefined> {
  try {
    const { status, out, err } = await run(args, folder, input);
    if (status === 0 || status === 1) {
      return out;
    }
    void vscode.window.showErrorMessage(err.trim() || `pubcheck ended with status ${status}`);
  } catch (error) {
    void vscode.window.showErrorMessage(`pubcheck does not start: ${error instanceof Error ? error.message : error}`);
  }
  return undefined;
}

export function folderOf(document: vscode.TextDocument): string {
  return vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ?? path.dirname(document.uri.fsPath);
}
