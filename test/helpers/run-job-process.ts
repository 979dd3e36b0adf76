/** Starts a process with a scheduler (job-process.ts) and waits for its end. */
import { spawn } from 'node:child_process';
import type { JobProcess } from './job-process.ts';
import { nodeArgv } from './node-argv.ts';

const [NODE = '', ...ENTRY] = nodeArgv(new URL('./job-process.js', import.meta.url));

export interface EndedProcess {
  readonly signal: NodeJS.Signals | null;
  /** Its output on stdout. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

export function runJobProcess(options: JobProcess): Promise<EndedProcess> {
  const child = spawn(NODE, [...ENTRY, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (_, signal) => resolve({ signal, lines: stdout.split('\n').filter(Boolean), stderr }));
  });
}
