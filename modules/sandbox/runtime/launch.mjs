/**
 * Starts one program in a sandbox, in a separate process, because the runtime's settings apply to a whole process. The gateway
 * passes a JSON file, which the program cannot see, and reads the denied accesses from another file.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { guardConnect, guardRequest, localAddresses, ownPorts } from './guarded-connections.mjs';
import { guardSecrets, receives } from './guarded-secrets.mjs';
import { kernelLimits, watchLimits } from './limits.mjs';

const [file = ''] = process.argv.slice(2);
const { argv, settings, module, report, scratch, unreported, proxied, parent, guarded, anyHost, limits, folders } =
  JSON.parse(readFileSync(file, 'utf8'));
/** Limits the report, so that a program cannot make it grow by repeated attempts. */
const MOST = 50;
/** A shorter secret would be found in every response. */
const FEWEST_BYTES = 8;
/** Escapes of characters that begin one: in a response they could stand for themselves or for the character. */
const ESCAPE = /%25|&(?:amp|#)|\\\\|\\(?:u00|x)5c/i;
const MARK = 'placeholder-';
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
// If loopback and private addresses are listed, programs must use the proxy for them too.
const setup = `echo started >&3; exec 3>&-; export TMPDIR=${quote(scratch)}${proxied ? ' NO_PROXY= no_proxy=' : ''}; ${kernelLimits(limits)}`;

/** Replaces the values in the environment by placeholders of the same length, before anything reads it. */
function hideSecrets() {
  return Object.entries(guarded).map(([name, places]) => {
    const value = process.env[name] ?? '';
    const { length } = Buffer.from(value);
    if (length < FEWEST_BYTES)
      throw new Error(`env.${name}: a secret with \`only_to\` needs at least ${FEWEST_BYTES} bytes`);
    if ([value, [...value].reverse().join('')].some((each) => ESCAPE.test(each)))
      throw new Error(`env.${name}: a secret with \`only_to\` must not contain %25, &amp;, &# or two backslashes`);
    const random = randomBytes(length).toString('hex');
    const placeholder = `${length < 3 * MARK.length ? '' : MARK}${random}`.slice(0, length);
    process.env[name] = placeholder;
    return { ...places, value: Buffer.from(value).toString('latin1'), placeholder };
  });
}

function guardNetwork(secrets) {
  const receivers = secrets.flatMap(({ hosts }) => hosts);
  const guard = { isOwn: ownPorts(parent), isReceiver: (host) => receives(receivers, host), say };
  net.connect = guardConnect(net.connect, guard);
  http.request = guardSecrets(guardRequest(http.request, guard), secrets, true);
  https.request = guardSecrets(guardRequest(https.request, guard), secrets);
  // The runtime imports the functions by their names.
  syncBuiltinESMExports();
  // A proxy of the company would make the connections that are refused here.
  const direct = [process.env.NO_PROXY ?? process.env.no_proxy, ...receivers, ...localAddresses()];
  settings.network.parentProxy = { noProxy: direct.filter(Boolean).join(',') };
}

try {
  if (process.platform !== 'linux' && Object.keys(limits).length > 0) refuse('`sandbox.limits` needs Linux');
  guardNetwork(hideSecrets());
  const { SandboxManager } = await import(module);
  // Without the socket filter, the program could make others on this machine act for it. So nothing runs.
  const { errors, warnings } = SandboxManager.checkDependencies();
  const lacks = [...errors, ...warnings.filter((warning) => warning.startsWith('seccomp'))];
  if (lacks.length > 0) refuse(lacks.join('; '));
  await SandboxManager.initialize(settings, anyHost ? async () => true : undefined, true);
  SandboxManager.getSandboxViolationStore().subscribe((violations) => {
    const line = violations.at(-1)?.line ?? '';
    const path = line.slice(line.indexOf(' /') + 1);
    if (line !== '' && !unreported.some((folder) => path.startsWith(`${folder}/`))) say(line);
  });
  const command = `${setup}exec ${argv.map(quote).join(' ')}`;
  const wrapped = await SandboxManager.wrapWithSandbox(command, undefined, undefined, undefined, { commandId: 'run' });
  // bubblewrap ends with its parent. A shell between them would prevent that.
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe'];
  const child = spawn(`${process.platform === 'linux' ? 'exec ' : ''}${wrapped}`, { shell: true, stdio });
  // The program no longer has this descriptor, so it cannot pretend that it never started.
  let excess = null;
  child.stdio[3].once('data', () => {
    appendFileSync(report, 'started\n');
    if (Object.keys(limits).length === 0) return;
    watchLimits(limits, child.pid, folders, (reason) => {
      excess ??= reason;
      child.kill('SIGKILL');
    });
  });
  // A killed gateway stops nothing: the program would continue beside the run that repeats it.
  setInterval(() => {
    if (process.ppid === parent) return;
    child.kill('SIGKILL');
    try {
      // Skips the runtime's clean-up, which would remove the protection of a run of the next gateway.
      process.kill(-process.pid, 'SIGKILL');
    } catch {
      process.exit(1);
    }
  }, 500).unref();
  child.on('error', refuse);
  child.on('close', (code) => {
    SandboxManager.cleanupAfterCommand();
    // The last line tells why a run has failed.
    if (excess !== null) process.stderr.write(`\n${excess}\n`);
    process.exit(code ?? 1);
  });
  // The terminal sends these signals to the program as well, which decides.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
} catch (error) {
  refuse(error);
}
