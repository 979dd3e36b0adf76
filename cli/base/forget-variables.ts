/**
 * Removes variables that hold secrets from this process, once they have been read: the agents and scripts it starts run as
 * the same user, and could otherwise read them in `/proc/<pid>/environ` of the gateway.
 *
 * Deleting a variable does not change what `/proc` shows: that is the memory in which the kernel put the environment when
 * the program was started. A process may write to its own memory through `/proc/self/mem`, so the values are overwritten
 * there. That takes less than a millisecond; to start the program anew without them would take as long as the start
 * itself, and Node.js 20 cannot replace its process, so that the first one would stay, with its environment.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Fields of `/proc/self/stat`, counted from the one behind the program's name: proc(5), `env_start` and `env_end`. */
const ENV_START = 47;
const ENV_END = 48;

/** False when the environment that others see still holds one of the values (or cannot be looked at: no Linux). */
export function forgetVariables(env: NodeJS.ProcessEnv, names: ReadonlySet<string>): boolean {
  for (const name of names) delete env[name];
  try {
    overwrite(names);
    return valuesOf(readFileSync('/proc/self/environ'), names).length === 0;
  } catch {
    return false;
  }
}

function overwrite(names: ReadonlySet<string>): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
  const block = readFileSync('/proc/self/environ');
  // Otherwise the layout is not the known one, and nothing is written.
  if (!(start > 0) || end - start !== block.length) return;
  const values = valuesOf(block, names);
  if (values.length === 0) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    for (const { offset, length } of values) writeSync(memory, Buffer.alloc(length), 0, length, start + offset);
  } finally {
    closeSync(memory);
  }
}

/** The positions of the values of these variables in the block; empty values are skipped. */
function valuesOf(block: Buffer, names: ReadonlySet<string>): { readonly offset: number; readonly length: number }[] {
  const found: { offset: number; length: number }[] = [];
  for (let at = 0; at < block.length; ) {
    const nul = block.indexOf(0, at);
    const end = nul < 0 ? block.length : nul;
    const equals = block.indexOf('=', at);
    if (equals >= at && equals < end - 1 && names.has(block.toString('utf8', at, equals))) {
      found.push({ offset: equals + 1, length: end - equals - 1 });
    }
    at = end + 1;
  }
  return found;
}
