/** The configuration of the storm: routes and targets of mixed speed, one with a limit, one with groups, and a job. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileConfig } from '../../../helpers/compile.ts';

export const SECRET = 'a-secret-for-the-cluster-storm';
/** Concurrent runs of the route `limited`, over all gateways. */
export const LIMIT = 3;
export type Route = 'quick' | 'slow' | 'limited' | 'grouped';
/** Delivered within the gateway; the others go to the chat service. */
export const IMMEDIATE: Route = 'quick';
/** Prefix of the ids of the job's dispatches. */
export const JOB = 'tick';

const configOf = (world: string): string => `
gateway: { store: { postgres: env:DATABASE_URL }, max_concurrent_runs: 16, timezone: UTC }
agent: { openai: { base_url: "${world}/v1", model: m }, max_attempts: 20 }
platforms:
  matrix: { enabled: true, api_base: "${world}", access_token: a-token-for-the-storm, max_attempts: 20 }
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    rate_limit: 1000000
    idempotency_ttl_seconds: 10000000
    routes:
      ${IMMEDIATE}: { prompt: "quick {id}", deliver: log }
      slow: { prompt: "slow {id}", deliver: matrix, deliver_extra: { chat_id: "!slow:x" } }
      limited: { prompt: "limited {id}", max_concurrent: ${LIMIT}, deliver: matrix, deliver_extra: { chat_id: "!quick:x" } }
      grouped:
        prompt: "grouped {id}"
        deliver: matrix
        deliver_extra: { chat_id: "!quick:x" }
        coalesce: { key: entity, window_seconds: 30, max_wait_seconds: 120 }
jobs:
  ${JOB}:
    schedule: "* * * * *"
    prompt: ${JOB}
    deliver: matrix
    deliver_extra: { chat_id: "!quick:x" }
`;

/** Writes the compiled table. @returns its path */
export function writeTable(folder: string, world: string): string {
  const { output, diagnostics } = compileConfig(configOf(world), { env: { DATABASE_URL: 'postgres://h/d' } });
  if (output === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const path = join(folder, 'routes.json');
  writeFileSync(path, output.routesJson);
  return path;
}
