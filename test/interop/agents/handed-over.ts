/** A gateway with a known program: what becomes of the outputs that its model calls, and of a budget of tokens. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentConfig } from '../../../schemas/generated/types.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { KEY } from '../../helpers/known-agent.ts';

/** An event, as `deliveries show` prints it. */
interface Shown {
  readonly state: string;
  readonly [member: string]: unknown;
}

const ENDED = /^(?:done|delivered|failed|dead|skipped)$/;

const configOf = (agent: AgentConfig): string => `
agent: ${JSON.stringify(agent)}
platforms:
  webhook:
    enabled: true
    secret: env:HOOK
    routes:
      ask:
        prompt: "{text}"
        deliver: log
        outputs: { note: { deliver: local, required: true, allow: { text: [low, high] } } }
      spend: { prompt: "{text}", deliver: log, budget: { tokens: 1, per: day } }
`;

/** @param agent its key is the variable MODEL @param home an empty folder @param env further variables of the gateway */
export async function withGateway<T>(
  agent: AgentConfig,
  { home, env = {} }: { readonly home: string; readonly env?: Readonly<Record<string, string>> },
  use: (send: (route: 'ask' | 'spend', text: string) => Promise<Shown>) => Promise<T>,
): Promise<T> {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  const gateway = await startGateway(t as Parameters<typeof startGateway>[0], {
    home: mkdtempSync(join(home, 'gateway-')),
    env: { HOOK: 'a-secret-of-twenty-characters', MODEL: KEY, PATH: process.env.PATH, ...env },
    config: configOf(agent),
  });
  try {
    return await use(async (route, text) => {
      const { stdout } = await gateway.cli('webhook', 'test', route, '--payload', JSON.stringify({ text }));
      const [, id] = /"delivery_id":"([^"]+)"/.exec(stdout) ?? [];
      if (id === undefined || !stdout.startsWith('202')) return { state: stdout };
      return until(async () => {
        const shown = JSON.parse((await gateway.cli('deliveries', 'show', id, '--json')).stdout) as Shown;
        return ENDED.test(shown.state) && shown;
      });
    });
  } finally {
    for (const end of ends) await end();
  }
}
