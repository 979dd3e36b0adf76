/**
 * `npm run audit`, for CI: queries the registry for known vulnerabilities of dependencies and bundled packages, and verifies the
 * signature of every package. Fails on a vulnerability of severity high or critical in a production dependency, and on an invalid
 * signature. An unavailable registry is not a failure, because it says nothing about the packages.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Audited } from './audit/read-answers.ts';
import { readAudit, readSignatures } from './audit/read-answers.ts';
import { BUNDLED } from './build/bundle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 120_000;

/** Returns npm's stdout. npm checks the lock file, regardless of the installed packages. */
function npm(...args: readonly string[]): string {
  const { stdout } = spawnSync('npm', ['audit', ...args, '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return stdout ?? '';
}

function report(what: string, { kind, lines }: Audited): boolean {
  const how = { fine: 'nothing found', found: 'FOUND', unknown: 'the registry is unavailable' }[kind];
  console.log([`${what}: ${how}`, ...lines.map((line) => `  ${line}`)].join('\n'));
  return kind !== 'found';
}

const passed = [
  report('known vulnerabilities', readAudit(npm('--omit=dev', '--audit-level=high'))),
  report('known vulnerabilities of bundled packages', readAudit(npm('--audit-level=high'), BUNDLED)),
  report('signatures', readSignatures(npm('signatures'))),
];
process.exit(passed.includes(false) ? 1 : 0);
