// Starts `fevalgraph lsp`, and runs the commands of its code lenses.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
let settled = Promise.resolve(); // settles after the last start or stop

function settings() {
  const all = vscode.workspace.getConfiguration("fevalgraph");
  return { program: all.get("path"), words: all.get("arguments") };
}

// A lens's command runs the program as a task, with its arguments unchanged and without a shell.
function task(verb) {
  return (target) => {
    if (!vscode.workspace.isTrusted) {
      vscode.window.showWarningMessage("fevalgraph runs nothing in a workspace that is not trusted.");
      return;
    }
    const { program, words } = settings();
    const file = target.file ? ["-f", target.file] : [];
    const run = new vscode.ProcessExecution(program, ["-C", target.directory, ...file, ...words, verb, "--", ...target.arguments]);
    const name = [verb, ...target.arguments].join(" ");
    return vscode.tasks.executeTask(new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, name, "fevalgraph", run));
  };
}

async function start() {
  await client?.stop().catch(() => {}); // it may not be running
  const { program, words } = settings();
  const server = { command: program, args: ["lsp", ...words] };
  client = new LanguageClient("fevalgraph", "fevalgraph", server, { documentSelector: [{ language: "fevalgraph" }] });
  try {
    await client.start();
  } catch (wrong) {
    const why = wrong?.message ?? wrong; // the library also throws strings
    vscode.window.showErrorMessage(`fevalgraph: ${why} (The setting fevalgraph.path says where the program is.)`);
  }
}

function activate(context) {
  const restart = () => (settled = settled.then(start));
  context.subscriptions.push(
    vscode.commands.registerCommand("fevalgraph.run", task("run")),
    vscode.commands.registerCommand("fevalgraph.explain", task("explain")),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("fevalgraph") && restart()),
  );
  return restart();
}

function deactivate() {
  return settled.then(() => client?.stop());
}

module.exports = { activate, deactivate };
