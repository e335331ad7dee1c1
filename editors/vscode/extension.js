// Starts `fevalgraph lsp` and runs the commands of its code lenses.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
let restarted = Promise.resolve(); // serializes restarts

function settings() {
  const all = vscode.workspace.getConfiguration("fevalgraph");
  return { program: all.get("path"), options: all.get("arguments") };
}

// Returns a command that runs the program as a task. It bypasses the shell, so arguments need no quotes.
function task(verb) {
  return (target) => {
    if (!vscode.workspace.isTrusted) {
      vscode.window.showWarningMessage("fevalgraph does not run programs in an untrusted workspace.");
      return;
    }
    const { program, options } = settings();
    const file = target.file ? ["-f", target.file] : [];
    const run = new vscode.ProcessExecution(program, ["-C", target.directory, ...file, ...options, verb, "--", ...target.arguments]);
    const name = [verb, ...target.arguments].join(" ");
    return vscode.tasks.executeTask(new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, name, "fevalgraph", run));
  };
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
    vscode.commands.registerCommand("fevalgraph.run", task("run")),
    vscode.commands.registerCommand("fevalgraph.explain", task("explain")),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("fevalgraph") && restart()),
  );
  return restart();
}

function deactivate() {
  return restarted.then(() => client?.stop());
}

module.exports = { activate, deactivate };
