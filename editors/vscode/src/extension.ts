// Starts the language server, and adds commands for rules and for `pubcheck explain`.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { explain } from "./explain";
import { RulePages, showRule } from "./rules";
import { commandLine, configOptions, languages } from "./settings";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("pubcheck");
  const status = new Status();
  const pages = new RulePages();
  const restart = async (): Promise<void> => {
    await stop();
    client = newClient(output, status);
    try {
      await client.start();
    } catch (error) {
      status.failed(error instanceof Error ? error.message : String(error));
    }
  };
  context.subscriptions.push(
    output,
    status,
    vscode.workspace.registerTextDocumentContentProvider(RulePages.scheme, pages),
    vscode.commands.registerCommand("pubcheck.restart", restart),
    vscode.commands.registerCommand("pubcheck.showRule", () => showRule()),
    vscode.commands.registerCommand("pubcheck.explain", () => explain()),
    vscode.commands.registerCommand("pubcheck.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (["executable", "interpreter", "config", "languages"].some((name) => event.affectsConfiguration(`pubcheck.${name}`))) {
        await restart();
      }
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  // A client whose server did not start refuses to be stopped, and disposing stops.
  if (running !== undefined && running.state !== State.Stopped) {
    await running.dispose();
  }
}

function newClient(output: vscode.OutputChannel, status: Status): LanguageClient {
  const { command, args } = commandLine("server", ...configOptions());
  const started = new LanguageClient(
    "pubcheck",
    "pubcheck",
    { command, args: [...args] },
    {
      documentSelector: [
        ...languages().map((language) => ({ scheme: "file", language })),
        { scheme: "untitled", language: "sql" },
      ],
      outputChannel: output,
    },
  );
  started.onDidChangeState(({ newState }) => status.show(newState));
  return started;
}

/** The status item: whether the server runs, and why it does not. */
class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("pubcheck", vscode.StatusBarAlignment.Right);

  constructor() {
    this.item.name = "pubcheck";
    this.item.command = "pubcheck.showOutput";
    this.show(State.Starting);
    this.item.show();
  }

  show(state: State): void {
    const icons = { [State.Starting]: "$(sync~spin)", [State.Running]: "$(check)", [State.Stopped]: "$(circle-slash)" };
    this.item.text = `${icons[state]} pubcheck`;
    this.item.tooltip = `The server is ${State[state].toLowerCase()}.`;
    this.item.backgroundColor = undefined;
  }

  failed(reason: string): void {
    this.item.text = "$(error) pubcheck";
    this.item.tooltip = `The server does not start: ${reason}. Install it with: pip install 'pubcheck[lsp]'`;
    this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.errorBackground");
  }

  dispose(): void {
    this.item.dispose();
  }
}
