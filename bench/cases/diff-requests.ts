/** `hookwright diff --requests` against a running gateway with 200 routes: the whole command, including the start of its process. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { startGatewayProcess } from '../../test/helpers/gateway-process.ts';
import { ROOT } from '../harness/build.ts';
import { tempFolder } from '../harness/config.ts';
import { manyRoutes } from '../harness/many-routes.ts';
import { large, PROMPT, SECRET, signedHeaders } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';
import type { Case } from '../lab.ts';

const REQUESTS = 1000;
const TIMES = 5;
/** Number of the 200 routes that accept pull requests: every fifth, from the second on. */
const ROUTES = 40;
const FILTER = 'in: [opened, reopened, synchronize]';

export const diffRequestsCase: Case = {
  name: 'diff-requests',
  title: `diff --requests ${REQUESTS}: 200 routes, events of 21 KB, median of the whole command`,
  header: ['the change', 'time', 'found'],
  async run() {
    spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const home = tempFolder();
    const yaml = `${manyRoutes(200, PROMPT)}gateway:\n  capture_per_second: 1000\n`;
    writeFileSync(join(home, 'hookwright.yaml'), yaml);
    const main = join(ROOT, 'dist/cli/main.js');
    const env = { WEBHOOK_SECRET: SECRET, TELEGRAM_TOKEN: '1:token' };
    const gateway = await startGatewayProcess({ home, program: [process.execPath, main], env });
    try {
      await send(gateway.url);
      const measure = (name: string, changed: string): string[] => {
        writeFileSync(join(home, 'next.yaml'), changed);
        const argv = [main, 'diff', '--config', 'next.yaml', '--requests', String(REQUESTS)];
        return [name, ...timed(argv, home, env)];
      };
      return [measure('nothing', yaml), measure('a filter', yaml.replaceAll(FILTER, 'in: [reopened]'))];
    } finally {
      await gateway.kill();
    }
  },
};

async function send(url: string): Promise<void> {
  const { body } = large;
  for (let sent = 0; sent < REQUESTS; sent++) {
    const headers = { ...signedHeaders(body), 'x-github-delivery': String(sent) };
    const route = `route-${(sent % ROUTES) * 5 + 1}`;
    const { status } = await fetch(`${url}/webhooks/${route}`, { method: 'POST', headers, body });
    if (status !== 202) throw new Error(`${route} answered ${status}`);
  }
}

/** Median seconds, and the output about the requests. */
function timed(argv: readonly string[], home: string, env: NodeJS.ProcessEnv): string[] {
  const times: number[] = [];
  let said = '';
  for (let time = 0; time < TIMES; time++) {
    const started = performance.now();
    const options = { cwd: home, encoding: 'utf8', env: { ...process.env, ...env, HOOKWRIGHT_HOME: home } } as const;
    const { stdout, stderr } = spawnSync(process.execPath, argv, options);
    times.push(performance.now() - started);
    said = /^\d+ captured requests: .*$/m.exec(stdout)?.[0] ?? '';
    if (said === '') throw new Error(stderr);
  }
  return [`${(median(times) / 1000).toFixed(1)} s`, said];
}
