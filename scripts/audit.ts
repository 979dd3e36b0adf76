/**
 * `npm run audit`, for CI: asks the registry about known faults in what the program depends on or has built in, and checks the signatures of
 * every package. Fails on a fault of severity high or more in a production dependency, and on a wrong signature. A registry
 * that cannot be asked fails nothing: that says nothing about the packages.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Audited } from './audit/read-answers.ts';
import { readAudit, readSignatures } from './audit/read-answers.ts';
import { BUILT_IN } from './build/bundle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 120_000;

/** What npm prints on stdout. The lock file is what is asked about, whatever is installed. */
function npm(...args: readonly string[]): string {
  const { stdout } = spawnSync('npm', ['audit', ...args, '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return stdout ?? '';
}

function tell(what: string, { kind, lines }: Audited): boolean {
  const how = { fine: 'nothing found', found: 'FOUND', unknown: 'the registry could not be asked' }[kind];
  console.log([`${what}: ${how}`, ...lines.map((line) => `  ${line}`)].join('\n'));
  return kind !== 'found';
}

const passed = [
  tell('known faults', readAudit(npm('--omit=dev', '--audit-level=high'))),
  tell('known faults of what is built in', readAudit(npm('--audit-level=high'), Object.keys(BUILT_IN))),
  tell('signatures', readSignatures(npm('signatures'))),
];
process.exit(passed.includes(false) ? 1 : 0);
