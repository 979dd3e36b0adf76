/**
 * The configuration of the storm: routes and targets of mixed speed, with a limit, groups, sessions, outputs, approvals and a
 * budget, and a job.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileConfig } from '../../../helpers/compile.ts';

export const SECRET = 'a-secret-for-the-cluster-storm';
/** Concurrent runs of the route `limited`, over all gateways. */
export const LIMIT = 3;
/** Runs of the route `budgeted` in an hour of the gateways' clock. */
export const BUDGET = 20;
export type Route = 'quick' | 'slow' | 'limited' | 'grouped' | 'session' | 'output' | 'approved' | 'budgeted';
/** Delivered within the gateway; the others go to the chat service. */
export const IMMEDIATE: Route = 'quick';
/** Prefix of the ids of the job's dispatches. */
export const JOB = 'tick';

const QUICK = 'deliver: matrix, deliver_extra: { chat_id: "!quick:x" }';
const TO_QUICK = 'deliver: matrix, chat_id: "!quick:x"';

/** Routes whose runs hand over an output, and nothing else. */
export const OUTPUTS: readonly string[] = ['output', 'approved'] satisfies Route[];

const configOf = (world: string, isShared: boolean): string => `
gateway:
  max_concurrent_runs: 16
  timezone: UTC
  ${isShared ? 'store: { postgres: env:DATABASE_URL }' : ''}
  approvals: { deliver: matrix, deliver_extra: { chat_id: "!people:x" } }
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
      session: { prompt: "session {id}", session_key: entity, loop_limit: 1000, ${QUICK} }
      output: { prompt: "output {id}", deliver: log, outputs: { post: { ${TO_QUICK} } } }
      approved: { prompt: "approved {id}", deliver: log, outputs: { post: { ${TO_QUICK}, approve: true } } }
      budgeted: { prompt: "budgeted {id}", budget: { runs: ${BUDGET}, per: hour }, ${QUICK} }
jobs:
  ${JOB}:
    schedule: "* * * * *"
    prompt: ${JOB}
    deliver: matrix
    deliver_extra: { chat_id: "!quick:x" }
`;

/** Writes the compiled table. @param isShared the store is a PostgreSQL database @returns its path */
export function writeTable(folder: string, world: string, isShared = true): string {
  const { output, diagnostics } = compileConfig(configOf(world, isShared), { env: { DATABASE_URL: 'postgres://h/d' } });
  if (output === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const path = join(folder, 'routes.json');
  writeFileSync(path, output.routesJson);
  return path;
}
