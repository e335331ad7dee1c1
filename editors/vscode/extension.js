// Starts `fevalgraph lsp`.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
let restarted = Promise.resolve(); // serializes restarts

function settings() {
  const all = vscode.workspace.getConfiguration("fevalgraph");
  return { program: all.get("path"), options: all.get("arguments") };
}

async function start() {
  await client?.stop().catch(() => {}); // fails if it is not running
  const { program, options } = settings();
  const server = { command: program, args: ["lsp", ...options] };
  client = new LanguageClient("fevalgraph", "fevalgraph", server, { documentSelector: [{ language: "fevalgraph" }] });
  try {
    await client.start();
  } catch (error) {
    const message = error?.message ?? error; // the library also throws strings
    vscode.window.showErrorMessage(`fevalgraph: ${message} (The setting fevalgraph.path is the path of the program.)`);
  }
}

function activate(context) {
  const restart = () => (restarted = restarted.then(start));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("fevalgraph") && restart()),
  );
  return restart();
}

function deactivate() {
  return restarted.then(() => client?.stop());
}

module.exports = { activate, deactivate };
