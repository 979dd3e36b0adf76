/**
 * Starts one program in a sandbox, as a process of its own: the runtime's settings hold for a whole process. The gateway
 * passes a file of JSON, which the program cannot see, and reads from another what the sandbox refused.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';

const [file = ''] = process.argv.slice(2);
const { argv, settings, module, report, scratch, unreported, proxied, parent } = JSON.parse(readFileSync(file, 'utf8'));
/** A program cannot make the report grow by trying again. */
const MOST = 50;
const said = new Set();

function say(line) {
  if (said.size === MOST || said.has(line)) return;
  said.add(line);
  appendFileSync(report, `${line.slice(0, 500)}\n`);
}

function refuse(error) {
  say(`unavailable ${(error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')}`);
  process.exit(125);
}

const quote = (word) => `'${word.replaceAll("'", `'\\''`)}'`;
// If loopback and private addresses are listed, programs must ask the proxy for them too.
const setup = `echo started >&3; exec 3>&-; export TMPDIR=${quote(scratch)}${proxied ? ' NO_PROXY= no_proxy=' : ''}; `;

try {
  const { SandboxManager } = await import(module);
  // Without the filter for sockets, programs on this machine could be asked to act: nothing runs then.
  const { errors, warnings } = SandboxManager.checkDependencies();
  const lacks = [...errors, ...warnings.filter((warning) => warning.startsWith('seccomp'))];
  if (lacks.length > 0) refuse(lacks.join('; '));
  await SandboxManager.initialize(settings, undefined, true);
  SandboxManager.getSandboxViolationStore().subscribe((violations) => {
    const line = violations.at(-1)?.line ?? '';
    const path = line.slice(line.indexOf(' /') + 1);
    if (line !== '' && !unreported.some((folder) => path.startsWith(`${folder}/`))) say(line);
  });
  const command = `${setup}exec ${argv.map(quote).join(' ')}`;
  const wrapped = await SandboxManager.wrapWithSandbox(command, undefined, undefined, undefined, { commandId: 'run' });
  // bubblewrap ends with its parent, which a shell between them would keep from it.
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe'];
  const child = spawn(`${process.platform === 'linux' ? 'exec ' : ''}${wrapped}`, { shell: true, stdio });
  // The program does not have this descriptor any more: it cannot pass for one that was not started.
  child.stdio[3].once('data', () => appendFileSync(report, 'started\n'));
  // A gateway that was killed stops nothing: the program would go on beside the run that repeats it.
  setInterval(() => {
    if (process.ppid === parent) return;
    child.kill('SIGKILL');
    try {
      // Without the runtime's clean-up, which would take the protection from a run of the next gateway.
      process.kill(-process.pid, 'SIGKILL');
    } catch {
      process.exit(1);
    }
  }, 500).unref();
  child.on('error', refuse);
  child.on('close', (code) => {
    SandboxManager.cleanupAfterCommand();
    process.exit(code ?? 1);
  });
  // The terminal sends them to the program as well, which decides.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
} catch (error) {
  refuse(error);
}
