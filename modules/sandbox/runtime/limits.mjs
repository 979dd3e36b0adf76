/**
 * Ends a run whose processes together use more than `sandbox.limits` allows. They are looked at several times a second, from outside
 * the sandbox; between two looks, limits of the kernel for each process prevent more than twice the amount.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 200;
/** Of the kernel's counters for programs, on all architectures. */
const [TICKS_PER_SECOND, PAGE_BYTES] = [100, 4096];
const UNITS = { MB: 2 ** 20, GB: 2 ** 30 };

/** Bytes of a size; other limits are numbers. */
const amountOf = (limit) => (typeof limit === 'string' ? Number.parseInt(limit, 10) * UNITS[limit.slice(-2)] : limit);

/** Options of a shell's `ulimit`, with the units of each. Processes and files of the sandbox itself count as well. */
const KERNEL = {
  memory: ['d', (bytes) => bytes / 512],
  processes: ['u', (count) => 2 * count + 20],
  cpu_seconds: ['t', (seconds) => 2 * seconds + 1],
  disk: ['f', (bytes) => bytes / 512],
};

/** Commands for the shell that starts the program. A limit that is already lower stays. */
export const kernelLimits = (limits) =>
  Object.entries(limits)
    .map(([name, limit]) => `ulimit -${KERNEL[name][0]} ${KERNEL[name][1](amountOf(limit))} 2>/dev/null; `)
    .join('');

/** @param pid the first process of the sandbox @param folders for `disk` @param exceeded called once, with a reason in words */
export function watchLimits(limits, pid, folders, exceeded) {
  const check = (used) => {
    const name = Object.keys(used).find((each) => used[each] > amountOf(limits[each] ?? Infinity));
    if (name !== undefined) exceeded(`sandbox.limits.${name}: the run used more than ${limits[name]}`);
  };
  setInterval(() => check(usageOf(pid)), LOOK_MS).unref();
  if (limits.disk === undefined) return;
  const measure = () =>
    execFile('du', ['-skx', '--', ...folders], (_, stdout) => {
      const sizes = [...stdout.matchAll(/^\d+/gm)].map(([size]) => Number(size) * 1024);
      check({ disk: sizes.reduce((sum, size) => sum + size, 0) });
      setTimeout(measure, LOOK_MS).unref();
    }).unref();
  measure();
}

function usageOf(pid) {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(name) : []));
  const children = new Map();
  for (const each of all) children.set(each.parent, [...(children.get(each.parent) ?? []), each]);
  const own = all.filter((each) => each.pid === pid);
  // A process that has lost its parent becomes a child of the first one in the sandbox.
  for (const each of own) own.push(...(children.get(each.pid) ?? []));
  const sum = (key) => own.reduce((total, each) => total + each[key], 0);
  return { memory: sum('memory'), processes: own.length, cpu_seconds: sum('ticks') / TICKS_PER_SECOND };
}

/** Includes the time of children that have ended. Empty if the process has ended. */
function readProcess(name) {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${name}/statm`, 'latin1').split(' ').map(Number);
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return [{ pid: Number(name), parent: Number(fields[1]), memory: (resident - shared) * PAGE_BYTES, ticks }];
  } catch {
    return [];
  }
}
