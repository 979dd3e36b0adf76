/** `doctor --report` prints facts for maintainers and nothing confidential. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FaultReport } from '../../../../modules/setup/cli/doctor/check-store.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'kd83Hs0-qP2xVb71_tYw';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      acme-payroll:
        source: forgea
        events: [push]
        prompt: "Confidential words {ref}"
        deliver: log
`;

test('a report has version, platform, counts and failed checks, but no name, text or secret', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const { code, stdout } = await runInProcess(['doctor', '--report'], { home });
  assert.equal(code, 0);
  const report = JSON.parse(stdout) as FaultReport;
  assert.equal(report.node, process.version);
  assert.match(report.version, /^\d+\.\d+\.\d+/);
  assert.deepEqual(report.config, {
    routes: { agent: 1 },
    sources: { github: 1 },
    targets: { log: 1 },
    agents: { preview: 1 },
    profiles: 1,
    jobs: 0,
  });
  assert.equal(report.last_error, null);
  for (const word of [SECRET, 'payroll', 'Confidential', home]) assert(!stdout.includes(word), word);
});

test('a report of an invalid configuration counts its diagnostics by rule', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('source: forgea', 'source: acme-internal'), { mode: 0o600 });
  const { code, stdout } = await runInProcess(['doctor', '--report'], { home });
  assert.equal(code, 0);
  const report = JSON.parse(stdout) as FaultReport;
  assert.equal(report.config, null);
  assert.equal(report.diagnostics['unknown-source'], 1);
  assert.deepEqual(report.checks[0], { check: 'compiles', status: 'failed' });
  assert(!stdout.includes('acme'));
});
