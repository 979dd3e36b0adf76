/** Creates a home with captured requests, copied for each test. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { after, before } from 'node:test';
import type { RequestsReport } from '../../../../modules/workbench/cli/diff/replay-requests.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

export const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: canary-secret
    routes:
      review:
        events: [pull_request]
        filters:
          - { field: action, in: [opened, reopened] }
        prompt: "Review #{number}: {title}"
        deliver: local
      open:
        secret: INSECURE_NO_AUTH
        prompt: "From anybody: {name}"
        deliver: local
`;

export const FILTERED = CONFIG.replace('[opened, reopened]', '[opened]');

export interface CaptureHome {
  readonly home: string;
  readonly cli: TestGateway['cli'];
  /** Compares the home's configuration with this one. */
  readonly diff: (text: string, ...argv: string[]) => Promise<CliResult>;
  readonly report: (text: string) => Promise<RequestsReport>;
  readonly config: (text: string) => void;
}

export interface ServedHome extends CaptureHome {
  readonly gateway: TestGateway;
}

/** Four captured requests of `review` (two accepted, one ignored, one without a valid signature), and one of `open`. */
async function keepRequests(end: Ending): Promise<string> {
  const home = tempDir(end);
  const gateway = await startGateway(end, { home, config: CONFIG });
  for (const action of ['opened', 'reopened', 'closed']) {
    const payload = JSON.stringify({ action, number: 7, title: `it is ${action}` });
    const sent = await gateway.cli('webhook', 'test', 'review', '--event', 'pull_request', '--payload', payload);
    assert.equal(sent.code, 0, sent.stderr);
  }
  assert.equal(
    (
      await sendAgain(`${gateway.url}/webhooks/open`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"x"}',
      })
    ).status,
    202,
  );
  const headers = { 'x-github-event': 'pull_request', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  const refused = await fetch(`${gateway.url}/webhooks/review`, { method: 'POST', headers, body: '{}' });
  assert.equal(refused.status, 401);
  await gateway.stop();
  return home;
}

/** Creates the home in hooks of the suite, and removes it. */
export function keptHomes() {
  const ends: (() => unknown)[] = [];
  let captured = '';
  before(async () => {
    captured = await keepRequests({ after: (end) => void ends.push(end as () => unknown) });
  });
  after(async () => {
    for (const end of ends) await end();
  });
  /** A copy without a running gateway. */
  const open = (t: TestContext): CaptureHome => openCopy(t, captured);
  const serve = async (t: TestContext, ...argv: string[]): Promise<ServedHome> => {
    const opened = open(t);
    const options = { home: opened.home, config: CONFIG, argv: ['gateway', 'run', '--port', '0', ...argv] };
    return { ...opened, gateway: await startGateway(t, options) };
  };
  return { open, serve };
}

function openCopy(t: TestContext, captured: string): CaptureHome {
  const home = tempDir(t);
  cpSync(captured, home, { recursive: true });
  const cli: CaptureHome['cli'] = (...argv) => runInProcess(argv, { home });
  const diff: CaptureHome['diff'] = (text, ...more) => {
    writeFileSync(join(home, 'next.yaml'), text);
    return cli('diff', 'config.yaml', '--config', 'next.yaml', ...more);
  };
  const report: CaptureHome['report'] = async (text) =>
    JSON.parse((await diff(text, '--requests', '100', '--json')).stdout).requests;
  const config = (text: string): void => writeFileSync(join(home, 'config.yaml'), text);
  return { home, cli, diff, report, config };
}
